"""What the kernel said when it ended is told at the next boot: conf/base's last-words on a tree that stands for a machine's."""

import os
import re
import subprocess

from horus_appliance.in_directory import InDirectory
from horus_appliance.paths import CONF

import horus_conf

SCRIPT = CONF / "base/rootfs/usr/lib/horus/last-words"
BOOT = "0f0e0d0c-0b0a-0908-0706-050403020100"
PANIC = (
    "Panic#1 Part1\n<6>[   12.000001] some device is there\n<0>[   30.123456] Kernel panic - not syncing: sysrq triggered crash\n"
    "<4>[   30.123460] CPU: 0 PID: 1 Comm: sh\n"
)
OOPS = "Oops#1 Part1\n<1>[   30.1][  T77] BUG: kernel NULL pointer dereference, address: 0000000000000000\n<4>[   30.2] Oops: Oops: 0002 [#1] PREEMPT_RT SMP\n"
# /proc/iomem of an emulated machine, whose kernel lies above the memory that was taken out.
MEMORY = (
    "00000000-00000fff : Reserved\n00001000-0009ffff : System RAM\n00100000-57ffffff : System RAM\n58000000-580fffff : Reserved\n"
    "58100000-7e8edfff : System RAM\n  70000000-71ffffff : Kernel code\nb0000000-bfffffff : PCI ECAM 0000\n"
)


