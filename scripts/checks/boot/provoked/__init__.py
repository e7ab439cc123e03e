"""What breaks deadlines in a booted machine: a script, and the disk that brings it there."""
