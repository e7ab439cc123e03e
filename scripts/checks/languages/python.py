"""Builds the package for Python, installs it and tests it: python3 -m checks.languages.python.

The tests run with the wheel that stands in dist/ after the guide's commands. A person takes it from there to machines without Rust, and so does a test. Those
that depend on how the module came to be run with what a plain cargo build makes, too, as Yocto does it; the ring of languages passes its messages with that one. The examples of docs/python.md run as they are printed, and
a type checker reads them, the stubs and what `horus message generate --lang python` writes, while the tests run.
"""

import os
import platform
import re
import shutil
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from checks.languages import guides
from horus_appliance.console import ApplianceFailed, detail, run_command, step
from horus_appliance.host import system
from horus_appliance.languages import python_package
from horus_appliance.paths import BUILD, REPOSITORY, RUNTIME

GUIDE = REPOSITORY / "docs" / "python.md"
# The guide's commands that build a wheel and install it.
BUILD_WORDS = "./scripts/wheel\n"
LONGEST_SECONDS = 300
LAYOUT = "message example/Trip\n count u64\n legs [example/Leg; 2]\n at horus/Vector3\n small [[i16; 2]; 2]\nmessage example/Leg\n x f64\n"
LAYOUT += "message horus/Vector3\n x f64\n y f64\n z f64\n"
# Tests of finding, loading and calling the module, of messages and of programs of nodes: what another way to build it could break.
OF_THE_BUILD = ("Installed", "Vectors", "Made", "Typed", "VirtualTime")
# What a type checker has to find in a class of the guide's form: it says so where nothing is found that it was told to ignore.
WRONG = """import horus

@horus.message("example/Wrong")
class Wrong(horus.Message):
    left: horus.f64 = 0.0
    ticks: horus.Array[int] = horus.array(horus.i16, 4)

Wrong(left="fast")  # type: ignore[arg-type]
Wrong(ticks=3)  # type: ignore[arg-type]
Wrong(lefty=1.0)  # type: ignore[call-arg]
Wrong(1.0, [1, 2, 3, 4], 5)  # type: ignore[call-arg]
text: str = Wrong().ticks[0]  # type: ignore[assignment]
Wrong().left = "fast"  # type: ignore[assignment]
print(Wrong.layout(), bytes(Wrong()), horus.Publisher(Wrong, "wrong").try_send(Wrong(2)))
"""
# Examples that have functions have them without annotations.
TYPES = """[mypy]
strict = True
[mypy-{examples}]
disallow_untyped_defs = False
disallow_incomplete_defs = False
disallow_untyped_calls = False
disallow_untyped_decorators = False
"""


def main() -> int:
    programs = python_package.ensure()
    with tempfile.TemporaryDirectory() as folder, ThreadPoolExecutor() as beside:
        place = Path(folder)
        copied = python_package.copy_of_cargo_build(place / "copied")
        install(programs)
        install_without_rust(place / "fresh")
        examples = write_examples(place / "examples")
        generated = generate(programs, place)
        step("the tests, with the wheel; types")
        types = [beside.submit(check, command, place) for command in type_checkers(programs, [*examples, generated], place)]
        run_tests(programs, {})
        step("the examples of docs/python.md")
        for example in examples:
            run([programs / "python", example], {})
        step("the tests of how it is built, with a plain cargo build")
        run_tests(programs, {"PYTHONPATH": str(copied)}, OF_THE_BUILD)
        for one in types:
            detail(one.result())
    print("the package for Python works from its wheel and from a plain cargo build, and its examples run as they are printed")
    return 0


def install(programs: Path) -> None:
    """The guide's commands, for the environment of the tests."""
    step("the wheel by maturin, built and installed as printed in docs/python.md")
    python_package.uninstall(programs)  # pip takes one of this version for this one
    guides.run(guides.commands("python.md", BUILD_WORDS), {"PATH": f"{programs}:{os.environ['PATH']}"})
    wheels = [path.name for path in (REPOSITORY / "dist").glob("*.whl")]
    if len(wheels) != 1 or not re.fullmatch(rf"horus_rt-.*-cp311-abi3-manylinux_2_\d+_{platform.machine()}\.whl", wheels[0]):
        raise ApplianceFailed(f"no wheel for each Python from 3.11 on and this machine, but {wheels}")
    detail(wheels[0])


def install_without_rust(place: Path) -> None:
    """The guide's last command in a fresh environment that has no network, no cargo and no compiler; then the guide's first program runs."""
    step("the wheel in a fresh environment, without network and without Rust")
    subprocess.run([sys.executable, "-m", "venv", place], check=True)
    tools = place / "tools"
    tools.mkdir()
    for tool in ("bash", "timeout"):
        (tools / tool).symlink_to(shutil.which(tool))
    command = guides.commands("python.md", BUILD_WORDS).splitlines()[-1].partition("#")[0]
    program = place / "program.py"
    program.write_text(re.search(r"^```python\n(.*?)^```", GUIDE.read_text(), re.MULTILINE | re.DOTALL)[1])
    system.ensure_command("unshare", "util-linux")
    alone = [shutil.which("unshare"), "--net", *([] if os.geteuid() == 0 else ["--map-root-user"])]
    with tempfile.TemporaryDirectory(dir="/dev/shm") as topics:
        environment = {"PATH": f"{place / 'bin'}:{tools}", "HOME": str(place), "HORUS_SHM_DIR": topics}
        for line in (f"timeout 60 {command}", f"timeout 60 python {program} --releases 20"):
            done = subprocess.run([*alone, "bash", "-euc", line], cwd=REPOSITORY, env=environment, capture_output=True, text=True, check=False)
            if done.returncode != 0:
                raise ApplianceFailed(f"`{line}` ended with {done.returncode} where no Rust is:\n{done.stdout[-1000:]}{done.stderr[-3000:]}")
    if "20 releases" not in done.stdout:
        raise ApplianceFailed(f"the program of docs/python.md says with the wheel:\n{done.stdout}")


