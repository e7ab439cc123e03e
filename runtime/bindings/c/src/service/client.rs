//! The asking end of a service.

use std::ffi::{c_char, c_void};
use std::slice;
use std::time::Duration;

use horus::service::{Client, MAX_CALLS, Part, Pending, SERVERS};

use super::end::{End, Size, close, of_kinds, opening, own};
use super::ends::{Asks, refused};
use super::server::{check_place, given, tell};
use crate::handle::{Kind, get, give};
use crate::layout::horus_layout;
use crate::nodes::keep::{keep, let_go};
use crate::nodes::node_handle::horus_app;
use crate::payload::Of;
use crate::status::horus_status::{HORUS_CALL_OVER, HORUS_EMPTY, HORUS_END, HORUS_OK};
use crate::status::{Refusal, call, failed, horus_status, make, misuse};
use crate::topic::options::horus_options;

/// Answers of up to so many bytes have memory from the beginning, so that none is allocated for them.
const SHORT_ANSWER: usize = 4096;
/// Bits of a call's number that say which place it has.
const PLACE_BITS: u32 = 8;

/// The asking end of a service. One thread at a time uses it; one that `horus_app_client` made belongs to its program, ends with it, and only the
/// step of its node uses it.
#[allow(non_camel_case_types)]
pub struct horus_client {
    _opaque: (),
}

/// A call that is on its way: a number of its client's.
#[allow(non_camel_case_types)]
pub type horus_call = u64;

/// A client with its calls, each by its number.
pub(crate) struct Calls {
    client: Box<dyn Asks>,
    /// As many as there can be: at each server that may share the service.
    places: Box<[Option<(horus_call, Pending)>]>,
    begun: u64,
}

impl Kind for horus_client {
    type Value = End<Calls>;
    const MARK: u64 = 0x7475_6f79_616c_0032;
    const NAME: &'static str = "client";
}

impl Calls {
    fn new(mut client: Box<dyn Asks>, answer: Size) -> Self {
        if answer.most() <= SHORT_ANSWER {
            // As many for each server that there may be; what is too much for one of them is dropped.
            (0..MAX_CALLS * SERVERS).for_each(|_| client.give_back(Vec::with_capacity(answer.most())));
        }
        let places = (0..MAX_CALLS * SERVERS).map(|_| None).collect();
        Self { client, places, begun: 0 }
    }

    fn begin(&mut self, pending: Pending) -> Result<horus_call, Refusal> {
        // The client has no more calls than there are places.
        let free = self.places.iter().position(Option::is_none).ok_or_else(|| misuse("a client has no such call"))?;
        self.begun += 1;
        let call = self.begun << PLACE_BITS | free as u64;
        self.places[free] = Some((call, pending));
        Ok(call)
    }

    /// The place of a call, as long as it is not over.
    fn find(&self, call: horus_call) -> Result<usize, Refusal> {
        let place = (call & ((1 << PLACE_BITS) - 1)) as usize;
        match self.places.get(place) {
            Some(Some((known, _))) if *known == call => Ok(place),
            _ => Err(Refusal::new(
                HORUS_CALL_OVER,
                &"this call has been answered, or belongs to another client: ask again",
            )),
        }
    }

    /// What there is of an answer. A call that has failed, or whose end was told, is over.
    fn look(&mut self, call: horus_call) -> Result<(usize, Part<Vec<u8>>), Refusal> {
        let place = self.find(call)?;
        let Some((_, pending)) = &mut self.places[place] else { return Err(misuse("a client has no such call")) };
        match self.client.look(pending) {
            Ok(Part::End) => {
                self.places[place] = None;
                Ok((place, Part::End))
            }
            Ok(part) => Ok((place, part)),
            Err(error) => {
                self.places[place] = None;
                Err(refused(&error))
            }
        }
    }
}

