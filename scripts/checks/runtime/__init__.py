"""Checks of the runtime beyond cargo test: sanitizers, fuzzers, other processors, other compilers, its crates."""
