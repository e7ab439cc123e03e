"""Keys by which updates are signed: a pair that `./scripts/keys` makes, or one that its user keeps elsewhere.

The public half goes into the image, below KEYS. The holder of the private half can write the system of each machine with that image.
"""

import os
import subprocess
from pathlib import Path

from horus_appliance.console import CannotRun, step
from horus_appliance.host import system
from horus_appliance.paths import OUT

# Where the image has its keys, below its root (runtime/update/src/key.rs).
KEYS = Path("usr/lib/horus/update-keys")
FOLDER = OUT / "keys"
# Made by itself for images with the tree `dev`, and put into no other.
DEVELOPMENT = FOLDER / "development.key"


def make(private: Path) -> Path:
    """Makes a pair of keys, NAME.key and NAME.pub; gives the public one. A pair that is there stays."""
    public = private.with_suffix(".pub")
    system.ensure_command("openssl", "openssl")
    if private.exists():
        openssl("pkey", "-in", private, "-pubout", "-out", public)
        return public
    private.parent.mkdir(parents=True, exist_ok=True)
    partial = private.with_suffix(".partial")
    partial.unlink(missing_ok=True)
    os.close(os.open(partial, os.O_CREAT | os.O_EXCL, 0o600))
    openssl("genpkey", "-algorithm", "ED25519", "-out", partial)
    openssl("pkey", "-in", partial, "-pubout", "-out", public)
    partial.rename(private)
    return public


def development() -> Path:
    """The public half of this clone's own pair, which is made where there is none."""
    if not DEVELOPMENT.exists():
        step(f"making a key for updates of development images: {DEVELOPMENT}")
    return make(DEVELOPMENT)


def check_public(path: Path) -> None:
    """Refuses what is no public Ed25519 key."""
    if path.stem == DEVELOPMENT.stem:
        raise CannotRun(f"{path} is a development key: every clone makes its own, and none is kept with care. Make one for releases: ./scripts/keys NAME.")
    if path.suffix != ".pub" or not path.is_file():
        raise CannotRun(f"there is no public key {path}, whose name ends in .pub: ./scripts/keys NAME makes a pair, whose public half is out/keys/NAME.pub.")
    system.ensure_command("openssl", "openssl")
    if "ED25519" not in openssl("pkey", "-pubin", "-in", path, "-noout", "-text").upper():
        raise CannotRun(f"{path} is no Ed25519 key: ./scripts/keys NAME makes a pair of them.")


def sign(private: Path, file: Path) -> bytes:
    """The signature over a file: 64 bytes."""
    system.ensure_command("openssl", "openssl")
    if not private.is_file():
        raise CannotRun(f"there is no key {private}: ./scripts/keys NAME makes a pair, and an image takes updates by the keys that it was built with.")
    command = ["openssl", "pkeyutl", "-sign", "-rawin", "-inkey", str(private), "-in", str(file)]
    done = subprocess.run(command, capture_output=True, check=False)
    if done.returncode != 0 or len(done.stdout) != 64:
        raise CannotRun(f"{private} does not sign: is it an Ed25519 key? openssl says: {done.stderr.decode(errors='replace').strip()[-300:]}")
    return done.stdout


def openssl(*arguments) -> str:
    """Runs openssl; gives what it printed."""
    done = subprocess.run(["openssl", *map(str, arguments)], capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise CannotRun(f"openssl {arguments[0]} failed: {done.stderr.strip()[-300:]}")
    return done.stdout
