//! Takes a thread out of the real-time policies: the one system call of the kind that no crate offers for threads of other
//! processes.

use rustix::io::Errno;
use rustix::process::Pid;

/// Puts a thread under `SCHED_OTHER`; `None` is the calling one. The number is that of this process's PID namespace.
///
/// # Errors
/// The kernel's: there is no such thread, or it is somebody else's and the caller has no CAP_SYS_NICE.
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_thread_without_a_policy_stays_so_and_one_that_is_not_there_is_an_error() {
        assert_eq!(leave_real_time(None), Ok(()));
        assert_eq!(leave_real_time(Pid::from_raw(i32::MAX)), Err(Errno::SRCH));
    }
}
