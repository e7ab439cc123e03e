SUMMARY = "What only this board needs: the tree of conf/machine/<board>"
DESCRIPTION = "Files of conf/machine/<board>/rootfs, as they are; an empty package for boards that need none."
SECTION = "base"
LICENSE = "Apache-2.0 | MIT"
LIC_FILES_CHKSUM = "\
    file://LICENSE-APACHE;md5=3b83ef96387f14655fc854ddc3c6bd57 \
    file://LICENSE-MIT;md5=0c779f650e46813c1dede77072502273 \
"

PV = "${@horus.conf.version(d)}"
HORUS_BOARD_FILES = "${@horus.conf.tree_files(d, 'machine/${HORUS_BOARD}')}"

SRC_URI = "\
    file://LICENSE-APACHE \
    file://LICENSE-MIT \
    file://conf/horus_conf.py \
    file://conf/image.toml \
    file://conf/install \
    ${@'file://conf/machine/${HORUS_BOARD}/rootfs' if d.getVar('HORUS_BOARD_FILES') else ''} \
"
FILESEXTRAPATHS:prepend := "${HORUS_REPOSITORY}:"
S = "${UNPACKDIR}"
INHIBIT_DEFAULT_DEPS = "1"

inherit features_check

REQUIRED_DISTRO_FEATURES = "horus"
PACKAGE_ARCH = "${MACHINE_ARCH}"

do_configure[noexec] = "1"
do_compile[noexec] = "1"

do_install() {
    ${S}/conf/install --destdir ${D} machine/${HORUS_BOARD}
}

FILES:${PN} = "${HORUS_BOARD_FILES}"
ALLOW_EMPTY:${PN} = "1"
# NVIDIA's tools, which the units of the Jetson boards call.
RDEPENDS:${PN} = "${@'tegra-nvpmodel tegra-tools-jetson-clocks' if d.getVar('HORUS_FIRMWARE') == 'tegra' else ''}"
