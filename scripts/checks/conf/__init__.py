"""Checks of conf/: its reader and installer, its kernel options, units and scripts."""
