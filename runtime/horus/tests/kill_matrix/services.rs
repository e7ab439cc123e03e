//! Services in the kill matrix: the server, or a client, is killed at every step of opening, asking, answering, waiting and leaving, and at random
//! times.
//!
//! # What is checked at each kill
//! - Who asks: each of its calls ends, by its whole answer in order, or by an error that says that the server died, stopped or was not there. What
//!   came of an answer is right, and none of another call.
//! - Who serves: it is never held up by a client that is dead, and each request is handed to it once, in order.
//! - Another server, or client, starts at once. It gets no request of before, and no answer of before.
//! - No file is left.

use std::path::Path;
use std::time::{Duration, Instant};

use horus::service::{CallError, Client, Options, Part, Pending, Server};
use horus::topic::WaitStrategy;
use horus_shm::failpoint::{NAMES, VARIABLE};

use super::peers::{self, PATIENCE, Peer, await_no_file, some_time};

horus::message! {
    /// A question, with a number of its own.
    pub struct Ask = "test/Ask" {
        /// Counts the questions of a client.
        number: u64,
        /// Messages before the last one of its answer.
        parts: u64,
    }
}
horus::message! {
    /// A message of an answer.
    pub struct Told = "test/Told" {
        /// The question's.
        number: u64,
        /// Counts the messages of the answer.
        part: u64,
    }
}

const SERVICE: &str = "victims.service";
const LIMIT: Duration = Duration::from_millis(2);
/// Calls on their way: so few that their answers have room.
const CALLS: usize = 4;
/// Passages at which a victim dies: of the first ones some are of opening.
const PASSAGES: [u64; 4] = [1, 3, 9, 40];

fn options(files: &Path) -> Options {
    Options::default().directory(files).wait_strategy(WaitStrategy::Sleep)
}

/// Asks, looks, and holds what it hears against what it asked.
struct Asker {
    client: Client<Ask, Told>,
    number: u64,
    asked: Vec<(Pending, Ask, u64)>,
    answered: u64,
    lost: u64,
}

impl Asker {
    fn open(files: &Path) -> Self {
        let client = Client::open(SERVICE, options(files)).unwrap();
        Self { client, number: 0, asked: Vec::new(), answered: 0, lost: 0 }
    }

    fn ask(&mut self) {
        while self.asked.len() < CALLS {
            let ask = Ask { number: self.number, parts: self.number % 3 };
            match self.client.ask(ask) {
                Ok(pending) => self.asked.push((pending, ask, 0)),
                Err(CallError::Full { .. }) => break,
                Err(error) => panic!("{error}"),
            }
            self.number += 1;
        }
    }

    fn look(&mut self) {
        let Self { client, asked, answered, lost, .. } = self;
        asked.retain_mut(|(pending, ask, part)| {
            loop {
                match pending.try_part(client) {
                    Ok(Part::Nothing) => return true,
                    Ok(Part::Next(told)) => {
                        assert_eq!((told.number, told.part), (ask.number, *part), "another answer, or out of order");
                        *part += 1;
                    }
                    Ok(Part::End) => {
                        assert_eq!(*part, ask.parts + 1, "an answer is shorter than it was");
                        *answered += 1;
                        return false;
                    }
                    Err(CallError::Died { .. } | CallError::Stopped { .. } | CallError::NotServed { .. }) => {
                        *lost += 1;
                        return false;
                    }
                    Err(error) => panic!("{error}"),
                }
            }
        });
    }

    /// Until each call has ended.
    fn ends(&mut self) {
        let started = Instant::now();
        while !self.asked.is_empty() {
            self.client.check_server().unwrap();
            self.look();
            assert!(started.elapsed() < PATIENCE, "a call does not end");
        }
    }
}

/// Answers what there is, and holds the numbers of one client against each other.
fn serve(server: &mut Server<Ask, Told>, limit: Duration, mut sees: impl FnMut(Ask)) -> bool {
    server.serve(limit, |ask, mut answer| {
        sees(ask);
        // A client that is dead has no room.
        let fits = (0..ask.parts).all(|part| answer.part(Told { number: ask.number, part }).is_ok());
        if fits {
            let _ = answer.send(Told { number: ask.number, part: ask.parts });
        }
    })
}

#[test]
#[ignore = "a peer"]
fn peer_serves_and_leaves_over_and_over() {
    let options = options(&peers::directory());
    peers::ready();
    loop {
        let mut server = Server::open(SERVICE, &options).unwrap();
        for _ in 0..20 {
            serve(&mut server, LIMIT, |_| {});
        }
    }
}

#[test]
#[ignore = "a peer"]
fn peer_asks_and_leaves_over_and_over() {
    let directory = peers::directory();
    peers::ready();
    loop {
        let mut asker = Asker::open(&directory);
        for turn in 0..10 {
            asker.ask();
            asker.client.wait(LIMIT);
            asker.look();
            if turn % 3 == 0 {
                asker.asked.truncate(1); // gives calls up
            }
        }
    }
}

/// Steps that neither end does: those of nodes' outputs, of messages in place, of remaking, and of boards.
fn is_of_services(place: &str) -> bool {
    let step = place.split(':').next().unwrap();
    !["stage", "hold", "remake", "board"].contains(&step) && place != "publish:unless-held"
}

