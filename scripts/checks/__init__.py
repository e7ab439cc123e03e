"""What looks at the product: every check of ./scripts/test, each beside its own test. Nothing that ships imports this."""

import horus_appliance  # noqa: F401  (its __init__ finds conf/'s reader)
