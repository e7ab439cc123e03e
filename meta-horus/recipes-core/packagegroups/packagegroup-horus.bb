SUMMARY = "Everything that makes an image a HORUS appliance"
DESCRIPTION = "The runtime, its configuration, and the programs that measure the machine."
LICENSE = "MIT"

# Which packages of conf/ are in is the image's choice, and horus-board the board's.
PACKAGE_ARCH = "${MACHINE_ARCH}"

inherit packagegroup features_check

REQUIRED_DISTRO_FEATURES = "horus"

RDEPENDS:${PN} = "\
    ${@' '.join('horus-conf-%s' % tree for tree in (d.getVar('HORUS_TREES') or '').split())} \
    horus \
    horus-board \
    kernel-modules \
    rt-tests \
    stress-ng \
    systemd-analyze \
"
