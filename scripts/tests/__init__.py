"""Tests of the commands in scripts/ and of the booted appliance. Run them with ./scripts/test."""
