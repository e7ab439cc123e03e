//! Stands between a process and the kernel: counts how often it has the disk write, and has that fail as a broken disk does.
//!
//! It is done by ptrace, from a process of its own. What is counted are system calls that were really made, and the gateway has no
//! part that is there for the test. A failure is what the kernel really says and does: the call is made, its answer is `EIO`, and the
//! next one succeeds.

use std::collections::BTreeMap;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use nix::libc;
use nix::sys::ptrace::{self, Options};
use nix::sys::wait::{WaitPidFlag, WaitStatus, waitpid};
use nix::unistd::Pid;

/// Where the two tell each other what they want: a directory.
pub const PLACE: &str = "HORUS_TEST_DISK";
/// The test that is run behind it.
const ROLE: &str = "HORUS_TEST_DISK_ROLE";

/// The calls that have a disk write.
const CALLS: [(libc::c_long, &str); 5] = [
    (libc::SYS_fdatasync, "fdatasync"),
    (libc::SYS_fsync, "fsync"),
    (libc::SYS_msync, "msync"),
    (libc::SYS_sync_file_range, "sync_file_range"),
    (libc::SYS_syncfs, "syncfs"),
];

/// What a test knows of it.
pub struct Disk(pub PathBuf);

impl Disk {
    /// The disk of the process that asks.
    pub fn own() -> Option<Self> {
        std::env::var_os(PLACE).map(|place| Self(place.into()))
    }

    /// Runs a test of this program behind a disk whose files are in `place`.
    pub fn command(place: &Path, role: &str) -> Command {
        std::fs::create_dir_all(place).unwrap();
        let mut command = Command::new(std::env::current_exe().unwrap());
        command.args(["--exact", "running::disk::disk_process", "--ignored", "--nocapture"]);
        command.env(PLACE, place).env(ROLE, role);
        command
    }

    /// The next so many requests to write fail.
    pub fn fail(&self, requests: u64) {
        self.fail_after(0, requests);
    }

    /// So many requests to write succeed, and the next ones fail.
    pub fn fail_after(&self, succeed: u64, fail: u64) {
        replace(&self.0.join("fail"), &format!("{succeed} {fail}"));
    }

    fn wanted(&self) -> (u64, u64) {
        let text = std::fs::read_to_string(self.0.join("fail")).unwrap_or_else(|_| "0 0".into());
        let (succeed, fail) = text.split_once(' ').unwrap();
        (succeed.parse().unwrap(), fail.parse().unwrap())
    }

    /// How often each call was made.
    pub fn calls(&self) -> BTreeMap<String, u64> {
        let text = std::fs::read_to_string(self.0.join("calls")).unwrap_or_default();
        let lines = text.lines().map(|line| line.split_once(' ').expect("a name and a number"));
        lines.map(|(name, count)| (name.to_owned(), count.parse().unwrap())).collect()
    }
}

/// A reader finds the old text or the new one.
fn replace(file: &Path, text: &str) {
    std::fs::write(file.with_extension("new"), text).unwrap();
    std::fs::rename(file.with_extension("new"), file).unwrap();
}

#[test]
#[ignore = "stands between a process of other tests and its disk"]
#[expect(clippy::zombie_processes, reason = "it is waited for by its number, among its threads")]
fn disk_process() {
    let (Some(disk), Ok(role)) = (Disk::own(), std::env::var(ROLE)) else { return };
    // It waits until it is watched.
    let mut child = Command::new("sh")
        .args(["-c", "read -r _ && exec \"$0\" \"$@\" 0<&-"])
        .arg(std::env::current_exe().unwrap())
        .args(["--exact", &role, "--ignored", "--nocapture"])
        .stdin(Stdio::piped())
        .spawn()
        .unwrap();
    let pid = Pid::from_raw(child.id() as i32);
    println!("\nas {pid}");
    let options = Options::PTRACE_O_TRACESYSGOOD | Options::PTRACE_O_TRACECLONE | Options::PTRACE_O_EXITKILL;
    ptrace::seize(pid, options).unwrap();
    ptrace::interrupt(pid).unwrap();
    writeln!(child.stdin.take().unwrap()).unwrap();
    let mut calls = BTreeMap::new();
    loop {
        // Threads of its own, too; they are no other process's children.
        match waitpid(None, Some(WaitPidFlag::__WALL)).unwrap() {
            WaitStatus::Exited(gone, code) if gone == pid => std::process::exit(code),
            WaitStatus::Signaled(gone, ..) if gone == pid => std::process::exit(1),
            WaitStatus::PtraceSyscall(thread) => {
                look(thread, &disk, &mut calls);
                let _ = ptrace::syscall(thread, None); // of one that was killed meanwhile, nothing
            }
            WaitStatus::PtraceEvent(thread, ..) => {
                let _ = ptrace::syscall(thread, None);
            }
            WaitStatus::Stopped(thread, signal) => {
                let _ = ptrace::syscall(thread, Some(signal));
            }
            _ => {}
        }
    }
}

/// A thread comes back from a system call: one that has the disk write is counted, and its answer is another one where that is wanted.
fn look(thread: Pid, disk: &Disk, calls: &mut BTreeMap<&'static str, u64>) {
    let (Ok(info), Ok(mut registers)) = (ptrace::syscall_info(thread), ptrace::getregs(thread)) else { return };
    if info.op != libc::PTRACE_SYSCALL_INFO_EXIT {
        return;
    }
    #[cfg(target_arch = "x86_64")]
    let (number, answer) = (registers.orig_rax as libc::c_long, &mut registers.rax);
    #[cfg(target_arch = "aarch64")]
    let (number, answer) = (registers.regs[8] as libc::c_long, &mut registers.regs[0]);
    let Some((_, name)) = CALLS.iter().find(|(known, _)| *known == number) else { return };
    *calls.entry(*name).or_default() += 1;
    match disk.wanted() {
        (0, 0) => {}
        (0, fail) => {
            *calls.entry("failed").or_default() += 1;
            *answer = -i64::from(libc::EIO) as u64;
            ptrace::setregs(thread, registers).unwrap();
            disk.fail(fail - 1);
        }
        (succeed, fail) => disk.fail_after(succeed - 1, fail),
    }
    let lines: String = calls.iter().map(|(name, count)| format!("{name} {count}\n")).collect();
    replace(&disk.0.join("calls"), &lines);
}
