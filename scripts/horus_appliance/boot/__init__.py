"""Booting an image in QEMU: the machine, what the host hands in and takes out, and the verdict on a boot."""
