"""The programs that the pages print: how each is found in its page, and made as a reader makes it."""

import json
import os
import re
import subprocess
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

from checks.languages import programs
from horus_appliance.console import ApplianceFailed
from horus_appliance.paths import REPOSITORY, RUNTIME

PAGES = ("README.md", "docs/topics.md", "docs/nodes.md", "docs/languages.md", "docs/python.md")
BLOCK = re.compile(r"^```(rust|cpp|c|python)\b[^\n]*\n(.*?)^```$", re.MULTILINE | re.DOTALL)
# What opens a topic, in each language.
OPENS = re.compile(r"(?:\b|_)(?:Publisher|Subscriber|input|output|input_with|output_with|publisher_open|subscriber_open)\b[^\n]*\"")
# As rustdoc runs what has no main of its own.
# What a program of the pages has in its Cargo.toml.
CRATES = {"horus", "serde"}
WRAPPED = "fn main() {{ fn run() -> Result<(), horus::Error> {{ {code} }} run().unwrap(); }}\n"


@dataclass(frozen=True)
class Printed:
    """A program of a page."""

    page: str
    number: int
    language: str
    text: str

    @property
    def name(self) -> str:
        return f"{Path(self.page).stem}-{self.number}-{self.language}"

    @property
    def is_balance(self) -> bool:
        """The node that each page begins with."""
        return '"base.cmd"' in self.text and not re.search(r"World", self.text)

    def says(self, words: str) -> bool:
        return words in self.text


def printed() -> list:
    """All programs of the pages that open topics."""
    found = []
    for page in PAGES:
        blocks = BLOCK.findall((REPOSITORY / page).read_text())
        found += [Printed(page, number, *block) for number, block in enumerate(blocks) if OPENS.search(block[1])]
    return found


def made(wanted: list, prefix: Path, python: list, place: Path) -> dict:
    """The command of each program; those that are compiled are compiled here, without a warning."""
    place.mkdir()
    libraries = rust_libraries()
    with ThreadPoolExecutor(2) as beside:
        commands = beside.map(lambda program: made_one(program, prefix, python, libraries, place), wanted)
        return dict(zip(wanted, commands, strict=True))


def made_one(program: Printed, prefix: Path, python: list, libraries: dict, place: Path) -> list:
    ending = {"rust": "rs", "python": "py"}.get(program.language, program.language)
    source = place / f"{program.name}.{ending}"
    source.write_text(in_full(program.text) if program.language == "rust" else program.text)
    if program.language == "python":
        return [*python, str(source)]
    if program.language == "rust":
        return [str(by_rustc(source, libraries, place / program.name))]
    compiler = ["gcc", "-std=c99"] if program.language == "c" else ["g++"]
    return [str(programs.build(programs.Program(source.name, folder=place), compiler, prefix, place))]


def in_full(text: str) -> str:
    """A program in Rust with the lines that its page hides, and with a main."""
    code = re.sub(r"^#( |$)", "", text, flags=re.MULTILINE)
    if re.search(r"^fn main\b|^horus::main!", code, re.MULTILINE):
        return code
    result = "" if re.search(r"^Ok::", code, re.MULTILINE) else "\nOk(())"
    return WRAPPED.format(code=code.strip() + result)


def rust_libraries() -> dict:
    """The crates that programs of the pages name, as the tests have them, which are built."""
    command = ["cargo", "test", "--locked", "--package", "horus", "--test", "any_order", "--no-run", "--message-format=json"]
    done = subprocess.run(command, cwd=RUNTIME, capture_output=True, text=True, check=True)
    messages = [json.loads(line) for line in done.stdout.splitlines()]
    libraries = {
        message["target"]["name"]: Path(file)
        for message in messages
        if message["reason"] == "compiler-artifact" and message["target"]["name"] in CRATES and message["target"]["kind"] == ["lib"]
        for file in message["filenames"]
        if file.endswith(".rlib")
    }
    if libraries.keys() != CRATES:
        raise ApplianceFailed(f"cargo does not say where it put {', '.join(sorted(CRATES - libraries.keys()))}")
    return libraries


def by_rustc(source: Path, libraries: dict, built: Path) -> Path:
    named = [argument for name, file in libraries.items() for argument in ("--extern", f"{name}={file}")]
    command = ["rustc", "--edition", "2024", "-D", "warnings", *named, "-L", f"dependency={libraries['horus'].parent}"]
    package = {**os.environ, "CARGO_PKG_NAME": "balance", "CARGO_BIN_NAME": "balance", "CARGO_PKG_VERSION": "0.1.0"}  # as Cargo does for a project
    done = subprocess.run([*command, str(source), "-o", str(built)], cwd=RUNTIME, env=package, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise ApplianceFailed(f"{source.name} does not compile:\n{done.stderr[:3000]}")
    return built
