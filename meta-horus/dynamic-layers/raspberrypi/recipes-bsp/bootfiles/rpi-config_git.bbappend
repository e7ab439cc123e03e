# The board's file of conf/ goes behind what the layer writes: of a setting that stands twice the firmware takes the last.
FILESEXTRAPATHS:prepend:horus-os := "${HORUS_REPOSITORY}/conf/machine/${HORUS_BOARD}:"
SRC_URI:append:horus-os = " file://config.txt;subdir=horus"

do_deploy:append:horus-os() {
    cat ${UNPACKDIR}/horus/config.txt >> ${DEPLOYDIR}/${BOOTFILES_DIR_NAME}/config.txt
}
