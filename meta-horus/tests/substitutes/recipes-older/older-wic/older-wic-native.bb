SUMMARY = "wic of the release before, which openembedded-core still brought itself"
DESCRIPTION = "Stands in for wic-native 0.3.1, whose repository cannot be reached."
SECTION = "devel"
LICENSE = "GPL-2.0-only"
LIC_FILES_CHKSUM = "file://LICENSE.GPL-2.0-only;md5=4ee23c52855c222cba72583d301d2338"

PV = "0.2"
SRC_URI = "git://git.openembedded.org/openembedded-core;protocol=https;branch=whinlatter"
SRCREV = "8751ec83421192fc0f8495fb95798f9eb7be77a0"

inherit native python3native
PROVIDES += "wic-native"

do_configure[noexec] = "1"
do_compile[noexec] = "1"

do_install() {
    install -d ${D}${bindir} ${D}${libdir}/wic-scripts/lib
    cp ${S}/scripts/wic ${D}${libdir}/wic-scripts/
    cp -R --no-preserve=ownership ${S}/scripts/lib/. ${D}${libdir}/wic-scripts/lib/
    cp -R --no-preserve=ownership ${S}/meta/lib/oe ${D}${libdir}/wic-scripts/lib/
    printf '#!/bin/sh\nexec /usr/bin/python3 "$(dirname "$(readlink -f "$0")")/../lib/wic-scripts/wic" "$@"\n' > ${D}${bindir}/wic
    chmod 0755 ${D}${bindir}/wic
}
