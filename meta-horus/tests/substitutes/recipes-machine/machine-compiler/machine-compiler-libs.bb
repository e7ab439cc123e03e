SUMMARY = "Run-time libraries of the machine's compiler: libgcc, libstdc++, libatomic, libgomp"
DESCRIPTION = "Debian's binaries of them, for what Debian's gcc compiles, in place of the recipes libgcc and gcc-runtime."
SECTION = "libs"
LICENSE = "GPL-3.0-with-GCC-exception"
LIC_FILES_CHKSUM = "file://${COMMON_LICENSE_DIR}/GPL-3.0-with-GCC-exception;md5=aef5f35c9272f508be848cd99e0151df"

INHIBIT_DEFAULT_DEPS = "1"
DEPENDS = ""
PROVIDES = "machine-compiler-libs virtual/compilerlibs libgcc libgcc-initial gcc-runtime"

do_configure[noexec] = "1"
do_compile[noexec] = "1"
INHIBIT_PACKAGE_STRIP = "1"
INHIBIT_PACKAGE_DEBUG_SPLIT = "1"
INHIBIT_SYSROOT_STRIP = "1"
# A copy of the compiler alone, which scripts/check-layer makes.
GCC_ROOT = "/opt/horus-cross-${TARGET_ARCH}/usr"

do_install() {
    install -d ${D}${libdir}
    for name in libgcc_s.so.1 libstdc++.so.6 libatomic.so.1 libgomp.so.1; do
        # As a compiler of the machine's own processor has it, or a cross compiler.
        cp -L ${GCC_ROOT}/lib/${TARGET_ARCH}-linux-gnu/$name ${D}${libdir} || cp -L ${GCC_ROOT}/${TARGET_ARCH}-linux-gnu/lib/$name ${D}${libdir}
    done
}
PACKAGES = "libgcc libstdc++ libatomic libgomp libstdc++-dev"
# Headers stay with the compiler; an SDK of packages asks for these names.
ALLOW_EMPTY:libstdc++-dev = "1"
RPROVIDES:libstdc++-dev = "libgcc-dev libatomic-dev libgomp-dev gcc-runtime-dev"
FILES:libgcc = "${libdir}/libgcc_s.so.1"
FILES:libstdc++ = "${libdir}/libstdc++.so.6"
FILES:libatomic = "${libdir}/libatomic.so.1"
FILES:libgomp = "${libdir}/libgomp.so.1"
RPROVIDES:libgcc = "libgcc1"
# Their C library is the recipe's own, of the same version; it depends on these.
INSANE_SKIP:libgcc = "file-rdeps already-stripped ldflags"
INSANE_SKIP:libstdc++ = "file-rdeps already-stripped ldflags"
INSANE_SKIP:libatomic = "file-rdeps already-stripped ldflags"
INSANE_SKIP:libgomp = "file-rdeps already-stripped ldflags"
DEV_PKG_DEPENDENCY = ""
