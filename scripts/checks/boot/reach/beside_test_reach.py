"""Boots the image for robots, with all options (`full`), as a user does: a flashed disk that is larger than the image, with a horus.toml on its boot
partition, by the firmware, and with the determinism run. A second HORUS disk is there, which the machine finds first, and the kernel panics once.
Then a person at another machine reaches it, by SSH."""

import hashlib
import json
import os
import re
import subprocess
import tempfile
import time
from pathlib import Path

from checks.boot import boot_test_x86_64, disks
from checks.boot.reach import deploying, in_python, neighbour, through_bridge, through_gateway, whole_robot
from horus_appliance.boot import guest, run
from horus_appliance.boot.machine import Machine
from horus_appliance.flash import settings
from horus_appliance.host import system
from horus_appliance.image import mkosi

SSH = "tcp:22"
GATEWAY = f"tcp:{through_gateway.PORT}"
BRIDGE = f"tcp:{through_bridge.PORT}"
# How long the machine may take until its first answer; it is up when this begins.
PATIENCE = 120
# The longest that the machine lives. Programs are built for it meanwhile.
LIFE = 3600
# Of the machine's disk: several times the image.
DISK = 4 << 30
REPORT = r"verdict +(MEASURED|NOT VALID), no verdict"
# What would take the emulated CPUs from the node that is deployed.
ABSENT = {f"systemd.unit-dropin.horus-{node}.service": "[Unit]\nConditionPathExists=/nowhere\n" for node in ("ping", "pong")}
# The first boot ends by a panic, longer after these words than the journal waits at most (conf/base, SyncIntervalSec). Nothing else has begun by then.
LAST_LINE = "a line of the boot that panics"
PANIC = f"""[Unit]
Description=End the kernel, once
DefaultDependencies=no
ConditionPathExists=!/var/lib/horus/ended-once
After=horus-last-words.service systemd-journal-flush.service
Before=sysinit.target horus-observe.service horus-stuck.service

[Service]
Type=oneshot
ExecStart=/bin/sh -c 'touch /var/lib/horus/ended-once; sync; echo "{LAST_LINE}"; sleep 10; echo c > /proc/sysrq-trigger; sleep 60'
"""
# What is emulated on a busy machine takes longer to get ready than any board.
PATIENT = {
    "systemd.unit-dropin.horus-node@.service": "[Service]\nTimeoutStartSec=120s\nWatchdogSec=60s\n",
    "systemd.unit-dropin.horus-settings.service": "[Service]\nTimeoutStartSec=10min\n",
}

# Questions of the one who gets in, by names.
QUESTIONS = {
    "name": "hostname",
    "user": "id --user --name",
    "cpus": "grep Cpus_allowed_list /proc/self/status",
    "isolated": "cat /sys/devices/system/cpu/isolated",
    "listeners": 'echo "$(cat /proc/net/tcp /proc/net/tcp6 | grep " 0A " | tr -s " " | cut -d " " -f 3)"',
    "greeting": "horus greeting",
    "greeting of the console": "cat /run/issue.d/60-horus.issue",
    "panic": "journalctl --boot --unit horus-last-words.service --output cat; tail -n 80 /var/lib/horus/last-words/*.txt",
    "boot that panicked": "journalctl --boot=-1 --unit end-the-kernel.service --output cat",
    "jitter": "cat /run/horus/release-jitter",
    "doctor": "horus doctor",
    "journal": "journalctl --boot --unit horus-settings.service --unit horus-ssh-key.service --output cat",
    "host keys of the image": "ls /etc/ssh",
    "clock": "systemctl show --property ActiveState systemd-timesyncd.service; systemctl cat systemd-timesyncd.service; cat /run/systemd/timesyncd.conf.d/*",
    "secrets": "stat --format '%a %n' /var/lib/horus/ssh/host_ed25519 /run/horus/ssh/authorized_keys /run/horus/wifi/wpa_supplicant.conf",
    "networks": "ls /run/systemd/network",
    "boot partition": "(ls -d /run/horus/boot; cat /boot/horus.toml)",
    "state": "systemctl --failed --no-legend",
}

