"""Makes a project in each language, as a user does, and takes it to the robot: python3 -m checks.languages.projects.

The commands are those of docs/languages.md and of each project's own README.md, as they are printed. The robot is a program in the place of ssh, which
installs below a folder. What arrives there has to be for its processor, to need no library, and to describe its nodes. Mistakes have to be told.
"""

import os
import re
import subprocess
import tempfile
from dataclasses import dataclass
from pathlib import Path

from checks.boot.reach import deploying
from horus_appliance.console import ApplianceFailed, detail, run_command, step
from horus_appliance.host import system
from horus_appliance.languages import python_package
from horus_appliance.paths import BUILD, REPOSITORY, RUNTIME, SCRIPTS

GUIDE = REPOSITORY / "docs" / "languages.md"
NAME = "upright"
HORUS = RUNTIME / "target" / "release" / "horus"
LANGUAGES = ("c", "cpp", "python")
# By processor: its number in a program's first bytes (elf(5), e_machine), and what runs such a program here.
PROCESSORS = {"x86_64": (62, []), "aarch64": (183, ["qemu-aarch64"])}
INTERPRETER = 3  # elf(5), PT_INTERP: a program that has it is loaded together with libraries
UNCHANGED = 2  # how `horus deploy` ends when nothing was installed
LONGEST_SECONDS = 900
# By processor: how what goes to the robot is built. It is asked what it is and runs for a moment, and optimising is most of a build. For x86-64 the
# library's crates were built before, with a program that needs no library.
BUILT = {"x86_64": deploying.BUILT_QUICKLY, "aarch64": {"CARGO_PROFILE_RELEASE_OPT_LEVEL": "0"}}

# Its first two words are the host, and --.
SSH = '#!/bin/sh\nshift 2\ncase "$1" in uname*) echo "$PROCESSOR" ;; systemd-run*) exec horus node install - --root "$ROBOT" ;; esac\n'
# By language: what is done to a project (a file, what stands there, what takes its place), and what the user is told.
MISTAKES = {
    "c": [("src/nodes.c", "self->gain = 0.8;", "self->gain = 0.8", "src/nodes.c:", "error: expected ';'")],
    "cpp": [
        ("src/nodes.cpp", "gain * ", "gain + missing * ", "src/nodes.cpp:", "'missing'"),
        ("CMakeLists.txt", "find_package(horus 0.1 ", "find_package(horus 9.0 ", "CMakeLists.txt:", "install-library"),
        ("node.toml", 'program = "upright"', 'program = "upwrong"', 'program = "upwrong" has to be the project of CMakeLists.txt'),
        ("node.toml", "period", "periode", "node.toml:", "periode"),
    ],
    "python": [("main.py", "gain = 0.8", "gain = = 0.8", "main.py", "SyntaxError"), ("pyproject.toml", "[project]", "[projects]", "[project]")],
}  # fmt: skip


@dataclass(frozen=True)
class Desk:
    """A user's machine: a folder, and the environment of his shell."""

    place: Path
    environment: dict

    def run(self, command: str, folder: Path, **more: str) -> subprocess.CompletedProcess:
        # Each line has to end well: for what stands left of && in one, the shell's -e does not care.
        lines = "".join(f"{{ {line}\n}} || exit\n" for line in command.splitlines() if line)
        return subprocess.run(
            ["bash", "-c", lines], cwd=folder, env={**self.environment, **more}, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
            errors="replace", timeout=LONGEST_SECONDS, check=False,
        )  # fmt: skip

    def has_to(self, command: str, folder: Path, **more: str) -> str:
        done = self.run(command, folder, **more)
        if done.returncode != 0:
            raise ApplianceFailed(f"`{command}` ended with {done.returncode} in {folder}:\n{done.stdout[-4000:]}")
        return done.stdout


def main() -> int:
    for command, package in (("cmake", "cmake"), ("make", "make"), ("pkg-config", "pkgconf"), ("g++", "g++"), ("qemu-aarch64", "qemu-user")):
        system.ensure_command(command, package)
    subprocess.run(["cargo", "build", "--release", "--locked", "--quiet", "--package", "horus-cli", "--bin", "horus"], cwd=RUNTIME, check=True)
    with tempfile.TemporaryDirectory() as folder, tempfile.TemporaryDirectory(dir="/dev/shm") as topics:
        commands = printed(GUIDE)
        desk = set_up(Path(folder), topics, commands.pop("install"))
        for language, commands in commands.items():
            step(f"a project in {language}")
            take_to_the_robot(desk, language, commands)
            for mistake in MISTAKES[language]:
                tell(desk, desk.place / language / NAME, *mistake)
    print(f"a project in each of {', '.join(LANGUAGES)} was made, tested and deployed for {' and '.join(PROCESSORS)}; mistakes in it are told")
    return 0


