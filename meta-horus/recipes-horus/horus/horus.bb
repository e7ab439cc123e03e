SUMMARY = "Shared-memory topics, real-time nodes, and the machine's own audit"
DESCRIPTION = "The command horus (audit, determinism run, reports, topics) and the nodes ping and pong."
SECTION = "base"
LICENSE = "Apache-2.0 | MIT"
LIC_FILES_CHKSUM = "\
    file://LICENSE-APACHE;md5=3b83ef96387f14655fc854ddc3c6bd57 \
    file://LICENSE-MIT;md5=0c779f650e46813c1dede77072502273 \
"

PV = "${@horus.conf.version(d)}"

# What is released, and nothing else of runtime/: neither its build directory nor the fuzzers.
SRC_URI = "\
    file://LICENSE-APACHE \
    file://LICENSE-MIT \
    file://conf/horus_conf.py \
    file://conf/image.toml \
    file://conf/install \
    file://runtime/Cargo.lock \
    file://runtime/Cargo.toml \
    ${@horus.conf.runtime_sources(d)} \
    file://run-ptest \
    file://test-programs \
"
FILESEXTRAPATHS:prepend := "${HORUS_REPOSITORY}:"
S = "${UNPACKDIR}"
CARGO_SRC_DIR = "runtime"

inherit cargo ptest
require horus-crates.inc

do_compile() {
    # The folder of the build is on no target, and has no place in a program.
    export HORUS_BUILT_FROM="/usr/src/horus/runtime/horus"
    oe_cargo_build ${@horus.conf.cargo_arguments(d)}
}

do_install() {
    ${S}/conf/install --destdir ${D} --programs ${B}/target/${CARGO_TARGET_SUBDIR}
}

# Tests of the libraries; those of the command read the repository's own files, which no target has.
do_compile_ptest() {
    oe_cargo_fix_env
    export RUSTFLAGS="${RUSTFLAGS}"
    "${CARGO}" build ${CARGO_BUILD_FLAGS} --package horus-shm --package horus-measure --package horus --package horus-nodes --tests --message-format json > ${B}/tests.json
}

do_install_ptest() {
    # Cargo names the programs with a hash of the build; on the target they have their own names.
    python3 ${UNPACKDIR}/test-programs ${B}/tests.json | while read -r name program; do
        install -D -m 0755 "$program" "${D}${PTEST_PATH}/$name"
    done
    [ -e ${D}${PTEST_PATH}/topics ] || bbfatal "no test program was found in ${B}/tests.json"
}

FILES:${PN} += "${@horus.conf.program_files(d)}"
# One unit test looks for its own sources by the path where they were built; run-ptest leaves it out.
# nooelint: oelint.vars.insaneskip
INSANE_SKIP:${PN}-ptest += "buildpaths"
# Reads the rules that horus-conf-audit brings; journalctl, cyclictest and the load are called as programs.
RDEPENDS:${PN} += "horus-conf-audit"
RRECOMMENDS:${PN} += "rt-tests stress-ng"
