"""Debian packages of the root in which BitBake runs where the machine's programs stand in for its native recipes (meta-horus/tests/substitutes)."""

RELEASE = "sid"  # the one release of Debian with the C library and the compiler of Yocto 6.0

GROUPS = {
    # From the release's own list of what a build machine has.
    "BitBake itself": "bzip2 ca-certificates chrpath cpio diffstat file gawk git locales lz4 make patch perl procps python3 rpcsvc-proto unzip wget xz-utils zip zstd",
    # gcc-15 compiles for the image, gcc for the machine.
    "compilers": "binutils binutils-aarch64-linux-gnu dwarves elfutils g++ g++-15 g++-15-aarch64-linux-gnu gcc gcc-15 gcc-15-aarch64-linux-gnu libcrypt-dev nasm patchelf",
    "build systems": "autoconf autoconf-archive automake autopoint autotools-dev bison cmake flex gettext gperf gtk-doc-tools help2man intltool itstool libtool m4 meson ninja-build pkgconf quilt swig tcl texinfo",
    "Python's": "python3-build python3-dev python3-docutils python3-flit python3-hatchling python3-installer python3-jinja2 python3-mako python3-markupsafe "
    "python3-packaging python3-pefile python3-pyelftools python3-setuptools python3-wheel python3-yaml",
    "documentation": "asciidoc-base docbook-xml docbook-xsl groff-base libxml2-utils xmlto xsltproc",
    # fakeroot is Debian's pseudo; wic and ukify make the disk of the rest.
    "packages and images": "acl apt attr bmap-tools btrfs-progs debugedit desktop-file-utils dosfstools dpkg-dev e2fsprogs erofs-utils fakeroot fdisk gdisk kmod mtools "
    "parted pseudo rpm rsync shared-mime-info sqlite3 squashfs-tools systemd systemd-boot-efi systemd-ukify util-linux xorriso",
    "what runs of the target": "qemu-user",
    "other programs that recipes call": "bc bsdextrautils curl hostname iproute2 libglib2.0-dev-bin ncurses-bin openssl passwd psmisc tzdata",
    "libraries of programs that are built for the machine": "libacl1-dev libarchive-dev libattr1-dev libblkid-dev libbz2-dev libcap-dev libcurl4-openssl-dev libelf-dev libfdisk-dev "
    "libgmp-dev liblzma-dev libmpc-dev libmpfr-dev libncurses-dev libsolv-dev libsqlite3-dev libssl-dev libzstd-dev nettle-dev uuid-dev zlib1g-dev",
}  # fmt: skip


def names() -> list:
    """All of them, in the order of the alphabet."""
    return sorted({name for group in GROUPS.values() for name in group.split()})