def set_up(place: Path, topics: str, install: str) -> Desk:
    """A machine with all that the guide wants installed, by its own commands for libhorus: they end with a program."""
    prefix, programs = place / "prefix", python_package.ensure()
    modules = python_package.copy_of_cargo_build(place / "modules")
    bin_folder = place / "bin"
    bin_folder.mkdir()
    for name, text in (("ssh", SSH), ("sudo", "#!/bin/sh\n")):
        (bin_folder / name).write_text(text)
        (bin_folder / name).chmod(0o755)
    (bin_folder / "horus").symlink_to(HORUS)
    (place / "scripts").symlink_to(SCRIPTS)
    (place / "balance.cpp").write_text(blocks(GUIDE, "cpp")[0])
    desk = Desk(place, {
        **os.environ, "PATH": f"{bin_folder}:{programs}:{os.environ['PATH']}", "CMAKE_PREFIX_PATH": str(prefix), "PYTHONPATH": str(modules),
        "HORUS_SHM_DIR": topics, "PYTHONDONTWRITEBYTECODE": "1", "PROCESSOR": "x86_64", "ROBOT": str(robot(place / "robot")),
        # The compiler is kept with what else this clone has fetched.
        "XDG_CACHE_HOME": str(BUILD / "cache"), "PKG_CONFIG_PATH": str(prefix / "lib" / "pkgconfig"), "LD_LIBRARY_PATH": str(prefix / "lib"),
    })  # fmt: skip
    step("libhorus, as docs/languages.md installs it")
    desk.has_to(f"{install.replace('/usr/local', str(prefix))}\n./balance --describe", place)
    return desk


def robot(place: Path) -> Path:
    """The root of an image with the option `python`."""
    (place / "usr" / "bin").mkdir(parents=True)
    (place / "usr" / "bin" / "python3").touch()
    return place


def blocks(file: Path, language: str) -> list:
    """What is printed in a file as a language."""
    return re.findall(rf"^```{language}\n(.*?)^```", file.read_text(), re.MULTILINE | re.DOTALL)


def printed(guide: Path) -> dict:
    """The commands of the guide: those that begin with a new project by its language, and those before."""
    found = {(re.findall("^horus new --lang (.*?) ", commands) or ["install"])[0]: commands for commands in blocks(guide, "sh")}
    if tuple(found) != ("install", *LANGUAGES):
        raise ApplianceFailed(f"{guide.name} has commands for {', '.join(found)}, and not one block each for install, {', '.join(LANGUAGES)}")
    return found


def take_to_the_robot(desk: Desk, language: str, commands: str) -> None:
    """Follows the guide, then the project's own README.md for each processor."""
    place = desk.place / language
    place.mkdir()
    desk.has_to(commands, place)
    project = place / NAME
    own = "\n".join(blocks(project / "README.md", "sh"))
    if "horus deploy" not in own or not re.search("ctest|unittest", own):
        raise ApplianceFailed(f"the README.md in {language} does not say how a project is tested and deployed:\n{own}")
    for processor, (number, emulator) in PROCESSORS.items():
        to = robot(desk.place / f"{language}-{processor}")
        desk.has_to(own, project, PROCESSOR=processor, ROBOT=str(to), **BUILT[processor])
        program = to / "var/lib/horus/nodes" / NAME / NAME
        if language != "python":
            look_into(program, number)
        words = [*(["python3"] if language == "python" else emulator), str(program), "--describe"]
        described = desk.has_to(" ".join(words), desk.place, HORUS_NODE_FILE=str(program.with_name("node.toml")))
        if '"control"' not in described:
            raise ApplianceFailed(f"the program in {language} for {processor} describes no node 'control': {described[-1000:]}")
        detail(f"{language} for {processor}: tested, sent and described ({program.stat().st_size / 1e6:.1f} MB)")


def look_into(program: Path, number: int) -> None:
    """Whether a program is for a processor, and needs no library there."""
    head = program.read_bytes()[:4096]
    start, size, count = (int.from_bytes(head[at:at + length], "little") for at, length in ((32, 8), (54, 2), (56, 2)))
    kinds = {int.from_bytes(head[at:at + 4], "little") for at in range(start, start + size * count, size)}
    if head[:4] != b"\x7fELF" or head[18] != number or INTERPRETER in kinds:
        raise ApplianceFailed(f"{program} is no static program for the processor {number} of elf(5)")


def tell(desk: Desk, project: Path, file: str, right: str, wrong: str, *words: str) -> None:
    """Makes a mistake in a project: nothing is installed, and the user is told in these words."""
    path = project / file
    text = path.read_text()
    assert right in text, f"{path} has no '{right}'"
    path.write_text(text.replace(right, wrong, 1))
    done = desk.run("horus deploy robot.local", project)
    path.write_text(text)
    if done.returncode != UNCHANGED or not all(word in done.stdout for word in words):
        raise ApplianceFailed(f"after '{wrong}' in {file}, `horus deploy` ended with {done.returncode} and without {words}:\n{done.stdout[-3000:]}")
    detail(f"told: {wrong.strip()}")


if __name__ == "__main__":
    run_command(main)
