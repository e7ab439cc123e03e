//! One function a guarantee: asks the kernel, reads back what it did, and names the remedy when it did not.

use std::fs::{File, OpenOptions};
use std::io::{self, Write};
use std::os::unix::fs::FileExt;
use std::path::Path;
use std::sync::OnceLock;
use std::time::Duration;

use horus_sys::scheduling::leave_real_time;
use rustix::mm::{MlockAllFlags, mlockall};
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
use rustix::thread::{CpuSet, sched_getaffinity, sched_setaffinity};
use thread_priority::unix::{
    DeadlineFlags, RealtimeThreadSchedulePolicy, ThreadSchedulePolicy, set_thread_priority_and_policy, thread_native_id,
};
use thread_priority::{ThreadPriority, ThreadPriorityValue};

use super::{Answer, Guarantee, Reservation, SchedulingPolicy};
use crate::cpus::{CpuChoice, CpuList};
use crate::task::{KernelPolicy, TaskStat};

/// How far the stack is touched ahead of the loop. Locking keeps pages that exist; the stack grows by faults.
const PREFAULTED_STACK_BYTES: usize = 256 * 1024;

/// Builds a guarantee from what setting and reading back came to.
fn guarantee(name: &'static str, asked: String, found: Result<String, String>, remedy: &str) -> Guarantee {
    let answer = match found {
        Ok(found) => Answer::Granted(found),
        Err(reason) => Answer::Refused { reason, remedy: remedy.to_owned() },
    };
    Guarantee { name, asked, answer }
}

/// Restricts the calling thread to the CPUs of `choice`; `None` when no choice was made.
pub fn pin(choice: CpuChoice) -> Option<Guarantee> {
    if choice == CpuChoice::Any {
        return None;
    }
    let wanted = choice.resolve(Path::new("/"));
    let found = match wanted.is_empty() {
        true => Err(format!("this machine has no such CPU online; the thread stays on CPUs {}", allowed_or_error())),
        false => pin_to(&wanted),
    };
    let remedy = match choice {
        CpuChoice::Isolated(_) | CpuChoice::IsolatedLast => {
            "boot with isolcpus=managed_irq,domain,LIST and check /sys/devices/system/cpu/isolated"
        }
        _ => "choose a CPU of /sys/devices/system/cpu/online that the unit's cgroup allows (AllowedCPUs=)",
    };
    let asked = match wanted.is_empty() {
        true => format!("CPU {choice}"),
        false => format!("CPU {choice} ({wanted})"),
    };
    Some(guarantee("cpu", asked, found, remedy))
}

fn pin_to(wanted: &CpuList) -> Result<String, String> {
    let mut set = CpuSet::new();
    for cpu in wanted.iter() {
        match usize::try_from(cpu) {
            Ok(cpu) if cpu < CpuSet::MAX_CPU => set.set(cpu),
            _ => return Err(format!("CPU {cpu} is beyond the {} that can be asked for", CpuSet::MAX_CPU)),
        }
    }
    sched_setaffinity(None, &set).map_err(|errno| format!("sched_setaffinity: {errno}"))?;
    let allowed = allowed_cpus().map_err(|error| format!("sched_getaffinity: {error}"))?;
    match allowed == *wanted {
        true => Ok(format!("CPU {allowed}")),
        false => Err(format!("the kernel allows CPUs {allowed} instead")),
    }
}

/// The CPUs on which the calling thread may run, as the kernel says.
fn allowed_cpus() -> io::Result<CpuList> {
    let set = sched_getaffinity(None)?;
    Ok((0..CpuSet::MAX_CPU).filter(|cpu| set.is_set(*cpu)).map(|cpu| cpu as u32).collect())
}

/// The only CPU on which the calling thread may run.
pub fn only_cpu() -> Option<u32> {
    let allowed = allowed_cpus().ok()?;
    allowed.iter().next().filter(|_| allowed.len() == 1)
}

fn allowed_or_error() -> String {
    allowed_cpus().map_or_else(|error| format!("unknown ({error})"), |cpus| cpus.to_string())
}

