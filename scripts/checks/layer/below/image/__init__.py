"""The whole image by BitBake, and its boot: what scripts/check-layer --image does."""
