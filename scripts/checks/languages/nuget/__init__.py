"""The package Horus.Net for NuGet, and a new project that takes it."""
