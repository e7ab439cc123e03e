"""The languages that programs of HORUS are written in, as they are built on this machine: the library, the package for Python, .NET, and Zig."""
