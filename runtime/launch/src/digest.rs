//! All messages of a robot, as one number for each topic: two runs that are the same have the same.
//!
//! The conductor looks after each turn, while all programs wait. It takes no place in a topic, so no publisher waits for it. A message counts with its
//! lane, its number there, its stamp and its bytes.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use horus_shm::directory::EXTENSION;
use horus_shm::ends::observe::{Observation, Start};
use sha2::{Digest as _, Sha256};

/// The most messages that one look takes of a topic: more than any topic holds.
const MOST: usize = 1 << 26;
/// So many hexadecimal digits are shown of a topic's number.
const SHOWN: usize = 16;

/// A topic, by its namespace and its name.
pub type Name = (String, String);

/// What is known of the messages by now.
pub struct Digest {
    /// The folder of each namespace.
    folders: Vec<(String, PathBuf)>,
    topics: BTreeMap<Name, Watched>,
}

struct Watched {
    path: PathBuf,
    observation: Option<Observation>,
    is_of_bytes: bool,
    lanes: BTreeMap<usize, Sha256>,
    messages: u64,
    /// Of files that had the name before.
    missed_before: u64,
    room: Vec<u8>,
}

/// The messages of a topic.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Row {
    /// As people write it: `lab:odom`, or `odom` in the namespace `default`.
    pub topic: String,
    pub messages: u64,
    /// Of them, those that were overwritten before the end of the turn in which they were sent: their bytes do not count.
    pub missed: u64,
    pub digest: String,
}

impl Digest {
    /// Of the topics in these folders.
    pub fn of(folders: Vec<(String, PathBuf)>) -> Self {
        Self { folders, topics: BTreeMap::new() }
    }

    /// Looks for topics that have come, or whose file is another one by now.
    pub fn scan(&mut self) -> Result<(), String> {
        for (namespace, folder) in &self.folders {
            for name in topics_in(folder) {
                let path = folder.join(format!("{name}.{EXTENSION}"));
                let watched = self.topics.entry((namespace.clone(), name)).or_insert_with(|| Watched::at(path));
                watched.follow()?;
            }
        }
        Ok(())
    }

    /// Takes the messages that have come; `heard` is called for each topic with some.
    pub fn look(&mut self, mut heard: impl FnMut(&Name)) -> Result<(), String> {
        for (name, watched) in &mut self.topics {
            if watched.messages == 0 {
                watched.follow()?; // it may be remade until the first message
            }
            if watched.take() {
                heard(name);
            }
        }
        Ok(())
    }

    /// What there is to show, and the number of it all.
    pub fn finish(self) -> (Vec<Row>, String) {
        let mut all = Sha256::new();
        let mut rows = Vec::new();
        for ((namespace, name), watched) in self.topics {
            let missed = watched.missed();
            if watched.messages == 0 && missed == 0 {
                continue;
            }
            let mut of_topic = Sha256::new();
            of_topic.update(missed.to_le_bytes());
            for (lane, messages) in watched.lanes {
                of_topic.update((lane as u64).to_le_bytes());
                of_topic.update(messages.finalize());
            }
            let number = of_topic.finalize();
            for part in [namespace.as_bytes(), b":", name.as_bytes(), b"\n", &number] {
                all.update(part);
            }
            let topic = if namespace == "default" { name } else { format!("{namespace}:{name}") };
            rows.push(Row { topic, messages: watched.messages + missed, missed, digest: digits(&number) });
        }
        (rows, digits(&all.finalize()))
    }
}

impl Watched {
    fn at(path: PathBuf) -> Self {
        let (lanes, room) = (BTreeMap::new(), Vec::new());
        Self { path, observation: None, is_of_bytes: false, lanes, messages: 0, missed_before: 0, room }
    }

