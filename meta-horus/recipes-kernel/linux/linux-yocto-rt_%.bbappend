# Real-time kernel of the x86-64 and the virtual boards. oe-core offers it to its QEMU machines only.
COMPATIBLE_MACHINE:genericx86-64:horus-os = "genericx86-64"
KMACHINE:genericx86-64:horus-os = "common-pc-64"
# A PC is also a virtual machine, whose disks are virtio's.
KERNEL_FEATURES:append:genericx86-64:horus-os = " cfg/virtio.scc"

require recipes-kernel/linux/horus-kernel.inc
SRC_URI:append:horus-os = " file://uefi.cfg"
SRC_URI:append:genericx86-64:horus-os = " file://pc.cfg"
SRC_URI:append:qemux86-64:horus-os = " file://pc.cfg"
