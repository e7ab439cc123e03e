"""Checks of the pages: the programs that they print, all of them together; their links, the map and the index of decisions."""
