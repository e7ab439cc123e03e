//! Who a peer is, and whether it still lives.
//!
//! A process number alone is not an identity: numbers are used again. With the time at which the process started it is
//! one, until the next boot, which empties the RAM-backed directory that segments live in. A third number says in which
//! PID namespace the two mean anything: a peer in another container can be neither found nor declared dead from here.
//!
//! A process that cannot be seen need not be gone: `/proc` may be mounted with `hidepid=2`, a service may run under
//! `ProtectProc=invisible`. So where `/proc` knows nobody of a number, `kill(2)` with signal 0 is asked, and only its
//! "no such process" proves a death. Of a peer that stays hidden neither the start time nor the end as a zombie is seen;
//! it counts as living until its number is free.
//!
//! A zombie is dead: it executes nothing any more, only its parent has not asked for its exit status yet. But what
//! `/proc/PID/stat` calls a zombie is the main thread, which may end before the others (`pthread_exit` in `main`; some
//! moments of every SIGKILL). So a zombie counts as dead when it is the process's only thread.

use rustix::fs::{CWD, Mode, OFlags};
use rustix::io::Errno;
use rustix::process::{Pid, test_kill_process};

use crate::failpoint::failpoint;
use crate::sync::{AtomicU64, Ordering};

/// A process, past or present, for the whole time from one boot to the next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Identity {
    /// Process number in its namespace.
    pub pid: u32,
    /// When the process started, in clock ticks after boot (field 22 of `/proc/PID/stat`).
    pub start_ticks: u64,
    /// Inode of the PID namespace.
    pub namespace: u64,
}

/// Longest `/proc/PID/stat` prefix that is read: the name has at most 64 bytes, the 20 numbers at most 21 each.
const STAT_BYTES: usize = 1024;

impl Identity {
    /// This process. Reads `/proc`; if that cannot be done, `start_ticks` is 0, which stands for an unknown start.
    pub fn own() -> Self {
        let pid = std::process::id();
        let start_ticks = stat(pid).map_or(0, |stat| stat.start_ticks);
        Self { pid, start_ticks, namespace: own_namespace() }
    }

    /// Whether the process still executes; yes if that cannot be found out from here. Allocates nothing.
    pub fn is_alive(&self) -> bool {
        if self.namespace != own_namespace() {
            return true; // its number means nothing here, so nothing proves that it is gone
        }
        self.is_alive_by(stat(self.pid))
    }

    /// What follows from the answer of `/proc`.
    fn is_alive_by(&self, answer: Result<Stat, Errno>) -> bool {
        match answer {
            // A start that its owner could not read when it joined (no descriptor left, say) proves nothing.
            Ok(stat) => !stat.ended && (self.start_ticks == 0 || stat.start_ticks == self.start_ticks),
            Err(Errno::SRCH) => false,
            Err(Errno::NOENT) => !is_free(self.pid),
            Err(_) => true, // /proc could not be read: no proof
        }
    }

    /// The identity that stands in three words, `None` if nobody's does.
    pub(crate) fn load(words: &[AtomicU64]) -> Option<Self> {
        let pid = words[0].load(Ordering::Acquire); // SYNC POINT: identity
        if pid == 0 {
            return None;
        }
        // A number that is no process number belongs to no living process either: 0 stays 0 in `is_alive`.
        let pid = u32::try_from(pid).unwrap_or(0);
        let [start_ticks, namespace] = [1, 2].map(|word: usize| words[word].load(Ordering::Relaxed));
        Some(Self { pid, start_ticks, namespace })
    }

    pub(crate) fn store(&self, words: &[AtomicU64]) {
        // The process number last: a record cut short by a crash names nobody. Records are written and read under the
        // segment's lock; the ordering is for the crash.
        words[1].store(self.start_ticks, Ordering::Relaxed);
        words[2].store(self.namespace, Ordering::Relaxed);
        failpoint!("member:half");
        words[0].store(self.pid.into(), Ordering::Release); // SYNC POINT: identity
    }

    pub(crate) fn erase(words: &[AtomicU64]) {
        // Release: an owner that goes without the lock has written its lane before the lane looks free.
        words[0].store(0, Ordering::Release); // SYNC POINT: identity
    }
}

struct Stat {
    ended: bool,
    start_ticks: u64,
}

/// Whether no process has this number. One that this user may not signal has it.
fn is_free(pid: u32) -> bool {
    let pid = i32::try_from(pid).ok().and_then(Pid::from_raw);
    pid.is_none_or(|pid| test_kill_process(pid) == Err(Errno::SRCH))
}

/// State and start time of a process. `NOENT` when it is not there or not to be seen, `SRCH` when it ended meanwhile.
fn stat(pid: u32) -> Result<Stat, Errno> {
    let mut path = [0; 32];
    let path = stat_path(pid, &mut path);
    let file = rustix::fs::openat(CWD, path, OFlags::RDONLY | OFlags::CLOEXEC, Mode::empty())?;
    let mut text = [0; STAT_BYTES];
    let length = rustix::io::read(&file, &mut text)?;
    parse_stat(&text[..length]).ok_or(Errno::INVAL)
}

