"""What a user does with the machine: makes a project, deploys it, breaks it, deploys better and worse versions. By SSH, as from a laptop."""

import hashlib
import io
import os
import re
import shlex
import shutil
import subprocess
import tarfile
import time
import tomllib
from dataclasses import dataclass, field
from pathlib import Path

from horus_appliance.paths import REPOSITORY, RUNTIME

NODE = "upright"
# Built with the image. Nothing is built of the command while the machine runs: it would wait for the lock of that folder, too.
HORUS = RUNTIME / "target/release/horus"
# Cargo locks a folder while it builds there. The emulated machine takes a CPU for as long as it lives, and does not wait for builds of other checks.
TARGET = RUNTIME / "target/outside"
# What is deployed has to run, and not to be fast: optimising is most of a build.
QUICKLY = {"CARGO_PROFILE_RELEASE_OPT_LEVEL": "1"}
BUILT_QUICKLY = {"CARGO_TARGET_DIR": str(TARGET), **QUICKLY}
UNIT = f"horus-node@{NODE}.service"
# A message with this makes the deployed node hang: the miss that is provoked.
STUMBLE = "77"
HANG_SECONDS = 3
# Of the project that `horus new` makes, and what is done to it: an emulated CPU has no time for 1 kHz beside what is asked of it.
SLOWED = ('period = "1 ms"', 'period = "10 ms"'), ('deadline = "800 us"', 'deadline = "8 ms"')

# What the kernel said of the node's policy when it started: an emulated CPU is too slow for its budget, and the monitor takes it away soon after.
POLICY = f"journalctl --sync; journalctl --boot --output cat --unit {UNIT} | grep 'granted scheduling-policy' | tail -n 1"

# What is done to the step of the project that `horus new` makes.
STEP = "        if let Some(imu) = self.imu.latest() {\n"
HANGS = f"""{STEP}            if imu.angular_velocity.x == {STUMBLE}.0 {{
                let end = MonotonicTime::now().plus(secs({HANG_SECONDS}));
                while MonotonicTime::now() < end {{
                    std::hint::spin_loop();
                }}
            }}
"""
PANICS = f'        assert!(self.gain > 1.0, "no gyro on the bus");\n{STEP}'


@dataclass
class Deployment:
    """Everything that came of it, for the tests."""

    said: dict = field(default_factory=dict)  # results of `horus deploy`, by what was deployed
    seen: dict = field(default_factory=dict)  # the machine's answers, by what had just happened
    programs: set = field(default_factory=set)  # the SHA-256 of every program that was sent
    symbols: set = field(default_factory=set)  # sections of them that only a debugger reads


@dataclass
class Laptop:
    """A person's machine: the project, the tool, and the way to the appliance."""

    directory: Path
    ssh: list  # up to the host, over a connection that all questions share

    @property
    def ssh_alone(self) -> list:
        """The same over a connection of its own, with which all ends that was asked of it."""
        return ["ssh", "-o", "ControlPath=none", *map(str, self.ssh[1:])]

    def __post_init__(self):
        self.project = self.directory / NODE
        self.programs, self.symbols = set(), set()

    def run(self, *command: str, **options) -> subprocess.CompletedProcess:
        return subprocess.run(command, capture_output=True, text=True, check=False, timeout=1500, **options)

    def deploy(self) -> subprocess.CompletedProcess:
        command = [HORUS, "deploy", "127.0.0.1", "--no-follow", "--ssh", shlex.join(map(str, self.ssh))]
        # What the program depends on is built there already, by this toolchain.
        environment = {**BUILT_QUICKLY, "RUSTUP_TOOLCHAIN": toolchain()}
        done = self.run(*command, cwd=self.project, env={**os.environ, **environment})
        program = TARGET / f"x86_64-unknown-linux-musl/release/{NODE}"
        self.programs.add(hashlib.sha256(program.read_bytes()).hexdigest())
        self.symbols |= set(re.findall(r" (\.symtab|\.debug_info) ", self.run("readelf", "--sections", "--wide", str(program)).stdout))
        return done

    def ask(self, command: str, **options) -> str:
        return self.run(*map(str, self.ssh), "root@127.0.0.1", command, **options).stdout.strip()

    def edit(self, file: str, *changes: tuple) -> None:
        path = self.project / file
        text = path.read_text()
        for old, new in changes:
            assert old in text, f"{file} has no '{old}'"
            text = text.replace(old, new)
        path.write_text(text)

    def send_archive(self, size: int | None) -> subprocess.CompletedProcess:
        """What `horus deploy` sends, of which only the first `size` bytes arrive."""
        buffer = io.BytesIO()
        with tarfile.open(fileobj=buffer, mode="w", format=tarfile.GNU_FORMAT) as archive:
            for name, content in (("node.toml", f'program = "{NODE}"\nversion = "0.9.0"\n'.encode()), (NODE, b"\0" * 1_000_000)):
                entry = tarfile.TarInfo(name)
                entry.size = len(content)
                archive.addfile(entry, io.BytesIO(content))
        command = [*self.ssh_alone, "root@127.0.0.1", "horus node install -"]
        return subprocess.run(command, input=buffer.getvalue()[:size], capture_output=True, check=False, timeout=300)


