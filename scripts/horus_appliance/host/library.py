"""The library for C and C++: how it is built, and where its files go."""

import re
import shutil
import subprocess
import tomllib
from pathlib import Path

from horus_appliance.console import CannotRun, step
from horus_appliance.paths import RUNTIME

BINDING = RUNTIME / "bindings" / "c"
PACKAGE = BINDING / "package"


def install(prefix: Path, profile: str, target: str | None = None) -> list:
    """Builds the library and installs it below `prefix`; gives the files."""
    step(f"building libhorus ({profile})")
    built, static_libraries = build(profile, target)
    values = {"VERSION": version(), "ABI": str(abi_version()), "STATIC_LIBRARIES": static_libraries}
    include = BINDING / "include"
    headers = sorted(path for path in include.rglob("*.h*") if path.is_file())
    files = [copy(header, prefix / "include" / header.relative_to(include)) for header in headers]
    if not is_static(target):
        shared = prefix / "lib" / f"libhorus.so.{values['ABI']}"
        files.append(copy(built / "libhorus_c.so", shared))
        files.append(link(shared, prefix / "lib" / "libhorus.so"))
    files.append(copy(built / "libhorus_c.a", prefix / "lib" / "libhorus.a"))
    files.append(fill("horus.pc", prefix / "lib" / "pkgconfig", values))
    # CMake's lists are separated by semicolons.
    values["STATIC_LIBRARIES"] = static_libraries.replace(" ", ";")
    files += [fill(name, prefix / "lib" / "cmake" / "horus", values) for name in ("horusConfig.cmake", "horusConfigVersion.cmake")]
    return files


def is_static(target: str | None) -> bool:
    """Whether programs for it carry all of their libraries: with musl, which nobody installs a shared library for."""
    return bool(target) and target.endswith("-musl")


def build(profile: str, target: str | None) -> tuple:
    """Builds it; gives the folder that it is in, and what a program needs that is linked with libhorus.a."""
    command = ["cargo", "rustc", "--locked", "--package", "horus-c", "--lib", "--profile", profile]
    command += ["--target", target] if target else []
    command += ["--crate-type", "staticlib"] if is_static(target) else []
    done = subprocess.run([*command, "--", "--print", "native-static-libs"], cwd=RUNTIME, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise CannotRun(f"'{' '.join(command)}' failed:\n{done.stderr[-3000:]}")
    said = re.search(r"native-static-libs: (.*)", done.stderr)
    if not said:
        raise CannotRun(f"Cargo did not say what libhorus.a needs:\n{done.stderr[-3000:]}")
    libraries = list(dict.fromkeys(said[1].split()))
    return RUNTIME / "target" / (target or "") / ("debug" if profile == "dev" else profile), " ".join(libraries)


def version() -> str:
    """The release that the library is of."""
    return tomllib.loads((RUNTIME / "Cargo.toml").read_text())["workspace"]["package"]["version"]


def abi_version() -> int:
    """The first number of the interface, which the library's own name carries."""
    return int(re.search(r"HORUS_ABI_VERSION: u32 = (\d+);", (BINDING / "src" / "lib.rs").read_text())[1])


def copy(source: Path, place: Path) -> Path:
    place.parent.mkdir(parents=True, exist_ok=True)
    place.unlink(missing_ok=True)  # a program that runs keeps the file that it was started with
    shutil.copy(source, place)
    place.chmod(0o755 if ".so" in place.name else 0o644)
    return place


def link(target: Path, place: Path) -> Path:
    place.unlink(missing_ok=True)
    place.symlink_to(target.name)
    return place


def fill(name: str, folder: Path, values: dict) -> Path:
    text = (PACKAGE / f"{name}.in").read_text()
    for key, value in values.items():
        text = text.replace(f"@{key}@", value)
    folder.mkdir(parents=True, exist_ok=True)
    place = folder / name
    place.write_text(text)
    return place
