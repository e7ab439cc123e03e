//! Whether the topics of a program are still where others find them.
//!
//! A topic whose file is removed goes on for those who have it open, and no other peer meets them there. No node notices: its
//! inputs are stale, or its outputs have no reader. So the thread beside the loops looks.

use std::os::unix::fs::MetadataExt;
use std::path::PathBuf;
use std::time::Duration;

use crate::journal::{self, Entry, Priority};
use crate::time::MonotonicTime;
use crate::topic::{Options, TopicName};

/// How long a look lasts.
const DISTANCE: Duration = Duration::from_secs(1);

/// The topics of a program, and who had them when they were opened.
#[derive(Debug, Default)]
pub(super) struct TopicFiles {
    files: Vec<TopicFile>,
    last_look: MonotonicTime,
}

#[derive(Debug)]
struct TopicFile {
    topic: String,
    path: PathBuf,
    /// The file's number; `None` when it was told.
    inode: Option<u64>,
    /// Its bytes. A file that has fewer was cut off.
    bytes: u64,
    /// Whether this program publishes it. A subscriber that came first goes with the publisher to another file.
    is_output: bool,
    /// Looks in a row that found no file. A publisher that makes the topic takes a moment.
    absent: u32,
}

impl TopicFiles {
    /// Takes note of a topic that was just opened.
    pub fn note(&mut self, topic: &TopicName, options: &Options, is_output: bool) {
        // What was opened has a directory; a topic that is gone by now is told by the program that opens it again.
        let Ok(directory) = options.open_directory() else { return };
        let path = directory.file(topic);
        let (inode, bytes) = found(&path).unzip();
        let bytes = bytes.unwrap_or(0);
        self.files.push(TopicFile { topic: topic.to_string(), path, inode, bytes, is_output, absent: 0 });
    }

    /// What has vanished since the last look.
    pub fn look(&mut self, now: MonotonicTime) -> Vec<Entry> {
        // At the end the program's own topics go with it.
        if now == MonotonicTime::MAX || now < self.last_look.plus(DISTANCE) {
            return Vec::new();
        }
        self.last_look = now;
        self.files.iter_mut().filter_map(TopicFile::look).collect()
    }
}

impl TopicFile {
    fn look(&mut self) -> Option<Entry> {
        let found = found(&self.path);
        self.absent = if found.is_some() { 0 } else { self.absent + 1 };
        let known = self.inode?;
        if found.is_some_and(|(inode, bytes)| inode == known && bytes < self.bytes) {
            return Some(self.tell(format!(
                "topic {} was cut off by a program that may write to {}: nothing of it arrives any more. Remove the file and start the program again",
                self.topic,
                self.path.display()
            )));
        }
        let is_another = found.is_none_or(|(inode, _)| inode != known);
        let has_vanished = if self.is_output { is_another } else { self.absent >= 2 };
        has_vanished.then(|| self.tell_vanished())
    }

    fn tell_vanished(&mut self) -> Entry {
        let text = format!(
            "topic {} was removed while this program uses it: {} is gone or another file, so new peers do not meet it. Start the program again",
            self.topic,
            self.path.display()
        );
        self.tell(text)
    }

    fn tell(&mut self, text: String) -> Entry {
        self.inode = None;
        Entry::new(journal::id::TOPIC_VANISHED, Priority::Error, text).field("HORUS_TOPIC", &self.topic)
    }
}

/// The number and the bytes of the file that is there.
fn found(path: &std::path::Path) -> Option<(u64, u64)> {
    std::fs::metadata(path).ok().map(|file| (file.ino(), file.len()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::messages::CmdVel;
    use crate::topic::Publisher;

    #[test]
    fn a_topic_that_is_cut_off_is_told_once() {
        let scratch = tempfile::tempdir_in("/dev/shm").unwrap();
        let options = Options::latest(2).directory(scratch.path());
        let mut publisher = Publisher::<CmdVel>::open("cut", &options).unwrap();
        let mut files = TopicFiles::default();
        files.note(&"cut".parse().unwrap(), &options, false);
        let after = |seconds| MonotonicTime::default().plus(Duration::from_secs(seconds));
        assert!(files.look(after(2)).is_empty());
        std::fs::File::options().write(true).open(scratch.path().join("cut.topic")).unwrap().set_len(64).unwrap();
        let _ = publisher.try_send(CmdVel::STOP);
        let told = files.look(after(4));
        assert!(matches!(&told[..], [one] if one.message().contains("topic cut was cut off")), "{told:?}");
        assert!(files.look(after(6)).is_empty());
        assert!(publisher.check().unwrap_err().to_string().contains("was cut off"));
    }

    #[test]
    fn a_topic_that_is_removed_or_replaced_is_told_once() {
        let scratch = tempfile::tempdir_in("/dev/shm").unwrap();
        let options = Options::latest(2).directory(scratch.path());
        let _first = Publisher::<CmdVel>::open("first", &options).unwrap();
        let _second = Publisher::<CmdVel>::open("second", &options).unwrap();
        let mut files = TopicFiles::default();
        files.note(&"first".parse().unwrap(), &options, true);
        files.note(&"second".parse().unwrap(), &options, false);
        let after = |seconds| MonotonicTime::default().plus(Duration::from_secs(seconds));
        assert!(files.look(after(2)).is_empty());
        std::fs::remove_file(scratch.path().join("first.topic")).unwrap();
        let _again = Publisher::<CmdVel>::open("first", &options).unwrap();
        let told = files.look(after(4));
        assert_eq!(told.len(), 1);
        assert_eq!(told[0].get("HORUS_TOPIC"), Some("first"));
        assert!(files.look(after(6)).is_empty());
        std::fs::remove_file(scratch.path().join("second.topic")).unwrap();
        assert!(files.look(after(6)).is_empty(), "a second has not passed");
        assert!(files.look(MonotonicTime::MAX).is_empty(), "the program has ended");
        assert!(files.look(after(8)).is_empty(), "its publisher may be making it");
        assert_eq!(files.look(after(10)).len(), 1);
    }
}
