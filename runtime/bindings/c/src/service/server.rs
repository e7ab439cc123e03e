//! The answering end of a service.

use std::ffi::{c_char, c_void};
use std::slice;
use std::time::Duration;

use horus::service::Server;

use super::end::{End, Size, close, of_kinds, opening, own};
use super::ends::{Reply, Serves};
use crate::handle::{Kind, get, give, wrong_size};
use crate::layout::horus_layout;
use crate::nodes::keep::{keep, let_go};
use crate::nodes::node_handle::horus_app;
use crate::payload::Of;
use crate::status::horus_status::{HORUS_EMPTY, HORUS_OK};
use crate::status::{Refusal, call, failed, horus_status, make, misuse};
use crate::topic::options::horus_options;
use crate::topic::publisher::{bytes_at, message_at};

/// The answering end of a service. There is one at a time. One thread at a time uses it; one that `horus_app_server` made belongs to its program,
/// ends with it, and only the step of its node uses it.
#[allow(non_camel_case_types)]
pub struct horus_server {
    _opaque: (),
}

impl Kind for horus_server {
    type Value = End<Box<dyn Serves>>;
    const MARK: u64 = 0x7475_6f79_616c_0031;
    const NAME: &'static str = "server";
}

/// Who asked what: a request is answered with the ticket that came with it, at once or later.
#[allow(non_camel_case_types)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[repr(C)]
pub struct horus_ticket {
    /// Which client.
    pub client: u64,
    /// Which of its requests.
    pub number: u64,
}

/// Becomes the server of `service`; null when it is refused: another server lives, or the types are others. It gets the requests that are sent from
/// then on. The layouts say whether requests and answers are those of a struct or bytes. Of `options`, which may be null, directory, group and wait
/// strategy count, and `publishers` is how many clients it has room for: 8 if that is 0.
///
/// # Safety
/// `service` ends with a zero byte, `request` and `answer` are handles that are not closed meanwhile, `options` is null or may be read.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn horus_server_open(
    service: *const c_char,
    request: *mut horus_layout,
    answer: *mut horus_layout,
    options: *const horus_options,
) -> *mut horus_server {
    make(|| {
        // SAFETY: the caller's promises are the same.
        let (service, request, answer, options) = unsafe { opening(service, request, answer, options) }?;
        macro_rules! open {
            ($q:ty, $a:ty, $request:expr, $answer:expr) => {
                Box::new(Server::<$q, $a>::open_as(service, $request, $answer, &options).map_err(failed)?)
            };
        }
        let server: Box<dyn Serves> = of_kinds!(request, answer, open);
        Ok(give(End::new(None, server, Size::of(request), Size::of(answer))))
    })
}

/// The answering end of a service for the next node, whose requests are an input of it: `horus_node_on` with its name releases the node by them.
/// Null when it is refused; the program does not run then.
///
/// # Safety
/// `app` is a handle that no other call uses meanwhile; otherwise as `horus_server_open`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn horus_app_server(
    app: *mut horus_app,
    service: *const c_char,
    request: *mut horus_layout,
    answer: *mut horus_layout,
    options: *const horus_options,
) -> *mut horus_server {
    make(|| {
        // SAFETY: the caller's promise is the same.
        unsafe { get(app) }?.declare(|program| {
            // SAFETY: the caller's promises are the same.
            let (service, request, answer, options) = unsafe { opening(service, request, answer, options) }?;
            let turn = program.turn.clone();
            macro_rules! open {
                ($q:ty, $a:ty, $request:expr, $answer:expr) => {
                    Box::new(program.app()?.server_as::<$q, $a>(service, $request, $answer, options).map_err(failed)?)
                };
            }
            let server: Box<dyn Serves> = of_kinds!(request, answer, open);
            let server = give(End::new(Some(turn), server, Size::of(request), Size::of(answer)));
            Ok(program.keep_end(server))
        })
    })
}

/// Takes the next request to `request`, where there are `bytes` bytes: those of its struct, or room for the longest. Waits at most `timeout_ns`
/// nanoseconds, for ever if that is negative; one of a node does not wait. HORUS_EMPTY when there is none. `length`, which may be null for a struct,
/// is told how many bytes it has. `ticket` is what it is answered with. A request that is taken is to be answered, at once or later, or refused:
/// its client waits for that until its limit.
///
/// # Safety
/// `server` is a handle that no other call uses meanwhile, `bytes` bytes may be written at `request`, `length` is null or may be written, and so may
/// `ticket`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn horus_server_next(
    server: *mut horus_server,
    request: *mut c_void,
    bytes: usize,
    length: *mut usize,
    ticket: *mut horus_ticket,
    timeout_ns: i64,
) -> horus_status {
    let limit = u64::try_from(timeout_ns).map_or(Duration::MAX, Duration::from_nanos);
    call(|| {
        // SAFETY: the caller's promise is the same.
        let (server, [size, _]) = unsafe { own(server) }?;
        check_place(request, bytes, size, length)?;
        if ticket.is_null() {
            return Err(misuse("the place for the ticket is null"));
        }
        let mut came = 0;
        let asked = server.next(limit, &mut |message| {
            came = message.len();
            // SAFETY: there is room for the longest message, by the check and the caller's promise; it is only written.
            unsafe { slice::from_raw_parts_mut(request.cast(), came) }.copy_from_slice(message);
        });
        let Some([client, number]) = asked else { return Ok(HORUS_EMPTY) };
        // SAFETY: not null, or looked at; both may be written, by the caller's promise.
        unsafe {
            ticket.write(horus_ticket { client, number });
            tell(length, came);
        }
        Ok(HORUS_OK)
    })
}