def toolchain() -> str:
    """The Rust of this repository."""
    return tomllib.loads((REPOSITORY / "rust-toolchain.toml").read_text())["toolchain"]["channel"]


def go_through(laptop: Laptop) -> Deployment:
    """The whole story, once."""
    done = Deployment(programs=laptop.programs, symbols=laptop.symbols)
    state = f"systemctl show --property=ActiveState,NRestarts,MainPID,Description {UNIT}"
    done.said["new"] = laptop.run(HORUS, "new", str(laptop.project))
    shutil.copy(RUNTIME / "Cargo.lock", laptop.project)
    laptop.edit("node.toml", *SLOWED)
    laptop.edit("src/main.rs", (STEP, HANGS))
    good = (laptop.project / "src/main.rs").read_text()
    done.said["0.1.0"] = laptop.deploy()
    done.seen["first"] = laptop.ask(state)
    done.seen["user"] = laptop.ask(f"ps -o user= -p $(systemctl show --value --property=MainPID {UNIT})")
    done.seen["exposure"] = laptop.ask(f"systemd-analyze security --no-pager {UNIT} | grep Overall")
    done.seen["cycles"] = [laptop.ask("horus node list --json; cat /proc/uptime") for _ in range(2)]

    laptop.ask(f"horus topic pub imu --once 'angular_velocity: {{x: {STUMBLE}}}'")
    time.sleep(HANG_SECONDS + 5)
    done.seen["top"] = laptop.ask("horus top --once")
    done.seen["command"] = laptop.ask("timeout 10 horus topic echo base.cmd --once")
    done.seen["journal"] = laptop.ask("journalctl --boot --output cat HORUS_NODE=control + HORUS_NODE=upright/control")

    laptop.edit("Cargo.toml", ('version = "0.1.0"', 'version = "0.2.0"'))
    laptop.edit("src/main.rs", (STEP, PANICS))
    done.said["panics"] = laptop.deploy()
    done.seen["rolled back"] = laptop.ask(state)
    (laptop.project / "src/main.rs").write_text(good)
    laptop.edit("node.toml", ('budget = "150 us"', 'budget = "9 ms"'))
    done.said["overloaded"] = laptop.deploy()
    laptop.edit("node.toml", ('budget = "9 ms"', 'budget = "150 us"'), ('period = "10 ms"', 'periode = "10 ms"'))
    done.said["nonsense"] = laptop.deploy()
    laptop.edit("node.toml", ('periode = "10 ms"', 'period = "10 ms"'))
    done.said["cut off"] = laptop.send_archive(600_000)
    done.seen["unharmed"] = laptop.ask(state)
    done.said["0.2.0"] = laptop.deploy()
    done.seen["second"] = laptop.ask(state)

    laptop.ask("mkdir /var/lib/horus/nodes/bad; printf 'program = \"bad\"\\nspeed = 3\\n' > /var/lib/horus/nodes/bad/node.toml; systemctl daemon-reload")
    laptop.ask("systemctl start horus-node@bad.service")
    done.seen["bad"] = laptop.ask("journalctl --boot --output cat _SYSTEMD_UNIT=horus-node@bad.service")
    done.seen["beside bad"] = laptop.ask(state)
    laptop.ask("horus node remove bad")
    # A node that leaks, fast: tail keeps the last line, which has no end.
    laptop.ask("cd /var/lib/horus/nodes && mkdir leak && printf 'program = \"leak\"\n' > leak/node.toml && printf '#!/bin/sh\nexec tail /dev/zero\n' > leak/leak && chmod +x leak/leak && systemctl daemon-reload")
    laptop.ask("systemctl start horus-node@leak.service")
    done.seen["leak"] = laptop.ask("journalctl --sync; journalctl --boot --output cat UNIT=horus-node@leak.service")
    done.seen["beside leak"] = laptop.ask(state)
    laptop.ask("horus node remove leak")
    laptop.edit("node.toml", ('scheduling_policy = "fifo:80"', 'scheduling_policy = "deadline"'))
    done.said["deadline"] = laptop.deploy()
    done.seen["policy"] = laptop.ask(POLICY)

    laptop.ask(f"horus node stop {NODE}")
    done.seen["stopped"] = laptop.ask("horus node list")
    # As at the next boot.
    laptop.ask("systemctl restart horus-nodes.service")
    done.seen["next boot"] = laptop.ask(f"for i in $(seq 60); do systemctl is-active {UNIT} && break; sleep 1; done")
    # An hour on, and back: nodes do not go by this clock.
    laptop.ask("date --set '+1 hour'; sleep 2; date --set '-1 hour'; sleep 2")
    done.seen["clock"] = laptop.ask("journalctl --sync; journalctl --boot --output cat --unit horus-monitor.service")
    done.seen["beside clock"] = laptop.ask(f"systemctl is-active {UNIT}")
    laptop.ask(f"horus node remove {NODE}")
    done.seen["removed"] = laptop.ask(f"ls /var/lib/horus/nodes /var/lib/horus/nodes/.previous; systemctl is-active {UNIT}")
    return done
