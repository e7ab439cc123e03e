//! Topics between two looks, with publishers and subscribers of this process.

use horus::messages::{CmdVel, zeroed};
use horus::topic::{Options, Publisher, Subscriber};

use super::*;

struct Scene {
    scratch: tempfile::TempDir,
    directory: Directory,
}

impl Scene {
    fn new() -> Self {
        let scratch = tempfile::tempdir_in("/dev/shm").unwrap();
        let directory = Directory::at(scratch.path()).unwrap();
        Self { scratch, directory }
    }

    fn look(&self) -> Topics {
        Topics::look(Some(&self.directory)).unwrap()
    }

    fn publish(&self, topic: &str, options: Options) -> Publisher<CmdVel> {
        Publisher::open(topic, options.directory(self.scratch.path())).unwrap()
    }

    fn subscribe(&self, topic: &str) -> Subscriber<CmdVel> {
        Subscriber::open(topic, Options::default().directory(self.scratch.path())).unwrap()
    }
}

/// A look that was so long ago.
fn earlier(mut look: Topics, by: Duration) -> Topics {
    look.at = MonotonicTime::from_nanos(look.at.as_nanos() - by.as_nanos() as u64);
    look
}

#[test]
fn rates_are_what_was_sent_between_two_looks() {
    let scene = Scene::new();
    let mut publisher = scene.publish("base.cmd", Options::latest(8));
    (0..5).for_each(|_| publisher.try_send(zeroed::<CmdVel>()).unwrap());
    let before = scene.look();
    (0..40).for_each(|_| publisher.try_send(zeroed::<CmdVel>()).unwrap());
    let mut now = scene.look();
    now.at = before.at.plus(Duration::from_secs(2));
    let topic = &now.since(&before, &[])[0];
    assert_eq!((topic.name.as_str(), topic.type_name.as_str()), ("base.cmd", "horus/CmdVel"));
    assert_eq!((topic.rate, topic.bytes_per_second), (Some(20.0), Some(20.0 * size_of::<CmdVel>() as f64)));
    assert_eq!((topic.publishers, topic.subscribers, &topic.slowest), (1, 0, &None));

    let unknown = Topics { at: before.at, seen: Vec::new(), problems: Vec::new() };
    assert_eq!(now.since(&unknown, &[])[0].rate, None, "a topic that was not there before");
    assert_eq!(before.since(&earlier(now, Duration::from_secs(9)), &[])[0].rate, None, "fewer than before");
}

#[test]
fn the_slowest_reader_is_named_with_what_it_will_miss() {
    let scene = Scene::new();
    let mut publisher = scene.publish("base.cmd", Options::latest(8));
    let (mut quick, _slow) = (scene.subscribe("base.cmd"), scene.subscribe("base.cmd"));
    let topic = || {
        let look = scene.look();
        look.since(&look, &[]).swap_remove(0)
    };
    (0..3).for_each(|_| publisher.try_send(zeroed::<CmdVel>()).unwrap());
    while quick.try_recv().is_some() {}
    let seen = topic();
    assert_eq!((seen.subscribers, seen.slowest.as_ref().unwrap().behind, seen.missed), (2, 3, None));
    let own = std::fs::read_to_string("/proc/self/comm").unwrap();
    assert_eq!(seen.slowest.unwrap().program, own.trim_end());
    (0..10).for_each(|_| publisher.try_send(zeroed::<CmdVel>()).unwrap());
    while quick.try_recv().is_some() {}
    let seen = topic();
    assert_eq!((seen.slowest.unwrap().behind, seen.missed), (13, Some(5)));
}

#[test]
fn a_reliable_topic_loses_nothing_and_a_file_that_is_no_topic_is_a_problem() {
    let scene = Scene::new();
    let _publisher = scene.publish("base.cmd", Options::reliable(8));
    std::fs::write(scene.scratch.path().join("random.topic"), [0x5a; 10_000]).unwrap();
    let look = scene.look();
    assert_eq!(look.since(&look, &[])[0].missed, Some(0));
    assert!(look.problems.len() == 1 && look.problems[0].contains("random.topic"), "{:?}", look.problems);
    assert!(Topics::look(None).unwrap().seen.is_empty());
}
