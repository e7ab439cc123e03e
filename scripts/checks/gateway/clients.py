"""Builds the gateway's client in Go and runs the tests of foreign clients with it, and the one in Node.js: python3 -m checks.gateway.clients.

Those with the client in Python are among cargo's own tests.
"""

import os
import subprocess
import tempfile
from pathlib import Path

from horus_appliance.console import detail, run_command, step
from horus_appliance.host import system
from horus_appliance.paths import RUNTIME

SOURCE = RUNTIME / "gateway" / "tests" / "clients" / "client.go"


def main() -> int:
    system.ensure_command("go", "golang-go")
    system.ensure_command("node", "nodejs")
    with tempfile.TemporaryDirectory() as folder:
        program = Path(folder) / "client"
        step("the client in Go")
        # Of the standard library alone: nothing is fetched, whatever the machine's settings are.
        environment = {**os.environ, "GOFLAGS": "-mod=mod", "GOPROXY": "off", "GOCACHE": str(Path(folder) / "cache"), "CGO_ENABLED": "0"}
        for command in (["go", "vet", SOURCE], ["go", "build", "-o", program, SOURCE]):
            subprocess.run(list(map(str, command)), env=environment, cwd=folder, check=True)
        unformatted = subprocess.run(["gofmt", "-l", str(SOURCE)], capture_output=True, text=True, check=False).stdout
        if unformatted:
            raise SystemExit(f"gofmt would write {SOURCE.name} in another way: gofmt -w {SOURCE}")
        detail(f"built: {program.stat().st_size // 1000} kB")
        command = ["cargo", "test", "--locked", "--package", "horus-gateway", "--test", "clients", "--", "--include-ignored"]
        return subprocess.run(command, cwd=RUNTIME, env={**os.environ, "HORUS_TEST_CLIENT": str(program)}, check=False).returncode


if __name__ == "__main__":
    run_command(main)
