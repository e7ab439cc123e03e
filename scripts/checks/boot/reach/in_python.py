"""What a user does who writes nodes in Python: a project that computes with NumPy, and a version of it that needs what the image has not."""

import shlex
from dataclasses import dataclass, field

from checks.boot.reach.deploying import HORUS, Laptop

NAME = "arm"
UNIT = f"horus-node@{NAME}.service"
# What is done to the program that `horus new` makes: its work is left to NumPy, or to a package that is not on the image.
IMPORT = "import horus\n"
NUMPY = "import horus\nimport numpy\n"
STEP = "gain * m.angular_velocity[1]"
COMPUTED = "gain * float(numpy.dot(m.angular_velocity, [0.0, 1.0, 0.0]))"
MISSING = "import horus\nimport serial\n"
ASKED = "horus topic pub imu --once 'angular_velocity: {y: 0.5}'; timeout 20 horus topic echo base.cmd --once"


@dataclass
class Deployment:
    """Everything that came of it, for the tests."""

    said: dict = field(default_factory=dict)  # results of commands on the laptop
    seen: dict = field(default_factory=dict)  # the machine's answers


def go_through(laptop: Laptop) -> Deployment:
    """The whole story, once."""
    done = Deployment()
    project = laptop.directory / NAME
    done.said["new"] = laptop.run(HORUS, "new", "--lang", "python", str(project))
    program = project / "main.py"
    plain = program.read_text()
    program.write_text(plain.replace(IMPORT, NUMPY).replace(STEP, COMPUTED))
    done.said["0.1.0"] = deploy(laptop)
    done.seen["runs"] = laptop.ask(f"systemctl show --property=ActiveState,Description {UNIT}")
    done.seen["user"] = laptop.ask(f"ps -o user= -p $(systemctl show --value --property=MainPID {UNIT})")
    done.seen["command"] = laptop.ask(ASKED)
    program.write_text(plain.replace(IMPORT, MISSING))
    done.said["missing"] = deploy(laptop)
    done.seen["unharmed"] = laptop.ask(f"systemctl is-active {UNIT}")
    laptop.ask(f"horus node stop {NAME}")
    done.seen["account"] = laptop.ask(f"journalctl --sync; journalctl --boot --output cat _SYSTEMD_UNIT={UNIT}")
    laptop.ask(f"horus node remove {NAME}")
    return done


def deploy(laptop: Laptop):
    command = [HORUS, "deploy", "127.0.0.1", "--no-follow", "--ssh", shlex.join(map(str, laptop.ssh))]
    return laptop.run(*command, cwd=laptop.directory / NAME)
