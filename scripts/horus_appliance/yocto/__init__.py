"""The official image: kas, BitBake and the layers that meta-horus builds on."""
