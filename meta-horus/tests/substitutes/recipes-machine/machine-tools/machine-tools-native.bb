SUMMARY = "The machine's own programs, where recipes look for those that BitBake would build first"
DESCRIPTION = "Links to programs of the machine in place of the native recipes of conf/machine-natives.inc."
SECTION = "devel"
LICENSE = "MIT"
LIC_FILES_CHKSUM = "file://${COMMON_LICENSE_DIR}/MIT;md5=0835ade698e0bcf8506ecda2f7b4f302"

INHIBIT_DEFAULT_DEPS = "1"
# It is the tool for patches itself.
PATCHDEPENDENCY = ""
inherit native

PROVIDES += "${HORUS_MACHINE_NATIVES} virtual/fakeroot-native virtual/gettext-native"
RPROVIDES:${PN} += "${@' '.join(name for name in d.getVar('HORUS_MACHINE_NATIVES').split() if not name.startswith('virtual/'))}"

do_configure[noexec] = "1"
do_compile[noexec] = "1"

# Programs that recipes call by name. What only the package of another machine has is left out with a word in the log.
MACHINE_PROGRAMS = "\
    acpidump aclocal aclocal-1.18 asciidoc autoconf autoheader autom4te automake automake-1.18 autopoint autoreconf autoscan autoupdate awk bc bison bmaptool bzip2 \
    cmake cpack ctest cpio curl dd depmod diff dtc docbook2man fdisk file find flex df du flex++ fsck.erofs fsck.ext2 fsck.ext3 fsck.ext4 fsck.fat fsck.vfat e2image mkfs.msdos gawk gdbus-codegen gengetopt gettext gettextize git \
    glib-compile-resources glib-compile-schemas glib-genmarshal glib-mkenums gperf gpg groff gtkdocize gzip help2man install itstool kmod lz4 lz4c m4 make makeinfo \
    md5sum mcopy mdel mdir mformat mkdosfs mkfs.btrfs mkfs.erofs mkfs.ext2 mkfs.ext3 mkfs.ext4 mkfs.fat mkfs.vfat mksquashfs mkswap mlabel mmd mtools mtype modprobe \
    msgattrib msgcat msgcmp msgcomm msgconv msgen msgexec msgfilter msgfmt msggrep msginit msgmerge msgunfmt msguniq ngettext nasm ninja nroff openssl parted patch \
    patchelf perl pigz pkgconf pod2html pod2man pod2text pseudo pseudodb pseudolog python3 quilt readelf resize2fs rpm rpmbuild rsync sed sgdisk sqlite3 stat tar \
    tclsh tic infocmp toe troff truncate tune2fs e2fsck debugfs dumpe2fs unifdef unzip uuidgen uudecode update-mime-database useradd usermod userdel groupadd groupmod \
    groupdel groupmems gpasswd vipw pwconv grpconv chpasswd xgettext xmlcatalog xmllint xmlto xsltproc xz xzcat zstd zstdcat unxz mkfifo zip ifnames \
    scanelf qemu-x86_64 qemu-aarch64 rpm2cpio rsvg-convert msgunfmt recode-sr-latin envsubst yacc lex sfdisk blkid lsblk hexdump column cal libnetcfg rename.ul \
"

do_install() {
    install -d ${D}${bindir} ${D}${bindir}/python3-native ${D}${bindir}/perl-native ${D}${libdir}/rpm ${D}${datadir}/aclocal
    for name in ${MACHINE_PROGRAMS}; do
        path=$(PATH=/usr/sbin:/usr/bin:/sbin:/bin command -v $name) || { bbnote "no $name on this machine"; continue; }
        ln -sf "$path" ${D}${bindir}/$name
    done
    # Debian has automake's newest version alone.
    for name in aclocal automake; do
        for version in 1.17 1.18 1.19; do
            ln -sf /usr/bin/$name ${D}${bindir}/$name-$version
        done
    done
    for name in python3 nativepython3 python; do
        ln -sf /usr/bin/python3 ${D}${bindir}/python3-native/$name
    done
    ln -sf /usr/bin/python3 ${D}${bindir}/nativepython3
    ln -sf /usr/bin/perl ${D}${bindir}/perl-native/perl
    ln -sf perl-native/perl ${D}${bindir}/nativeperl
    ln -sf /usr/share/misc ${D}${datadir}/gnu-config
    # What configure scripts of translated programs take from gettext.
    install -d ${D}${datadir}/gettext/po
    cp /usr/share/gettext/config.rpath ${D}${datadir}/gettext/
    cp /usr/share/gettext/po/Makefile.in.in /usr/share/gettext/po/remove-potcdate.sed ${D}${datadir}/gettext/po/
    cp /usr/share/gettext/po/Makevars.template ${D}${datadir}/gettext/po/Makevars.template.minimal
    # Renews every config.guess and config.sub below the folder where it is called.
    printf '#!/bin/sh\nfind . -name config.guess -o -name config.sub | while read -r file; do cp -f "/usr/share/misc/${file##*/}" "$file"; done\n' > ${D}${bindir}/gnu-configize
    chmod 0755 ${D}${bindir}/gnu-configize
    # The field's pkg-config takes the sysroot's name off paths in the way that recipes rely on; pkgconf does when it is told so.
    printf '#!/bin/sh\nexport PKG_CONFIG_FDO_SYSROOT_RULES=1\nexec /usr/bin/pkgconf "$@"\n' > ${D}${bindir}/pkg-config
    printf '#!/bin/sh\nexport PKG_CONFIG_PATH=\nexport PKG_CONFIG_LIBDIR=/usr/lib/%s-linux-gnu/pkgconfig:/usr/lib/pkgconfig:/usr/share/pkgconfig\nunset PKG_CONFIG_SYSROOT_DIR\nexec /usr/bin/pkgconf "$@"\n' ${BUILD_ARCH} > ${D}${bindir}/pkg-config-native
    # The wrapper of the recipe says setup where no command stands.
    printf '#!/bin/sh\ncase "$1" in setup|configure|compile|install|introspect|test|dist|--*) ;; *) set -- setup "$@";; esac\nexec /usr/bin/meson "$@"\n' > ${D}${bindir}/meson
    # Lists the sources that debug packages carry; it is no program of Debian's.
    printf '#!/bin/sh\nexit 0\n' > ${D}${bindir}/dwarfsrcfiles
    # For System V scripts, of which the image has none.
    printf '#!/bin/sh\nexit 0\n' > ${D}${bindir}/update-rc.d
    printf '#!/bin/sh\nexit 0\n' > ${D}${bindir}/gtk-update-icon-cache
    chmod 0755 ${D}${bindir}/pkg-config ${D}${bindir}/pkg-config-native ${D}${bindir}/meson ${D}${bindir}/dwarfsrcfiles ${D}${bindir}/update-rc.d
    ln -sf /usr/lib/rpm/rpmdeps ${D}${libdir}/rpm/rpmdeps
}
# Links out of the folder are all that this is.
INSANE_SKIP:${PN} += "native-last already-stripped"
