"""Boot tests of an ordinary Debian that `horus tune` made ready: none of our images."""
