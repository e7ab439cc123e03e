SUMMARY = "The build machine's own packaging tools, where recipes look for theirs"
DESCRIPTION = "Stands in for native recipes that a build would compile first, by links to the programs of the build machine."
SECTION = "devel"
LICENSE = "MIT"
LIC_FILES_CHKSUM = "file://${COMMON_LICENSE_DIR}/MIT;md5=0835ade698e0bcf8506ecda2f7b4f302"

INHIBIT_DEFAULT_DEPS = "1"
inherit native

PROVIDES += "dpkg-native dwarfsrcfiles-native pseudo-native rpm-native systemd-systemctl-native virtual/fakeroot-native"

do_configure[noexec] = "1"
do_compile[noexec] = "1"

do_install() {
    install -d ${D}${bindir} ${D}${libdir}/rpm
    for tool in dpkg dpkg-deb dpkg-query pseudo systemctl; do
        path=$(PATH=/usr/sbin:/usr/bin:/sbin:/bin command -v $tool) || bbfatal "$tool is missing on this machine: install dpkg, pseudo, systemd"
        ln -s "$path" ${D}${bindir}/$tool
    done
    # Lists the sources that debug packages carry. It is no program of Debian's; without it the debug packages have no sources.
    printf '#!/bin/sh\nexit 0\n' > ${D}${bindir}/dwarfsrcfiles
    chmod 0755 ${D}${bindir}/dwarfsrcfiles
    [ -x /usr/lib/rpm/rpmdeps ] || bbfatal "/usr/lib/rpm/rpmdeps is missing on this machine: install rpm"
    ln -s /usr/lib/rpm/rpmdeps ${D}${libdir}/rpm/rpmdeps
}
