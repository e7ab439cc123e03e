//! What the ends of a service tell observers: how many requests a server took and ended, and how many answers came too late.
//!
//! They stand as bytes in topics of the service, `map.save.server` and `map.save.client`, one publisher an end. A server tells them when it has
//! no request at hand, and a client when an answer came too late. So they cost a call nothing, and no end waits for who reads them.

use std::path::Path;

use horus_shm::ends::observe::{Observation, Start};

use crate::topic::{Bytes, Publisher};

/// What a server did since it started.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ServerFigures {
    /// Requests that it took.
    pub taken: u64,
    /// Those of them that have their whole answer, or were told that there is none.
    pub ended: u64,
    /// Messages of answers that had no room, because their client did not look.
    pub undelivered: u64,
}

/// What a client counted since it was opened.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ClientFigures {
    /// Messages for calls that were given up.
    pub late: u64,
}

const WORD: usize = size_of::<u64>();
const WORDS: usize = 3;
/// Bytes of the messages of both topics.
const BYTES: usize = WORDS * WORD;

/// The seat of a server.
pub(super) const SERVER: Bytes<'static> = Bytes::of_type("horus/Server", BYTES);
/// The topic of the clients.
pub(super) const CLIENT: Bytes<'static> = Bytes::of_type("horus/Client", BYTES);
/// The topic's type that says that a service is shared.
pub(crate) const REGISTER: &str = "horus/SharedService";
/// The topic of the clients of a service that servers share, which says that they do.
pub(super) const SHARED: Bytes<'static> = Bytes::of_type(REGISTER, BYTES);

/// An end's place among those that tell, and what it told last.
pub(super) struct Telling {
    publisher: Publisher<[u8]>,
    told: [u64; WORDS],
}

impl Telling {
    /// Tells that nothing was done yet: a predecessor may have told more.
    pub fn begin(publisher: Publisher<[u8]>) -> Self {
        let mut telling = Self { publisher, told: [0; WORDS] };
        telling.send();
        telling
    }

    /// Tells it, unless it is what was told last.
    #[inline]
    pub fn tell(&mut self, words: [u64; WORDS]) {
        if words != self.told {
            self.told = words;
            self.send();
        }
    }

    fn send(&mut self) {
        let mut bytes = [0; BYTES];
        for (bytes, word) in bytes.chunks_exact_mut(WORD).zip(self.told) {
            bytes.copy_from_slice(&word.to_le_bytes());
        }
        let _always_has_room = self.publisher.try_send(&bytes[..]);
    }
}

impl ServerFigures {
    pub(super) fn words(self) -> [u64; WORDS] {
        [self.taken, self.ended, self.undelivered]
    }

    /// Those of the server whose seat is the topic in the file `path`; zeros where none was told.
    pub fn read(path: &Path) -> Self {
        let [taken, ended, undelivered] = newest(path).into_iter().next().map_or([0; WORDS], |(_, words)| words);
        Self { taken, ended, undelivered }
    }
}

impl ClientFigures {
    pub(super) fn words(self) -> [u64; WORDS] {
        [self.late, 0, 0]
    }

    /// Those of the clients whose topic is in the file `path`, with the number of each one's lane. A lane may be that of a client which has left.
    pub fn read(path: &Path) -> Vec<(usize, Self)> {
        newest(path).into_iter().map(|(lane, [late, ..])| (lane, Self { late })).collect()
    }
}

/// The most messages that are read: an end that tells all the time must not hold the reader.
const MOST: usize = 1_000;

/// The newest message of each lane.
fn newest(path: &Path) -> Vec<(usize, [u64; WORDS])> {
    let Ok(Some(mut seen)) = Observation::open(path, Start::Back(1)) else { return Vec::new() };
    let mut found = Vec::new();
    let mut bytes = [0; BYTES];
    for _ in 0..MOST {
        let Some(received) = seen.try_take_bytes(&mut bytes) else { break };
        let mut words = [0; WORDS];
        for (word, bytes) in words.iter_mut().zip(bytes.as_chunks::<WORD>().0) {
            *word = u64::from_le_bytes(*bytes);
        }
        found.retain(|(lane, _)| *lane != received.publisher);
        found.push((received.publisher, words));
    }
    found
}
