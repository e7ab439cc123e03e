"""Checks of the library for C and C++ beyond cargo test: as it is installed, and under the compilers' sanitizers."""