PASSWORD = 'say "hello" {}'
# Two radios of the kernel's own, in air of their own; one becomes the access point, by the same program in its other role.
JOIN = """
modprobe mac80211_hwsim radios=2
for second in $(seq 30); do systemctl --quiet is-active horus-wifi@wlan0 horus-wifi@wlan1 && break; sleep 1; done
systemctl stop horus-wifi@wlan1
cat > /run/access-point.conf
wpa_supplicant -B -i wlan1 -D nl80211 -c /run/access-point.conf
for second in $(seq 150); do [ "$(cat /sys/class/net/wlan0/operstate)" = up ] && break; sleep 1; done
cat /sys/class/net/wlan0/operstate
networkctl status wlan0 --no-pager
journalctl --boot --unit horus-wifi@wlan0 --output cat
"""
ACCESS_POINT = f'network={{\n\tssid="lab"\n\tmode=2\n\tfrequency=2412\n\tkey_mgmt=WPA-PSK\n\tpsk="{PASSWORD}"\n}}\n'


def ssh_options(home: Path, key: str) -> list:
    """SSH's options that make it use what is in a folder, and nothing of this machine's user."""
    given = {
        "BatchMode": "yes", "IdentitiesOnly": "yes", "ConnectTimeout": "20", "StrictHostKeyChecking": "accept-new", "UserKnownHostsFile": home / "known",
        "ServerAliveInterval": "30", "ServerAliveCountMax": "10",  # a machine that is gone ends the test in minutes
    }  # fmt: skip
    return ["-F", "/dev/null", "-i", str(home / key), *(word for name, value in given.items() for word in ("-o", f"{name}={value}"))]


