//! The end of an action that sends goals.

use std::ffi::{c_char, c_void};
use std::time::Duration;

use horus::action::{ActionClient, ActionError, GoalId, Progress, REASON_BYTES, SentGoal};
use horus::service::MAX_CALLS;
use horus::topic::Raw;

use super::{cause, horus_goal_cause, horus_goal_id, horus_goal_status, id_of, opening};
use crate::handle::{Kind, get, give};
use crate::layout::horus_layout;
use crate::nodes::keep::{keep, let_go};
use crate::nodes::node_handle::horus_app;
use crate::service::end::{End, Size, close, own};
use crate::service::server::{check_place, given};
use crate::status::horus_status::{
    HORUS_CALL_DIED, HORUS_CALL_FULL, HORUS_CALL_NOT_SERVED, HORUS_CALL_OVER, HORUS_CALL_STOPPED, HORUS_CALL_TIMED_OUT,
    HORUS_CALL_TOO_MANY, HORUS_CALL_UNANSWERED, HORUS_EMPTY, HORUS_FAILED, HORUS_GOAL_REJECTED, HORUS_MISUSE, HORUS_OK,
};
use crate::status::{Refusal, call, failed, horus_status, make, misuse};
use crate::topic::options::horus_options;

/// A client with its goals that are not over.
pub(crate) struct Sending {
    client: ActionClient<Raw, Raw, Raw>,
    goals: [Option<SentGoal<Raw>>; MAX_CALLS],
    feedback: Size,
}

/// The end of an action that sends goals. One thread at a time uses it; one that `horus_app_action_client` made belongs to its program, ends with it,
/// and only the step of its node uses it.
#[allow(non_camel_case_types)]
pub struct horus_action_client {
    _opaque: (),
}

impl Kind for horus_action_client {
    type Value = End<Sending>;
    const MARK: u64 = 0x7475_6f79_616c_0042;
    const NAME: &'static str = "client of an action";
}

/// What there is to tell of a goal.
#[allow(non_camel_case_types)]
pub type horus_news = u32;
/// The server has taken it.
pub const HORUS_NEWS_ACCEPTED: horus_news = 1;
/// How far it is: the feedback was copied.
pub const HORUS_NEWS_FEEDBACK: horus_news = 2;
/// It has ended: `status`, `cause` and `reason` say how, and `has_result` whether the result was copied.
pub const HORUS_NEWS_ENDED: horus_news = 3;

/// News of a goal.
#[allow(non_camel_case_types)]
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct horus_progress {
    /// HORUS_NEWS_ACCEPTED, HORUS_NEWS_FEEDBACK or HORUS_NEWS_ENDED.
    pub news: horus_news,
    /// Of a goal that has ended: HORUS_GOAL_SUCCEEDED, HORUS_GOAL_CANCELED or HORUS_GOAL_ABORTED.
    pub status: horus_goal_status,
    /// Of a goal that has ended: what ended it.
    pub cause: horus_goal_cause,
    /// Of a goal that has ended: whether it has a result.
    pub has_result: u32,
    /// Of a goal that has ended: why, for people; it ends with a zero byte.
    pub reason: [c_char; 96],
}

/// Bytes of a reason, with the zero byte behind it: a multiple of 4.
const REASON_CHARS: usize = 96;
const _: () = assert!(REASON_CHARS > REASON_BYTES);

impl horus_progress {
    fn of(news: horus_news) -> Self {
        Self { news, status: 0, cause: 0, has_result: 0, reason: [0; REASON_CHARS] }
    }
}

impl Sending {
    fn place(&self, id: GoalId) -> Result<usize, Refusal> {
        let is_it = |goal: &Option<SentGoal<Raw>>| goal.as_ref().is_some_and(|goal| goal.id() == id);
        self.goals.iter().position(is_it).ok_or_else(|| {
            Refusal::new(
                HORUS_CALL_OVER,
                &format!("goal {id} has had its outcome, or is of another client: send another"),
            )
        })
    }
}

