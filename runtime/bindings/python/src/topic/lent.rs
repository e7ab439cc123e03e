//! Messages in their place, in shared memory: those that a subscriber lends to be read, and those that a publisher lends to be written.
//!
//! A hold takes the end of the topic out of its Python object, and gives it back when the message is used no more: neither the
//! message, nor a part of it, nor an array of NumPy over it. All of these keep the hold alive, as their `base`.

use std::mem::transmute;
use std::time::{Duration, Instant};

use horus::prelude::sleep;
use horus::topic::{Loan as RustLoan, Publisher as RustPublisher, Raw, Sample, Subscriber as RustSubscriber};
use pyo3::exceptions::PyTypeError;
use pyo3::ffi;
use pyo3::prelude::*;

use super::End;
use super::publisher::{Publisher, Sender};
use super::subscriber::{Last, Receiver, Subscriber};
use super::wait::sliced;
use crate::error::refused;
use crate::exclusive::{Exclusive, Lent};
use crate::message::bytes::Bytes;
use crate::message::class::Class;
use crate::message::object::Message;

/// What is lent, with the end that lends it.
struct Held<L, E> {
    /// What is lent; before the end, because it is dropped first.
    lent: Option<L>,
    /// In a box of its own, so that it stays where it is.
    end: Option<Box<E>>,
    class: &'static Class,
}

/// In a child that `fork` made of the process, the topic's memory is not there: what is lent of it does not end.
fn forget_lent<L, E>(held: &mut Exclusive<Held<L, E>>) {
    if !held.is_ours() {
        std::mem::forget(held.value_mut().lent.take());
    }
}

/// A subscriber's hold on a message.
#[pyclass(frozen, module = "horus._horus")]
pub struct Hold {
    held: Exclusive<Held<Sample<'static, Raw>, RustSubscriber<Raw>>>,
    subscriber: Py<Subscriber>,
}

impl Hold {
    /// The next message in its place, if there is one. The subscriber is lent to it then.
    pub fn next<'py>(
        of: &Bound<'py, Subscriber>,
        end: &mut Lent<'_, End<Receiver>>,
    ) -> PyResult<Option<Bound<'py, PyAny>>> {
        let py = of.py();
        let End::Open(Receiver::Messages(mut subscriber, class, last)) = std::mem::replace(&mut **end, End::Lent)
        else {
            unreachable!("the caller has looked");
        };
        // SAFETY: the box that it borrows from stands beside it in a `Held`, which uses the box no more and drops it afterwards.
        let sample = unsafe { transmute::<Option<Sample<'_, Raw>>, Option<Sample<'static, Raw>>>(subscriber.borrow()) };
        let Some(sample) = sample else {
            **end = End::Open(Receiver::Messages(subscriber, class, last));
            return Ok(None);
        };
        let (at, length) = (sample.as_ptr().cast_mut(), sample.len());
        let held = Held { lent: Some(sample), end: Some(subscriber), class };
        let hold =
            Bound::new(py, Self { held: Exclusive::new("message", held), subscriber: of.clone().unbind() })?.into_any();
        // SAFETY: the sample is these bytes, and the hold keeps it.
        let bytes = unsafe { Bytes::new(&hold, at, length, true) };
        Message::view(class, bytes).map(Some)
    }
}

impl Drop for Hold {
    fn drop(&mut self) {
        forget_lent(&mut self.held);
        Python::attach(|py| {
            let Ok(mut held) = self.held.lend(py) else { return };
            let class = held.class;
            let (sample, end) = (held.lent.take(), held.end.take());
            let Some(subscriber) = end else { return };
            let last = sample
                .as_ref()
                .map_or_else(Last::default, |sample| Last::of(sample.sequence(), sample.sent_ns(), sample.publisher()));
            drop(sample);
            if let Ok(mut end) = self.subscriber.get().lend(py)
                && let End::Lent = *end
            {
                *end = End::Open(Receiver::Messages(subscriber, class, last));
            }
        });
    }
}

/// A publisher's hold on the place of a message.
#[pyclass(frozen, module = "horus._horus")]
pub struct LoanHold {
    held: Exclusive<Held<RustLoan<'static, Raw>, RustPublisher<Raw>>>,
    publisher: Py<Publisher>,
}

