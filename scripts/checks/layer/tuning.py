"""Finds tuning values outside conf/: a parameter that stands there may stand nowhere in meta-horus, recipes or the kas files."""

import re
from pathlib import Path

from horus_appliance.paths import CONF, REPOSITORY

from horus_conf import numbered_lines

# Where builders are told what to do, and where a value would be a second one.
PLACES = ["meta-horus", "recipes", "kas.yml"]
# Parameters that name a part of the machine or how it is mounted, in any system: these words mean other things elsewhere.
NO_TUNING = {"console", "root", "ro", "rootwait", "panic", "quiet"}


def names() -> list:
    """Every knob of conf/: its name, where conf/ has it, and what it looks like elsewhere."""
    found = []
    for path in [*CONF.glob("*/kernel/cmdline"), *CONF.glob("machine/*/cmdline")]:
        for _, line in numbered_lines(path):
            name, _, value = line.partition("=")
            if name not in NO_TUNING:
                found.append((name, path, re.compile(rf"(?<![\w.-]){re.escape(name)}{'=' if value else ''}(?=[^\s=]|$|\b)")))
    for path in CONF.glob("*/rootfs/usr/lib/sysctl.d/*.conf"):
        for _, line in numbered_lines(path):
            key = line.partition("=")[0].strip()
            found.append((key, path, re.compile(rf"(?<![\w.]){re.escape(key)}(?![\w.])|/proc/sys/{re.escape(key.replace('.', '/'))}\b")))
    rt = CONF / "rt" / "kernel" / "rt.cfg"
    for option in re.findall(r"^(?:# )?(CONFIG_\w+)[= ]", rt.read_text(), re.MULTILINE):
        found.append((option, rt, re.compile(rf"\b{option}\b")))
    for path in CONF.glob("machine/*/config.txt"):
        for _, line in numbered_lines(path):
            key = line.partition("=")[0]
            if "=" in line:
                found.append((key, path, re.compile(rf"\b{key}=|\b{key.upper()}\s*\??=")))
    return found


def problems(root: Path = REPOSITORY) -> list:
    """Each place outside conf/ that holds a knob's name."""
    knobs = names()
    found = []
    for place in PLACES:
        base = root / place
        for path in sorted(base.rglob("*")) if base.is_dir() else [base]:
            # Prose may name a knob.
            if not path.is_file() or path.suffix == ".md" or "__pycache__" in path.parts:
                continue
            relative = path.relative_to(root)
            for number, line in enumerate(path.read_text(errors="replace").splitlines(), 1):
                code = line.partition("#")[0]
                for knob, source, pattern in knobs:
                    if pattern.search(code):
                        found.append(f"{relative}:{number}: {knob} stands in {source.relative_to(CONF.parent)} and nowhere else. Take it from there.")
    return list(dict.fromkeys(found))
