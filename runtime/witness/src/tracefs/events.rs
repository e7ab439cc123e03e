//! Which events are traced, and which option gives a kernel that lacks them.

/// What an event is good for.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Group {
    /// Which thread has the CPU.
    Threads,
    /// Devices' interrupts, and their deferred work.
    Interrupts,
    /// The CPU's own timer.
    Timer,
    /// When a program touches a page that is not mapped.
    Touches,
    /// How long the kernel maps a page.
    Faults,
    /// The kernel's work items.
    WorkItems,
    /// The CPU's frequency.
    Frequency,
}

/// An event that is traced.
#[derive(Clone, Copy, Debug)]
pub struct Wanted {
    /// Its folder in `events`.
    pub group: &'static str,
    /// Its own name.
    pub name: &'static str,
    /// What it is good for.
    pub kind: Group,
}

const fn wanted(group: &'static str, name: &'static str, kind: Group) -> Wanted {
    Wanted { group, name, kind }
}

/// Everything that is traced. A cycle of a quiet loop is some eight events. `sched_wakeup` and `hrtimer_*` would add half of that again
/// and name no culprit.
pub(crate) const WANTED: &[Wanted] = &[
    wanted("sched", "sched_switch", Group::Threads),
    wanted("irq", "irq_handler_entry", Group::Interrupts),
    wanted("irq", "irq_handler_exit", Group::Interrupts),
    wanted("irq", "softirq_entry", Group::Interrupts),
    wanted("irq", "softirq_exit", Group::Interrupts),
    wanted("irq_vectors", "local_timer_entry", Group::Timer),
    wanted("irq_vectors", "local_timer_exit", Group::Timer),
    wanted("exceptions", "page_fault_user", Group::Touches),
    wanted("horus", "fault", Group::Faults),
    wanted("horus", "fault_end", Group::Faults),
    wanted("workqueue", "workqueue_execute_start", Group::WorkItems),
    wanted("workqueue", "workqueue_execute_end", Group::WorkItems),
    wanted("power", "cpu_frequency", Group::Frequency),
];

impl Wanted {
    /// Whether kernels for this machine's kind of processor have it.
    pub(crate) fn is_of_this_machine(&self) -> bool {
        self.is_of(std::env::consts::ARCH)
    }

    /// Whether kernels for a kind of processor have it: ARM's timer is an ordinary interrupt (`arch_timer`), and its faults have no event,
    /// but the probe, which gives the address, too.
    fn is_of(&self, architecture: &str) -> bool {
        architecture == "x86_64" || !matches!(self.kind, Group::Timer | Group::Touches)
    }
}

/// An event that this kernel does not have.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Missing {
    /// Which one: `irq/softirq_entry`.
    pub event: String,
    /// What the witness does not see without it.
    pub unseen: &'static str,
    /// Which option of the kernel gives it.
    pub option: &'static str,
}

impl Missing {
    /// What a kernel lacks that has no such event.
    pub fn of(group: Group, event: &str) -> Self {
        let (unseen, option) = match group {
            Group::Threads => ("which thread has the CPU", "CONFIG_FTRACE and CONFIG_EVENT_TRACING"),
            Group::Interrupts => ("interrupts", "CONFIG_FTRACE and CONFIG_EVENT_TRACING"),
            Group::Timer => ("the CPU's own timer", "CONFIG_X86_LOCAL_APIC"),
            Group::Touches => ("the address of a page fault", "CONFIG_FTRACE and CONFIG_EVENT_TRACING"),
            Group::Faults => ("how long page faults take", "CONFIG_KPROBE_EVENTS"),
            Group::WorkItems => ("which work item a kernel worker runs", "CONFIG_FTRACE and CONFIG_EVENT_TRACING"),
            Group::Frequency => ("changes of the CPU's frequency", "CONFIG_CPU_FREQ"),
        };
        Self { event: event.to_owned(), unseen, option }
    }
}

impl std::fmt::Display for Missing {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} is not seen: the kernel has no event {}; set {}", self.unseen, self.event, self.option)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn on_arm_everything_is_traced_but_what_only_x86_kernels_have() {
        let of = |architecture| WANTED.iter().filter(move |event| event.is_of(architecture));
        assert_eq!(of("x86_64").count(), WANTED.len());
        let lacks: Vec<&str> = of("x86_64").filter(|event| !event.is_of("aarch64")).map(|event| event.group).collect();
        assert!(lacks.iter().all(|group| ["irq_vectors", "exceptions"].contains(group)), "{lacks:?}");
        for kind in [Group::Threads, Group::Interrupts, Group::Faults, Group::WorkItems, Group::Frequency] {
            assert!(of("aarch64").any(|event| event.kind == kind), "{kind:?}");
        }
    }
}
