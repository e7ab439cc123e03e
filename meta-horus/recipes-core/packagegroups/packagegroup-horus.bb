SUMMARY = "Everything that makes an image a HORUS appliance"
DESCRIPTION = "The runtime, its configuration, and the programs that measure the machine."
LICENSE = "MIT"

inherit packagegroup

RDEPENDS:${PN} = "\
    ${@' '.join('horus-conf-%s' % tree for tree in d.getVar('HORUS_TREES').split())} \
    horus \
    horus-board \
    horus-conf \
    kernel-modules \
    rt-tests \
    stress-ng \
"
# Which packages of conf/ are in is the image's choice, not the architecture's.
PACKAGE_ARCH = "${MACHINE_ARCH}"
