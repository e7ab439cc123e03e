"""The programs that the pages print, all of them together."""
