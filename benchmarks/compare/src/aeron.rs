//! Aeron IPC: an exclusive publication and its image in shared memory, with the C media driver inside the first end.
//!
//! The driver runs in one thread of its own (threading mode "shared", as fits two CPUs) that may run on any CPU and
//! backs off to short sleeps; each client has a conductor thread. The driver moves the publishers' limits on, so both
//! must get CPU time beside the two spinning ends. Terms are 16 MiB and their pages touched beforehand; the MTU is
//! 8 KiB, so that 1480 bytes are one fragment.

use std::ffi::CString;
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
struct Session {
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

impl<M: Content> Sender<M> for Offering {
    #[inline]
    fn try_send(&mut self, message: &M) -> bool {
        match self.publication.offer(message.as_bytes()) {
            Ok(_) => true,
            Err(error) if error.is_retryable() => false,
            Err(error) => panic!("Aeron offer: {error}"),
        }
    }
}

impl<M: Content> Receiver<M> for Polling {
    #[inline]
    fn try_recv(&mut self, into: &mut M) -> bool {
        let mut taken = false;
        let polled = self.image.poll_fn(
            |bytes, _| {
                if bytes.len() == size_of::<M>() {
                    into.as_mut_bytes().copy_from_slice(bytes);
                    taken = true;
                }
            },
            FRAGMENTS,
        );
        polled.is_ok() && taken
    }
}

impl<M: Content> Threads<M> for Aeron {
    const SYSTEM: &'static str = "aeron-ipc";

    fn channel(meeting: Meeting, _: usize) -> Result<(impl Sender<M> + Send, impl Receiver<M> + Send), Failure> {
        with_free_threads(|| {
            let driver = launch(&meeting)?;
            ends(session(&meeting, Some(driver))?, STREAM_TO_SECOND, STREAM_TO_SECOND)
        })
    }
}

impl<M: Content> Processes<M> for Aeron {
    const SYSTEM: &'static str = "aeron-ipc";

    fn connect(link: Link, _: usize) -> Result<(impl Sender<M>, impl Receiver<M>), Failure> {
        with_free_threads(|| {
            let (driver, outgoing, incoming) = match link.end {
                End::First => (Some(launch(&link.meeting)?), STREAM_TO_SECOND, STREAM_TO_FIRST),
                End::Second => (None, STREAM_TO_FIRST, STREAM_TO_SECOND),
            };
            rendezvous::both_here(&link, "driver")?;
            ends(session(&link.meeting, driver)?, outgoing, incoming)
        })
    }
}

fn directory(meeting: &Meeting) -> Result<CString, Failure> {
    Ok(CString::new(rendezvous::path(meeting, "aeron").to_str().ok_or("the directory's name is not UTF-8")?)?)
}

fn launch(meeting: &Meeting) -> Result<EmbeddedDriver, Failure> {
    let directory = directory(meeting)?;
    let configure = |context: &rusteron_media_driver::AeronDriverContext| {
        context.set_dir(&directory)?;
        context.set_threading_mode(aeron_threading_mode_enum::AERON_THREADING_MODE_SHARED)?;
        context.set_shared_idle_strategy_kind(AeronIdleStrategyKind::Backoff)?;
        context.set_term_buffer_sparse_file(false)?;
        Ok(())
    };
    EmbeddedDriver::launch_with(configure).map_err(|error| format!("Aeron driver: {error}").into())
}

fn session(meeting: &Meeting, driver: Option<EmbeddedDriver>) -> Result<Arc<Session>, Failure> {
    let context = AeronContext::new().map_err(said)?;
    context.set_dir(&directory(meeting)?).map_err(said)?;
    let client = Client::new(&context).map_err(said)?;
    client.start().map_err(said)?;
    Ok(Arc::new(Session { client, driver }))
}

fn ends(session: Arc<Session>, outgoing: i32, incoming: i32) -> Result<(Offering, Polling), Failure> {
    let channel = CString::new(CHANNEL)?;
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
