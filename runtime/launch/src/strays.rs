//! Processes of a robot that left their groups, or that the guard was never told of: they have the robot's folder in their environment.
//!
//! Each program is started with a `NOTIFY_SOCKET` in that folder, whose name no other robot has, and what a program starts inherits it.

use std::os::unix::ffi::OsStrExt;
use std::path::Path;
use std::time::Duration;

use horus::time::MonotonicTime;
use rustix::process::{Pid, PidfdFlags, Signal, pidfd_open, pidfd_send_signal};

use crate::group::GRACE;

/// The distance of two looks.
const LOOK: Duration = Duration::from_millis(20);

/// Ends all that has `folder` in its environment: asks, waits for as long as a program may take, and kills. `wait` lets time pass.
pub fn end(folder: &Path, wait: &mut dyn FnMut(Duration)) {
    let until = MonotonicTime::now().plus(GRACE);
    let mut signal = Signal::TERM;
    while signal_all(folder, signal) {
        let is_late = MonotonicTime::now() >= until;
        if is_late && signal == Signal::KILL {
            return; // what the kernel does not end now, it ends when it can
        }
        // Asked once, or killed once.
        while MonotonicTime::now() < until && find(folder).next().is_some() {
            wait(LOOK);
        }
        signal = Signal::KILL;
    }
}

/// Whether there was any.
fn signal_all(folder: &Path, signal: Signal) -> bool {
    let mut has_found = false;
    for process in find(folder) {
        // Its number may be another's by the time it is signalled; that of a descriptor is not. So it is looked at once more.
        let Ok(descriptor) = pidfd_open(process, PidfdFlags::empty()) else { continue };
        if is_of(process, folder) {
            let _ = pidfd_send_signal(&descriptor, signal);
            has_found = true;
        }
    }
    has_found
}

fn find(folder: &Path) -> impl Iterator<Item = Pid> {
    let processes = std::fs::read_dir("/proc").into_iter().flatten().flatten();
    let numbers = processes.filter_map(|entry| Pid::from_raw(entry.file_name().to_str()?.parse().ok()?));
    numbers.filter(move |process| is_of(*process, folder))
}

/// Whether a process has a socket of the folder. One that has ended has no environment; of another user's there is none to read.
fn is_of(process: Pid, folder: &Path) -> bool {
    let environment = std::fs::read(format!("/proc/{}/environ", process.as_raw_nonzero())).unwrap_or_default();
    let start = [b"NOTIFY_SOCKET=", folder.as_os_str().as_bytes(), b"/"].concat();
    environment.split(|byte| *byte == 0).any(|variable| variable.starts_with(&start))
}
