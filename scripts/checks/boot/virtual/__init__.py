"""Boot tests in virtual time, where an instruction is a nanosecond: what they compare does not depend on the host."""