/// Becomes a client of `service`, which may come before its server; null when it is refused: other types under the same name, more clients than the
/// service has room for. The layouts say whether requests and answers are those of a struct or bytes. Of `options`, which may be null, directory,
/// group and wait strategy count.
///
/// # Safety
/// `service` ends with a zero byte, `request` and `answer` are handles that are not closed meanwhile, `options` is null or may be read.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn horus_client_open(
    service: *const c_char,
    request: *mut horus_layout,
    answer: *mut horus_layout,
    options: *const horus_options,
) -> *mut horus_client {
    make(|| {
        // SAFETY: the caller's promises are the same.
        let (service, request, answer, options) = unsafe { opening(service, request, answer, options) }?;
        macro_rules! open {
            ($q:ty, $a:ty, $request:expr, $answer:expr) => {
                Box::new(Client::<$q, $a>::open_as(service, $request, $answer, &options).map_err(failed)?)
            };
        }
        let client: Box<dyn Asks> = of_kinds!(request, answer, open);
        let size = Size::of(answer);
        Ok(give(End::new(None, Calls::new(client, size), Size::of(request), size)))
    })
}

/// The asking end of a service for the next node: it asks in one step, and looks for the answer in a later one. Null when it is refused; the program
/// does not run then.
///
/// # Safety
/// `app` is a handle that no other call uses meanwhile; otherwise as `horus_client_open`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn horus_app_client(
    app: *mut horus_app,
    service: *const c_char,
    request: *mut horus_layout,
    answer: *mut horus_layout,
    options: *const horus_options,
) -> *mut horus_client {
    make(|| {
        // SAFETY: the caller's promise is the same.
        unsafe { get(app) }?.declare(|program| {
            // SAFETY: the caller's promises are the same.
            let (service, request, answer, options) = unsafe { opening(service, request, answer, options) }?;
            let turn = program.turn.clone();
            macro_rules! open {
                ($q:ty, $a:ty, $request:expr, $answer:expr) => {
                    Box::new(program.app()?.client_as::<$q, $a>(service, $request, $answer, options).map_err(failed)?)
                };
            }
            let client: Box<dyn Asks> = of_kinds!(request, answer, open);
            let size = Size::of(answer);
            let client = give(End::new(Some(turn), Calls::new(client, size), Size::of(request), size));
            Ok(program.keep_end(client))
        })
    })
}

/// Asks, and does not wait: `call` is looked at later, by `horus_client_answer` or `horus_client_part`, or is given up. HORUS_CALL_TOO_MANY while 16
/// calls are on their way, HORUS_CALL_FULL while the server has not taken the last 16 requests. Wait-free, no allocation, no system call unless the
/// server went to sleep.
///
/// # Safety
/// `client` is a handle that no other call uses meanwhile, `bytes` bytes may be read at `request`, `call` may be written.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn horus_client_ask(
    client: *mut horus_client,
    request: *const c_void,
    bytes: usize,
    call: *mut horus_call,
) -> horus_status {
    crate::status::call(|| {
        // SAFETY: the caller's promise is the same.
        let (calls, [size, _]) = unsafe { own(client) }?;
        if call.is_null() {
            return Err(misuse("the place for the call is null"));
        }
        // SAFETY: the caller's promise is the same.
        let request = unsafe { given(request, bytes, size) }?;
        let pending = calls.client.ask(request).map_err(|error| refused(&error))?;
        let begun = calls.begin(pending)?;
        // SAFETY: not null, so it may be written, by the caller's promise.
        unsafe { call.write(begun) };
        Ok(HORUS_OK)
    })
}

/// Copies an answer to the caller's place.
///
/// # Safety
/// There is room for it, and `length` is null or may be written.
unsafe fn put(calls: &mut Calls, message: Vec<u8>, place: *mut c_void, length: *mut usize) {
    // SAFETY: so many bytes may be written there, by the caller's promise.
    unsafe {
        slice::from_raw_parts_mut(place.cast(), message.len()).copy_from_slice(&message);
        tell(length, message.len());
    }
    calls.client.give_back(message);
}

