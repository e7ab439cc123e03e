//! The end of an action that works on goals.

use std::ffi::{c_char, c_void};
use std::time::Duration;

use horus::action::{ActionServer, Goal, GoalError, Options, Reason};
use horus::topic::Raw;

use super::{cause, horus_goal_cause, horus_goal_id, horus_goal_status, horus_preemption, id_of, opening, preemption};
use crate::handle::{Kind, get, give, reason};
use crate::layout::horus_layout;
use crate::nodes::keep::{keep, let_go};
use crate::nodes::node_handle::horus_app;
use crate::service::end::{End, Size, close, own};
use crate::service::server::{check_place, given};
use crate::status::horus_status::{HORUS_CALL_OVER, HORUS_EMPTY, HORUS_FULL, HORUS_OK};
use crate::status::{Refusal, call, failed, horus_status, make, misuse};
use crate::topic::options::horus_options;

/// A server of goals that are structs.
pub(crate) struct Serving {
    server: ActionServer<Raw, Raw, Raw>,
    feedback: Size,
}

/// The end of an action that works on goals. There is one at a time. One thread at a time uses it; one that `horus_app_action_server` made belongs to
/// its program, ends with it, and only the step of its node uses it.
#[allow(non_camel_case_types)]
pub struct horus_action_server {
    _opaque: (),
}

impl Kind for horus_action_server {
    type Value = End<Serving>;
    const MARK: u64 = 0x7475_6f79_616c_0041;
    const NAME: &'static str = "server of an action";
}

/// A goal that runs.
#[allow(non_camel_case_types)]
#[derive(Clone, Copy, Debug, Default)]
#[repr(C)]
pub struct horus_goal {
    /// What it is known by.
    pub id: horus_goal_id,
    /// HORUS_GOAL_EXECUTING, or HORUS_GOAL_CANCELING: then end it by `horus_action_server_canceled`, as soon as what moves stands.
    pub status: horus_goal_status,
    /// Why it is to be canceled.
    pub cause: horus_goal_cause,
    /// Whether the program is handed the goal for the first time.
    pub is_new: u32,
    /// 0.
    pub spare: u32,
    /// When it was accepted, in nanoseconds on CLOCK_MONOTONIC.
    pub accepted_ns: u64,
}

type Layouts<'a> = [&'a horus::message::layout::Layout; 3];

fn serving(server: ActionServer<Raw, Raw, Raw>, layouts: Layouts<'_>) -> (Serving, [Size; 2]) {
    let [goal, feedback, result] = layouts.map(|layout| Size::Exactly(layout.payload().bytes));
    (Serving { server, feedback }, [goal, result])
}

/// Becomes the server of `action`, whose goals, feedbacks and results are structs of these layouts; null when it is refused: another server lives, or
/// the types are others. `policy` is what becomes of a goal that comes while another one runs. Of `options`, which may be null, directory, group and
/// wait strategy count, and `publishers` is how many clients it has room for: 8 if that is 0.
///
/// # Safety
/// `action` ends with a zero byte, the layouts are handles that are not closed meanwhile, `options` is null or may be read.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn horus_action_server_open(
    action: *const c_char,
    goal: *mut horus_layout,
    feedback: *mut horus_layout,
    result: *mut horus_layout,
    policy: horus_preemption,
    options: *const horus_options,
) -> *mut horus_action_server {
    make(|| {
        // SAFETY: the caller's promises are the same.
        let (action, layouts, options) = unsafe { opening(action, [goal, feedback, result], options) }?;
        let options: Options = options.preemption(preemption(policy)?);
        let [goal, feedback, result] = layouts;
        let server = ActionServer::open_as(action, goal, feedback, result, options).map_err(failed)?;
        let (serving, [goal, result]) = serving(server, layouts);
        Ok(give(End::new(None, serving, goal, result)))
    })
}

/// The end of an action that works on goals, for the next node: its steps ask for the goal that runs. A node with a period takes goals in by its steps;
/// `horus_node_on` with `ACTION.goal` releases one by goals. Null when it is refused; the program does not run then.
///
/// # Safety
/// `app` is a handle that no other call uses meanwhile; otherwise as `horus_action_server_open`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn horus_app_action_server(
    app: *mut horus_app,
    action: *const c_char,
    goal: *mut horus_layout,
    feedback: *mut horus_layout,
    result: *mut horus_layout,
    policy: horus_preemption,
    options: *const horus_options,
) -> *mut horus_action_server {
    make(|| {
        // SAFETY: the caller's promise is the same.
        unsafe { get(app) }?.declare(|program| {
            // SAFETY: the caller's promises are the same.
            let (action, layouts, options) = unsafe { opening(action, [goal, feedback, result], options) }?;
            let options: Options = options.preemption(preemption(policy)?);
            let turn = program.turn.clone();
            let [goal, feedback, result] = layouts;
            let server = program.app()?.action_as(action, goal, feedback, result, options).map_err(failed)?;
            let (serving, [goal, result]) = serving(server, layouts);
            Ok(program.keep_end(give(End::new(Some(turn), serving, goal, result))))
        })
    })
}