/// Why a goal has no outcome, by its name in C.
#[cold]
fn refused(error: &ActionError) -> Refusal {
    let status = match error {
        ActionError::Rejected { .. } => HORUS_GOAL_REJECTED,
        ActionError::NotServed { .. } => HORUS_CALL_NOT_SERVED,
        ActionError::Died { .. } => HORUS_CALL_DIED,
        ActionError::Stopped { .. } => HORUS_CALL_STOPPED,
        ActionError::Untold { .. } => HORUS_CALL_UNANSWERED,
        ActionError::TimedOut { .. } | ActionError::CancelUnanswered { .. } => HORUS_CALL_TIMED_OUT,
        ActionError::TooMany { .. } => HORUS_CALL_TOO_MANY,
        ActionError::Full { .. } => HORUS_CALL_FULL,
        ActionError::Over { .. } => HORUS_CALL_OVER,
        ActionError::NotSent(_) => HORUS_MISUSE,
        ActionError::Unreadable { .. } | ActionError::Topic(_) => HORUS_FAILED,
    };
    Refusal::new(status, error)
}

type Layouts<'a> = [&'a horus::message::layout::Layout; 3];

fn sending(client: ActionClient<Raw, Raw, Raw>, layouts: Layouts<'_>) -> (Sending, [Size; 2]) {
    let [goal, feedback, result] = layouts.map(|layout| Size::Exactly(layout.payload().bytes));
    (Sending { client, goals: Default::default(), feedback }, [goal, result])
}

/// Becomes a client of `action`, which may come before its server; null when it is refused: other types under the same name, more clients than the
/// action has room for. Of `options`, which may be null, directory, group and wait strategy count.
///
/// # Safety
/// `action` ends with a zero byte, the layouts are handles that are not closed meanwhile, `options` is null or may be read.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn horus_action_client_open(
    action: *const c_char,
    goal: *mut horus_layout,
    feedback: *mut horus_layout,
    result: *mut horus_layout,
    options: *const horus_options,
) -> *mut horus_action_client {
    make(|| {
        // SAFETY: the caller's promises are the same.
        let (action, layouts, options) = unsafe { opening(action, [goal, feedback, result], options) }?;
        let [goal, feedback, result] = layouts;
        let client = ActionClient::open_as(action, goal, feedback, result, options).map_err(failed)?;
        let (sending, [goal, result]) = sending(client, layouts);
        Ok(give(End::new(None, sending, goal, result)))
    })
}

/// The end of an action that sends goals, for the next node: it sends in one step, and looks in later ones. Null when it is refused; the program does
/// not run then.
///
/// # Safety
/// `app` is a handle that no other call uses meanwhile; otherwise as `horus_action_client_open`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn horus_app_action_client(
    app: *mut horus_app,
    action: *const c_char,
    goal: *mut horus_layout,
    feedback: *mut horus_layout,
    result: *mut horus_layout,
    options: *const horus_options,
) -> *mut horus_action_client {
    make(|| {
        // SAFETY: the caller's promise is the same.
        unsafe { get(app) }?.declare(|program| {
            // SAFETY: the caller's promises are the same.
            let (action, layouts, options) = unsafe { opening(action, [goal, feedback, result], options) }?;
            let turn = program.turn.clone();
            let [goal, feedback, result] = layouts;
            let client = program.app()?.action_client_as(action, goal, feedback, result, options).map_err(failed)?;
            let (sending, [goal, result]) = sending(client, layouts);
            Ok(program.keep_end(give(End::new(Some(turn), sending, goal, result))))
        })
    })
}

