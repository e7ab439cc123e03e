# systemd mounts what openembedded-core's fstab names, and horus-data.service of conf/base what becomes /var.
do_install:append:horus-os() {
    rm ${D}${sysconfdir}/fstab
    # What the console says after a login: login shows this file, and has no list of them.
    ln -sf /run/motd.d/60-horus ${D}${sysconfdir}/motd
}
