# /etc/fstab is conf/base's, which horus-conf installs: two packages cannot own one file.
do_install:append:horus-os() {
    rm ${D}${sysconfdir}/fstab
}