    /// Opens the file that has the name now, unless it is open.
    fn follow(&mut self) -> Result<(), String> {
        if self.observation.as_ref().is_some_and(Observation::is_current) {
            return Ok(());
        }
        let opened = Observation::open(&self.path, Start::First);
        let Some(opened) = opened.map_err(|error| format!("cannot watch {}: {error}", self.path.display()))? else {
            return Ok(());
        };
        self.missed_before = self.missed();
        self.is_of_bytes = opened.header().is_of_bytes();
        self.room = vec![0; opened.payload().bytes];
        self.observation = Some(opened);
        Ok(())
    }

    fn missed(&self) -> u64 {
        self.missed_before + self.observation.as_ref().map_or(0, Observation::missed)
    }

    /// Takes what has come; whether something has.
    fn take(&mut self) -> bool {
        let Some(observation) = &mut self.observation else { return false };
        let before = (self.messages, observation.missed());
        for _ in 0..MOST {
            let room = &mut self.room;
            let taken = match self.is_of_bytes {
                true => observation.try_take_bytes(room).map(|it| (it.message, it.publisher, it.sequence, it.sent_ns)),
                false => observation.try_take(room).map(|it| (room.len(), it.publisher, it.sequence, it.sent_ns)),
            };
            let Some((bytes, lane, sequence, sent_ns)) = taken else { break };
            let lane = self.lanes.entry(lane).or_default();
            for number in [sequence, sent_ns, bytes as u64] {
                lane.update(number.to_le_bytes());
            }
            lane.update(&self.room[..bytes.min(self.room.len())]);
            self.messages += 1;
        }
        (self.messages, observation.missed()) != before
    }
}

/// The names of topics whose files are in a folder.
fn topics_in(folder: &Path) -> Vec<String> {
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
    let names = entries.filter_map(|entry| {
        let name = entry.file_name().into_string().ok()?;
        name.strip_suffix(EXTENSION)?.strip_suffix('.').map(str::to_owned)
    });
    names.collect()
}

fn digits(number: &[u8]) -> String {
    let mut text: String = number.iter().map(|byte| format!("{byte:02x}")).collect();
    text.truncate(SHOWN);
    text
}

#[cfg(test)]
mod tests {
    use horus::topic::{Bytes, Options, Publisher};

    use super::*;

    /// The number of a run in which these messages were sent, each with its stamp.
    fn digest(messages: &[(&[u8], u64)]) -> (Vec<Row>, String) {
        let scratch = tempfile::tempdir_in("/dev/shm").unwrap();
        let options = Options::latest(4).directory(scratch.path());
        let mut log = Publisher::<[u8]>::open_as("log", Bytes::up_to(8), options).unwrap();
        let mut digest = Digest::of(vec![("default".to_owned(), scratch.path().to_owned())]);
        digest.scan().unwrap();
        for (message, stamp) in messages {
            log.try_send_stamped(*message, *stamp).unwrap();
        }
        let mut heard = Vec::new();
        digest.look(|(_, name)| heard.push(name.clone())).unwrap();
        digest.look(|(_, name)| heard.push(name.clone())).unwrap();
        assert_eq!(heard, if messages.is_empty() { [].as_slice() } else { &["log"] });
        digest.finish()
    }

    #[test]
    fn a_run_with_the_same_messages_has_the_same_number() {
        let same: [(&[u8], u64); 2] = [(b"left", 1), (b"", 2)];
        assert_eq!(digest(&same), digest(&same));
        assert_eq!(digest(&same).0[0].messages, 2);
        let others: [&[(&[u8], u64)]; 5] =
            [&[], &[(b"left", 1)], &[(b"left", 1), (b"", 3)], &[(b"left", 1), (b"\0", 2)], &[(b"", 1), (b"left", 2)]];
        for other in others {
            assert_ne!(digest(&same).1, digest(other).1, "{other:?}");
        }
    }

    #[test]
    fn what_was_overwritten_is_counted() {
        let many: Vec<(&[u8], u64)> = (1..=10).map(|stamp| (b"x".as_slice(), stamp)).collect();
        let (rows, _) = digest(&many);
        assert_eq!(rows[0].messages, 10);
        assert!(rows[0].missed >= 6, "{rows:?}");
    }
}
