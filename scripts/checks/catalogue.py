"""The checks of scripts/test: what each runs, and what it cannot run beside."""

import sys

from checks.boot.reach import deploying
from checks.runner import Check
from checks.runtime.soak import STEPS
from horus_appliance.paths import BENCHMARKS, RUNTIME, SCRIPTS

BRIDGE = RUNTIME / "bridge"

# What the benchmarks depend on is built for the runtime already.
SHARED_TARGET = {"CARGO_TARGET_DIR": str(RUNTIME / "target")}
# Cargo locks the folder of a profile while it builds there; a check that holds none of these has one of its own.
DEBUG, RELEASE, SANITIZERS = "runtime/target/debug", "runtime/target/release", "runtime/target/sanitizers"
# A mount namespace copies what is mounted when it is made, and a device stays busy for as long as such a copy is there.
MOUNTS = "mounts"
# What goes through all interleavings is optimised, with our own crates, and what it was built with is not.
LOOM_OPTIMISED = {'"*"': 0, "loom": 3, "generator": 3}
LOOM_FAST = [word for package, level in LOOM_OPTIMISED.items() for word in ("--config", f"profile.release.package.{package}.opt-level={level}")]
BRIDGES = "runtime/bridge/target"
# A check of a quarter of an hour that has not begun by then would not leave the others their time.
LONG_BY = 0.5
# Beside builds there is time for one emulated machine.
MACHINES = "machines"
TIMED = "its tests bound how long a peer may be held up, and some spin on both CPUs"
FOREIGN = "others' programs lose messages where they get no time"
CPP = ("c++", "g++")
IMAGES = "images, one built after a killed build"
MUSL = "a program that needs no library is built"
BRIDGE_BUILT = "ros2: the bridge is built"
TESTS_BUILT = "rust tests are built"
TESTS = "rust unit, doc and process tests"
COMMAND_TESTS = "the command's tests"
LIBRARY = "languages: installed, found by pkg-config and CMake"
# What makes an image one, beside its programs, and the scripts that start it.
IMAGE_PARTS = ("conf", "recipes", "scripts/horus_appliance/image", "scripts/horus_appliance/boot")
SYS, SHM, HORUS, C, PYTHON = "runtime/sys", "runtime/shm", "runtime/horus", "runtime/bindings/c", "runtime/bindings/python"
CRATES = ("runtime/Cargo.toml", "runtime/Cargo.lock", "runtime/deny.toml")
LAYER = ("meta-horus", "conf", "recipes", "kas.yml", "kas.lock.yml", "runtime/Cargo.lock", "runtime/bridge/Cargo.lock", "benchmarks/Cargo.lock")
BOOTS = "the machine that it boots measures deadlines on two emulated CPUs"
# The command and the libraries under it.
COMMAND = ("horus-cli", "horus-audit", "horus-evidence", "horus-launch", "horus-update")

ROBOT_TESTS = [
    word
    for test in ("services", "service_nodes", "service_shared", "service_deaths", "service_circles", "actions", "action_nodes", "param_kills", "transforms", "latched")
    for word in ("--test", test)
]


def cargo(*arguments: str) -> list:
    return ["cargo", *arguments]


def module(name: str, *arguments: str) -> list:
    return [sys.executable, "-m", f"checks.{name}", *arguments]


def command(name: str, *arguments: str) -> list:
    return [sys.executable, str(SCRIPTS / name), *arguments]


