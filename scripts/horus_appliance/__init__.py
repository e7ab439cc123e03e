"""What ships images: building the appliance, booting it, flashing it, and telling a person about it. One room a subject.

Python's standard library only, 3.11 or newer, so that there is nothing to install before the first command runs. Nothing here
imports `checks`, which looks at all of this.
"""

import sys
from pathlib import Path

if sys.version_info < (3, 11):
    print(f"CANNOT RUN: Python 3.11 is needed, and this is {sys.version.split()[0]}. Use Debian 12 or 13 or Ubuntu 24.04, or a container of one.", file=sys.stderr)
    sys.exit(2)

# conf/'s own reader (horus_conf) lies with what it reads.
sys.path.insert(1, str(Path(__file__).resolve().parents[2] / "conf"))