/// Puts the calling thread under a policy.
pub fn set_policy(wanted: SchedulingPolicy, reservation: Reservation) -> Guarantee {
    let (asked, kernel, priority) = match wanted {
        SchedulingPolicy::Inherited | SchedulingPolicy::Other => ("SCHED_OTHER".to_owned(), KernelPolicy::Other, 0),
        SchedulingPolicy::Fifo(priority) => {
            (format!("SCHED_FIFO priority {}", priority.get()), KernelPolicy::Fifo, priority.get())
        }
        SchedulingPolicy::RoundRobin(priority) => {
            (format!("SCHED_RR priority {}", priority.get()), KernelPolicy::RoundRobin, priority.get())
        }
        SchedulingPolicy::Deadline => {
            let Reservation { runtime, deadline, period } = reservation;
            (format!("SCHED_DEADLINE {runtime:?} within {deadline:?} every {period:?}"), KernelPolicy::Deadline, 0)
        }
    };
    let set = || {
        ask(kernel, priority, reservation)?;
        let found = policy_of_this_thread().map_err(|error| format!("/proc/thread-self/stat: {error}"))?;
        match found == (kernel, priority.into()) {
            true if priority > 0 => Ok(format!("{} priority {}", found.0, found.1)),
            true => Ok(found.0.to_string()),
            false => Err(format!("the kernel says {} priority {}", found.0, found.1)),
        }
    };
    let remedy = match wanted {
        SchedulingPolicy::Deadline => {
            "give the process CAP_SYS_NICE (AmbientCapabilities=), and set kernel.sched_rt_runtime_us=-1 as the appliance does: otherwise the \
             kernel admits such a thread only where its CPUs are a scheduling domain of their own (cpuset.cpus.partition=root)"
        }
        _ => {
            "give the process CAP_SYS_NICE (AmbientCapabilities=) or LimitRTPRIO= at least as high; \
             in a cgroup with a real-time bandwidth (CONFIG_RT_GROUP_SCHED) give the group one"
        }
    };
    guarantee("scheduling-policy", asked, set(), remedy)
}

fn ask(policy: KernelPolicy, priority: u8, reservation: Reservation) -> Result<(), String> {
    let (kind, priority) = match policy {
        KernelPolicy::Deadline => {
            let Reservation { runtime, deadline, period } = reservation;
            let flags = DeadlineFlags::default();
            (RealtimeThreadSchedulePolicy::Deadline, ThreadPriority::Deadline { runtime, deadline, period, flags })
        }
        KernelPolicy::Fifo | KernelPolicy::RoundRobin => {
            let kind = match policy {
                KernelPolicy::Fifo => RealtimeThreadSchedulePolicy::Fifo,
                _ => RealtimeThreadSchedulePolicy::RoundRobin,
            };
            // For a real-time policy the crate hands the number to pthread_setschedparam unscaled; the read-back checks it.
            (kind, ThreadPriority::Crossplatform(ThreadPriorityValue::try_from(priority)?))
        }
        _ => return leave_real_time(None).map_err(|errno| format!("sched_setscheduler: {errno}")),
    };
    // sched_setattr takes the kernel's number of a thread, and the crate hands it what it is given: 0 is the caller. With musl it is a pointer.
    let is_deadline = policy == KernelPolicy::Deadline;
    let thread = if is_deadline { Default::default() } else { thread_native_id() };
    set_thread_priority_and_policy(thread, priority, ThreadSchedulePolicy::Realtime(kind)).map_err(
        |error| match error {
            // That of a system call, which the crate returns as it is: -1.
            thread_priority::Error::OS(_) if is_deadline => format!("sched_setattr: {}", io::Error::last_os_error()),
            thread_priority::Error::OS(code) => format!("sched_setscheduler: {}", io::Error::from_raw_os_error(code)),
            other => other.to_string(),
        },
    )
}

/// Policy and real-time priority of the calling thread, from the kernel. glibc's `pthread_getschedparam` will not do: it
/// answers from its own copy once a policy was set through it.
pub fn policy_of_this_thread() -> io::Result<(KernelPolicy, u32)> {
    let stat = std::fs::read_to_string("/proc/thread-self/stat")?;
    let task = TaskStat::parse(&stat).ok_or_else(|| {
        io::Error::new(io::ErrorKind::InvalidData, "fields 40 and 41 are not a priority and a policy")
    })?;
    Ok((task.policy, task.rt_priority))
}

