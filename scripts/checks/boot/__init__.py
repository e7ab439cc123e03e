"""Tests of booted images."""
