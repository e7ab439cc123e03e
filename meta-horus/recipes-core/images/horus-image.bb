SUMMARY = "The HORUS appliance"
DESCRIPTION = "A read-only PREEMPT_RT system that audits its tuning and measures its determinism at every boot. Options are files in meta-horus/kas."
LICENSE = "MIT"

inherit core-image extrausers features_check
# Set by options that change how the image is made.
HORUS_IMAGE_CLASSES ??= ""
inherit_defer ${HORUS_IMAGE_CLASSES}

HORUS_FIRMWARE ??= "uefi"
require horus-image-${HORUS_FIRMWARE}.inc

REQUIRED_DISTRO_FEATURES = "horus systemd"

IMAGE_FEATURES += "read-only-rootfs"
IMAGE_INSTALL = "packagegroup-core-boot packagegroup-base packagegroup-horus ${CORE_IMAGE_EXTRA_INSTALL}"
IMAGE_LINGUAS = ""

# A read-only /etc/passwd cannot get the users of sysusers.d at boot.
EXTRA_USERS_PARAMS = "${@horus.conf.users(d)}"
EXTRA_USERS_PARAMS[vardepvalue] = "${EXTRA_USERS_PARAMS}"

# A kernel recipe that the board's layer no longer has ends the build here. Without this BitBake takes another kernel with a remark.
EXTRA_IMAGEDEPENDS += "${PREFERRED_PROVIDER_virtual/kernel}"

# BitBake applies presets only where they enable a unit: what ours disable would stay enabled by its own package.
horus_disable_units() {
    for unit in $(sed -n 's/^disable //p' ${IMAGE_ROOTFS}${nonarch_libdir}/systemd/system-preset/*-horus*.preset); do
        if [ -e "${IMAGE_ROOTFS}${systemd_system_unitdir}/$unit" ]; then
            systemctl --root="${IMAGE_ROOTFS}" disable "$unit"
        fi
    done
}
horus_disable_units[doc] = "Disables the units that our presets disable"
ROOTFS_POSTPROCESS_COMMAND:append = " horus_disable_units"

# Each image that is made has a name of its own, which reports are kept by (docs/measuring.md). Not in the recipe os-release: its
# package is reused when an image with other contents is made.
horus_stamp_build() {
    echo "BUILD_ID=$(tr -d - < /proc/sys/kernel/random/uuid)" >> ${IMAGE_ROOTFS}${nonarch_libdir}/os-release
    # Which board it is for, as the Debian image says it: an update for another one is refused.
    echo "VARIANT_ID=${HORUS_BOARD}" >> ${IMAGE_ROOTFS}${nonarch_libdir}/os-release
}
horus_stamp_build[doc] = "Writes BUILD_ID and VARIANT_ID into os-release"
ROOTFS_POSTPROCESS_COMMAND:append = " horus_stamp_build"