/// The answer to a call, which is over then; HORUS_EMPTY as long as there is none. Of an answer of several messages it is the first one. A call that
/// has no answer ends with the reason: HORUS_CALL_DIED, HORUS_CALL_STOPPED, HORUS_CALL_UNANSWERED. No system call, and no allocation for answers of
/// up to 4 KiB: so it does not notice by itself that a server was killed, and `horus_client_check_server` does.
///
/// # Safety
/// `client` is a handle that no other call uses meanwhile, `bytes` bytes may be written at `answer`, `length` is null or may be written.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn horus_client_answer(
    client: *mut horus_client,
    call: horus_call,
    answer: *mut c_void,
    bytes: usize,
    length: *mut usize,
) -> horus_status {
    crate::status::call(|| {
        // SAFETY: the caller's promise is the same.
        let (calls, [_, size]) = unsafe { own(client) }?;
        check_place(answer, bytes, size, length)?;
        match calls.look(call)? {
            (_, Part::Nothing) => Ok(HORUS_EMPTY),
            (_, Part::End) => Err(Refusal::new(
                HORUS_CALL_OVER,
                &"the answer to this call has no messages: look by horus_client_part",
            )),
            (place, Part::Next(message)) => {
                calls.places[place] = None;
                // SAFETY: `check_place` found the room, and the caller promises the rest.
                unsafe { put(calls, message, answer, length) };
                Ok(HORUS_OK)
            }
        }
    })
}

/// The next message of an answer that has several; HORUS_EMPTY while none came, and HORUS_END behind the last one, with which the call is over. An
/// answer that breaks off ends with the reason, behind the parts that came.
///
/// # Safety
/// As `horus_client_answer`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn horus_client_part(
    client: *mut horus_client,
    call: horus_call,
    part: *mut c_void,
    bytes: usize,
    length: *mut usize,
) -> horus_status {
    crate::status::call(|| {
        // SAFETY: the caller's promise is the same.
        let (calls, [_, size]) = unsafe { own(client) }?;
        check_place(part, bytes, size, length)?;
        match calls.look(call)? {
            (_, Part::Nothing) => Ok(HORUS_EMPTY),
            (_, Part::End) => Ok(HORUS_END),
            (_, Part::Next(message)) => {
                // SAFETY: `check_place` found the room, and the caller promises the rest.
                unsafe { put(calls, message, part, length) };
                Ok(HORUS_OK)
            }
        }
    })
}

/// Gives a call up: what comes of its answer is dropped and counted. One that is over is nothing to give up.
///
/// # Safety
/// `client` is a handle that no other call uses meanwhile.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn horus_client_give_up(client: *mut horus_client, call: horus_call) -> horus_status {
    crate::status::call(|| {
        // SAFETY: the caller's promise is the same.
        let (calls, _) = unsafe { own(client) }?;
        if let Ok(place) = calls.find(call) {
            calls.places[place] = None;
        }
        Ok(HORUS_OK)
    })
}

/// Asks, and waits for the answer at most `timeout_ns` nanoseconds, for ever if that is negative. Of an answer of several messages it is the first
/// one. HORUS_CALL_NOT_SERVED at once where no living program serves it, HORUS_CALL_DIED within about 10 ms of the server's death, and
/// HORUS_CALL_TIMED_OUT when the time is up.
///
/// # Safety
/// `client` is a handle that no other call uses meanwhile, `request_bytes` bytes may be read at `request`, `answer_bytes` bytes may be written at
/// `answer`, `length` is null or may be written.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn horus_client_call(
    client: *mut horus_client,
    request: *const c_void,
    request_bytes: usize,
    answer: *mut c_void,
    answer_bytes: usize,
    length: *mut usize,
    timeout_ns: i64,
) -> horus_status {
    let limit = u64::try_from(timeout_ns).map_or(Duration::MAX, Duration::from_nanos);
    call(|| {
        // SAFETY: the caller's promise is the same.
        let (calls, [asked, answered]) = unsafe { own(client) }?;
        check_place(answer, answer_bytes, answered, length)?;
        // SAFETY: the caller's promise is the same.
        let request = unsafe { given(request, request_bytes, asked) }?;
        let message = calls.client.call(request, limit).map_err(|error| refused(&error))?;
        // SAFETY: `check_place` found the room, and the caller promises the rest.
        unsafe { put(calls, message, answer, length) };
        Ok(HORUS_OK)
    })
}

