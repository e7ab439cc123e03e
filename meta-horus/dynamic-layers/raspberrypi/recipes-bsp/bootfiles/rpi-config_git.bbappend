# The board's file of conf/ goes behind what the layer writes: of a setting that stands twice the firmware takes the last. Its reasons stay
# behind, because the firmware reads neither long lines nor large files well.
FILESEXTRAPATHS:prepend:horus-os := "${HORUS_REPOSITORY}/conf/machine/${HORUS_BOARD}:"
SRC_URI:append:horus-os = " file://config.txt;subdir=horus"

do_deploy:append:horus-os() {
    sed '/^#/d' ${UNPACKDIR}/horus/config.txt >> ${DEPLOYDIR}/${BOOTFILES_DIR_NAME}/config.txt
}
