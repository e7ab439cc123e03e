"""Runs the programs of the pages together, in every order: python3 -m checks.pages.together.

README.md, docs/topics.md, docs/nodes.md, docs/languages.md and docs/python.md print programs, and a reader starts several of them on one machine. They are
made as the pages print them, and run on one directory:

- the publisher and the subscriber of README, a `balance` and who publishes its `imu` by hand, in all 24 orders, with each page's `balance` in turn,
  started at once or each when the one before it has joined: what was sent arrives or is counted;
- all programs at once, in an order for each `balance`, every second one backwards, so that of each two each was the first one: none is refused;
- each `balance` beside a running one: it is refused, as the pages say, and the first one goes on.

No library is built for this check alone: libhorus, the module for Python and the tests' library of Rust are those of its neighbours.
"""

import itertools
import os
import re
import subprocess
import sys
import tempfile
from contextlib import closing
from pathlib import Path

from checks.pages import programs
from checks.pages.scene import PATIENCE_SECONDS, Scene
from horus_appliance.console import ApplianceFailed, run_command, step
from horus_appliance.host import system
from horus_appliance.languages import library, python_package
from horus_appliance.paths import REPOSITORY, RUNTIME

KILLED = -15
SPEAKS, LISTENS, BALANCE, BY_HAND = "speaks", "listens", "balance", "by hand"
JOINS = {SPEAKS: "speed", LISTENS: "speed", BALANCE: "base.cmd"}
LEAST_LINES = 5
# On a busy machine a node that reacts by its safe state would do so; node.toml has the last word.
SETTINGS = 'program = "balance"\n[node.control]\non_miss = "count"\n'
# What a program says when its own messages arrived, by a topic that is its own.
ARRIVED = {
    "cart.speed": "0.5 m/s, 0 missed", "camera.front": "2764800 bytes", "wheels": "0.5 0.25", "arm.speed": "forward=0.5", "lift.speed": "forward=0.5",
    "state": "left wheel", "goals": "2.0", "camera": "128.0",
}  # fmt: skip
# By the name of the program, or of the topic where that is not taken yet.
REFUSED = ("a program named balance runs already", "1 living publisher (process ")
# The pages that say that a second `balance` is refused.
SAID = {
    "docs/nodes.md": "a second `balance` is refused", "docs/languages.md": "the second one is refused",
    "docs/python.md": "is refused while one of those runs",
}  # fmt: skip


def main() -> int:
    system.ensure_command("g++", "g++")
    profile = os.environ.get("HORUS_LIBRARY_PROFILE", "release")
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder)
        library.install(place / "prefix", profile)
        copied = python_package.copy_of_cargo_build(place / "python")
        sys.path.insert(0, str(copied))
        os.environ["PYTHONPATH"] = str(copied)
        python = [str(python_package.ensure() / "python")]
        tool = horus(profile)
        step("the programs of the pages, as they are printed")
        commands = programs.made(programs.printed(), place / "prefix", python, place / "programs")
        balances = [program for program in commands if program.is_balance]
        if len(balances) != 5:
            raise ApplianceFailed(f"a balance in Rust twice, in C++, C and Python is expected, and there are {[each.name for each in balances]}")
        orders = list(itertools.permutations((SPEAKS, LISTENS, BALANCE, BY_HAND)))
        step(f"those that meet, in {len(orders)} orders")
        for number, order in enumerate(orders):
            in_order(tool, commands, order, balances[number % len(balances)], is_one_by_one=number % 2 == 0)
        step(f"all {len(commands)} of them")
        for number, balance in enumerate(balances):
            all_at_once(tool, commands, balance, number)
        step("two of one program")
        for balance in balances:
            beside_itself(tool, commands, balances, balance)
    print(f"{len(commands)} programs of {len(programs.PAGES)} pages run together, in every order; what they send arrives or is counted, and each ends in order")
    return 0


def horus(profile: str) -> Path:
    """The program horus."""
    subprocess.run(["cargo", "build", "--quiet", "--locked", "--profile", profile, "--package", "horus-cli", "--bin", "horus"], cwd=RUNTIME, check=True)
    return RUNTIME / "target" / ("debug" if profile == "dev" else profile) / "horus"


def of_readme(commands: dict, words: str) -> programs.Printed:
    found = [program for program in commands if program.page == "README.md" and program.says(f'{words}::<CmdVel>::open("speed"')]
    if len(found) != 1:
        raise ApplianceFailed(f"README.md has {len(found)} programs that open a {words}, and not one")
    return found[0]


def by_hand(scene: Scene) -> tuple:
    """Who publishes `imu`, and who sees what comes of it."""
    import horus as package
    from horus.messages import CmdVel, Imu

    publisher = package.Publisher(Imu, "imu", directory=scene.topics)

    def balances() -> None:
        with package.Subscriber(CmdVel, "base.cmd", directory=scene.topics) as commands:
            got = commands.recv(timeout=PATIENCE_SECONDS)
        scene.wants(got == CmdVel(forward=0.4), f"{got} came of the only message on imu")

    return publisher, lambda: publisher.send(Imu(angular_velocity=(0, 0.5, 0))), balances


