//! How this process's heap takes memory from the kernel, before it is locked.
//!
//! glibc gives each thread that allocates an arena of its own, and each arena reserves 64 MiB of addresses. Nothing of that is in
//! RAM, but a process that locks its memory locks it: two threads beside the first one are 128 MiB of `VmLck`, and as much of
//! the limit that `RLIMIT_MEMLOCK` and a service manager count by.
//!
//! # Trade-offs
//! With one arena, threads that allocate at the same time wait for each other. A loop with a deadline does not allocate.

/// From now on no thread gets an arena of its own; those that have one keep it. Call it before the first thread is started.
///
/// Does nothing where the C library is another than glibc: none of them reserves memory so.
pub fn share_one_arena() {
    #[cfg(target_env = "gnu")]
    // SAFETY: two plain numbers, of which glibc keeps the second; it takes its own lock for that. A refusal changes nothing.
    unsafe {
        libc::mallopt(libc::M_ARENA_MAX, 1);
    }
}
