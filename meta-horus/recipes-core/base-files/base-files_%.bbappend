# systemd mounts what openembedded-core's fstab names, and horus-data.service of conf/base what becomes /var.
do_install:append:horus-os() {
    rm ${D}${sysconfdir}/fstab
}
