"""A virtual machine for the appliance: QEMU inside the builder, KVM where it really works, else emulation."""

import functools
import json
import shutil
import socket
import subprocess
import time
from pathlib import Path
from typing import Callable

from horus_appliance.boot import guest
from horus_appliance.console import detail
from horus_appliance.host import builder, system
from horus_appliance.image.mkosi import Image
from horus_appliance.paths import BUILD

# The virtual board's identity; the appliance takes its machine-id from it (systemd.machine_id=firmware).
BOARD_UUID = "2f4b6a0e-5d0c-4c1e-9a57-0c7b6a9d3e11"
MEMORY_MIB = 2048
# QEMU's own: it gives an address and names a server of names. Not restrict=on, with which it names none.
NETWORK_DEVICE = ("-device", "virtio-net-pci,netdev=network,romfile=")
# How the image's own disk is attached: QEMU's arguments after the drive named "disk".
BUSES = {
    "virtio": ("virtio-blk-pci,drive=disk,bootindex=1",),
    "nvme": ("nvme,drive=disk,serial=horus,bootindex=1",),
    "ahci": ("ich9-ahci,id=ahci", "ide-hd,bus=ahci.0,drive=disk,bootindex=1"),
    "scsi": ("virtio-scsi-pci,id=scsi", "scsi-hd,bus=scsi.0,drive=disk,bootindex=1"),
    "usb": ("qemu-xhci,id=usb", "usb-storage,bus=usb.0,drive=disk,bootindex=1"),
    "sd": ("sdhci-pci,id=sd", "sd-card,drive=disk"),
}


class Machine:
    """A running virtual machine. Its disks are never changed: writes go to a scratch copy that ends with it.

    `firmware` boots the disk as a board would, through UEFI; without it QEMU loads the image's kernel directly, which
    is quicker and lets a test choose `extra_parameters`. `disks` are further ones by their serial numbers; the
    machine finds them before the image's own if `disks_first`. The firmware starts the image's own in either case.
    `prepare` is called with the path of a copy of the disk, which the machine then boots from. With `record`, all that is written to
    the disk is logged to the file `writes` beside it. A machine that restarts ends, unless it `restarts`. Its watchdog is not heard then: on a busy
    host PID 1 feeds it too late, and the machine would restart in the middle of what is asked of it.
    In `virtual_time` a nanosecond of the guest is an instruction of its CPU, however busy this machine is. `seed` is that of QEMU's random numbers.
    `memory` is in MiB. `bus` is one of BUSES.
    `forward` names ports of the guest, such as "tcp:22", that can be reached at 127.0.0.1 by the port that `ports` then has for each.
    With `neighbour`, the socket `wire` hears every Ethernet frame of the guest's network, a datagram each, and what is sent from it to `guest_wire`
    arrives there.
    After `limit` seconds the machine is ended, whichever test forgot it.
    """

    def __init__(
        self, image: Image, name: str, cpus: int, credentials: dict, limit: int, firmware: bool = True,
        extra_parameters: str = "", disks: dict = None, prepare: Callable | None = None, record: bool = False, restarts: bool = False,
        virtual_time: bool = False, seed: int | None = None, disks_first: bool = False, memory: int = MEMORY_MIB,
        bus: str = "virtio", forward: tuple = (), neighbour: bool = False,
    ):  # fmt: skip
        self.directory = BUILD / "machines" / name
        system.remove_tree(self.directory)
        self.directory.mkdir(parents=True)
        self.serial_log = self.directory / "serial.log"
        self.journal = guest.JournalTail(self.directory / "horus.journal")
        self.accelerated = not virtual_time and kvm_works(image)
        disk = self._copied(image) if prepare or record else image.disk
        if prepare:
            prepare(disk)
        board = image.architecture
        drive = recorded_arguments(disk, self.writes) if record else ["-drive", f"if=none,id=disk,format=raw,file={disk},snapshot=on,cache=unsafe"]
        own = [*drive, *(argument for device in BUSES[bus] for argument in ("-device", device))]
        others = disk_arguments(disks or {})
        self.ports = {guest_port: free_port(guest_port) for guest_port in forward}
        self.wire = socket.socket(socket.AF_INET, socket.SOCK_DGRAM) if neighbour else None
        if self.wire:
            self.wire.bind(("127.0.0.1", 0))
            self.guest_wire = ("127.0.0.1", free_port("udp:"))
        arguments = [
            "timeout", "--kill-after=5", str(limit), board.emulator, "-nodefaults", "-no-user-config", "-display", "none", *(["-action", "watchdog=none"] if restarts else ["-no-reboot"]),
            *(board.accelerated if self.accelerated else board.counted if virtual_time else board.emulated), "-smp", str(cpus), "-m", str(memory),
            *([] if seed is None else ["-seed", str(seed)]), "-uuid", BOARD_UUID, "-rtc", "base=utc,clock=vm" if virtual_time else "base=utc", "-qmp", "stdio",
            "-chardev", f"file,id=serial,path={self.serial_log}", "-serial", "chardev:serial",
            *([*others, *own] if disks_first else [*own, *others]),
            *([] if virtual_time else network_arguments(self.ports, (self.guest_wire[1], self.wire.getsockname()[1]) if self.wire else None)),
            *guest.port_arguments(self.directory), *guest.smbios_arguments(credentials),
        ]  # fmt: skip
        if firmware or board.firmware_loads_kernels:
            variables = self.directory / "uefi-variables"
            shutil.copyfile(builder.tree(board) / board.firmware_variables, variables)
            arguments += ["-drive", f"if=pflash,format=raw,readonly=on,file=/{board.firmware}",
                          "-drive", f"if=pflash,format=raw,file={variables}"]  # fmt: skip
        if not firmware:
            arguments += ["-kernel", str(image.kernel), "-initrd", str(image.initrd),
                          "-append", f"{image.command_line} {extra_parameters}"]  # fmt: skip
        self.errors = (self.directory / "qemu.log").open("w")
        self.process = subprocess.Popen(
            builder.command(board, arguments), stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=self.errors, text=True
        )
        self._qmp("qmp_capabilities")

    @property
    def writes(self) -> Path:
        """The log of all that was written to the disk, if it is recorded."""
        return self.directory / "writes"

    def _copied(self, image: Image) -> Path:
        disk = self.directory / image.disk.name
        subprocess.run(["cp", "--sparse=always", "--reflink=auto", image.disk, disk], check=True)
        return disk

    def press_power_button(self) -> None:
        """Asks the appliance to power off, as a person at the board would."""
        self._qmp("system_powerdown")

    def pause(self, seconds: float) -> None:
        """Takes all CPUs from the machine for a while, as a hypervisor does that runs something else. The guest's clocks go on."""
        emulator = self.process.pid
        while children := Path(f"/proc/{emulator}/task/{emulator}/children").read_text().split():
            emulator = int(children[0])
        subprocess.run(system.as_root(["kill", "-STOP", str(emulator)]), check=True)
        time.sleep(seconds)
        subprocess.run(system.as_root(["kill", "-CONT", str(emulator)]), check=True)

    def running(self) -> bool:
        """Whether the machine is on."""
        return self.process.poll() is None

    def wait_for_power_off(self, seconds: float) -> bool:
        """Waits for the machine to switch itself off; tells whether it did."""
        deadline = time.monotonic() + seconds
        while self.running() and time.monotonic() < deadline:
            time.sleep(0.2)
        return not self.running()

    def destroy(self) -> None:
        """Ends the machine at once, if it still runs."""
        if self.running():
            self._qmp("quit")
            if not self.wait_for_power_off(10):
                subprocess.run(system.as_root(["kill", "-KILL", str(self.process.pid)]), check=False)
                self.process.wait()
        for file in (self.process.stdin, self.process.stdout, self.errors, *([self.wire] if self.wire else [])):
            file.close()

    def _qmp(self, command: str) -> None:
        try:
            self.process.stdin.write(json.dumps({"execute": command}) + "\n")
            self.process.stdin.flush()
        except (BrokenPipeError, ValueError):
            pass  # the machine has just ended, which its owner sees by running()


