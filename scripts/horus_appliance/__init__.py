"""What ships images: building the appliance, booting it, flashing it, and telling a person about it. One room a subject.

Python's standard library only, 3.11 or newer, so that there is nothing to install before the first command runs. Nothing here
imports `checks`, which looks at all of this.
"""

from pathlib import Path
import sys

# conf/'s own reader (horus_conf) lies with what it reads.
sys.path.insert(1, str(Path(__file__).resolve().parents[2] / "conf"))
