# meta-raspberrypi's kernel has no real-time variant: the fragment of conf/ makes it one.
require recipes-kernel/linux/horus-kernel.inc
