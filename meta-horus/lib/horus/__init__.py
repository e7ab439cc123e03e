"""What the recipes of meta-horus ask of the repository that they lie in."""

BBIMPORTS = ["conf", "verity"]  # the modules whose functions BitBake offers to recipes, as horus.conf.NAME