/// Sends a goal, and does not wait: `id` is looked at later. HORUS_CALL_TOO_MANY while 16 goals of this client are not over, HORUS_CALL_FULL while the
/// server has not taken the last ones.
///
/// # Safety
/// `client` is a handle that no other call uses meanwhile, `bytes` bytes may be read at `goal`, `id` may be written.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn horus_action_client_send(
    client: *mut horus_action_client,
    goal: *const c_void,
    bytes: usize,
    id: *mut horus_goal_id,
) -> horus_status {
    call(|| {
        // SAFETY: the caller's promise is the same.
        let (sending, [size, _]) = unsafe { own(client) }?;
        if id.is_null() {
            return Err(misuse("the place for the number of the goal is null"));
        }
        // SAFETY: the caller's promise is the same.
        let goal = unsafe { given(goal, bytes, size) }?;
        let sent = sending.client.send(goal).map_err(|error| refused(&error))?;
        let free =
            sending.goals.iter().position(Option::is_none).ok_or_else(|| misuse("no place for a goal is free"))?;
        // SAFETY: not null, so it may be written, by the caller's promise.
        unsafe { id.write(sent.id().into()) };
        sending.goals[free] = Some(sent);
        Ok(HORUS_OK)
    })
}

/// What there is to tell of a goal, without waiting: first that it was accepted, then its feedbacks in order, at last its outcome, with which it is
/// over. HORUS_EMPTY when there is nothing new. A goal without an outcome ends with the reason: HORUS_GOAL_REJECTED, HORUS_CALL_DIED,
/// HORUS_CALL_STOPPED, HORUS_CALL_NOT_SERVED. It does not notice by itself that a server was killed; `horus_action_client_check_server` does.
///
/// # Safety
/// `client` is a handle that no other call uses meanwhile, `id` may be read, `feedback_bytes` bytes may be written at `feedback`, `result_bytes` bytes
/// at `result`, and `progress` may be written.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn horus_action_client_look(
    client: *mut horus_action_client,
    id: *const horus_goal_id,
    feedback: *mut c_void,
    feedback_bytes: usize,
    result: *mut c_void,
    result_bytes: usize,
    progress: *mut horus_progress,
) -> horus_status {
    call(|| {
        // SAFETY: the caller's promises are the same.
        let ((sending, [_, result_size]), id) = unsafe { (own(client)?, id_of(id)?) };
        check_place(feedback, feedback_bytes, sending.feedback, std::ptr::null_mut())?;
        check_place(result, result_bytes, result_size, std::ptr::null_mut())?;
        if progress.is_null() {
            return Err(misuse("the place for the progress is null"));
        }
        let place = sending.place(id)?;
        let Some(goal) = &mut sending.goals[place] else { return Err(misuse("a client has no such goal")) };
        let looked = goal.look(&mut sending.client);
        let put = |from: &[u8], to: *mut c_void| {
            // SAFETY: there is room for it, by the checks and the caller's promise.
            unsafe { std::ptr::copy_nonoverlapping(from.as_ptr(), to.cast(), from.len()) };
        };
        let told = match looked {
            Ok(Progress::Nothing) => return Ok(HORUS_EMPTY),
            Ok(Progress::Accepted) => horus_progress::of(HORUS_NEWS_ACCEPTED),
            Ok(Progress::Feedback(message)) => {
                put(&message, feedback);
                horus_progress::of(HORUS_NEWS_FEEDBACK)
            }
            Ok(Progress::Ended(outcome)) => {
                sending.goals[place] = None;
                if let Some(message) = &outcome.result {
                    put(message, result);
                }
                let mut told = horus_progress::of(HORUS_NEWS_ENDED);
                (told.status, told.cause) = (outcome.status as u32, cause(outcome.cause));
                told.has_result = outcome.result.is_some().into();
                for (to, &byte) in told.reason.iter_mut().zip(outcome.reason.as_str().as_bytes()) {
                    *to = byte as c_char;
                }
                told
            }
            Err(error) => {
                sending.goals[place] = None;
                return Err(refused(&error));
            }
        };
        // SAFETY: not null, so it may be written, by the caller's promise.
        unsafe { progress.write(told) };
        Ok(HORUS_OK)
    })
}