def run_tests(programs: Path, environment: dict, only: tuple = ()) -> None:
    chosen = [argument for name in only for argument in ("-k", f"*.{name}.*")]
    tests = python_package.BINDING / "tests"
    run([programs / "python", "-W", "error::ResourceWarning", "-m", "unittest", "discover", "-s", tests, *chosen], environment)


def run(command: list, environment: dict) -> str:
    """Runs a program on topics of its own; it has to end well."""
    with tempfile.TemporaryDirectory(dir="/dev/shm") as topics:
        done = subprocess.run(
            command, env={**os.environ, **environment, "HORUS_SHM_DIR": topics, "PYTHONDONTWRITEBYTECODE": "1"}, capture_output=True, text=True,
            errors="replace", timeout=LONGEST_SECONDS, check=False, cwd=topics,
        )  # fmt: skip
    if done.returncode != 0:
        raise ApplianceFailed(f"'{' '.join(map(str, command))}' ended with {done.returncode}:\n{done.stdout[-1000:]}{done.stderr[-4000:]}")
    return done.stdout


def write_examples(place: Path) -> list:
    """The examples of the guide as files. The program of nodes, which runs until it is told to end, ends after some releases."""
    place.mkdir()
    files = []
    for number, source in enumerate(re.findall(r"^```python\n(.*?)^```", GUIDE.read_text(), re.MULTILINE | re.DOTALL)):
        files.append(place / f"example_{number}.py")
        releases = "import sys\nsys.argv += ['--releases', '20']\n" if "app.run()" in source else ""
        files[-1].write_text(releases + source)
    if len(files) < 5:
        raise ApplianceFailed(f"{GUIDE.name} has {len(files)} examples: are they found?")
    return files


def generate(programs: Path, place: Path) -> Path:
    """The classes that the generator makes of a layout, which work."""
    step("horus message generate --lang python")
    layout, made = place / "trip.layout", place / "trip.py"
    layout.write_text(LAYOUT)
    horus = ["cargo", "run", "--release", "--quiet", "--locked", "--package", "horus-cli", "--bin", "horus", "--"]
    subprocess.run([*horus, "message", "generate", "--lang", "python", "-o", made, layout], cwd=RUNTIME, check=True)
    if "2 3" not in run([programs / "python", "-c", f"import sys; sys.path.insert(0, {str(place)!r})\n{TRIP}"], {}):
        raise ApplianceFailed("the classes that `horus message generate` makes do not work")
    return made


def type_checkers(programs: Path, files: list, place: Path) -> list:
    """What says that the stubs say what the module has, and that programs which use it are right by them: one process for all programs."""
    settings = place / "mypy.ini"
    wrong = place / "wrong.py"
    wrong.write_text(WRONG)
    settings.write_text(TYPES.format(examples=",".join(file.stem for file in files if "def " in file.read_text())))
    # What it knows of Python's library stays for the next time.
    mypy = [programs / "python", "-m", "mypy", "--config-file", settings, "--cache-dir", BUILD / "python-package-types"]
    # What the compiled module says of its signatures is less than the stubs do.
    stubtest = [programs / "python", "-m", "mypy.stubtest", "horus", "--ignore-missing-stub", "--ignore-unused-allowlist", "--allowlist", allowed(place)]
    return [[*mypy, *files, wrong], stubtest]


def check(command: list, place: Path) -> str:
    """Runs a checker; gives its last line."""
    done = subprocess.run(command, capture_output=True, text=True, check=False, cwd=place)
    if done.returncode != 0:
        raise ApplianceFailed(f"'{' '.join(map(str, command))}':\n{done.stdout[-4000:]}{done.stderr[-1000:]}")
    return done.stdout.strip().splitlines()[-1]


TRIP = "import trip\nt = trip.Trip(count=2)\nt.legs[1].x = 3\nprint(t.count, int(t.legs[1].x))"


def allowed(place: Path) -> Path:
    """What stubs say in another way than the code: options that the code takes as any keyword, and refuses by name."""
    file = place / "allowed"
    # What begins with _ is private, the messages are made of the stubs' own source, numbers are annotations of float and int, and the compiled
    # classes are made by __new__, from any keywords. Python has a name for a buffer since 3.12 only. What a field of arrays can be set to is said for
    # type checkers alone.
    names = (r"_[a-z].*", r"messages\..*", r"[fiu](8|16|32|64|128)(\..*)?", r"(Publisher|Subscriber|World|(Action)?(Server|Client))\.(__init__|__new__)")
    names += (r".*\.__buffer__", r"Array\.__[gs]et__")
    file.write_text("".join(f"horus\\.{name}\n" for name in names))
    return file


if __name__ == "__main__":
    run_command(main)
