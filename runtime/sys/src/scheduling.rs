//! What a thread asks about its own scheduling in a loop, and taking a thread of another process out of the real-time policies:
//! what no crate offers, or not as cheaply.

use rustix::io::Errno;
use rustix::process::Pid;

/// Puts a thread under `SCHED_OTHER`; `None` is the calling one. The number is that of this process's PID namespace.
///
/// # Errors
/// The kernel's: there is no such thread, or it is another user's and the caller has no CAP_SYS_NICE.
pub fn leave_real_time(thread: Option<Pid>) -> Result<(), Errno> {
    // The kernel's `struct sched_param` is its priority alone. musl's has more fields, and its function of this name only fails.
    let priority: libc::c_int = 0;
    let call = libc::SYS_sched_setscheduler;
    // SAFETY: the kernel reads one `c_int`, which is ours, and writes nothing.
    let answer = unsafe { libc::syscall(call, Pid::as_raw(thread), libc::SCHED_OTHER, &raw const priority) };
    match answer {
        -1 => Err(Errno::from_io_error(&std::io::Error::last_os_error()).unwrap_or(Errno::IO)),
        _ => Ok(()),
    }
}

/// The CPU that the calling thread is on.
///
/// glibc knows it without a system call on every architecture (`rseq`, 3 ns). rustix asks the vDSO, which arm64 has none of for this.
#[inline]
pub fn current_cpu() -> u32 {
    // SAFETY: it takes nothing and returns a number.
    let cpu = unsafe { libc::sched_getcpu() };
    cpu as u32 // negative only before Linux 2.6.19
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_cpu_is_one_that_the_thread_may_run_on() {
        let allowed = rustix::thread::sched_getaffinity(None).unwrap();
        assert!(allowed.is_set(current_cpu() as usize));
    }

    #[test]
    fn a_thread_without_a_policy_stays_so_and_one_that_is_not_there_is_an_error() {
        assert_eq!(leave_real_time(None), Ok(()));
        assert_eq!(leave_real_time(Pid::from_raw(i32::MAX)), Err(Errno::SRCH));
    }
}
