//! A program's nodes in the calling thread, as fast as it can: for meters of the loop's own cost.

use std::cell::Cell;
use std::hint::black_box;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::AtomicBool;

use horus::time::{Clock, MonotonicTime, SystemClock};

use super::node_handle::horus_app;
use crate::handle::{close, get};
use crate::status::horus_status::HORUS_OK;
use crate::status::{call, failed, horus_status};

/// Runs the nodes in the calling thread, each release as soon as the one before it is done, until each node had `releases` of them: for meters
/// of the loop's own cost. Nothing is asked of the machine, and no other process hears of the nodes. It ends the app as
/// `horus_app_run` does.
///
/// # Safety
/// As `horus_app_run`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn horus_app_run_in_place(app: *mut horus_app, releases: u64) -> horus_status {
    call(|| {
        // SAFETY: the caller's promise is the same.
        let program = unsafe { get(app) }?;
        program.check_end()?;
        let nodes = program.take();
        let ran = catch_unwind(AssertUnwindSafe(|| {
            let mut nodes = nodes?;
            nodes.releases(releases);
            nodes.run_in_place(Hurried::default(), &AtomicBool::new(false))
        }));
        // SAFETY: the caller's promise is the same; the nodes have ended.
        unsafe { close(app) }?;
        match ran {
            Ok(ran) => ran.map(|_accounts| HORUS_OK).map_err(failed),
            Err(panic) => std::panic::resume_unwind(panic),
        }
    })
}

/// A clock that goes on with each sleep only, and is read at the price of the machine's.
#[derive(Default)]
struct Hurried(Cell<MonotonicTime>);

impl Clock for Hurried {
    #[inline]
    fn now(&self) -> MonotonicTime {
        black_box(SystemClock.now());
        self.0.get()
    }

    fn sleep_until(&self, until: MonotonicTime) {
        self.0.set(until.max(self.0.get()));
    }

    #[inline]
    fn cpu(&self) -> u32 {
        SystemClock.cpu()
    }

    #[inline]
    fn cpu_time(&self) -> u64 {
        SystemClock.cpu_time()
    }
}

#[cfg(test)]
mod tests {
    use std::ffi::{CString, c_void};

    use super::*;
    use crate::*;

    const LAYOUT: &std::ffi::CStr = c"message example/Count\n number u64";

    struct Relay {
        input: *mut horus_input,
        output: *mut horus_output,
        steps: u64,
    }

    unsafe extern "C-unwind" fn relay(context: *mut c_void, cycle: *const horus_cycle) {
        // SAFETY: the test gives its own `Relay`, and one thread runs the node.
        let relay = unsafe { &mut *context.cast::<Relay>() };
        relay.steps += 1;
        let mut number = relay.steps;
        // SAFETY: the ports are those of this node, and both have messages of eight bytes.
        unsafe {
            let _ = horus_input_latest(relay.input, (&raw mut number).cast(), 8, std::ptr::null_mut());
            assert_eq!(horus_output_set(relay.output, (&raw const number).cast(), 8), HORUS_OK);
            let values = [
                horus_log_value { kind: HORUS_LOG_UNSIGNED, spare: 0, bits: number, text: std::ptr::null() },
                horus_log_value { kind: HORUS_LOG_TEXT, spare: 0, bits: 4, text: c"left".as_ptr() },
            ];
            assert_eq!(horus_cycle_log(cycle, HORUS_LOG_INFO, c"{} of {}".as_ptr(), values.as_ptr(), 2), HORUS_OK);
        }
    }

    /// Allocations of a program from its beginning to its end.
    fn allocations(directory: &std::path::Path, releases: u64) -> u64 {
        let directory = CString::new(directory.to_str().unwrap()).unwrap();
        let mut relays = Relay { input: std::ptr::null_mut(), output: std::ptr::null_mut(), steps: 0 };
        let measured = allocation_counter::measure(|| {
            let options = horus_options {
                delivery_policy: HORUS_LATEST,
                capacity: 8,
                publishers: 2,
                directory: directory.as_ptr(),
                ..crate::topic::options::NONE
            };
            // SAFETY: handles are used in this thread only, the texts end with a zero byte, and `relays` outlives the program.
            unsafe {
                let layout = horus_layout_parse(LAYOUT.as_ptr());
                let app = horus_app_new(c"c-allocations".as_ptr());
                relays.input = horus_app_input(app, c"again".as_ptr(), layout, &raw const options);
                relays.output = horus_app_output(app, c"again".as_ptr(), layout, &raw const options);
                let node = horus_app_node(app, c"relay".as_ptr(), Some(relay), (&raw mut relays).cast());
                assert_eq!(horus_node_period_ns(node, 1_000_000), HORUS_OK);
                assert_eq!(horus_app_run_in_place(app, releases), HORUS_OK);
                assert_eq!(horus_layout_close(layout), HORUS_OK);
            }
        });
        assert_eq!(relays.steps, releases);
        measured.count_total
    }

    #[test]
    fn a_step_in_c_that_reads_writes_and_logs_allocates_nothing() {
        let scratch = tempfile::tempdir_in("/dev/shm").unwrap();
        allocations(scratch.path(), 10); // what is allocated once a process
        assert_eq!(allocations(scratch.path(), 10), allocations(scratch.path(), 1000));
    }
}