/// Takes in what came, and gives the goal that runs: copies it to `goal`, of `bytes` bytes, and tells of it in `about`. HORUS_EMPTY when none runs.
/// Waits at most `timeout_ns` nanoseconds for one, for ever if that is negative; in a node it does not wait. The goal stays the one that runs until it
/// is ended.
///
/// # Safety
/// `server` is a handle that no other call uses meanwhile, `bytes` bytes may be written at `goal`, `about` may be written.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn horus_action_server_goal(
    server: *mut horus_action_server,
    goal: *mut c_void,
    bytes: usize,
    about: *mut horus_goal,
    timeout_ns: i64,
) -> horus_status {
    let limit = u64::try_from(timeout_ns).map_or(Duration::MAX, Duration::from_nanos);
    call(|| {
        // SAFETY: the caller's promise is the same.
        let (serving, [size, _]) = unsafe { own(server) }?;
        check_place(goal, bytes, size, std::ptr::null_mut())?;
        if about.is_null() {
            return Err(misuse("the place for what is known of the goal is null"));
        }
        let Some(running) = serving.server.next_goal(limit) else { return Ok(HORUS_EMPTY) };
        let value = running.value();
        let told = horus_goal {
            id: running.id().into(),
            status: running.status() as u32,
            cause: cause(running.cause()),
            is_new: running.is_new().into(),
            spare: 0,
            accepted_ns: running.accepted().as_nanos(),
        };
        // SAFETY: there is room for the goal, by the check; both may be written, by the caller's promise.
        unsafe {
            std::ptr::copy_nonoverlapping(value.as_ptr(), goal.cast(), value.len());
            about.write(told);
        }
        Ok(HORUS_OK)
    })
}

/// Does something with a running goal.
///
/// # Safety
/// `server` is a handle that no other call uses meanwhile, and `id` may be read.
unsafe fn with_goal(
    server: *mut horus_action_server,
    id: *const horus_goal_id,
    work: impl FnOnce(Goal<'_, Raw, Raw, Raw>, [Size; 2]) -> Result<Result<(), GoalError>, Refusal>,
) -> horus_status {
    call(|| {
        // SAFETY: the caller's promises are the same.
        let ((serving, [_, result]), id) = unsafe { (own(server)?, id_of(id)?) };
        let sizes = [serving.feedback, result];
        let goal = serving.server.goal_of(id).ok_or_else(|| {
            Refusal::new(
                HORUS_CALL_OVER,
                &format!("goal {id} does not run: it has ended, another took its place, or no server knows it"),
            )
        })?;
        match work(goal, sizes)? {
            Ok(()) => Ok(HORUS_OK),
            Err(GoalError::Untold) => Ok(HORUS_FULL),
            Err(error) => Err(misuse(error)),
        }
    })
}

/// Tells how far a goal is.
///
/// # Safety
/// `server` is a handle that no other call uses meanwhile, `id` may be read, and `bytes` bytes at `feedback`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn horus_action_server_feedback(
    server: *mut horus_action_server,
    id: *const horus_goal_id,
    feedback: *const c_void,
    bytes: usize,
) -> horus_status {
    // SAFETY: the caller's promises are the same.
    unsafe { with_goal(server, id, |mut goal, [size, _]| Ok(goal.feedback(given(feedback, bytes, size)?))) }
}

/// Ends a goal: it was reached. HORUS_FULL when it has ended, and its client was not told, because it does not look.
///
/// # Safety
/// `server` is a handle that no other call uses meanwhile, `id` may be read, and `bytes` bytes at `result`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn horus_action_server_succeed(
    server: *mut horus_action_server,
    id: *const horus_goal_id,
    result: *const c_void,
    bytes: usize,
) -> horus_status {
    // SAFETY: the caller's promises are the same.
    unsafe { with_goal(server, id, |goal, [_, size]| Ok(goal.succeed(given(result, bytes, size)?))) }
}

/// Ends a goal that is to be canceled: it was. `result` is what was reached by then, or null.
///
/// # Safety
/// As `horus_action_server_succeed`, and `result` may be null.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn horus_action_server_canceled(
    server: *mut horus_action_server,
    id: *const horus_goal_id,
    result: *const c_void,
    bytes: usize,
) -> horus_status {
    // SAFETY: the caller's promises are the same.
    unsafe {
        with_goal(server, id, |goal, [_, size]| match result.is_null() {
            true => Ok(goal.canceled()),
            false => Ok(goal.canceled_with(given(result, bytes, size)?)),
        })
    }
}

/// Ends a goal: the program gives it up, for a reason of up to 92 bytes. `result` is what was reached by then, or null.
///
/// # Safety
/// As `horus_action_server_canceled`; `why` is null or ends with a zero byte.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn horus_action_server_abort(
    server: *mut horus_action_server,
    id: *const horus_goal_id,
    result: *const c_void,
    bytes: usize,
    why: *const c_char,
) -> horus_status {
    // SAFETY: the caller's promises are the same.
    unsafe {
        let why = Reason::from(reason(why));
        with_goal(server, id, |goal, [_, size]| match result.is_null() {
            true => Ok(goal.abort(why)),
            false => Ok(goal.abort_with(given(result, bytes, size)?, why)),
        })
    }
}

/// Ends a server, and its goals with it: their clients are told. Null is nothing to end. One of a node ends with its program.
///
/// # Safety
/// `server` is null or a handle that no other call uses meanwhile, and it is not used any more but by who keeps it.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn horus_action_server_close(server: *mut horus_action_server) -> horus_status {
    // SAFETY: the caller's promise is the same.
    call(|| unsafe { close(server) })
}

/// Keeps a server beyond its end, until `horus_action_server_let_go`: using it is an error then. Each call counts. Any thread may call this.
///
/// # Safety
/// `server` is null or a handle that was not closed and whose program has not ended, or that is kept.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn horus_action_server_keep(server: *mut horus_action_server) -> horus_status {
    // SAFETY: the caller's promise is the same.
    call(|| unsafe { keep(server) })
}

/// Ends what `horus_action_server_keep` began. Null is nothing to end.
///
/// # Safety
/// As there; for this keeper it is not used any more.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn horus_action_server_let_go(server: *mut horus_action_server) -> horus_status {
    // SAFETY: the caller's promise is the same.
    call(|| unsafe { let_go(server) })
}