/// Does something with a client: HORUS_OK if it is so, HORUS_EMPTY if not.
///
/// # Safety
/// `client` is a handle that no other call uses meanwhile.
unsafe fn is_so(
    client: *mut horus_client,
    ask: impl FnOnce(&mut dyn Asks) -> Result<bool, horus::service::CallError>,
) -> horus_status {
    call(|| {
        // SAFETY: the caller's promise is the same.
        let (calls, _) = unsafe { own(client) }?;
        let is_so = ask(&mut *calls.client).map_err(|error| refused(&error))?;
        Ok(if is_so { HORUS_OK } else { HORUS_EMPTY })
    })
}

/// Waits for a message from the server, at most `timeout_ns` nanoseconds, for ever if that is negative; HORUS_EMPTY when the time is up. Which call it
/// is for, looking says.
///
/// # Safety
/// `client` is a handle that no other call uses meanwhile.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn horus_client_wait(client: *mut horus_client, timeout_ns: i64) -> horus_status {
    let limit = u64::try_from(timeout_ns).map_or(Duration::MAX, Duration::from_nanos);
    // SAFETY: the caller's promise is the same.
    unsafe { is_so(client, |client| Ok(client.wait(limit))) }
}

/// Asks the kernel whether the server lives, HORUS_OK or HORUS_EMPTY; if not, all calls on their way end with HORUS_CALL_DIED. Makes system calls: not
/// for a real-time loop.
///
/// # Safety
/// `client` is a handle that no other call uses meanwhile.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn horus_client_check_server(client: *mut horus_client) -> horus_status {
    // SAFETY: the caller's promise is the same.
    unsafe { is_so(client, |client| client.check_server()) }
}

/// Whether a living program serves it: HORUS_OK or HORUS_EMPTY. Makes system calls.
///
/// # Safety
/// `client` is a handle that no other call uses meanwhile.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn horus_client_is_served(client: *mut horus_client) -> horus_status {
    // SAFETY: the caller's promise is the same.
    unsafe { is_so(client, |client| client.is_served()) }
}

/// Waits at most `timeout_ns` nanoseconds, for ever if that is negative, until a living program serves it; HORUS_EMPTY when the time is up.
///
/// # Safety
/// `client` is a handle that no other call uses meanwhile.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn horus_client_wait_until_served(client: *mut horus_client, timeout_ns: i64) -> horus_status {
    let limit = u64::try_from(timeout_ns).map_or(Duration::MAX, Duration::from_nanos);
    // SAFETY: the caller's promise is the same.
    unsafe { is_so(client, |client| client.wait_until_served(limit)) }
}

/// Messages for calls that were given up, so far; 0 of what is no client.
///
/// # Safety
/// `client` is null or a handle that no other call uses meanwhile.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn horus_client_late(client: *mut horus_client) -> u64 {
    let mut late = 0;
    call(|| {
        // SAFETY: the caller's promise is the same.
        late = unsafe { own(client) }?.0.client.late();
        Ok(HORUS_OK)
    });
    late
}

/// Calls that are unanswered; 0 of what is no client.
///
/// # Safety
/// `client` is null or a handle that no other call uses meanwhile.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn horus_client_unanswered(client: *mut horus_client) -> usize {
    let mut unanswered = 0;
    call(|| {
        // SAFETY: the caller's promise is the same.
        unanswered = unsafe { own(client) }?.0.client.unanswered();
        Ok(HORUS_OK)
    });
    unanswered
}

/// Ends a client, and gives its calls up. Null is nothing to end. One of a node ends with its program.
///
/// # Safety
/// `client` is null or a handle that no other call uses meanwhile, and it is not used any more but by who keeps it.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn horus_client_close(client: *mut horus_client) -> horus_status {
    // SAFETY: the caller's promise is the same.
    call(|| unsafe { close(client) })
}

/// Keeps a client beyond its end, until `horus_client_let_go`: using it is an error then. Each call counts. Any thread may call this.
///
/// # Safety
/// `client` is null or a handle that was not closed and whose program has not ended, or that is kept.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn horus_client_keep(client: *mut horus_client) -> horus_status {
    // SAFETY: the caller's promise is the same.
    call(|| unsafe { keep(client) })
}

/// Ends what `horus_client_keep` began. Null is nothing to end.
///
/// # Safety
/// As there; for this keeper it is not used any more.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn horus_client_let_go(client: *mut horus_client) -> horus_status {
    // SAFETY: the caller's promise is the same.
    call(|| unsafe { let_go(client) })
}
