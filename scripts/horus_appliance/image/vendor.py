"""Who answers for an image: what os-release says of it, and what a release has to say."""

from pathlib import Path

from horus_appliance.console import CannotRun
from horus_appliance.host import system

import horus_conf

# Below the image's root, as lines of os-release; the recipe appends them to that, and takes the file away.
FILE = "usr/share/horus/vendor"


def add(overlay: Path) -> None:
    """Leaves what the image says of its vendor in its overlay."""
    if text := lines():
        system.write_as_root(overlay / FILE, text)


def lines() -> str:
    """The fields that are set, as os-release(5) has them."""
    return "".join(f'{field}="{value}"\n' for field, value in horus_conf.vendor().os_release().items())


def require(variant: str, has_keys: bool) -> None:
    """Refuses a release without what its users have to know: where they report vulnerabilities, and until when there are updates."""
    vendor, is_development = horus_conf.vendor(), "dev" in horus_conf.variants()[variant]
    missing = [name for name in ("security", "support_until") if not getattr(vendor, name)]
    if missing and not is_development and (variant == "release" or has_keys):
        raise CannotRun(f"a release says who answers for it: set {' and '.join(missing)} of [vendor] in conf/image.toml (docs/security.md tells why).")
