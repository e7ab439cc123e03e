//! The methods of ends that lend: `loan` of publishers, `borrow` and `try_borrow` of subscribers. They stand apart from the ends, because what is lent
//! keeps its end.

use std::ffi::CStr;

use horus::topic::HELD_FROM_BYTES;
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;

use super::lent::{Hold, Loan, LoanHold};
use super::options::limit;
use super::publisher::Publisher;
use super::subscriber::{Receiver, Subscriber};
use crate::arguments::{Given, unless_none};
use crate::methods::{self, Method};

struct Lend;

impl Method for Lend {
    type On = Publisher;
    const NAME: &'static CStr = c"loan";
    const DOC: &'static CStr = c"loan($self, /, timeout=None)\n--\n\nLends the place of the next message, for a `with` block that fills it; at its end the message is sent. With `timeout`, the block waits for room at its beginning, at most so many seconds. Without room it raises HorusError.";

    fn call<'py>(on: &Bound<'py, Publisher>, given: Given<'_, 'py>) -> PyResult<Bound<'py, PyAny>> {
        let [timeout] = given.sorted("loan", ["timeout"], 1)?;
        Ok(Loan::of(on, limit(unless_none(timeout).as_deref())?)?.into_any())
    }
}

struct TryBorrow;

impl Method for TryBorrow {
    type On = Subscriber;
    const NAME: &'static CStr = c"try_borrow";
    const DOC: &'static CStr =
        c"try_borrow($self, /)\n--\n\nAs `borrow`, but None at once when there is no message yet.";

    #[inline]
    fn call<'py>(on: &Bound<'py, Subscriber>, given: Given<'_, 'py>) -> PyResult<Bound<'py, PyAny>> {
        let [] = given.sorted("try_borrow", [], 0)?;
        Ok(borrowed(on)?.unwrap_or_else(|| on.py().None().into_bound(on.py())))
    }
}

struct Borrow;

impl Method for Borrow {
    type On = Subscriber;
    const NAME: &'static CStr = c"borrow";
    const DOC: &'static CStr = c"borrow($self, /, timeout=None)\n--\n\nWaits for the next message, at most `timeout` seconds, and lends it in its place, to be read; None when the time is up. Messages below 4096 bytes are copied. The subscriber receives nothing else, and a publisher may find no room, until the message and all arrays of it are gone.";

    #[inline]
    fn call<'py>(on: &Bound<'py, Subscriber>, given: Given<'_, 'py>) -> PyResult<Bound<'py, PyAny>> {
        let [timeout] = given.sorted("borrow", ["timeout"], 1)?;
        let timeout = unless_none(timeout);
        loop {
            if let Some(message) = borrowed(on)? {
                return Ok(message);
            }
            if !on.get().wait(on.py(), timeout.as_deref())? {
                return Ok(on.py().None().into_bound(on.py()));
            }
        }
    }
}

/// The next message, if there is one.
fn borrowed<'py>(of: &Bound<'py, Subscriber>) -> PyResult<Option<Bound<'py, PyAny>>> {
    let py = of.py();
    let mut end = of.get().lend(py)?;
    let Receiver::Messages(_, class, _) = end.open()? else {
        return Err(PyTypeError::new_err("messages of a class are borrowed; bytes and values are received by a copy"));
    };
    // Copying a small message costs less than a hold on it, and holds up no publisher.
    if class.bytes() < HELD_FROM_BYTES {
        return end.open()?.try_recv(py);
    }
    Hold::next(of, &mut end)
}

/// Adds what is lent, and gives the ends these methods.
pub fn add_to(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_class::<Hold>()?;
    module.add_class::<LoanHold>()?;
    module.add_class::<Loan>()?;
    methods::add::<Lend>(module.py())?;
    methods::add::<TryBorrow>(module.py())?;
    methods::add::<Borrow>(module.py())
}
