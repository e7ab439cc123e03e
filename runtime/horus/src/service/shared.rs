//! A service that several servers share: which topics they have, and who gets a request.
//!
//! Each server has a place, and serves there as the only one: `map.save.shared.2` is a service as any other. The topic `map.save` carries
//! what its clients count; who opens a service as shared joins it. Its type is another one than that of any requests, so an end that says `shared` and one
//! that does not refuse each other, whichever comes first.

use horus_shm::segment::rejected::{Reason, Rejected};

use super::figures::{self, ServerFigures, Telling};
use super::{Options, SERVERS, ServeError, answers_of, real, seat_of};
use crate::topic::{OpenError, Payload, Publisher, Subscriber};

/// What server number `server` serves.
pub(super) fn service_of(service: &str, server: usize) -> String {
    format!("{service}.shared.{server}")
}

/// The server with the least to do, as `work` says it, of those that it says it of; of several the first one from `next` on.
pub(super) fn choose(next: usize, work: impl Fn(usize) -> Option<usize>) -> Option<usize> {
    let in_turn = (0..SERVERS).map(|step| (next + step) % SERVERS);
    in_turn.filter_map(|server| Some((work(server)?, server))).min_by_key(|&(work, _)| work).map(|(_, server)| server)
}

/// What a server took before it opens the topics of requests and answers. It is given back last.
pub(crate) struct Place {
    /// What it serves there: the service, or its place in a shared one.
    pub service: String,
    _register: Option<Subscriber<[u8]>>,
    seat: Telling,
}

impl Place {
    /// The place of the only server, or a free one of a service that servers share.
    pub fn take<Q: Payload + ?Sized, A: Payload + ?Sized>(
        service: &str,
        request: Q::Shape<'_>,
        answer: A::Shape<'_>,
        options: &Options,
    ) -> Result<Self, ServeError> {
        if !options.is_shared() {
            let seat = take_seat(service, options)?;
            return Ok(Self { service: service.to_owned(), _register: None, seat });
        }
        let register = Subscriber::<[u8]>::open_as(real(service)?, figures::SHARED, options.figures())
            .map_err(|error| mismatch(service, true, error))?;
        let mut refused = None;
        for server in 0..SERVERS {
            let own = service_of(service, server);
            match take_seat(&own, options) {
                Ok(seat) => return Ok(Self { service: own, _register: Some(register), seat }),
                Err(ServeError::Served { source, .. }) => refused = Some(source),
                Err(other) => return Err(other),
            }
            compare::<Q, A>(&own, request, answer, options)?;
        }
        let source = refused.expect("each place was refused");
        Err(ServeError::TooMany { service: service.to_owned(), servers: SERVERS, source })
    }
}

/// Takes the seat that one server alone can have.
fn take_seat(service: &str, options: &Options) -> Result<Telling, ServeError> {
    let seat = Publisher::<[u8]>::open_as(&seat_of(service), figures::SERVER, options.seat());
    seat.map(Telling::begin).map_err(|error| match error {
        full @ OpenError::PublishersFull { .. } => {
            ServeError::Served { service: service.to_owned(), source: Box::new(full) }
        }
        other => ServeError::Topic(other),
    })
}

impl Place {
    /// Tells observers what the server did.
    #[inline]
    pub fn tell(&mut self, figures: ServerFigures) {
        self.seat.tell(figures.words());
    }
}

/// Whether another server has the same types: joins its topics for a moment.
fn compare<Q: Payload + ?Sized, A: Payload + ?Sized>(
    other: &str,
    request: Q::Shape<'_>,
    answer: A::Shape<'_>,
    options: &Options,
) -> Result<(), ServeError> {
    let requests = Subscriber::<Q>::open_as(other, request, options.requests()).err();
    let answers = Subscriber::<A>::open_as(&answers_of(other, 0), answer, options.answers()).err();
    // What else is in the way is told where the own ones are opened.
    match [requests, answers].into_iter().flatten().find(|error| matches!(error, OpenError::Rejected(_))) {
        Some(rejected) => Err(rejected.into()),
        None => Ok(()),
    }
}

/// An end that says that the service is shared, or not, beside one that says otherwise.
pub(crate) fn mismatch(service: &str, is_shared: bool, error: OpenError) -> ServeError {
    let is_of_mode = |error: &OpenError| {
        let OpenError::Rejected(Rejected { reason: Reason::TypeName { found, expected }, .. }) = error else {
            return false;
        };
        [found, expected].contains(&&figures::REGISTER.to_owned())
    };
    match error {
        error if is_of_mode(&error) => {
            ServeError::NotAlike { service: service.to_owned(), is_shared, source: Box::new(error) }
        }
        other => ServeError::Topic(other),
    }
}