/// `/proc/PID/stat` in the caller's buffer: `format!` would allocate, and the wait for a full lane comes by here.
fn stat_path(pid: u32, buffer: &mut [u8; 32]) -> &[u8] {
    let mut digits = [0; 10];
    let mut first = digits.len();
    let mut rest = pid;
    loop {
        first -= 1;
        digits[first] = b'0' + (rest % 10) as u8;
        rest /= 10;
        if rest == 0 {
            break;
        }
    }
    let mut length = 0;
    for part in [b"/proc/".as_slice(), &digits[first..], b"/stat"] {
        buffer[length..length + part.len()].copy_from_slice(part);
        length += part.len();
    }
    &buffer[..length]
}

/// Fields 3, 20 and 22 of proc(5)'s `stat`. The name before them may hold anything, parentheses included, so it ends at the
/// *last* one.
fn parse_stat(text: &[u8]) -> Option<Stat> {
    let after_name = text.iter().rposition(|&byte| byte == b')')? + 1;
    let mut fields = text[after_name..].split(|&byte| byte == b' ').filter(|field| !field.is_empty());
    let number = |field: &[u8]| std::str::from_utf8(field).ok()?.trim_end().parse::<u64>().ok();
    let state = fields.next()?;
    let threads = number(fields.nth(16)?)?;
    let start_ticks = number(fields.nth(1)?)?;
    Some(Stat { ended: matches!(state, b"Z" | b"X" | b"x") && threads <= 1, start_ticks })
}

/// Inode of this process's PID namespace; 0 where the kernel has none or `/proc` is not mounted.
fn own_namespace() -> u64 {
    rustix::fs::stat(c"/proc/self/ns/pid").map_or(0, |stat| stat.st_ino)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn this_process_is_alive_and_its_predecessor_is_not() {
        let own = Identity::own();
        assert!(own.is_alive());
        assert!(!Identity { start_ticks: own.start_ticks + 1, ..own }.is_alive());
        assert!(Identity { start_ticks: 0, ..own }.is_alive(), "an unknown start proves nothing");
    }

    #[test]
    fn a_zombie_is_dead() {
        let mut child = std::process::Command::new("true").spawn().unwrap();
        let pid = child.id();
        let start_ticks = stat(pid).unwrap().start_ticks;
        let identity = Identity { pid, start_ticks, ..Identity::own() };
        let patience = std::time::Instant::now();
        while identity.is_alive() && patience.elapsed().as_secs() < 10 {
            std::thread::yield_now();
        }
        assert!(!identity.is_alive(), "ended, not reaped");
        child.wait().unwrap();
        assert!(!identity.is_alive(), "reaped");
    }

    #[test]
    fn a_peer_that_proc_hides_is_dead_only_when_its_number_is_free() {
        let hidden = |pid| Identity { pid, ..Identity::own() }.is_alive_by(Err(Errno::NOENT));
        assert!(hidden(std::process::id()) && hidden(1), "living, also when another user's");
        let mut child = std::process::Command::new("true").spawn().unwrap();
        child.wait().unwrap();
        assert!(!hidden(child.id()), "reaped");
        assert!(!hidden(0) && !hidden(u32::MAX), "no process numbers at all");
        let unreadable = Identity { pid: 0, ..Identity::own() }.is_alive_by(Err(Errno::ACCESS));
        assert!(unreadable, "what cannot be read proves nothing");
    }

    #[test]
    fn a_peer_of_another_namespace_is_never_declared_dead() {
        assert!(Identity { pid: u32::MAX, start_ticks: 1, namespace: 1 }.is_alive());
    }

    #[test]
    fn a_hostile_process_name_does_not_shift_the_fields() {
        let mut text = b"7 (a) Z 1 (b)) S".to_vec();
        (4..=21).for_each(|field: u32| text.extend(format!(" {field}").bytes()));
        text.extend(b" 4242 23 24\n");
        let stat = parse_stat(&text).unwrap();
        assert!(!stat.ended);
        assert_eq!(stat.start_ticks, 4242);
        assert!(parse_stat(b"7 (short) S 1 2").is_none());
    }

    #[test]
    fn a_process_whose_main_thread_ended_first_is_alive() {
        let stat = |threads: u64| {
            let mut text = b"7 (name) Z".to_vec();
            (4..=19).for_each(|field: u32| text.extend(format!(" {field}").bytes()));
            text.extend(format!(" {threads} 21 4242 23\n").bytes());
            parse_stat(&text).unwrap()
        };
        assert!(!stat(2).ended);
        assert!(stat(1).ended && stat(0).ended);
        assert!(parse_stat(b"").is_none());
    }

    #[test]
    fn identities_come_back_as_they_were_stored() {
        let words: Vec<_> = (0..3).map(|_| AtomicU64::new(0)).collect();
        assert_eq!(Identity::load(&words), None);
        let own = Identity::own();
        own.store(&words);
        assert_eq!(Identity::load(&words), Some(own));
        Identity::erase(&words);
        assert_eq!(Identity::load(&words), None);
    }
}
