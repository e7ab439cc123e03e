# NVIDIA's kernel with its own real-time patches; the fragment of conf/ adds what it leaves out.
require recipes-kernel/linux/horus-kernel.inc
