"""What a fleet server does with the machine: makes certificates, turns the gateway on, and reads, sends and replays topics, by TLS and through SSH."""

import json
import shlex
import subprocess
from dataclasses import dataclass, field
from pathlib import Path

from checks.boot.reach.deploying import HORUS, Laptop

UNIT = "horus-gateway.service"
PORT = 7447
TOPIC = "fleet"
MESSAGES = 200
SETTINGS = f"""
listen = [
  {{ tcp = "0.0.0.0:{PORT}", tls = {{ certificate = "gateway.crt", key = "gateway.key", clients = "ca.crt" }} }},
  {{ unix = "/run/horus/gateway/socket", mode = "0660" }},
]
[topics."ping"]
direction = "out"
[topics."{TOPIC}"]
direction = "both"
bytes = 96
capacity = 1024
log = {{ durability = "each" }}
"""
# Who signs, and what for: the commands of docs/gateway.md.
AUTHORITY = 'openssl req -x509 -newkey ed25519 -nodes -days 3650 -subj "/CN={name}" -keyout {name}.key -out {name}.crt'
SIGNED = (
    'openssl req -x509 -newkey ed25519 -nodes -days 365 -subj "/CN={name}" -CA {authority}.crt -CAkey {authority}.key '
    "-addext basicConstraints=critical,CA:FALSE -addext subjectAltName=IP:127.0.0.1 -keyout {name}.key -out {name}.crt"
)
# The machine's clock has to stand on a day on which certificates count.
CLOCK = "date --set @{now}"
JOURNAL = f"journalctl --sync; journalctl --boot --output cat _SYSTEMD_UNIT={UNIT}"


@dataclass
class Fleet:
    """Everything that came of it, for the tests."""

    said: dict = field(default_factory=dict)  # results of commands on the laptop
    seen: dict = field(default_factory=dict)  # the machine's answers

    def counts(self, which: str) -> dict:
        """The account of one run of `horus bench gateway`."""
        return json.loads(self.said[which].stdout)["gateway"]


def go_through(laptop: Laptop, port: int) -> Fleet:
    """The whole story, once; `port` is that of this machine by which the gateway's port is reached."""
    done = Fleet()
    place = laptop.directory / "fleet"
    place.mkdir()
    for command in (
        AUTHORITY.format(name="ca"), AUTHORITY.format(name="other"),
        SIGNED.format(name="gateway", authority="ca"), SIGNED.format(name="server", authority="ca"), SIGNED.format(name="stranger", authority="other"),
    ):  # fmt: skip
        subprocess.run(shlex.split(command), cwd=place, check=True, capture_output=True)
    done.seen["off"] = laptop.ask(f"systemctl start {UNIT}; systemctl is-active {UNIT}")
    turn_on(laptop, place)
    done.seen["on"] = laptop.ask(f"systemctl is-active {UNIT}")
    done.seen["user"] = laptop.ask(f"ps -o user= -p {main_pid()}")
    done.seen["policies"] = laptop.ask(f"ps -L -o cls= -p {main_pid()} | sort -u")
    done.seen["cpus"] = laptop.ask(f"grep Cpus_allowed_list /proc/{main_pid()}/status")
    done.seen["exposure"] = laptop.ask(f"systemd-analyze security --no-pager {UNIT} | grep Overall")

    by_tls = ["--connect", f"tls:127.0.0.1:{port}"]
    as_server = [*by_tls, *identity(place, "server")]
    sends = ["--rate", "100", "--count", str(MESSAGES), "--topic", TOPIC, "--json"]
    done.said["sent"] = laptop.run(HORUS, "bench", "gateway", *as_server, *sends)
    done.said["replayed"] = laptop.run(HORUS, "tap", TOPIC, *as_server, "--from", "1", "--count", str(MESSAGES), "--duration", "60s", "--quiet")
    done.said["stranger"] = laptop.run(HORUS, "tap", TOPIC, *by_tls, *identity(place, "stranger"), "--duration", "5s")
    done.said["nameless"] = laptop.run(HORUS, "tap", TOPIC, "--connect", f"tcp:127.0.0.1:{port}", "--duration", "5s")
    through_ssh(laptop, done)
    # What was acknowledged is there after a kill.
    laptop.ask(f"systemctl kill --signal=KILL {UNIT}; sleep 5; systemctl is-active {UNIT}")
    done.said["after a kill"] = laptop.run(HORUS, "tap", TOPIC, *as_server, "--from", "1", "--count", str(MESSAGES), "--duration", "60s", "--quiet")
    done.seen["account"] = laptop.ask(JOURNAL)
    laptop.ask(f"rm /var/lib/horus/gateway.toml; systemctl stop {UNIT}")
    done.seen["off again"] = laptop.ask(f"systemctl start {UNIT}; systemctl is-active {UNIT}")
    return done


def main_pid() -> str:
    return f"$(systemctl show --value --property=MainPID {UNIT})"


def identity(place: Path, name: str) -> list:
    """The options of a client that trusts the fleet's authority, and shows what `name` has."""
    return ["--ca", str(place / "ca.crt"), "--cert", str(place / f"{name}.crt"), "--key", str(place / f"{name}.key")]


def turn_on(laptop: Laptop, place: Path) -> None:
    now = subprocess.run(["date", "+%s"], capture_output=True, text=True, check=True).stdout.strip()
    laptop.ask(CLOCK.format(now=now))
    files = {"gateway.toml": SETTINGS, **{name: (place / name).read_text() for name in ("gateway.crt", "gateway.key", "ca.crt")}}
    for name, text in files.items():
        laptop.ask(f"cat > /var/lib/horus/{name}", input=text)
    laptop.ask("cd /var/lib/horus && chown horus-gateway gateway.key && chmod 600 gateway.key")
    laptop.ask(f"systemctl start {UNIT}")


def through_ssh(laptop: Laptop, done: Fleet) -> None:
    """As docs/gateway.md does without certificates: SSH forwards the Unix socket."""
    socket = laptop.directory / "forwarded"
    forward = [*laptop.ssh_alone, "-N", "-o", "ExitOnForwardFailure=yes", "-L", f"{socket}:/run/horus/gateway/socket", "root@127.0.0.1"]
    tunnel = subprocess.Popen(forward)
    try:
        wait = f"for second in $(seq 60); do [ -S {socket} ] && break; sleep 1; done"
        subprocess.run(["sh", "-c", wait], check=True)
        done.said["through ssh"] = laptop.run(HORUS, "tap", TOPIC, "--connect", f"unix:{socket}", "--from", "1", "--count", "5", "--duration", "60s")
    finally:
        tunnel.terminate()
        tunnel.wait()
