SUMMARY = "What makes the machine real-time: the trees of conf/, as they are"
DESCRIPTION = "One package a tree of conf/, so that an option of the image is a package more or less."
SECTION = "base"
LICENSE = "Apache-2.0 | MIT"
LIC_FILES_CHKSUM = "\
    file://LICENSE-APACHE;md5=3b83ef96387f14655fc854ddc3c6bd57 \
    file://LICENSE-MIT;md5=0c779f650e46813c1dede77072502273 \
"

PV = "${@horus.conf.version(d)}"

# The trees of all images; which of their packages are in one, its options say.
HORUS_ALL_TREES = "${@horus.conf.all_trees(d)}"

SRC_URI = "\
    file://LICENSE-APACHE \
    file://LICENSE-MIT \
    file://conf/horus_conf.py \
    file://conf/image.toml \
    file://conf/install \
    ${@horus.conf.tree_sources(d)} \
"
FILESEXTRAPATHS:prepend := "${HORUS_REPOSITORY}:"
S = "${UNPACKDIR}"
INHIBIT_DEFAULT_DEPS = "1"

inherit allarch deploy

do_configure[noexec] = "1"
do_compile[noexec] = "1"

# Presets among the files enable the units when the image is made, so nothing here does.
do_install() {
    ${S}/conf/install --destdir ${D} ${HORUS_ALL_TREES}
}

# The boot loader's partition is written when the image is made, so its file is at hand then.
do_deploy() {
    install -D -m 0644 ${S}/conf/base/rootfs/efi/loader/loader.conf ${DEPLOYDIR}/horus-loader.conf
}
addtask deploy after do_unpack before do_build

PACKAGES = "${@' '.join('${PN}-%s' % tree for tree in d.getVar('HORUS_ALL_TREES').split())}"
FILES:${PN}-audit = "${@horus.conf.tree_files(d, 'audit')}"
FILES:${PN}-base = "${@horus.conf.tree_files(d, 'base')}"
FILES:${PN}-dev = "${@horus.conf.tree_files(d, 'dev')}"
FILES:${PN}-horus = "${@horus.conf.tree_files(d, 'horus')}"
FILES:${PN}-rt = "${@horus.conf.tree_files(d, 'rt')}"

# What data-partition calls to check, mend and mount; and how the machine is reached: what reads the settings, who lets people in, and who joins
# a Wi-Fi by the rules of its country.
RDEPENDS:${PN}-base = "\
    e2fsprogs \
    e2fsprogs-dumpe2fs \
    e2fsprogs-e2fsck \
    e2fsprogs-mke2fs \
    horus \
    openssh-keygen \
    openssh-sshd \
    util-linux-blkid \
    util-linux-fallocate \
    util-linux-mount \
    util-linux-mountpoint \
    wireless-regdb-static \
    wpa-supplicant \
"
# tune-cpus calls taskset, and seq of whatever provides the base utilities.
RDEPENDS:${PN}-rt = "util-linux-taskset"
RDEPENDS:${PN}-dev = "util-linux-agetty"
RDEPENDS:${PN}-horus = "util-linux-agetty"
# The tree dev is not what its name says to BitBake: headers that recommend a package of the recipe's own name, which is not made.
DEV_PKG_DEPENDENCY = ""
