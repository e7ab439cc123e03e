"""Writing an image to a card or disk, and offering it to Raspberry Pi Imager."""
