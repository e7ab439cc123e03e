"""The programs that read the Yocto layer, at pinned versions: kas, oelint-adv, and BitBake's own library."""

from pathlib import Path

from horus_appliance.host import python
from horus_appliance.paths import BUILD, REPOSITORY

ENVIRONMENT = BUILD / "layer-tools"
LAYER = REPOSITORY / "meta-horus"


def ensure() -> Path:
    """Installs them where they are missing; returns their directory."""
    return python.ensure(ENVIRONMENT, Path(__file__).with_name("tools.txt"))
