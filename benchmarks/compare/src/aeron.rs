//! Aeron IPC: an exclusive publication and its image in shared memory, with the C media driver inside the first end.
//!
//! The driver runs in one thread of its own (threading mode "shared", as fits two CPUs) that may run on any CPU and
//! backs off to short sleeps; each client has a conductor thread. The driver moves the publishers' limits on, so both
//! must get CPU time beside the two spinning ends. Terms are 16 MiB and their pages touched beforehand; the MTU is
//! 8 KiB, so that 1480 bytes are one fragment.

use std::ffi::{CStr, CString};
use std::sync::Arc;

use horus_benchmarks::patience::PATIENCE;
use horus_benchmarks::transport::{Content, End, Failure, Link, Meeting, Processes, Receiver, Sender, Threads};
use rusteron_client::{Aeron as Client, AeronContext, AeronExclusivePublication, AeronImage, AeronSubscription};
use rusteron_client::{AeronCError, Handlers};
use rusteron_media_driver::AeronIdleStrategyKind;
use rusteron_media_driver::bindings::aeron_threading_mode_enum;
use rusteron_media_driver::testing::EmbeddedDriver;

use crate::helpers::with_free_threads;
use crate::rendezvous;

const CHANNEL: &str = "aeron:ipc?term-length=16m|mtu=8k";
const STREAM_TO_FIRST: i32 = 1001;
const STREAM_TO_SECOND: i32 = 1002;
/// Messages that a poll may deliver: one, as `try_recv` gives one back.
const FRAGMENTS: usize = 1;

pub struct Aeron;

/// What both ends of a process hang on; dropped after them, the driver last.
pub struct Session {
    client: Client,
    #[expect(dead_code, reason = "kept alive")]
    driver: Option<EmbeddedDriver>,
}

pub struct Offering {
    publication: AeronExclusivePublication,
    #[expect(dead_code, reason = "kept alive")]
    session: Arc<Session>,
}

pub struct Polling {
    image: AeronImage,
    #[expect(dead_code, reason = "kept alive")]
    subscription: AeronSubscription,
    #[expect(dead_code, reason = "kept alive")]
    session: Arc<Session>,
}

// SAFETY: an image may be polled by any one thread at a time, as Aeron's C client documents for subscriptions and
// images; this end is neither `Clone` nor `Sync`, and no other handle of the image exists.
unsafe impl Send for Polling {}

// SAFETY: the client is internally synchronised and the driver's handle only joins a thread; both are used again only
// by whichever end drops the last reference.
unsafe impl Send for Session {}
// SAFETY: nothing is ever called through a shared session; see `Send`.
unsafe impl Sync for Session {}

impl Offering {
    /// Offers a message; false when it is to be offered again.
    ///
    /// # Panics
    /// When the publication is closed.
    #[inline]
    pub fn offer(&mut self, message: &[u8]) -> bool {
        match self.publication.offer(message) {
            Ok(_) => true,
            Err(error) if error.is_retryable() => false,
            Err(error) => panic!("Aeron offer: {error}"),
        }
    }
}

impl Polling {
    /// Hands over what there is, so many messages at most, and says how many these were.
    #[inline]
    pub fn poll(&mut self, mut each: impl FnMut(&[u8]), most: usize) -> usize {
        let mut found = 0;
        let polled = self.image.poll_fn(
            |bytes, _| {
                each(bytes);
                found += 1;
            },
            most,
        );
        if polled.is_ok() { found } else { 0 }
    }
}

impl<M: Content> Sender<M> for Offering {
    #[inline]
    fn try_send(&mut self, message: &M) -> bool {
        self.offer(message.as_bytes())
    }
}

impl<M: Content> Receiver<M> for Polling {
    #[inline]
    fn try_recv(&mut self, into: &mut M) -> bool {
        let mut is_whole = false;
        let take = |bytes: &[u8]| {
            if bytes.len() == size_of::<M>() {
                into.as_mut_bytes().copy_from_slice(bytes);
                is_whole = true;
            }
        };
        self.poll(take, FRAGMENTS) > 0 && is_whole
    }
}

