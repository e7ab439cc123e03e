"""Updates of a machine that boots: what is installed, and who decides."""
