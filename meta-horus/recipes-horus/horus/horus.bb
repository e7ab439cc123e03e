SUMMARY = "Shared-memory topics, real-time nodes, and the machine's own audit"
DESCRIPTION = "The command horus (audit, determinism run, reports, topics) and the nodes ping and pong."
SECTION = "base"

HORUS_TEST_SOURCES = "file://run-ptest file://test-programs"

require horus-sources.inc
inherit ptest

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
    "${CARGO}" build ${CARGO_BUILD_FLAGS} --package horus-sys --package horus-shm --package horus-measure --package horus --package horus-nodes --tests --message-format json > ${B}/tests.json
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
