//! A group of processes: whether any of them lives, and signals to all of them.

use std::time::Duration;

use rustix::process::{Pid, Signal, kill_process_group};

/// How long a program may take to end after it was asked to.
pub const GRACE: Duration = Duration::from_secs(5);

/// Signals all of a group. That there is none any more is success.
pub fn signal(group: Pid, signal: Signal) {
    let _ = kill_process_group(group, signal);
}

/// Whether a process of the group lives. One that has ended and is not waited for yet has its number, and does not live.
pub fn lives(group: Pid) -> bool {
    let processes = std::fs::read_dir("/proc").into_iter().flatten().flatten();
    let numbers =
        processes.filter(|entry| entry.file_name().as_encoded_bytes().first().is_some_and(u8::is_ascii_digit));
    // One that ends meanwhile has no such file.
    numbers
        .filter_map(|entry| std::fs::read_to_string(entry.path().join("stat")).ok())
        .any(|stat| is_living_member(&stat, group))
}

/// Of `proc_pid_stat(5)`: `number (name) state parent group …`. A name can have any character in it, a bracket too.
fn is_living_member(stat: &str, group: Pid) -> bool {
    let Some((_, rest)) = stat.rsplit_once(") ") else { return false };
    let mut words = rest.split(' ');
    let (state, of) = (words.next(), words.nth(1));
    !matches!(state, Some("Z" | "X")) && of.is_some_and(|of| of.parse() == Ok(group.as_raw_nonzero().get()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_member_lives_unless_it_has_ended_whatever_its_name_is() {
        let group = Pid::from_raw(77).unwrap();
        for (stat, lives) in [
            ("80 (a) S 1 77 77 0", true),
            ("80 (a) b) R 1 77 77 0", true),
            ("80 (a) Z 1 77 77 0", false),
            ("80 (a) S 77 78 77 0", false),
            ("", false),
        ] {
            assert_eq!(is_living_member(stat, group), lives, "{stat}");
        }
    }
}