def in_order(tool: Path, commands: dict, order: tuple, balance: programs.Printed, is_one_by_one: bool) -> None:
    """The four that meet: each message of `speed` is printed or counted, and the one message of `imu` becomes commands."""
    of = {SPEAKS: commands[of_readme(commands, "Publisher")], LISTENS: commands[of_readme(commands, "Subscriber")], BALANCE: commands[balance]}
    with Scene(tool, f"{', '.join(order)}, with {balance.name}, {'one by one' if is_one_by_one else 'at once'}") as scene:
        hand = None
        for who in order:
            if who == BY_HAND:
                hand, tilts, balances = by_hand(scene)
                continue
            scene.start(who, of[who], SETTINGS if who == BALANCE else "")
            if is_one_by_one:
                scene.until(lambda who=who: scene.has_joined(who, JOINS[who]), f"{who} joins")
        with closing(hand):
            for who, topic in JOINS.items():
                scene.until(lambda who=who, topic=topic: scene.has_joined(who, topic), f"{who} joins")
            comes_first = is_one_by_one and order.index(LISTENS) < order.index(SPEAKS)
            before = 0 if comes_first else scene.topic("speed")["sent"]
            tilts()
            balances()
            scene.until(lambda: len(heard(scene)) >= LEAST_LINES, "lines of the subscriber")
            scene.wants(scene.asked_to_end(SPEAKS) == KILLED, "the publisher has a status of its own")
            sent = scene.topic("speed")["sent"]
            scene.until(lambda: accounted(scene) >= sent - before, f"{sent} were sent, {before} before it joined at most")
            scene.wants(accounted(scene) <= sent, f"{sent} were sent, and {accounted(scene)} are accounted for")
            ends_in_order(scene, BALANCE)
            scene.wants(scene.asked_to_end(LISTENS) == KILLED, "the subscriber has a status of its own")
        scene.wants(not (scene.topics / "base.cmd.topic").exists(), "the node's topic is left behind")


def heard(scene: Scene) -> list:
    """What README's subscriber had missed, line by line."""
    return [int(missed) for missed in re.findall(r"^0\.5 m/s, (\d+) missed$", scene.text(LISTENS), re.MULTILINE)]


def accounted(scene: Scene) -> int:
    lines = heard(scene)
    return len(lines) + lines[-1]


def ends_in_order(scene: Scene, name: str) -> None:
    """A program of nodes is asked to end: it does, well, and says what became of its releases."""
    status = scene.asked_to_end(name)
    scene.wants(status == 0, f"{name} ended with {status}")
    scene.wants(re.search(r"control: \d+ releases", scene.text(name)) is not None, f"{name} has no account")


def all_at_once(tool: Path, commands: dict, balance: programs.Printed, number: int) -> None:
    """All programs, with one balance: none is refused, and each that ends by itself ends well."""
    others = [program for program in commands if not program.is_balance]
    speaks, listens = of_readme(commands, "Publisher"), of_readme(commands, "Subscriber")
    order = [*others[number * 3 :], balance, *others[: number * 3]]
    order = order[::-1] if number % 2 else order
    with Scene(tool, f"all, {', '.join(program.name for program in order)}") as scene:
        for program in order:
            scene.start(program.name, commands[program], SETTINGS if program.is_balance else "")
        hand, tilts, balances = by_hand(scene)
        with closing(hand):
            for program, topic in ((speaks, "speed"), (listens, "speed"), (balance, "base.cmd")):
                scene.until(lambda program=program, topic=topic: scene.has_joined(program.name, topic), f"{program.name} joins")
            tilts()
            balances()
            for program in others:
                if program not in (speaks, listens):
                    status = scene.ended(program.name)
                    scene.wants(status == 0, f"{program.name} ended with {status}")
            for topic, words in ARRIVED.items():
                owners = [program for program in others if program.says(f'"{topic}"')]
                scene.wants(len(owners) == 1, f"{topic} is a topic of {[owner.name for owner in owners]}")
                scene.wants(words in scene.text(owners[0].name), f"{owners[0].name} does not say '{words}'")
            scene.wants(KILLED == scene.asked_to_end(speaks.name) == scene.asked_to_end(listens.name), "README's two have statuses of their own")
            ends_in_order(scene, balance.name)


def beside_itself(tool: Path, commands: dict, balances: list, first: programs.Printed) -> None:
    """Another balance, in whatever language, is refused as the pages say, and the first one goes on."""
    for page, words in SAID.items():
        if words not in (REPOSITORY / page).read_text():
            raise ApplianceFailed(f"{page} does not say that '{words}'")
    with Scene(tool, f"another balance beside {first.name}") as scene:
        scene.start(first.name, commands[first], SETTINGS)
        scene.until(lambda: scene.has_joined(first.name, "base.cmd"), f"{first.name} joins")
        others = [balance for balance in balances if balance != first]
        for other in others:
            scene.start(other.name, commands[other])
        for other in others:
            status = scene.ended(other.name)
            scene.wants(status > 0, f"{other.name} ended with {status}")
            scene.wants(any(words in scene.text(other.name) for words in REFUSED), f"{other.name} does not say why")
        hand, tilts, still_balances = by_hand(scene)
        with closing(hand):
            tilts()
            still_balances()
            ends_in_order(scene, first.name)


if __name__ == "__main__":
    run_command(main)
