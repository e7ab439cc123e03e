"""Determinism on a laptop: real-time and usual kernel, tuned and untuned, compared on emulated machines whose figures a busy host does not change."""
