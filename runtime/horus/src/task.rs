//! What the kernel says of one thread in `/proc/PID/task/TID/stat`.

use std::fmt;

/// The scheduling policy that the kernel says a thread has, by the kernel's own names.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum KernelPolicy {
    /// The ordinary one: a fair share.
    Other,
    /// Real-time: until it sleeps.
    Fifo,
    /// Real-time: in turn with others of the same priority.
    RoundRobin,
    /// A fair share, for work that is not waited for.
    Batch,
    /// What is left over.
    Idle,
    /// Real-time: a budget in each period, before all others.
    Deadline,
    /// A scheduler loaded as a program.
    Ext,
    /// One that this list does not know, by its number.
    Unknown(u32),
}

impl KernelPolicy {
    /// The policy of this number in `include/uapi/linux/sched.h`; 4 was never used.
    pub(crate) fn from_number(number: u32) -> Self {
        match number {
            0 => Self::Other,
            1 => Self::Fifo,
            2 => Self::RoundRobin,
            3 => Self::Batch,
            5 => Self::Idle,
            6 => Self::Deadline,
            7 => Self::Ext,
            _ => Self::Unknown(number),
        }
    }

    /// Whether its threads run before all that have a fair share.
    pub(crate) fn is_real_time(self) -> bool {
        matches!(self, Self::Fifo | Self::RoundRobin | Self::Deadline)
    }
}

impl fmt::Display for KernelPolicy {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(match self {
            Self::Other => "SCHED_OTHER",
            Self::Fifo => "SCHED_FIFO",
            Self::RoundRobin => "SCHED_RR",
            Self::Batch => "SCHED_BATCH",
            Self::Idle => "SCHED_IDLE",
            Self::Deadline => "SCHED_DEADLINE",
            Self::Ext => "SCHED_EXT",
            Self::Unknown(number) => return write!(out, "policy number {number}"),
        })
    }
}

/// The fields of `stat` that say what a thread is and how it is scheduled; proc_pid_stat(5) has all of them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TaskStat<'a> {
    /// Name of at most 15 characters.
    pub name: &'a str,
    /// The kernel's flags of the task.
    flags: u64,
    /// 1 to 99 under [`Fifo`](KernelPolicy::Fifo) and [`RoundRobin`](KernelPolicy::RoundRobin), 0 under all others.
    pub rt_priority: u32,
    /// Its policy.
    pub policy: KernelPolicy,
}

impl<'a> TaskStat<'a> {
    /// Reads a line of `stat`. The name is in parentheses and may hold any character, parentheses too.
    pub fn parse(stat: &'a str) -> Option<Self> {
        let (head, tail) = stat.rsplit_once(')')?;
        let name = head.split_once('(')?.1;
        let field = |number: usize| tail.split_ascii_whitespace().nth(number - 3); // the first behind the name is field 3
        let policy = KernelPolicy::from_number(field(41)?.parse().ok()?);
        Some(Self { name, flags: field(9)?.parse().ok()?, rt_priority: field(40)?.parse().ok()?, policy })
    }

    /// Whether the thread belongs to the kernel (`PF_KTHREAD` in the kernel's `sched.h`).
    pub fn is_kernel(&self) -> bool {
        self.flags & 0x0020_0000 != 0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_with_parentheses_and_spaces_does_not_shift_the_fields() {
        let stat = format!("8 (a) b (c) S 1 1 1 0 -1 2097216 {}80 1 0", "0 ".repeat(30));
        let task = TaskStat::parse(&stat).unwrap();
        assert_eq!((task.name, task.rt_priority, task.policy), ("a) b (c", 80, KernelPolicy::Fifo));
        assert!(task.is_kernel());
    }

    #[test]
    fn a_policy_of_a_later_kernel_hides_no_thread_and_what_is_cut_short_is_not_read() {
        let stat = |policy: u32| format!("7 (sh) S 1 1 1 0 -1 0 {}0 {policy} 0", "0 ".repeat(30));
        assert_eq!(TaskStat::parse(&stat(0)).unwrap().policy, KernelPolicy::Other);
        assert_eq!(TaskStat::parse(&stat(8)).unwrap().policy, KernelPolicy::Unknown(8));
        assert_eq!((TaskStat::parse("42 (cut short) S 1 2"), TaskStat::parse("")), (None, None));
    }

    #[test]
    fn this_thread_can_be_read() {
        let stat = std::fs::read_to_string("/proc/thread-self/stat").unwrap();
        assert!(TaskStat::parse(&stat).is_some_and(|task| !task.is_kernel()), "{stat}");
    }
}