/// Asks for a goal to be canceled, any client's, and does not wait: its outcome says what became of it.
///
/// # Safety
/// `client` is a handle that no other call uses meanwhile, and `id` may be read.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn horus_action_client_cancel(
    client: *mut horus_action_client,
    id: *const horus_goal_id,
) -> horus_status {
    call(|| {
        // SAFETY: the caller's promises are the same.
        let ((sending, _), id) = unsafe { (own(client)?, id_of(id)?) };
        let _asked = sending.client.cancel(id).map_err(|error| refused(&error))?;
        Ok(HORUS_OK)
    })
}

/// Does something with a client: HORUS_OK if it is so, HORUS_EMPTY if not.
///
/// # Safety
/// `client` is a handle that no other call uses meanwhile.
unsafe fn is_so(
    client: *mut horus_action_client,
    ask: impl FnOnce(&mut ActionClient<Raw, Raw, Raw>) -> Result<bool, ActionError>,
) -> horus_status {
    call(|| {
        // SAFETY: the caller's promise is the same.
        let (sending, _) = unsafe { own(client) }?;
        let is_so = ask(&mut sending.client).map_err(|error| refused(&error))?;
        Ok(if is_so { HORUS_OK } else { HORUS_EMPTY })
    })
}

/// Waits for news of goals, at most `timeout_ns` nanoseconds, for ever if that is negative; HORUS_EMPTY when the time is up.
///
/// # Safety
/// `client` is a handle that no other call uses meanwhile.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn horus_action_client_wait(client: *mut horus_action_client, timeout_ns: i64) -> horus_status {
    let limit = u64::try_from(timeout_ns).map_or(Duration::MAX, Duration::from_nanos);
    // SAFETY: the caller's promise is the same.
    unsafe { is_so(client, |client| Ok(client.wait(limit))) }
}

/// Asks the kernel whether the server lives, HORUS_OK or HORUS_EMPTY; if not, all goals that are not over end with their error. Makes system calls.
///
/// # Safety
/// `client` is a handle that no other call uses meanwhile.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn horus_action_client_check_server(client: *mut horus_action_client) -> horus_status {
    // SAFETY: the caller's promise is the same.
    unsafe { is_so(client, ActionClient::check_server) }
}

/// Waits at most `timeout_ns` nanoseconds, for ever if that is negative, until a living program serves it; HORUS_EMPTY when the time is up.
///
/// # Safety
/// `client` is a handle that no other call uses meanwhile.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn horus_action_client_wait_until_served(
    client: *mut horus_action_client,
    timeout_ns: i64,
) -> horus_status {
    let limit = u64::try_from(timeout_ns).map_or(Duration::MAX, Duration::from_nanos);
    // SAFETY: the caller's promise is the same.
    unsafe { is_so(client, |client| client.wait_until_served(limit)) }
}

/// Ends a client: its goals that are not over are canceled, unless the server says otherwise. Null is nothing to end. One of a node ends with its
/// program.
///
/// # Safety
/// `client` is null or a handle that no other call uses meanwhile, and it is not used any more but by who keeps it.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn horus_action_client_close(client: *mut horus_action_client) -> horus_status {
    // SAFETY: the caller's promise is the same.
    call(|| unsafe { close(client) })
}

/// Keeps a client beyond its end, until `horus_action_client_let_go`: using it is an error then. Each call counts. Any thread may call this.
///
/// # Safety
/// `client` is null or a handle that was not closed and whose program has not ended, or that is kept.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn horus_action_client_keep(client: *mut horus_action_client) -> horus_status {
    // SAFETY: the caller's promise is the same.
    call(|| unsafe { keep(client) })
}

/// Ends what `horus_action_client_keep` began. Null is nothing to end.
///
/// # Safety
/// As there; for this keeper it is not used any more.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn horus_action_client_let_go(client: *mut horus_action_client) -> horus_status {
    // SAFETY: the caller's promise is the same.
    call(|| unsafe { let_go(client) })
}
