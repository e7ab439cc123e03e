"""The Debian recipe's image: the runtime built by cargo, the overlay of conf/ and programs, and the disk that mkosi makes of them."""
