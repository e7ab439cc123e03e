//! The handle of a service's end: of the program that opened it, or of a node, whose steps alone use it.

use std::ffi::c_char;
use std::mem::ManuallyDrop;

use horus::message::layout::Layout;
use horus::service::Options;

use crate::handle::{Kind, look, place, text};
use crate::layout::horus_layout;
use crate::nodes::keep::{self, Belonging, Holders};
use crate::nodes::turn::Turn;
use crate::payload::Of;
use crate::status::horus_status::HORUS_OK;
use crate::status::{Refusal, horus_status, misuse};
use crate::topic::options::{horus_options, of_service};

/// An end of a service, with how many bytes its messages have.
pub(crate) struct End<E> {
    /// Of its node; none where a program opened it by itself.
    turn: Option<Turn>,
    is_closed: bool,
    /// There until its program ends, or closes it.
    end: ManuallyDrop<E>,
    pub request: Size,
    pub answer: Size,
    holders: Holders,
}

/// How many bytes a message has.
#[derive(Clone, Copy)]
pub(crate) enum Size {
    /// As many.
    Exactly(usize),
    /// Up to so many.
    UpTo(usize),
}

impl Size {
    pub fn of(layout: &Of<Layout, usize>) -> Self {
        match layout {
            Of::Messages(layout) => Size::Exactly(layout.payload().bytes),
            Of::Bytes(maximum) => Size::UpTo(*maximum),
        }
    }

    /// The most that it may be.
    pub fn most(self) -> usize {
        let (Size::Exactly(bytes) | Size::UpTo(bytes)) = self;
        bytes
    }
}

impl<E> End<E> {
    pub fn new(turn: Option<Turn>, end: E, request: Size, answer: Size) -> Self {
        let holders = Holders::default();
        Self { turn, is_closed: false, end: ManuallyDrop::new(end), request, answer, holders }
    }
}

impl<E> Belonging for End<E> {
    fn holders(&self) -> &Holders {
        &self.holders
    }

    unsafe fn end(this: *mut Self) {
        // SAFETY: this is called once, and nothing looks at it meanwhile, by the caller's promise.
        unsafe {
            (*this).is_closed = true;
            ManuallyDrop::drop(&mut (*this).end);
        }
    }
}

/// The end behind a pointer that C gave, for the thread that may use it now.
///
/// # Safety
/// As `get`; that another thread is in a step of its node is found out.
pub(crate) unsafe fn own<'a, E: 'a, K: Kind<Value = End<E>>>(
    handle: *mut K,
) -> Result<(&'a mut E, [Size; 2]), Refusal> {
    // SAFETY: the caller's promise is the same.
    let end = unsafe { place(handle) }?;
    // SAFETY: it came from `give`. Others may read this field meanwhile, and no thread writes it.
    if unsafe { (*end).turn.as_ref() }.is_some_and(|turn| !turn.is_mine()) {
        return Err(misuse(format!(
            "this {} belongs to a node that is in no step of this thread, or whose program has ended: open one for the node that uses it, \
             before horus_app_node",
            K::NAME
        )));
    }
    // SAFETY: as above; this thread alone uses it.
    if unsafe { (*end).is_closed } {
        return Err(misuse(format!("this {} was closed: open another one", K::NAME)));
    }
    // SAFETY: it is not closed, and this thread alone uses it: it is in a step of the node, or the caller's promise says so.
    Ok(unsafe { (&mut (*end).end, [(*end).request, (*end).answer]) })
}

/// Ends an end that a program opened by itself; null is nothing to end.
///
/// # Safety
/// As [`own`], and it is not used any more but by who keeps it.
pub(crate) unsafe fn close<E, K: Kind<Value = End<E>>>(handle: *mut K) -> Result<horus_status, Refusal> {
    if handle.is_null() {
        return Ok(HORUS_OK);
    }
    // SAFETY: the caller's promise is the same.
    let end = unsafe { place(handle) }?;
    // SAFETY: it came from `give`, and no thread writes this field.
    if unsafe { (*end).turn.is_some() } {
        return Err(misuse(format!("this {} belongs to a node: its program ends it", K::NAME)));
    }
    // SAFETY: this thread alone uses it, by the caller's promise.
    if unsafe { (*end).is_closed } {
        return Err(misuse(format!("this {} was closed before", K::NAME)));
    }
    // SAFETY: it is closed here alone, and none of its functions runs.
    unsafe { keep::end(handle) };
    Ok(HORUS_OK)
}

/// What both ends are opened with.
pub(crate) type Opening<'a> = (&'a str, &'a Of<Layout, usize>, &'a Of<Layout, usize>, Options);

/// # Safety
/// `service` ends with a zero byte, the layouts are handles that are not closed meanwhile, `given` is null or may be read.
pub(crate) unsafe fn opening<'a>(
    service: *const c_char,
    request: *mut horus_layout,
    answer: *mut horus_layout,
    given: *const horus_options,
) -> Result<Opening<'a>, Refusal> {
    // SAFETY: the caller's promises are the same.
    unsafe { Ok((text(service, "name of the service")?, look(request)?, look(answer)?, of_service(given)?)) }
}

/// Opens an end for the kinds that two layouts say: `$open` is called with the types and shapes of requests and answers.
macro_rules! of_kinds {
    ($request:expr, $answer:expr, $open:ident) => {{
        use horus::topic::{Bytes, Raw};
        match ($request, $answer) {
            (Of::Messages(request), Of::Messages(answer)) => $open!(Raw, Raw, request, answer),
            (Of::Messages(request), Of::Bytes(maximum)) => $open!(Raw, [u8], request, Bytes::up_to(*maximum)),
            (Of::Bytes(maximum), Of::Messages(answer)) => $open!([u8], Raw, Bytes::up_to(*maximum), answer),
            (Of::Bytes(request), Of::Bytes(answer)) => {
                $open!([u8], [u8], Bytes::up_to(*request), Bytes::up_to(*answer))
            }
        }
    }};
}

pub(crate) use of_kinds;
