"""The machine that builds: its packages and privileges, the processors that it can build for, and the builder's own Debian tree."""