# What others wait for comes first, then the long ones, beside whose compiler the short ones run; within a profile's folder in the order in which each builds on the last.
CHECKS = [
    Check("rust format", cargo("fmt", "--all", "--check"), RUNTIME),
    Check(IMAGES, module("discover", "image_test_", "-v"), SCRIPTS, images=True, first=True, on=IMAGE_PARTS, through=("runtime",), slow="about 5 minutes"),
    # A workspace of its own, with 400 crates. Built as for the image, which then takes it.
    Check(
        BRIDGE_BUILT, cargo("build", "--release", "--locked", "--bins", "--examples"), BRIDGE, holds=(BRIDGES,), first=True,
        slow="a minute, and 6 the first time",
    ),
    # Taken up by the boot test that deploys a node and a robot, whose machine waits for nothing that is compiled.
    Check(
        MUSL,
        cargo("build", "--locked", "--release", "--package", "horus", "--target", "x86_64-unknown-linux-musl", "--target-dir", str(deploying.TARGET)), RUNTIME,
        {"CARGO_TARGET_X86_64_UNKNOWN_LINUX_MUSL_LINKER": "rust-lld", **deploying.BUILT_QUICKLY}, first=True,
        on=IMAGE_PARTS, through=(HORUS,), slow="about a minute",
    ),
    # The longest row of checks waits for the folder of debug: what builds most in it goes ahead.
    Check("rust lints", cargo("clippy", "--locked", "--workspace", "--all-targets", "--", "-D", "warnings"), RUNTIME, holds=(DEBUG,), first=True),
    # What is asked of it waits for answers most of the time.
    Check(
        "boot test from outside: SSH, nodes of all languages, gateway, ros2", module("discover", "beside_test_", "-v"), SCRIPTS, images=True, first=True,
        after=(MUSL, BRIDGE_BUILT), holds=(MACHINES,),
        on=IMAGE_PARTS, through=("runtime", "docs/reach.md"), slow="about 12 minutes",
    ),
    # It compares tails by factors, which builds that give way to it leave as they are. The command that sends the update is built with the image.
    Check(
        "update: an appliance goes from A to B, back to A, and to C", module("discover", "update_test_", "-v"), SCRIPTS, images=True, first=True,
        after=(IMAGES,), holds=(MACHINES,), until=LONG_BY,
        on=IMAGE_PARTS, through=("runtime/update", "runtime/cli", "runtime/evidence"), slow="about 14 minutes",
    ),
    # It looks for races, which no load hides; tests that bound a time are left out of it.
    Check("topics under the thread sanitizer", command("sanitize", "thread"), holds=(SANITIZERS,), on=(SYS, SHM), through=(HORUS,), can_wait=True, slow="2 to 3 minutes"),
    Check(
        "rust model tests (loom)",
        cargo("test", "--locked", "--release", "--package", "horus-shm", "--test", "loom_ring", "--target-dir", str(RUNTIME / "target/loom"), *LOOM_FAST),
        RUNTIME, {"RUSTFLAGS": "--cfg loom"}, can_wait=True,
    ),
    Check("benchmarks' lints", cargo("clippy", "--locked", "--all-targets", "--", "-D", "warnings"), BENCHMARKS, SHARED_TARGET, holds=(DEBUG,), can_wait=True),
    # Built here, run alone below.
    Check(TESTS_BUILT, cargo("test", "--locked", "--workspace", "--no-run"), RUNTIME, holds=(DEBUG,), first=True),
    Check(
        "the kill matrix is built",
        cargo("test", "--locked", "--package", "horus", "--test", "kill_matrix", "--test", "any_order", "--no-run"), RUNTIME, STEPS,
        holds=(DEBUG,), after=(TESTS_BUILT,),
    ),
    Check(
        "gateway: killed at every step of a log's writing", cargo("test", "--locked", "--package", "horus-gateway", "--test", "log_steps"), RUNTIME, STEPS,
        holds=(DEBUG,), after=(TESTS_BUILT,),
    ),
    Check("rust documentation", cargo("doc", "--locked", "--workspace", "--no-deps"), RUNTIME, {"RUSTDOCFLAGS": "-D warnings"}, holds=(DEBUG,)),
    # They wait most of the time, and bound none.
    Check(
        COMMAND_TESTS, cargo("test", "--locked", *(word for package in COMMAND for word in ("--package", package))), RUNTIME,
        holds=(DEBUG,), after=(TESTS_BUILT,),
    ),
    Check(
        "update: bundles, the gate's rules and its rates", cargo("test", "--locked", "--package", "horus-update"), RUNTIME,
        holds=(DEBUG,), after=(TESTS_BUILT,), within=COMMAND_TESTS,
    ),
    Check(
        "what the compiler says to mistakes in messages", cargo("test", "--locked", "--package", "horus", "--test", "mistakes"), RUNTIME,
        holds=(DEBUG,), after=(TESTS_BUILT,), can_wait=True,
    ),
    # Its last part builds in debug, but for seconds of its minutes.
    Check(
        "segments, frames and logs of the gateway written by a fuzzer", command("soak", "fuzz", "--seconds", "50"), holds=(RELEASE,),
        on=("runtime/fuzz",), through=(SYS, SHM, HORUS), can_wait=True, slow="about 3 minutes",
    ),
    Check("programs of nodes in every order", command("soak", "nodes", "--count", "200"), holds=(DEBUG,), on=(HORUS,)),
    Check("programs of nodes in every order, for long", command("soak", "nodes", "--count", "10000"), long="about an hour", on=(HORUS,)),
    Check("topics under the address sanitizer", command("sanitize", "address"), holds=(SANITIZERS,), on=(C,), through=(SYS, SHM, HORUS), can_wait=True, slow="about 2 minutes"),
    Check("benchmarks' tests are built", cargo("test", "--locked", "--no-run"), BENCHMARKS, SHARED_TARGET, holds=(DEBUG,)),
    # It counts instructions, which what runs beside it does not change.
    Check(
        "instructions a message and a tick", [str(BENCHMARKS / "research" / "instructions.sh")], environment=SHARED_TARGET, holds=(RELEASE,),
        needs=("valgrind", "valgrind"),
        on=(SYS, SHM, HORUS, "benchmarks/research", "benchmarks/src"), can_wait=True,
    ),
    # A nanosecond is an instruction there.
    Check(
        "boots in virtual time", module("discover", "virtual_test_", "-v"), SCRIPTS, images=True, after=(IMAGES,),
        on=IMAGE_PARTS, through=("runtime",), slow="about 4 minutes", can_wait=True,
    ),
    # Built once: the next ones find it. Those that build nothing else come before those that keep the others waiting.
    Check(LIBRARY, module("languages.packages"), SCRIPTS, holds=(RELEASE,), on=(C, "docs/languages.md"), slow="about a minute"),
    # The longest of them. It builds for the processors of robots, and takes up what was built for one of them.
    Check(
        "languages: a new project in each", module("languages.projects"), SCRIPTS, after=(LIBRARY, MUSL),
        on=("scripts/horus_appliance/languages",), through=("runtime", "docs/languages.md"), slow="4 to 7 minutes", can_wait=True,
    ),
    Check("languages: C and C++ by GCC and Clang", module("languages.compilers"), SCRIPTS, after=(LIBRARY,), on=(C,), can_wait=True, slow="about a minute"),
    Check("languages: programs under the compilers' sanitizers", module("languages.sanitizers"), SCRIPTS, after=(LIBRARY,), on=(C,), can_wait=True, slow="about a minute"),
    Check(
        "languages: C# under .NET 8 and Mono", module("languages.csharp"), SCRIPTS, holds=(DEBUG, RELEASE), after=(LIBRARY,),
        on=("runtime/bindings/csharp", "docs/csharp.md", "benchmarks/languages"), through=(C,), slow="about 2 minutes", can_wait=True,
    ),
    Check(
        "languages: Python, from its wheel and from a plain cargo build", module("languages.python"), SCRIPTS, holds=(RELEASE,), after=(LIBRARY,),
        on=(PYTHON, "docs/python.md"), slow="about a minute",
    ),
    # It builds in a folder of its own.
    Check(
        "languages: Python's wheels for two machines, and the image's Python", module("languages.python_wheels"), SCRIPTS,
        on=(PYTHON,), through=("docs/python.md",), can_wait=True, slow="about 2 minutes",
    ),
    Check(
        "languages: messages round all of them, and a changed field refused", module("languages.ring"), SCRIPTS, holds=(RELEASE, DEBUG),
        after=(LIBRARY, TESTS_BUILT), needs=CPP,
        on=("runtime/bindings/layout-vectors.txt",), through=("runtime/bindings",), slow="about 2 minutes",
    ),
    Check(
        "languages: nodes in Rust, C++ and Python in every order", module("runtime.order"), SCRIPTS, holds=(RELEASE, DEBUG), after=(LIBRARY,), needs=CPP,
        on=(C, PYTHON), slow="about a minute",
    ),
    # Its neighbour above has built all but the programs.
    Check(
        "languages: the programs of the pages, together", module("pages.together"), SCRIPTS, holds=(RELEASE, DEBUG), after=(LIBRARY,), needs=CPP,
        on=("README.md", "docs/topics.md", "docs/nodes.md", "docs/languages.md", "docs/python.md"), through=("runtime",), slow="a minute",
    ),
    Check("languages: the library's tests", cargo("test", "--locked", "--package", "horus-c"), RUNTIME, holds=(DEBUG,), needs=CPP),
    Check("gateway: its own tests", cargo("test", "--locked", "--package", "horus-gateway"), RUNTIME, holds=(DEBUG, MOUNTS)),
    Check("gateway: killed a thousand times while it writes", module("gateway.kills"), SCRIPTS, holds=(DEBUG,), on=("runtime/gateway",)),
    Check("gateway: clients in Python, Go and Node.js", module("gateway.clients"), SCRIPTS, holds=(DEBUG,), on=("runtime/gateway",)),
    # Its program is there by then, and its commands wait most of the time.
    Check(
        "gateway: its guide, as printed", module("gateway.guide"), SCRIPTS, holds=(MOUNTS,), after=(LIBRARY,),
        on=("runtime/gateway", "docs/gateway.md"), through=("runtime/cli",), slow="about a minute",
    ),
    Check("ros2: the bridge's format", cargo("fmt", "--check"), BRIDGE),
    # Its 400 crates were built for the bridge itself; looking through them again for lints took two minutes.
    Check(
        "ros2: the bridge's lints and tests",
        ["sh", "-c", "cargo test --release --locked --all-targets --no-run && cargo test --release --locked"], BRIDGE,
        {"RUSTC_WORKSPACE_WRAPPER": str(SCRIPTS / "checks" / "runtime" / "linting")}, holds=(BRIDGES,), after=(BRIDGE_BUILT,),
        on=("runtime/bridge",), slow="about a minute",
    ),
    Check("kernel options stick in a real Kconfig", module("conf.kconfig"), SCRIPTS, on=("conf/rt/kernel", "conf/machine", "meta-horus/recipes-kernel")),
    # What a robot of several programs stands on, chosen by one word.
    Check(
        "robot: services, actions, parameters, frames and latched topics", cargo("test", "--locked", "--package", "horus", *ROBOT_TESTS), RUNTIME,
        holds=(DEBUG,), after=(TESTS_BUILT,), within=TESTS,
    ),
    Check("robot: transforms beside scipy's rotations", module("runtime.transforms"), SCRIPTS, holds=(DEBUG,), on=(HORUS,), slow="half a minute"),
    Check(
        "robot: twelve nodes drive to a goal", module("robot.drive"), SCRIPTS, holds=(RELEASE, DEBUG), after=(LIBRARY, TESTS_BUILT), needs=CPP,
        on=("runtime/examples/robot", "docs/robot.md"), through=("runtime/launch", "runtime/cli"), slow="about a minute",
    ),
    Check("topics on 64-bit ARM (qemu-user)", module("runtime.arm64"), SCRIPTS, holds=(DEBUG,), on=(SYS, SHM), can_wait=True),
    Check("topics on 64-bit ARM, 16 KiB pages (qemu-user)", module("runtime.arm64", "16384"), SCRIPTS, holds=(DEBUG,), on=(SYS, SHM), can_wait=True),
    Check("the Yocto layer, without the layers below it", module("layer.static"), SCRIPTS, on=LAYER),
    Check("benchmarks' format", cargo("fmt", "--all", "--check"), BENCHMARKS),
    # Every file whose first line names a shell; a page may show a script.
    Check(
        "shell scripts",
        ["sh", "-c", "git grep -lE '^#!/.*[/ ](ba)?sh$' | xargs awk 'FNR == 1 && /^#!/ { print FILENAME } { nextfile }' | xargs shellcheck"],
        needs=("shellcheck", "shellcheck"),
    ),
    Check("scripts' unit tests", module("discover", "test_"), SCRIPTS),
    Check(
        "flashing, and damaged disks, on loop devices", module("discover", "device_test_", "-v"), SCRIPTS, holds=(MOUNTS,),
        on=("conf/base", "scripts/horus_appliance/flash"),
    ),
    Check("units verified by systemd", module("conf.units"), SCRIPTS, on=("conf",)),
    Check("the Yocto layer against the layers below it", command("check-layer"), on=LAYER),
    Check("crate licences, bans and sources", module("runtime.deny", "bans", "licenses", "sources"), SCRIPTS, holds=("cargo-deny",), on=CRATES),
    Check("crate advisories", module("runtime.deny", "advisories"), SCRIPTS, holds=("cargo-deny",), on=CRATES),
    Check("crates that nothing uses", module("runtime.unused_crates"), SCRIPTS, on=("runtime", "benchmarks"), can_wait=True),
    # The command, the library for other languages and the gateway were tested beside the others, and so was every mistake.
    Check(
        TESTS,
        cargo(
            "test", "--locked", "--workspace", *(word for package in (*COMMAND, "horus-c", "horus-gateway") for word in ("--exclude", package)),
            "--", "--skip", "every_mistake_in_a_message",
        ),
        RUNTIME, alone=TIMED,
    ),
    Check("benchmarks' tests", cargo("test", "--locked"), BENCHMARKS, SHARED_TARGET, alone="two of its processes spin for each other"),
    Check(
        "ros2: messages to and from a real ROS 2", module("ros2.rclpy"), SCRIPTS, alone=FOREIGN, together="ros2",
        on=("runtime/bridge",), through=("docs/ros2.md",), slow="about 2 minutes",
    ),
    Check(
        "ros2: services, actions, parameters, transforms and latched topics of a real ROS 2", module("ros2.exchange"), SCRIPTS, alone=FOREIGN, together="ros2",
        on=("runtime/bridge",), through=("docs/ros2.md",), slow="about a minute",
    ),
    Check(
        "ros2: messages by Zenoh", module("ros2.zenoh"), SCRIPTS, alone=FOREIGN, together="ros2",
        on=("runtime/bridge",), through=("docs/ros2.md",), slow="about a minute",
    ),
    Check(
        "ros2: three appliances on a bad line", module("ros2.fleet"), SCRIPTS, alone=FOREIGN, together="ros2",
        on=("runtime/bridge",), through=("docs/ros2.md",), slow="about a minute",
    ),
    Check("peers killed at every step", command("soak", "kill", "--count", "300"), alone=TIMED, on=(SYS, SHM, HORUS)),
    # One machine at a time. Two have four to seven emulated CPUs on two real ones: where these are slow, each waits for locks that a CPU holds which
    # does not run, and devices are not there in the 90 s that systemd gives them.
    Check(
        "boot tests", module("discover", "boot_test_", "-v"), SCRIPTS, alone=BOOTS, images=True,
        on=IMAGE_PARTS, through=("runtime", "docs/boot-messages.md"), slow="about 4 minutes",
    ),
    Check(
        "boot tests of other machines", module("discover", "other_test_", "-v"), SCRIPTS, alone=BOOTS, images=True, can_wait=True,
        on=IMAGE_PARTS, through=("runtime",), slow="about 4 minutes",
    ),
    Check(
        "benchmarks' rivals: lints", cargo("clippy", "--locked", "--all-targets", "--target-dir", "target", "--", "-D", "warnings"), BENCHMARKS / "compare",
        long="about a minute, for crates that nothing else here needs",
    ),
    Check(
        "languages: PyTorch takes Python's messages", module("languages.python_torch"), SCRIPTS, holds=(RELEASE,), long="about a minute, and 1 GB of disk",
        on=(PYTHON,),
    ),
    Check(
        "update: the power is cut at any moment from A to B, back to A, and to C", module("discover", "cuts_test_", "-v"), SCRIPTS, alone=BOOTS, images=True,
        long="about half an hour", on=IMAGE_PARTS, through=("runtime/update",),
    ),
    Check(
        "boot tests of rare machines", module("discover", "long_test_", "-v"), SCRIPTS, alone=BOOTS, images=True, long="about 5 minutes",
        on=IMAGE_PARTS, through=("runtime",),
    ),
    Check(
        "boot tests and the runtime's tests on 64-bit ARM (emulated)", module("discover", "emulated_test_", "-v"), SCRIPTS,
        alone=BOOTS, images=True, long="about 15 minutes, 25 the first time",
        on=IMAGE_PARTS, through=("runtime",),
    ),
]  # fmt: skip