impl<M: Content> Threads<M> for Aeron {
    const SYSTEM: &'static str = "aeron-ipc";

    fn channel(meeting: Meeting, _: usize) -> Result<(impl Sender<M> + Send, impl Receiver<M> + Send), Failure> {
        with_free_threads(|| {
            let driver = launch(&directory(&meeting)?)?;
            let session = session(&directory(&meeting)?, Some(driver))?;
            ends(session, CHANNEL, STREAM_TO_SECOND, STREAM_TO_SECOND)
        })
    }
}

impl<M: Content> Processes<M> for Aeron {
    const SYSTEM: &'static str = "aeron-ipc";

    fn connect(link: Link, _: usize) -> Result<(impl Sender<M>, impl Receiver<M>), Failure> {
        with_free_threads(|| {
            let directory = directory(&link.meeting)?;
            let (driver, outgoing, incoming) = match link.end {
                End::First => (Some(launch(&directory)?), STREAM_TO_SECOND, STREAM_TO_FIRST),
                End::Second => (None, STREAM_TO_FIRST, STREAM_TO_SECOND),
            };
            rendezvous::both_here(&link, "driver")?;
            ends(session(&directory, driver)?, CHANNEL, outgoing, incoming)
        })
    }
}

fn directory(meeting: &Meeting) -> Result<CString, Failure> {
    Ok(CString::new(rendezvous::path(meeting, "aeron").to_str().ok_or("the directory's name is not UTF-8")?)?)
}

/// Starts a driver that meets its clients in a directory.
pub(crate) fn launch(directory: &CStr) -> Result<EmbeddedDriver, Failure> {
    let configure = |context: &rusteron_media_driver::AeronDriverContext| {
        context.set_dir(directory)?;
        context.set_threading_mode(aeron_threading_mode_enum::AERON_THREADING_MODE_SHARED)?;
        context.set_shared_idle_strategy_kind(AeronIdleStrategyKind::Backoff)?;
        context.set_term_buffer_sparse_file(false)?;
        Ok(())
    };
    EmbeddedDriver::launch_with(configure).map_err(|error| format!("Aeron driver: {error}").into())
}

/// Connects to the driver of a directory.
pub(crate) fn session(directory: &CStr, driver: Option<EmbeddedDriver>) -> Result<Arc<Session>, Failure> {
    let context = AeronContext::new().map_err(said)?;
    context.set_dir(directory).map_err(said)?;
    let client = Client::new(&context).map_err(said)?;
    client.start().map_err(said)?;
    Ok(Arc::new(Session { client, driver }))
}

/// Both ends of this process, by a channel of Aeron's.
pub(crate) fn ends(
    session: Arc<Session>,
    channel: &str,
    outgoing: i32,
    incoming: i32,
) -> Result<(Offering, Polling), Failure> {
    let channel = CString::new(channel)?;
    let client = &session.client;
    let subscription = client
        .async_add_subscription(&channel, incoming, Handlers::NONE, Handlers::NONE)
        .and_then(|adding| adding.poll_blocking(PATIENCE))
        .map_err(said)?;
    let publication = client
        .async_add_exclusive_publication(&channel, outgoing)
        .and_then(|adding| adding.poll_blocking(PATIENCE))
        .map_err(said)?;
    let image = rendezvous::patiently("Aeron image", || Ok(subscription.image_at_index(0)))?;
    rendezvous::patiently("Aeron subscriber", || Ok(publication.is_connected().then_some(())))?;
    let polling = Polling { image, subscription, session: Arc::clone(&session) };
    Ok((Offering { publication, session }, polling))
}

fn said(error: AeronCError) -> Failure {
    format!("Aeron: {error}").into()
}