class LastWords(InDirectory):
    def setUp(self):
        super().setUp()
        self.write("run/data", "state=clean\n")
        self.write("run/cut-boots", f"some-boot-before\n{BOOT}\n")
        self.write("bin/modprobe", f'#!/bin/sh\necho "$@" >> {self.root}/loaded\n').chmod(0o755)
        (self.root / "store").mkdir()
        self.write("cmdline", horus_conf.kernel_command_line("generic-x86-64", tuned=True, version="1.0.0") + "\n")
        self.write("memory", MEMORY)

    def start(self) -> str:
        """Runs it as a boot does; gives what it said."""
        places = {"RUN": "run", "VAR": "var", "STORE": "store", "MEMORY": "memory", "COMMAND_LINE": "cmdline", "TREE": "tree"}
        environment = {f"HORUS_{name}": str(self.root / place) for name, place in places.items()}
        environment["PATH"] = f"{self.root}/bin:{os.environ['PATH']}"
        return subprocess.run([str(SCRIPT)], env=environment, capture_output=True, text=True, check=True).stderr

    def kept(self) -> dict:
        return {path.stem: path.read_text() for path in (self.root / "var/lib/horus/last-words").glob("*.txt")}

    def loaded(self) -> str:
        place = self.root / "loaded"
        return place.read_text().strip() if place.exists() else ""

    def test_a_panic_is_told_with_its_reason_once_and_its_text_is_kept(self):
        record = self.write("store/dmesg-ramoops-0", PANIC)
        said = self.start()
        sentence = f"the last boot ended by a kernel panic: sysrq triggered crash. Its last words: {self.root}/var/lib/horus/last-words/{BOOT}.txt"
        self.assertEqual(said, f"<4>{sentence}\n")
        self.assertEqual((self.root / "run/last-words").read_text(), f"{sentence}\n")
        self.assertEqual((self.kept(), record.exists()), ({BOOT: PANIC}, False))
        self.assertEqual((self.root / f"var/lib/horus/last-words/{BOOT}.txt").stat().st_mode & 0o777, 0o600, "the kernel's log is root's")
        self.assertEqual(self.start(), "")

    def test_a_fault_that_ended_in_a_panic_is_named_with_it(self):
        self.write("store/dmesg-ramoops-0", OOPS)
        self.write("store/dmesg-ramoops-1", PANIC.replace("sysrq triggered crash", "Fatal exception"))
        self.assertIn("kernel panic: Fatal exception, after BUG: kernel NULL pointer dereference", self.start())
        self.assertEqual(self.kept()[BOOT].count("#1 Part1"), 2)

    def test_a_fault_without_a_panic_is_not_called_one(self):
        self.write("store/dmesg-ramoops-0", OOPS)
        said = self.start()
        self.assertIn("an earlier boot told of a fault: BUG: kernel NULL pointer", said)
        self.assertNotIn("panic", said)

    def test_what_a_device_or_a_program_put_into_it_steers_no_terminal_and_names_no_path(self):
        self.write("run/cut-boots", "../../../etc/passwd\n")
        self.write("store/dmesg-ramoops-0", f"Panic#1 Part1\n<0>[ 1.0] Kernel panic - not syncing: \x1b[2J{'long ' * 100}\n")
        said = self.start()
        self.assertNotIn("\x1b", said)
        self.assertLess(len(said), 600)
        self.assertEqual(len(self.kept()), 1)
        self.assertNotIn("..", said)

    def test_of_a_machine_that_panics_at_every_boot_ten_are_kept(self):
        for number in range(12):
            self.write("run/cut-boots", f"{number:08x}\n")
            self.write("store/dmesg-ramoops-0", PANIC)
            self.start()
        self.assertEqual(len(self.kept()), 10)
        self.assertIn("0000000b", self.kept())

    def test_with_var_in_memory_the_next_boot_tells_it_too(self):
        self.write("run/data", "state=ram\n")
        self.write("store/dmesg-ramoops-0", PANIC)
        self.assertEqual(self.start(), self.start())

    def test_the_module_gets_the_memory_that_the_command_line_takes_out_of_the_ram(self):
        self.assertEqual(self.start(), "")
        self.assertEqual(self.loaded(), f"ramoops mem_address={0x5800_0000} mem_size={1 << 20} record_size={1 << 18} ecc=1")

    def test_memory_that_is_not_there_or_holds_the_kernel_is_left_alone(self):
        ours = "58000000-580fffff : Reserved\n"
        for changed in (
            MEMORY.replace(ours, ours + "  58000000-5807ffff : Kernel bss\n"),
            MEMORY.replace("00100000-57ffffff : System RAM\n", "00100000-57efffff : System RAM\n57f00000-57ffffff : Kernel code\n"),
            MEMORY.replace("58100000-7e8edfff : System RAM\n", ""),
            MEMORY.replace(ours, "57000000-59ffffff : Kernel code\n  58000000-580fffff : Reserved\n"),
            "00100000-0fffffff : System RAM\nb0000000-bfffffff : PCI ECAM 0000\n",
        ):
            self.write("memory", changed)
            self.assertRegex(self.start(), "^<6>a panic of this kernel will leave no reason: this machine has no RAM of its own at 0x58000000")
        self.assertEqual(self.loaded(), "")

    def test_a_board_whose_device_tree_names_the_memory_gets_the_module_before_its_texts_are_looked_for(self):
        self.write("cmdline", horus_conf.kernel_command_line("raspberrypi4", tuned=True, version="1.0.0") + "\n")
        self.write("tree/reserved-memory/ramoops@b000000/compatible", "ramoops\0")
        self.write("store/dmesg-ramoops-0", PANIC)
        self.assertIn("sysrq triggered crash", self.start())
        self.assertEqual(self.loaded(), "ramoops")

    def test_a_board_that_names_no_memory_has_nothing_to_tell(self):
        self.write("cmdline", horus_conf.kernel_command_line("raspberrypi4", tuned=True, version="1.0.0") + "\n")
        self.assertEqual((self.start(), self.loaded()), ("", ""))

    def test_a_module_that_cannot_be_loaded_is_told(self):
        self.write("bin/modprobe", "#!/bin/sh\nexit 1\n").chmod(0o755)
        self.assertRegex(self.start(), "^<4>.*the module ramoops cannot be loaded")

    def test_a_kernel_that_found_itself_damaged_panics_and_comes_back(self):
        self.assertIn("panic=10", (self.root / "cmdline").read_text().split())
        settings = (CONF / "base/rootfs/usr/lib/sysctl.d/60-horus-hardening.conf").read_text()
        self.assertTrue(re.search("^kernel.panic_on_oops = 1$", settings, re.MULTILINE))