/// A client finds the topics made.
fn is_of_clients(place: &str) -> bool {
    is_of_services(place) && !place.starts_with("create:") && !place.starts_with("remove:")
}

/// Starts a victim that dies at a failpoint, or at a random time.
fn victim(role: &str, files: &Path, failpoint: Option<&str>) -> Peer {
    let mut peer = Peer::start_with(role, files, "", failpoint.map(|failpoint| (VARIABLE, failpoint.to_owned())));
    if failpoint.is_none() {
        peer.wait_until_ready();
    }
    peer
}

/// All deaths: at each place at several passages, and between them at random times.
fn deaths(mut of: impl FnMut(&str) -> bool) -> Vec<Option<String>> {
    let places = NAMES.iter().filter(|place| of(place));
    let each = places.flat_map(|place| PASSAGES.map(|passage| Some(format!("{place}:{passage}"))));
    each.chain((0..20).map(|_| None)).collect()
}

/// Does `step` until the victim is dead. One that never comes so often by its failpoint is killed; whether it did.
fn until_dead(peer: &mut Peer, turn: u64, at_random: bool, mut step: impl FnMut()) -> bool {
    let (started, mut steps) = (Instant::now(), 0);
    while !peer.is_dead() {
        step();
        steps += 1;
        let is_enough = steps > 4_000 && started.elapsed() > Duration::from_secs(2);
        if is_enough || at_random && started.elapsed() > some_time(turn) {
            peer.kill();
            return at_random;
        }
    }
    true
}

#[test]
fn a_server_killed_at_every_step_ends_the_calls_of_its_client_and_its_successor_answers() {
    let _alone = super::alone();
    let deaths = deaths(is_of_services);
    let (mut answered, mut lost, mut came_by) = (0, 0, 0);
    for (turn, failpoint) in (0..).zip(&deaths) {
        let files = tempfile::tempdir_in("/dev/shm").unwrap();
        let mut asker = Asker::open(files.path());
        let mut peer = victim("services::peer_serves_and_leaves_over_and_over", files.path(), failpoint.as_deref());
        came_by += usize::from(until_dead(&mut peer, turn, failpoint.is_none(), || {
            asker.ask();
            asker.client.wait(LIMIT / 4);
            asker.look();
        }));
        peer.was_killed();
        asker.ends();

        let mut successor = Server::<Ask, Told>::open(SERVICE, options(files.path())).unwrap();
        let before = asker.number;
        assert!(!serve(&mut successor, Duration::ZERO, |_| {}), "{failpoint:?}: a request was handed out twice");
        asker.ask();
        while serve(&mut successor, Duration::ZERO, |ask| assert!(ask.number >= before, "{failpoint:?}: {ask:?}")) {}
        let were = asker.answered;
        asker.look();
        assert_eq!(asker.answered - were, CALLS as u64, "{failpoint:?}: the successor does not answer");
        (answered, lost) = (answered + asker.answered, lost + asker.lost);
        drop((asker, successor));
        await_no_file(files.path());
    }
    assert!(came_by * 3 > deaths.len() * 2, "only {came_by} of {} came by", deaths.len());
    assert!(answered > 0 && lost > 0);
    println!(
        "{} servers killed, {came_by} as planned: of their clients' calls {answered} were answered, {lost} were told, 0 hung",
        deaths.len()
    );
}

#[test]
fn a_client_killed_at_every_step_holds_its_server_up_in_nothing_and_its_successor_is_answered() {
    let _alone = super::alone();
    let deaths = deaths(is_of_clients);
    let (mut served, mut came_by) = (0, 0);
    for (turn, failpoint) in (0..).zip(&deaths) {
        let files = tempfile::tempdir_in("/dev/shm").unwrap();
        let mut server = Server::<Ask, Told>::open(SERVICE, options(files.path())).unwrap();
        let mut peer = victim("services::peer_asks_and_leaves_over_and_over", files.path(), failpoint.as_deref());
        let mut next = 0;
        came_by += usize::from(until_dead(&mut peer, turn, failpoint.is_none(), || {
            let sees = |ask: Ask| {
                assert!(ask.number == 0 || ask.number == next, "{failpoint:?}: {ask:?} after {next}");
                next = ask.number + 1;
                served += 1;
            };
            serve(&mut server, LIMIT / 4, sees);
        }));
        peer.was_killed();
        // What the dead one asked is answered, in vain.
        while serve(&mut server, Duration::ZERO, |_| {}) {}
        let mut successor = Asker::open(files.path());
        for _ in 0..3 {
            successor.ask();
            while serve(&mut server, Duration::ZERO, |_| {}) {}
            successor.look();
        }
        assert_eq!((successor.answered, successor.lost), (3 * CALLS as u64, 0), "{failpoint:?}");
        drop((successor, server));
        await_no_file(files.path());
    }
    assert!(came_by * 3 > deaths.len() * 2, "only {came_by} of {} came by", deaths.len());
    assert!(served > 0);
    println!(
        "{} clients killed, {came_by} as planned: {served} of their requests were served, 0 held the server up",
        deaths.len()
    );
}