def free_port(guest_port: str) -> int:
    """A port of this machine that no program has."""
    kind = socket.SOCK_DGRAM if guest_port.startswith("udp:") else socket.SOCK_STREAM
    with socket.socket(socket.AF_INET, kind) as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def network_arguments(ports: dict, wire: tuple | None) -> list:
    """QEMU's arguments for its own network: ports of this machine, and of no other's, that lead to ports of the guest.

    `wire` is a pair of UDP ports of this machine, QEMU's own and a neighbour's, who is on the same segment.
    """
    forwarded = ""
    for guest_port, own in ports.items():
        kind, number = guest_port.split(":")
        forwarded += f",hostfwd={kind}:127.0.0.1:{own}-:{number}"
    if wire is None:
        return ["-netdev", f"user,id=network{forwarded}", *NETWORK_DEVICE]
    own, neighbour = ({"type": "inet", "host": "127.0.0.1", "port": str(port)} for port in wire)
    segment = ["-netdev", json.dumps({"type": "dgram", "id": "wire", "local": own, "remote": neighbour}), "-netdev", f"user,id=outside{forwarded}"]
    for device, port in (("network", None), ("port-outside", "outside"), ("port-wire", "wire")):
        segment += ["-netdev", f"hubport,id={device},hubid=0" + (f",netdev={port}" if port else "")]
    return [*segment, *NETWORK_DEVICE]


def recorded_arguments(disk: Path, log: Path) -> list:
    """QEMU's arguments for the drive `disk`, with all writes and flushes logged in the form of the kernel's dm-log-writes."""
    log.touch()
    return [
        "-blockdev", f"driver=file,node-name=file,filename={disk},cache.no-flush=on", "-blockdev", f"driver=file,node-name=log,filename={log}",
        "-blockdev", "driver=blklogwrites,node-name=disk,file=file,log=log,log-sector-size=512",
    ]  # fmt: skip


def disk_arguments(disks: dict) -> list:
    """QEMU's arguments for further disks, by their serial numbers."""
    return [
        argument for serial, file in disks.items() for argument in (
            "-drive", f"if=none,id={serial},format=raw,snapshot=on,file={file}", "-device", f"virtio-blk-pci,drive={serial},serial={serial}",
        )
    ]  # fmt: skip


@functools.cache
def kvm_works(image: Image) -> bool:
    """Whether a real kernel gets as far as its first line under KVM here.

    That /dev/kvm exists is not enough: in some clouds it opens, and no guest ever runs.
    """
    board = image.architecture
    if board.foreign or not Path("/dev/kvm").exists():
        return False
    detail("trying whether KVM works here (up to 15 seconds)")
    arguments = [board.emulator, "-nodefaults", "-display", "none", "-no-reboot", *board.accelerated,
                 "-m", "512", "-serial", "stdio", "-kernel", str(image.kernel),
                 "-append", f"console={board.console} earlyprintk=serial panic=-1"]  # fmt: skip
    command = ["timeout", "--kill-after=2", "15", *arguments]
    output = subprocess.run(builder.command(board, command), capture_output=True, text=True, errors="replace", check=False)
    works = "Linux version" in output.stdout
    detail("KVM works" if works else "KVM does not work here: using emulation, which is slower")
    return works
