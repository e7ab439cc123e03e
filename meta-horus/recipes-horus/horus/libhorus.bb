SUMMARY = "The library libhorus, for programs in C and C++"
DESCRIPTION = "Topics, nodes and tests in virtual time. Its -dev and -staticdev packages are in the SDK (kas/sdk.yml)."
SECTION = "libs"

require horus-sources.inc

do_compile() {
    export RUSTFLAGS="${RUSTFLAGS}"
    # What a program needs that is linked with libhorus.a, only the compiler knows.
    "${CARGO}" rustc ${CARGO_BUILD_FLAGS} --package horus-c --lib -- --print native-static-libs > ${B}/said 2>&1 || bbfatal "$(cat ${B}/said)"
}

do_install() {
    ${S}/runtime/bindings/c/package/install --prefix ${D}${prefix} --built ${B}/target/${CARGO_TARGET_SUBDIR} --cargo-said ${B}/said
}

# CMake's file names both libraries, and looks for them when it is read.
RDEPENDS:${PN}-dev += "${PN}-staticdev"