/// Whether a message of this size can be put there.
pub(crate) fn check_place(place: *mut c_void, bytes: usize, size: Size, length: *mut usize) -> Result<(), Refusal> {
    match size {
        _ if place.is_null() => Err(misuse("the place for the message is null")),
        Size::Exactly(wanted) if bytes != wanted => Err(wrong_size(bytes, wanted)),
        Size::UpTo(longest) if bytes < longest => {
            Err(misuse(format!("there is room for {bytes} bytes, and a message of this service may have {longest}")))
        }
        Size::UpTo(_) if length.is_null() => {
            Err(misuse("a message of bytes has a length of its own: give a place for it"))
        }
        Size::Exactly(_) | Size::UpTo(_) => Ok(()),
    }
}

/// A message from C.
///
/// # Safety
/// `message` is null, or `bytes` bytes may be read there, and do not change meanwhile.
pub(crate) unsafe fn given<'a>(message: *const c_void, bytes: usize, size: Size) -> Result<&'a [u8], Refusal> {
    match size {
        // SAFETY: the caller's promise is the same.
        Size::Exactly(wanted) => unsafe { message_at(message, bytes, wanted) },
        // SAFETY: as above.
        Size::UpTo(_) => unsafe { bytes_at(message, bytes) },
    }
}

/// Tells a length, where it is asked for.
///
/// # Safety
/// `length` is null or may be written.
pub(crate) unsafe fn tell(length: *mut usize, bytes: usize) {
    if !length.is_null() {
        // SAFETY: not null, so it may be written, by the caller's promise.
        unsafe { length.write(bytes) };
    }
}

/// Sends a reply.
///
/// # Safety
/// `server` is a handle that no other call uses meanwhile, and `ticket` may be read.
unsafe fn reply(
    server: *mut horus_server,
    ticket: *const horus_ticket,
    reply: impl FnOnce(Size) -> Result<Reply<'static>, Refusal>,
) -> horus_status {
    call(|| {
        // SAFETY: the caller's promises are the same.
        let ((server, [_, size]), ticket) = unsafe { (own(server)?, ticket.as_ref()) };
        let &horus_ticket { client, number } = ticket.ok_or_else(|| misuse("the ticket is null"))?;
        server.reply([client, number], reply(size)?)
    })
}

/// Answers the request of a ticket, and is over. HORUS_FULL when its client does not look at the answers that it has: then this one is dropped and
/// counted, and the client is told that there is no answer if it has room for that.
///
/// # Safety
/// `server` is a handle that no other call uses meanwhile, `ticket` may be read, and `bytes` bytes may be read at `answer`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn horus_server_answer(
    server: *mut horus_server,
    ticket: *const horus_ticket,
    answer: *const c_void,
    bytes: usize,
) -> horus_status {
    // SAFETY: the caller's promises are the same.
    unsafe { reply(server, ticket, |size| given(answer, bytes, size).map(Reply::Answer)) }
}

/// Sends a part of the answer, and more may follow: `horus_server_end` ends it, or `horus_server_answer` with the last part. HORUS_FULL when there is
/// no room: it may be sent again later.
///
/// # Safety
/// As `horus_server_answer`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn horus_server_part(
    server: *mut horus_server,
    ticket: *const horus_ticket,
    part: *const c_void,
    bytes: usize,
) -> horus_status {
    // SAFETY: the caller's promises are the same.
    unsafe { reply(server, ticket, |size| given(part, bytes, size).map(Reply::Part)) }
}

/// Says that all parts were sent.
///
/// # Safety
/// `server` is a handle that no other call uses meanwhile, and `ticket` may be read.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn horus_server_end(server: *mut horus_server, ticket: *const horus_ticket) -> horus_status {
    // SAFETY: the caller's promises are the same.
    unsafe { reply(server, ticket, |_| Ok(Reply::End)) }
}

/// Says that the request gets no answer: its client has HORUS_CALL_UNANSWERED.
///
/// # Safety
/// As `horus_server_end`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn horus_server_refuse(server: *mut horus_server, ticket: *const horus_ticket) -> horus_status {
    // SAFETY: the caller's promises are the same.
    unsafe { reply(server, ticket, |_| Ok(Reply::None)) }
}

/// Messages that had no room, because their client did not look, or that could not be sent; 0 of what is no server.
///
/// # Safety
/// `server` is null or a handle that no other call uses meanwhile.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn horus_server_undelivered(server: *mut horus_server) -> u64 {
    let mut undelivered = 0;
    call(|| {
        // SAFETY: the caller's promise is the same.
        undelivered = unsafe { own(server) }?.0.undelivered();
        Ok(HORUS_OK)
    });
    undelivered
}

/// Stops serving: clients that wait are told. Null is nothing to end. One of a node ends with its program.
///
/// # Safety
/// `server` is null or a handle that no other call uses meanwhile, and it is not used any more but by who keeps it.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn horus_server_close(server: *mut horus_server) -> horus_status {
    // SAFETY: the caller's promise is the same.
    call(|| unsafe { close(server) })
}

/// Keeps a server beyond its end, until `horus_server_let_go`: using it is an error then. Each call counts. Any thread may call this.
///
/// # Safety
/// `server` is null or a handle that was not closed and whose program has not ended, or that is kept.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn horus_server_keep(server: *mut horus_server) -> horus_status {
    // SAFETY: the caller's promise is the same.
    call(|| unsafe { keep(server) })
}

/// Ends what `horus_server_keep` began. Null is nothing to end.
///
/// # Safety
/// As there; for this keeper it is not used any more.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn horus_server_let_go(server: *mut horus_server) -> horus_status {
    // SAFETY: the caller's promise is the same.
    call(|| unsafe { let_go(server) })
}