impl Drop for LoanHold {
    fn drop(&mut self) {
        forget_lent(&mut self.held);
        Python::attach(|py| {
            let Ok(mut held) = self.held.lend(py) else { return };
            let class = held.class;
            held.lent = None; // one that was not published was never sent
            let Some(publisher) = held.end.take() else { return };
            if let Ok(mut end) = self.publisher.get().lend(py)
                && let End::Lent = *end
            {
                *end = End::Open(Sender::Messages(publisher, class));
            }
        });
    }
}

/// The place of the next message, for a `with` block: at its end the message is sent, and with an exception it is not.
#[pyclass(frozen, module = "horus")]
pub struct Loan {
    publisher: Py<Publisher>,
    lent: Exclusive<Option<(Py<LoanHold>, Py<PyAny>)>>,
    /// How long it waits for room; not at all without.
    limit: Option<Duration>,
}

/// The time between two looks for room.
const NAP: Duration = Duration::from_millis(1);

impl Loan {
    /// A loan of this publisher; it begins with its `with` block.
    pub fn of<'py>(publisher: &Bound<'py, Publisher>, limit: Option<Duration>) -> PyResult<Bound<'py, Self>> {
        let lent = Exclusive::new("loan", None);
        Bound::new(publisher.py(), Self { publisher: publisher.clone().unbind(), lent, limit })
    }
}

/// Waits until there is room for a message, or the time is up. Nothing wakes who waits for a place, so it is looked for.
fn wait_for_room(py: Python<'_>, publisher: &mut RustPublisher<Raw>, limit: Option<Duration>) -> PyResult<()> {
    let Some(until) = limit.and_then(|limit| Instant::now().checked_add(limit)) else { return Ok(()) };
    while publisher.loan().is_err() && Instant::now() < until {
        publisher.reap_dead_subscribers();
        sliced(py, Some(NAP), |nap| {
            sleep(nap);
            None::<()>
        })?;
    }
    Ok(())
}

#[pymethods]
impl Loan {
    fn __enter__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        let mut end = self.publisher.get().lend(py)?;
        let Sender::Messages(..) = end.open()? else {
            return Err(PyTypeError::new_err(
                "places of messages of a class are lent; bytes and values are sent by a copy",
            ));
        };
        let End::Open(Sender::Messages(mut publisher, class)) = std::mem::replace(&mut *end, End::Lent) else {
            unreachable!("it was looked at above");
        };
        if let Err(error) = wait_for_room(py, &mut publisher, self.limit) {
            *end = End::Open(Sender::Messages(publisher, class));
            return Err(error);
        }
        // SAFETY: as in `Hold::next`.
        let loan =
            unsafe { transmute::<Option<RustLoan<'_, Raw>>, Option<RustLoan<'static, Raw>>>(publisher.loan().ok()) };
        let Some(mut loan) = loan else {
            *end = End::Open(Sender::Messages(publisher, class));
            return Err(refused(
                "the topic is full: a subscriber has yet to read its oldest message; try again or wait",
            ));
        };
        let (at, length) = (loan.as_mut_ptr(), loan.len());
        let held = Exclusive::new("message", Held { lent: Some(loan), end: Some(publisher), class });
        let hold = Bound::new(py, LoanHold { held, publisher: self.publisher.clone_ref(py) })?;
        // SAFETY: the loan is these bytes, which no other code writes, and the hold keeps it.
        let bytes = unsafe { Bytes::new(hold.as_any(), at, length, false) };
        let message = Message::view(class, bytes)?;
        *self.lent.lend(py)? = Some((hold.unbind(), message.clone().unbind()));
        Ok(message)
    }

    #[pyo3(signature = (error, _value=None, _trace=None))]
    fn __exit__(
        &self,
        py: Python<'_>,
        error: &Bound<'_, PyAny>,
        _value: Option<&Bound<'_, PyAny>>,
        _trace: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<()> {
        let Some((hold, message)) = self.lent.lend(py)?.take() else { return Ok(()) };
        Message::release(message.bind(py));
        if !error.is_none() {
            return Ok(()); // nothing is sent
        }
        // SAFETY: it is an object, and the GIL is held.
        let others = unsafe { ffi::Py_REFCNT(hold.as_ptr()) } - 1;
        if others > 0 {
            return Err(refused(format!(
                "the message was not sent, because {others} arrays or parts of it are still in use, and could change it afterwards: `del` them before the \
                 block ends, or write `message.to_numpy()[:] = values`"
            )));
        }
        let loan = hold.get().held.lend(py)?.lent.take();
        if let Some(loan) = loan {
            loan.publish();
        }
        Ok(())
    }
}
