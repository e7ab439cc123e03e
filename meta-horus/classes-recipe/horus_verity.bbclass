# The system partition is verified block by block (dm-verity). The kernel makes the verified device itself, from a parameter of its
# command line, which lies in the unified kernel image: neither the initial RAM disk nor a program takes part.
#
# ext4 image -> hash tree appended, root hash into the command line -> kernel image with it -> wic copies the file into the slot.

# Where the kernel is started otherwise, its command line could not be part of what is verified.
REQUIRED_MACHINE_FEATURES += "efi"

IMAGE_FSTYPES:append = " ext4"
IMAGE_ROOTFS_ALIGNMENT = "4"
WKS_FILE = "horus-uefi-secure.wks.in"
HORUS_VERITY_IMAGE = "${WORKDIR}/horus-verity.img"
HORUS_VERITY_CMDLINE = "${WORKDIR}/horus-verity.cmdline"
# No secret, only there to make precomputed tables useless; fixed by the version, so that a build can be reproduced.
HORUS_VERITY_SALT = "${@__import__('hashlib').sha256(d.getVar('DISTRO_VERSION').encode()).hexdigest()}"

python do_horus_verity() {
    import shutil

    image, salt = d.getVar("HORUS_VERITY_IMAGE"), bytes.fromhex(d.getVar("HORUS_VERITY_SALT"))
    shutil.copyfile(os.path.join(d.getVar("IMGDEPLOYDIR"), d.getVar("IMAGE_LINK_NAME") + ".ext4"), image)
    blocks, root_hash = horus.verity.append_tree(image, salt)
    with open(d.getVar("HORUS_VERITY_CMDLINE"), "w") as file:
        file.write(horus.verity.command_line(d.getVar("UKI_CMDLINE"), blocks, root_hash, salt))
}
do_horus_verity[doc] = "Appends the tree of hashes to a copy of the system's file system"
addtask horus_verity after do_image_ext4 before do_uki do_image_wic do_image_complete

python horus_verity_uki_cmdline() {
    with open(d.getVar("HORUS_VERITY_CMDLINE")) as file:
        d.setVar("UKI_CMDLINE", file.read())
}
do_uki[prefuncs] += "horus_verity_uki_cmdline"
horus_verity_uki_cmdline[doc] = "Gives the unified kernel image the command line with the root hash"