/// Locks all present and future pages of the process and touches the stack that the loop will need.
pub fn lock_memory() -> Guarantee {
    let lock = || {
        mlockall(MlockAllFlags::CURRENT | MlockAllFlags::FUTURE).map_err(|errno| format!("mlockall: {errno}"))?;
        prefault_stack();
        match locked_kib() {
            Some(kib) if kib > 0 => Ok(format!("{kib} KiB locked")),
            found => Err(format!("VmLck in /proc/self/status is {found:?}")),
        }
    };
    let remedy = "raise the limit (LimitMEMLOCK=infinity) or give the process CAP_IPC_LOCK (AmbientCapabilities=)";
    guarantee("memory", "all memory locked".to_owned(), lock(), remedy)
}

/// Writes to stack pages that the process has not used yet. Never inlined: the frame must be a real one.
#[inline(never)]
fn prefault_stack() {
    let mut frame = [0u8; PREFAULTED_STACK_BYTES];
    std::hint::black_box(&mut frame);
}

fn locked_kib() -> Option<u64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    status.lines().find_map(|line| line.strip_prefix("VmLck:"))?.trim().strip_suffix("kB")?.trim().parse().ok()
}

/// Opens `/dev/cpu_dma_latency`, writes 0 and keeps it open until the process ends: closing it would withdraw the wish.
pub fn hold_cpu_dma_latency() -> Guarantee {
    static HELD: OnceLock<File> = OnceLock::new();
    const DEVICE: &str = "/dev/cpu_dma_latency";
    let hold = || -> io::Result<i32> {
        let file = match HELD.get() {
            Some(held) => held,
            None => {
                let mut file = OpenOptions::new().read(true).write(true).open(DEVICE)?;
                file.write_all(&0i32.to_ne_bytes())?;
                HELD.get_or_init(|| file)
            }
        };
        let mut target = [0; size_of::<i32>()];
        file.read_exact_at(&mut target, 0)?; // at the start: the file is read once a call, and its position moves
        Ok(i32::from_ne_bytes(target))
    };
    let found = match hold() {
        Ok(0) => Ok("0 us wake-up latency, held".to_owned()),
        Ok(target) => Err(format!("{DEVICE} reads back {target} us")),
        Err(error) => Err(format!("{DEVICE}: {error}")),
    };
    let remedy = "let the user write the device (a udev rule for its group and mode, DeviceAllow=/dev/cpu_dma_latency rw); \
                  a kernel without CONFIG_CPU_IDLE has no such device and needs none";
    guarantee("idle-states", "CPU wake-up latency 0".to_owned(), found, remedy)
}

/// Bounds how long a real-time thread of this process may run without a blocking system call.
pub fn limit_rt_time(limit: Duration) -> Guarantee {
    let set = || {
        let micros = u64::try_from(limit.as_micros()).unwrap_or(u64::MAX).max(1);
        let maximum = getrlimit(Resource::Rttime).maximum;
        let wanted = Rlimit { current: Some(micros), maximum };
        setrlimit(Resource::Rttime, wanted).map_err(|errno| format!("setrlimit(RLIMIT_RTTIME): {errno}"))?;
        match getrlimit(Resource::Rttime).current {
            Some(found) if found == micros => Ok(format!("{found} us")),
            found => Err(format!("RLIMIT_RTTIME reads back {found:?} us")),
        }
    };
    let remedy = "raise the hard limit (LimitRTTIME=) or ask for less";
    guarantee("rt-time-limit", format!("at most {limit:?} without sleeping"), set(), remedy)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::time::ms;

    /// What the kernel refuses, it refuses for its own reasons: privilege, or a CPU that is no domain of its own.
    #[test]
    fn a_reservation_is_asked_for_the_thread_that_asks() {
        let reservation = Reservation { runtime: ms(1), deadline: ms(5), period: ms(10) };
        let asked = std::thread::spawn(move || set_policy(SchedulingPolicy::Deadline, reservation)).join().unwrap();
        match asked.answer {
            Answer::Granted(found) => assert_eq!(found, "SCHED_DEADLINE"),
            Answer::Refused { reason, .. } => {
                assert!(reason.contains("not permitted") || reason.contains("busy"), "{reason}");
            }
        }
    }
}
