SUMMARY = "What a message costs, measured on this board"
DESCRIPTION = "The benchmarks of HORUS topics against the speed of the cache line; every message is verified."
SECTION = "devel"
LICENSE = "Apache-2.0 | MIT"
LIC_FILES_CHKSUM = "\
    file://LICENSE-APACHE;md5=3b83ef96387f14655fc854ddc3c6bd57 \
    file://LICENSE-MIT;md5=0c779f650e46813c1dede77072502273 \
"

PV = "${@horus.conf.version(d)}"

# The benchmarks' own workspace, and the runtime that it depends on by its path. Rivals (benchmarks/compare) stay out.
SRC_URI = "\
    file://LICENSE-APACHE \
    file://LICENSE-MIT \
    file://benchmarks/Cargo.lock \
    file://benchmarks/Cargo.toml \
    file://benchmarks/benches \
    file://benchmarks/src \
    file://runtime/Cargo.toml \
    ${@horus.conf.runtime_sources(d)} \
"
FILESEXTRAPATHS:prepend := "${HORUS_REPOSITORY}:"
S = "${UNPACKDIR}"
CARGO_SRC_DIR = "benchmarks"

inherit cargo
require horus-benchmarks-crates.inc

do_compile() {
    oe_cargo_build --bins
}

do_install() {
    for program in ${B}/target/${CARGO_TARGET_SUBDIR}/*; do
        [ ! -f "$program" ] || [ ! -x "$program" ] || install -D -m 0755 -t ${D}${nonarch_libdir}/horus/benchmarks "$program"
    done
}

FILES:${PN} = "${nonarch_libdir}/horus/benchmarks"
# The programs ask git for the commit of the sources that they were built from, by their path; on a target that is not there.
# nooelint: oelint.vars.insaneskip
INSANE_SKIP:${PN} += "buildpaths"
RRECOMMENDS:${PN} = "rt-tests"
