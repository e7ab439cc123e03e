"""Checks of the gateway that cargo does not run by itself."""
