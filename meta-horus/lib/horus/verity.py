"""Makes a file system image verifiable by the kernel's dm-verity: appends the tree of hashes, gives the kernel's parameters.

The format is the kernel's own (Documentation/admin-guide/device-mapper/verity.rst, hash type 1, no superblock). oe-core has no recipe
of veritysetup, and the tree is a page of Python; a test has the real veritysetup verify what this makes.
"""

import hashlib
import os

BLOCK = 4096
SECTOR = 512
PER_BLOCK = BLOCK // hashlib.sha256().digest_size


def append_tree(path, salt):
    """Appends the tree to the image at `path`, whose size must be whole blocks; gives (data blocks, root hash)."""
    size = os.path.getsize(path)
    if size == 0 or size % BLOCK:
        raise ValueError("%s has %d bytes, which are not whole blocks of %d: set IMAGE_ROOTFS_ALIGNMENT = \"4\"" % (path, size, BLOCK))
    with open(path, "rb") as image:
        hashes = [hashlib.sha256(salt + block).digest() for block in iter(lambda: image.read(BLOCK), b"")]
    levels = []
    while len(hashes) > 1:
        level = [b"".join(hashes[start : start + PER_BLOCK]).ljust(BLOCK, b"\0") for start in range(0, len(hashes), PER_BLOCK)]
        levels.append(level)
        hashes = [hashlib.sha256(salt + block).digest() for block in level]
    with open(path, "ab") as image:
        for level in reversed(levels):  # the kernel reads the top first
            image.writelines(level)
    return size // BLOCK, hashes[0].hex()


def command_line(parameters, blocks, root_hash, salt):
    """The kernel command line whose root is the verified device instead of the bare partition that it named."""
    words = parameters.split()
    partition = [word.partition("=")[2] for word in words if word.startswith("root=")][-1]
    table = "0 %d verity 1 %s %s %d %d %d %d sha256 %s %s" % (
        blocks * BLOCK // SECTOR, partition, partition, BLOCK, BLOCK, blocks, blocks, root_hash, salt.hex(),
    )  # fmt: skip
    kept = [word for word in words if not word.startswith("root=")]
    return " ".join(["root=/dev/dm-0", *kept, "dm-mod.waitfor=%s" % partition, 'dm-mod.create="horus-root,,,ro,%s"' % table])
