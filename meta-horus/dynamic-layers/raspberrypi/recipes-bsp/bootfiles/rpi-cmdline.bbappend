# cmdline.txt is the command line of conf/, whole: the layer's own would name another root device.
CMDLINE:horus-os = "${HORUS_COMMAND_LINE}"