class ReachedAppliance(boot_test_x86_64.BootTest):
    """The right key gets in and nothing else does; a mistake in another section is told and costs only that section; the disk that was started is used."""

    @classmethod
    def setUpClass(cls):
        system.ensure_command("ssh", "openssh-client")
        directory = tempfile.TemporaryDirectory()
        cls.addClassCleanup(directory.cleanup)
        cls.home = Path(directory.name)
        for name in ("key", "stranger"):
            subprocess.run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-C", "me@laptop", "-f", cls.home / name], check=True)
        wishes = settings.Wishes(
            hostname="arm3", ssh_keys=(cls.home / "key.pub",), time_servers=("10.0.2.2",), address="10.0.2.15", wifi="lab", wifi_password=PASSWORD
        )
        cls.image, cls.answers_by_ssh = mkosi.build("full"), {}
        whole_robot.prepare()

        def prepare(disk: Path) -> None:
            os.truncate(disk, DISK)
            settings.write(disk, wishes.text())

        units = guest.merge(boot_test_x86_64.started("horus-probe.service"), boot_test_x86_64.started("end-the-kernel.service", PANIC))
        with disks.another(cls.image.disk) as other:
            cls.done = run.boot(
                cls.image, "test-reach", 2, boot_test_x86_64.DETERMINISM_SECONDS, {**units, **PATIENT, **ABSENT}, patience=LIFE, restarts=True,
                console=REPORT, disks={"other": other}, disks_first=True, forward=(SSH, GATEWAY, BRIDGE), neighbour=True, record=True,
                prepare=prepare, during=cls.look_around,
            )  # fmt: skip

    @classmethod
    def look_around(cls, machine: Machine):
        """Everything that is asked of the running machine."""
        deadline = time.monotonic() + PATIENCE
        while (first := cls.ssh(machine, "key", "true")).returncode != 0 and time.monotonic() < deadline:
            time.sleep(1)
        cls.first = first
        cls.address = neighbour.ask(machine.wire, machine.guest_wire, "arm3.local", PATIENCE)
        script = "; ".join(f"echo '=== {name}'; {command} 2>&1" for name, command in QUESTIONS.items())
        answers = cls.ssh(machine, "key", script).stdout.split("=== ")
        cls.answers_by_ssh = {name: answer for name, _, answer in (part.partition("\n") for part in answers)}
        cls.stranger = cls.ssh(machine, "stranger", "true")
        cls.other_user = cls.ssh(machine, "key", "true", user="horus")
        cls.password = cls.ssh(machine, "key", "true", "-o", "PubkeyAuthentication=no", "-o", "PreferredAuthentications=password,keyboard-interactive")
        sent = cls.home / "sent"
        sent.write_text("some node\n")
        copy = ["scp", *cls.options("key"), "-P", str(machine.ports[SSH]), str(sent), "root@127.0.0.1:/run/sent"]
        cls.copied = subprocess.run(copy, capture_output=True, text=True, check=False, timeout=PATIENCE)
        cls.arrived = cls.ssh(machine, "key", "cat /run/sent").stdout
        cls.joined = cls.ssh(machine, "key", JOIN, given=ACCESS_POINT)
        laptop = deploying.Laptop(cls.home, ["ssh", *cls.options("key"), "-p", machine.ports[SSH], "-o", f"ControlPath={cls.one_connection(machine)}"])
        cls.fleet = through_gateway.go_through(laptop, machine.ports[GATEWAY])
        cls.robot = through_bridge.go_through(laptop, machine.ports[BRIDGE])
        cls.in_python = in_python.go_through(laptop)
        cls.whole_robot = whole_robot.go_through(laptop)
        cls.deployed = deploying.go_through(laptop)

    @classmethod
    def one_connection(cls, machine: Machine) -> Path:
        """What the laptop's questions share: an emulated machine takes seconds to let each one in. Without it they connect by themselves."""
        path = cls.home / "connection"
        line = ["ssh", *cls.options("key"), "-p", str(machine.ports[SSH]), "-N", "-o", "ControlMaster=yes", "-o", f"ControlPath={path}", "root@127.0.0.1"]
        connection = subprocess.Popen(line, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        cls.addClassCleanup(connection.wait)
        cls.addClassCleanup(connection.terminate)  # before it is waited for: the last one that was added comes first
        deadline = time.monotonic() + PATIENCE
        while not path.exists() and connection.poll() is None and time.monotonic() < deadline:
            time.sleep(0.2)
        return path

    @classmethod
    def options(cls, key: str) -> list:
        return ssh_options(cls.home, key)

    @classmethod
    def ssh(cls, machine: Machine, key: str, command: str, *more: str, user: str = "root", given: str = "") -> subprocess.CompletedProcess:
        line = ["ssh", *cls.options(key), "-p", str(machine.ports[SSH]), *more, f"{user}@127.0.0.1", command]
        # What is asked may itself wait for so long, as joining a Wi-Fi does.
        return subprocess.run(line, capture_output=True, text=True, input=given, check=False, timeout=3 * PATIENCE)

    def test_the_right_key_gets_in(self):
        self.assertEqual(self.first.returncode, 0, self.first.stderr)
        self.assertEqual(self.answers_by_ssh["user"].strip(), "root")

    def test_a_wrong_key_a_password_and_another_user_are_refused(self):
        for refused in (self.stranger, self.password, self.other_user):
            self.assertEqual(refused.returncode, 255)
            self.assertIn("Permission denied (publickey)", refused.stderr)

    def test_files_are_copied(self):
        self.assertEqual((self.copied.returncode, self.arrived), (0, "some node\n"), self.copied.stderr)

    def test_nothing_listens_but_ssh(self):
        self.assertEqual({line.rpartition(":")[2] for line in self.answers_by_ssh["listeners"].split()}, {f"{22:04X}"})

    def test_machine_has_its_name(self):
        self.assertEqual(self.answers_by_ssh["name"].strip(), "arm3")

    def test_neighbours_find_the_machine_by_its_name(self):
        self.assertEqual(self.address, "10.0.2.15")

    def test_mistake_in_another_section_is_told_wherever_one_looks(self):
        for place in ("journal", "greeting", "doctor"):
            self.assertRegex(self.answers_by_ssh[place], r"horus.toml:\d+: an address has the length of its network")
        self.assertIn("HORUS: horus.toml:", (self.done.directory / "serial.log").read_text(errors="replace"))
        self.assertNotIn("70-horus", self.answers_by_ssh["networks"])

    def test_wifi_is_joined(self):
        self.assertIn("\nup\n", f"\n{self.joined.stdout}", self.joined.stdout + self.joined.stderr)
        self.assertNotIn("hello", "".join(guest.text(entry) for entry in self.done.entries))

    def test_sessions_stay_on_the_housekeeping_cpus(self):
        self.assertEqual(self.answers_by_ssh["isolated"].strip(), "1")
        self.assertEqual(self.answers_by_ssh["cpus"].split()[-1], "0")

    def test_host_key_is_this_machines_own_and_is_named(self):
        known = subprocess.run(["ssh-keygen", "-l", "-f", self.home / "known"], capture_output=True, text=True, check=True).stdout
        (fingerprint,) = set(re.findall(r"SHA256:\S+", known))
        for place in ("journal", "greeting"):
            self.assertIn(fingerprint, self.answers_by_ssh[place])
        self.assertNotIn("ssh_host", self.answers_by_ssh["host keys of the image"])
        self.assertEqual([line.split()[0] for line in self.answers_by_ssh["secrets"].splitlines()], 3 * ["600"])

    def test_a_panic_leaves_its_reason_its_trace_and_the_journal_of_its_boot(self):
        told = self.answers_by_ssh["panic"]
        self.assertRegex(told, r"the last boot ended by a kernel panic: sysrq triggered crash\. Its last words: /var/lib/horus/last-words/[0-9a-f-]{36}\.txt")
        for words in ("sysrq: Trigger a crash", "Call Trace:", "Kernel panic - not syncing: sysrq triggered crash"):
            self.assertIn(words, told)
        for place in ("greeting", "doctor"):
            self.assertRegex(self.answers_by_ssh[place], r"panic:? +the last boot ended by a kernel panic")
        self.assertRegex((self.done.directory / "serial.log").read_text(errors="replace"), "HORUS: the last boot ended by a kernel panic: sysrq")
        self.assertIn(LAST_LINE, self.answers_by_ssh["boot that panicked"])

    def test_greeting_has_the_address_that_came_after_it(self):
        self.assertRegex(self.answers_by_ssh["greeting of the console"], r"network +\S+ 10\.0\.2\.15")

    def test_clock_follows_the_server_that_was_named(self):
        self.assertIn("ActiveState=active", self.answers_by_ssh["clock"])
        self.assertIn("NTP=10.0.2.2", self.answers_by_ssh["clock"])

    def test_boot_partition_is_not_left_mounted_and_who_got_in_can_change_the_file(self):
        self.assertIn("No such file", self.answers_by_ssh["boot partition"])
        self.assertIn('hostname = "arm3"', self.answers_by_ssh["boot partition"])

    def test_no_unit_failed(self):
        self.assertEqual(self.done.failed_units, [])
        self.assertEqual(self.answers_by_ssh["state"].strip(), "")

    def deploy(self, which: str, status: int, *words: str):
        """What `horus deploy` of a version came to."""
        result = self.deployed.said[which]
        said = result.stdout + result.stderr
        self.assertEqual(result.returncode, status, said)
        for word in words:
            self.assertIn(word, said)

    def test_a_new_project_runs_as_an_unprivileged_unit_at_its_rate(self):
        self.deploy("new", 0)
        # After a determinism run whose jitter says nothing about a board.
        self.assertIn("no-verdict", self.answers_by_ssh["jitter"])
        self.deploy("0.1.0", 0, "is not counted", "building upright 0.1.0 for x86_64", "admitted on 127.0.0.1: control R", "upright 0.1.0 is ready")
        seen = self.deployed.seen
        self.assertIn("Description=HORUS node upright 0.1.0", seen["first"])
        self.assertEqual(seen["user"], "horus")
        self.assertLessEqual(float(re.search(r"[0-9.]+", seen["exposure"].partition(":")[2])[0]), 3.0)
        (before, start), (after, end) = (answer.rsplit("\n", 1) for answer in seen["cycles"])
        counts = [next(node["figures"]["releases"] for node in json.loads(text)["nodes"] if node["program"] == "upright") for text in (before, after)]
        seconds = float(end.split()[0]) - float(start.split()[0])
        # The two answers of one question are not of the same moment.
        self.assertAlmostEqual((counts[1] - counts[0]) / seconds / 100, 1, delta=0.5)

    def test_no_program_is_sent_with_what_only_a_debugger_reads(self):
        self.assertTrue(self.deployed.programs)
        self.assertEqual(self.deployed.symbols, set())

    def test_a_provoked_miss_runs_the_safe_state_and_top_shows_it(self):
        seen = self.deployed.seen
        self.assertRegex(seen["top"], r"(?m)^upright/control .* (safe state|taken over)(, \d+ messages lost)?$")
        self.assertIn("forward: 0", seen["command"])
        self.assertRegex(seen["journal"], r"safe")

    def test_a_version_that_dies_is_taken_back_with_its_last_words(self):
        self.deploy("panics", 1, "upright 0.2.0 ", "no gyro on the bus", "upright 0.1.0 runs again")
        self.assertIn("ActiveState=active", self.deployed.seen["rolled back"])
        self.assertIn("upright 0.1.0", self.deployed.seen["rolled back"])

    def test_what_cannot_be_good_never_replaces_what_runs(self):
        self.deploy("overloaded", 2, "budget 9ms is longer than deadline 8ms")
        self.deploy("nonsense", 2, "node.toml", "periode")
        cut_off = self.deployed.said["cut off"]
        self.assertEqual(cut_off.returncode, 2, cut_off)
        self.assertIn(b"Nothing was changed", cut_off.stderr)
        self.assertEqual(self.deployed.seen["unharmed"], self.deployed.seen["rolled back"])

    def test_a_good_second_version_replaces_the_first(self):
        self.deploy("0.2.0", 0, "upright 0.2.0 is ready")
        self.assertIn("HORUS node upright 0.2.0", self.deployed.seen["second"])

    def test_a_node_gets_a_reservation_of_the_kernel(self):
        self.deploy("deadline", 0, "upright 0.2.0 is ready")
        self.assertIn("kernel says SCHED_DEADLINE", self.deployed.seen["policy"])

    def test_a_node_that_is_stopped_is_listed_with_what_starts_it(self):
        self.assertIn("upright 0.2.0 is installed and stopped: horus node start upright", self.deployed.seen["stopped"])

    def test_a_clock_that_is_set_is_told_and_stops_no_node(self):
        for way in ("forward by 3", "back by 3"):
            self.assertIn(f"the clock of the day was set {way}", self.deployed.seen["clock"])
        self.assertEqual(self.deployed.seen["beside clock"], "active")

    def test_the_gateway_is_off_until_there_are_settings(self):
        self.assertEqual([self.fleet.seen[when] for when in ("off", "on", "off again")], ["inactive", "active", "inactive"])

    def test_the_gateway_has_no_rights_no_real_time_policy_and_no_isolated_cpu(self):
        seen = self.fleet.seen
        self.assertEqual((seen["user"], seen["policies"], seen["cpus"].split()[-1]), ("horus-gateway", "TS", "0"))
        self.assertLessEqual(float(re.search(r": ([0-9.]+)", seen["exposure"]).group(1)), 2.5)

    def test_a_fleet_server_sends_and_replays_and_a_kill_loses_nothing(self):
        for what in ("sent", "replayed", "after a kill", "through ssh"):
            with self.subTest(what):
                self.assertEqual(self.fleet.said[what].returncode, 0, self.fleet.said[what].stderr + self.fleet.seen["account"])
        counts = self.fleet.counts("sent")
        self.assertEqual((counts["sent"], counts["received"], counts["wrong"]), (through_gateway.MESSAGES, through_gateway.MESSAGES, 0))

    def test_the_gateway_lets_nobody_in_without_a_certificate_of_its_authority(self):
        for who in ("stranger", "nameless"):
            self.assertNotEqual(self.fleet.said[who].returncode, 0, who)
        self.assertIn("certificate", self.fleet.seen["account"])

    def test_the_bridge_is_off_until_there_are_settings_and_has_no_rights_then(self):
        seen = self.robot.seen
        self.assertEqual((seen["off"], seen["on"]), ("inactive", "active"), seen["account"])
        self.assertEqual((seen["user"], seen["policies"], seen["cpus"].split()[-1]), ("horus", "TS", "0"))
        self.assertLessEqual(float(re.search(r": ([0-9.]+)", seen["exposure"]).group(1)), 2.5)
        self.assertEqual(seen["failed"], "")

    def test_a_node_of_ros_2_outside_receives_and_sends_messages(self):
        account = self.robot.seen["account"]
        self.assertRegex(self.robot.seen["from ros"], r"x: \d+", account)
        self.assertEqual({name: self.robot.received[name] for name in ("first", "last", "wrong")}, {"first": 1, "last": 1, "wrong": 0}, account)

    def test_a_project_in_python_runs_with_numpy_and_leaves_its_account(self):
        said, seen = self.in_python.said["0.1.0"], self.in_python.seen
        self.assertEqual(said.returncode, 0, said.stdout + said.stderr)
        self.assertIn("arm 0.1.0 is ready", said.stdout)
        self.assertIn("ActiveState=active", seen["runs"])
        self.assertEqual(seen["user"], "horus")
        self.assertIn("forward", seen["command"], seen["account"])
        self.assertRegex(seen["account"], r"control: [1-9][0-9]* releases")

    def test_a_version_in_python_that_needs_what_the_image_has_not_is_refused_with_its_words(self):
        said = self.in_python.said["missing"]
        self.assertEqual(said.returncode, 2, said.stdout + said.stderr)
        self.assertIn("No module named 'serial'", said.stdout + said.stderr)
        self.assertEqual(self.in_python.seen["unharmed"], "active")

    def test_all_programs_of_a_robot_are_deployed_as_one_version_and_start_in_order(self):
        said, seen = self.whole_robot.said["1"], self.whole_robot.seen
        self.assertEqual(said.returncode, 0, said.stdout + said.stderr)
        for words in ("building robot-base ", "building robot-nav ", "building robot-camera", "12 nodes of 4 programs", "nav is ready", "robot 1 is ready: 4 programs"):
            self.assertIn(words, said.stdout)
        self.assertIn("robot 1: 4 of 4 programs ready", seen["runs"])
        ready, started = map(int, seen["order"].split())
        self.assertTrue(0 < ready <= started, seen["order"])
        self.assertEqual(seen["user"], "horus")
        for program in ("robot-base", "robot-nav", "robot-camera", "robot-battery"):
            self.assertIn(f"{program}/", seen["nodes"])

    def test_a_program_of_a_robot_that_is_killed_starts_again(self):
        seen = self.whole_robot.seen
        self.assertIn("robot 1: 4 of 4 programs ready", seen["after a kill"])
        self.assertGreaterEqual(int(seen["restarts"]), 1)

    def test_a_version_of_a_robot_of_which_one_program_never_becomes_ready_is_taken_back_as_one(self):
        said, seen = self.whole_robot.said["2"], self.whole_robot.seen
        self.assertEqual(said.returncode, 1, said.stdout + said.stderr)
        for words in ("robot 2: lights did not become ready", "no bulb in the socket", "robot 1 runs again"):
            self.assertIn(words, said.stdout + said.stderr)
        self.assertIn("robot 1: 4 of 4 programs ready", seen["rolled back"])

    def test_a_group_of_a_robot_stops_and_all_of_it_starts_at_the_next_boot(self):
        said, seen = self.whole_robot.said, self.whole_robot.seen
        self.assertEqual(said["stop"].returncode, 0, said["stop"].stderr)
        self.assertEqual(said["stopped"].returncode, 1, said["stopped"].stderr)
        self.assertIn("robot 1: 3 of 4 programs ready", said["stopped"].stdout)
        self.assertIn("robot 1: 4 of 4 programs ready", seen["next boot"])
        self.assertEqual(said["remove"].returncode, 0, said["remove"].stderr)
        self.assertEqual(seen["removed"].split(), ["inactive"])

    def test_nonsense_on_the_disk_fails_alone_and_says_why(self):
        self.assertIn("node.toml", self.deployed.seen["bad"])
        self.assertIn("speed", self.deployed.seen["bad"])
        self.assertEqual(self.deployed.seen["beside bad"], self.deployed.seen["second"])

    def test_a_node_that_leaks_is_ended_and_no_other_with_it(self):
        self.assertIn("oom-kill", self.deployed.seen["leak"])
        self.assertEqual(self.deployed.seen["beside leak"], self.deployed.seen["second"])

    def test_installed_nodes_start_at_the_next_boot_and_removed_ones_are_gone(self):
        self.assertEqual(self.deployed.seen["next boot"].split()[-1], "active")
        self.assertEqual(self.deployed.seen["removed"].split(), ["/var/lib/horus/nodes:", "/var/lib/horus/nodes/.previous:", "inactive"])

    def test_after_a_power_cut_at_any_moment_a_node_is_whole_or_not_there(self):
        replay = self.replay_of_writes()
        there = 0
        for number, cut in enumerate(replay.states(boot_test_x86_64.CUTS, seed=2)):
            with self.subTest(cut=number), disks.mounted(cut) as (_, place), tempfile.TemporaryDirectory() as root:
                (Path(root) / "var").symlink_to(place)
                settled = subprocess.run([deploying.HORUS, "node", "settle", "--root", root], capture_output=True, text=True, check=False)
                self.assertEqual(settled.returncode, 0, settled.stderr)
                node = place / "lib/horus/nodes" / deploying.NODE
                if node.exists():
                    there += 1
                    self.assertEqual(sorted(file.name for file in node.iterdir()), ["node.toml", deploying.NODE])
                    self.assertIn(hashlib.sha256((node / deploying.NODE).read_bytes()).hexdigest(), self.deployed.programs)
                self.assert_is_whole(place / "lib/horus/robot/current")
        self.assertGreater(there, 0)

    def assert_is_whole(self, version: Path):
        """A version of the robot is not there, or has all of its programs."""
        if not version.is_symlink():
            return
        text = (version / "robot.toml").read_text()
        for name in whole_robot.PROGRAMS:
            self.assertIn(f"[programs.{name}]", text)
            (program,) = [file for file in (version / "programs" / name).iterdir() if file.name != "node.toml"]
            self.assertIn(hashlib.sha256(program.read_bytes()).hexdigest(), self.whole_robot.programs)

    def test_there_is_no_shell_and_no_password(self):
        self.assertTrue(self.answers()["shells"].endswith("0 on the serial line"), self.answers()["shells"])
        self.assertEqual(self.answers()["passwords"], "0")
        # The greeting says how to log in; a shell would say who is.
        self.assertNotRegex((self.done.directory / "serial.log").read_text(errors="replace"), r"root@(?!arm3\.local)")

    def test_serial_console_shows_how_the_run_went(self):
        self.assertRegex((self.done.directory / "serial.log").read_text(errors="replace"), REPORT)

    def test_the_disk_that_was_started_wins_and_the_other_is_named(self):
        self.assertEqual(self.answers()["disks"].split(), ["/dev/vdb2", "/dev/vdb4"])
        self.assertTrue([guest.text(entry) for entry in self.done.entries if "another disk holds HORUS partitions" in guest.text(entry)])
        failed = [rule["id"] for rule in self.done.report["audit"]["rules"] if rule["status"] == "FAIL"]
        self.assertIn("D2", failed)

    def test_data_fills_the_disk(self):
        """The file system, which holds files, and not only the partition."""
        self.assertGreater(int(self.answers()["data-bytes"]), DISK // 2)
        self.assertEqual([guest.text(entry) for entry in self.done.entries if "does not fill its partition" in guest.text(entry)], [])

    def test_boot_partition_of_the_disk_that_was_started_is_there_when_somebody_looks(self):
        files, _, device = self.answers()["boot-partition"].partition(", ")
        self.assertIn("EFI", files.split())
        self.assertEqual(device, "/dev/vdb1")

    def test_clean_power_off(self):
        self.assert_clean_power_off()
