"""The programs that read the Yocto layer, at pinned versions: kas, oelint-adv, and BitBake's own library."""

import subprocess
from pathlib import Path

from horus_appliance.host import python
from horus_appliance.paths import BUILD, REPOSITORY

ENVIRONMENT = BUILD / "layer-tools"
LAYER = REPOSITORY / "meta-horus"


def ensure() -> Path:
    """Installs them where they are missing; returns their directory."""
    return python.ensure(ENVIRONMENT, Path(__file__).with_name("tools.txt"), finish=add_missing_modules)


def add_missing_modules(programs: Path) -> None:
    """bb imports the client of BitBake's hash server, which the package leaves out; reading recipes calls none of it."""
    asked = [programs / "python", "-c", "import sysconfig; print(sysconfig.get_paths()['purelib'])"]
    library = Path(subprocess.run(asked, capture_output=True, text=True, check=True).stdout.strip()) / "hashserv"
    library.mkdir(exist_ok=True)
    (library / "__init__.py").write_text('"""Stands in for BitBake\'s hash server, which nothing here talks to."""\n')
    (library / "client.py").write_text("class ClientPool:\n    pass\n")
