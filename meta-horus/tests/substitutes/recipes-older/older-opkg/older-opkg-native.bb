SUMMARY = "opkg 0.4.4, an older version of the program that installs packages into the image"
DESCRIPTION = "Stands in for opkg-native 0.9.0, whose archive cannot be reached."
SECTION = "devel"
LICENSE = "GPL-2.0-or-later"
LIC_FILES_CHKSUM = "file://COPYING;md5=94d55d512a9ba36caa9b7df079bae19f"

PV = "0.4.4"
SRC_URI = "git://github.com/keenetic/opkg.git;protocol=https;nobranch=1"
SRCREV = "a611b8ae39fbd9cc9b92e0b69756a94cdecc9b4d"

inherit autotools pkgconfig native
PROVIDES += "opkg-native"
# Its lists lie in the image, not in the folder that it is built for.
EXTRA_OECONF = "--disable-gpg --disable-curl --disable-ssl-curl --enable-zstd --with-libsolv --with-static-libopkg --disable-shared --localstatedir=/var --sysconfdir=/etc"
CFLAGS += "-std=gnu17 -Wno-error=incompatible-pointer-types"

# As in opkg 0.9: a lock below /var/run would stand where base-files puts a link.
do_configure:prepend() {
    sed -i 's#VARDIR "/run/opkg.lock"#"/run/opkg.lock"#' ${S}/libopkg/opkg_conf.h
}
