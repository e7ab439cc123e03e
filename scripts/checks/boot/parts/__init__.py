"""Whether an image's list of parts is one of CycloneDX, by its own schema."""

import subprocess
from pathlib import Path

from horus_appliance.host import python
from horus_appliance.paths import BUILD

VALIDATE = """
import sys
from cyclonedx.schema import SchemaVersion
from cyclonedx.validation.json import JsonStrictValidator
sys.exit(str(JsonStrictValidator(SchemaVersion.V1_6).validate_str(open(sys.argv[1]).read()) or "") or None)
"""


def fault(parts: Path) -> str:
    """What is wrong with a list; empty for nothing."""
    programs = python.ensure(BUILD / "cyclonedx", Path(__file__).with_name("requirements.txt"))
    done = subprocess.run([programs / "python", "-c", VALIDATE, parts], capture_output=True, text=True, check=False)
    return done.stderr if done.returncode else ""
