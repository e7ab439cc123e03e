SUMMARY = "HORUS topics in ROS 2 without ROS, and on other appliances"
DESCRIPTION = "The program horus-bridge, over DDS and Zenoh. The option bridge (kas/bridge.yml) brings it; its units come with horus-conf."
SECTION = "base"
LICENSE = "Apache-2.0 | MIT"
LIC_FILES_CHKSUM = "\
    file://LICENSE-APACHE;md5=3b83ef96387f14655fc854ddc3c6bd57 \
    file://LICENSE-MIT;md5=0c779f650e46813c1dede77072502273 \
"

PV = "${@horus.conf.version(d)}"

# The bridge's own workspace, and the runtime that it depends on by its path.
SRC_URI = "\
    file://LICENSE-APACHE \
    file://LICENSE-MIT \
    file://conf/horus_conf.py \
    file://conf/image.toml \
    file://conf/install \
    file://runtime/Cargo.toml \
    file://runtime/bridge/Cargo.lock \
    file://runtime/bridge/Cargo.toml \
    file://runtime/bridge/src \
    ${@horus.conf.runtime_sources(d)} \
"
FILESEXTRAPATHS:prepend := "${HORUS_REPOSITORY}:"
S = "${UNPACKDIR}"
CARGO_SRC_DIR = "runtime/bridge"

inherit cargo
require horus-bridge-crates.inc

do_compile() {
    oe_cargo_build --bins
}

do_install() {
    ${S}/conf/install --destdir ${D} --bridge ${B}/target/${CARGO_TARGET_SUBDIR}
}

# The command that starts it, and its units.
RDEPENDS:${PN} = "horus horus-conf-horus"
