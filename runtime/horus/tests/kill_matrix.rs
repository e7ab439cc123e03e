//! SIGKILL at every step of making, joining, publishing, staging, taking and leaving, and at random times.
//!
//! A run with all failpoints needs them compiled in, which an ordinary build has not:
//!
//! ```text
//! RUSTC_WORKSPACE_WRAPPER=$PWD/../scripts/checks/runtime/failpoints cargo test --package horus --test kill_matrix
//! ```
//!
//! `HORUS_KILLS` says how many processes are killed (300 unless set); `./scripts/soak kill --count N` runs it for long. The
//! plan of each kill follows from its number alone, which stands in the message of a failure.
//!
//! # What is checked at each kill
//! - Survivors do a step a period (1 ms here; a robot's loops have 1 to 100 ms), and one sleeps for messages, 10 ms at most.
//!   None is held up: no step waits, and with the victim dead the survivors' messages go out as soon as the living have
//!   taken the ones before. The longest step (or oversleeping), and the longest time from a death to the first step that
//!   sends everything, are reported. They are not held against the period, since what else the machine does lengthens
//!   them: only what lasts longer than [`HANG`] counts as a block. The CPU time of a step tells the two apart.
//! - Every message is whole, in order, and on a reliable topic none is missing.
//! - A program that starts under the same name gets it at once.
//! - No file is left once the topic is opened again and left, or after a clean.
//! - All that holds for victims in other PID, user and time namespaces, too.
//!
//! `kill_matrix/services.rs` does the same with the server and the client of a service.
#![cfg(failpoints)]

mod peers;
#[path = "kill_matrix/services.rs"]
mod services;
#[path = "peers/survivors.rs"]
mod survivors;

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use horus::message::layout::Layout;
use horus::topic::{DeliveryPolicy, Directory, Options, Publisher, Subscriber, TopicName, WaitStrategy};
use horus_shm::ends::{Kind, Making, Publication};
use horus_shm::failpoint::{NAMES, VARIABLE};
use horus_shm::peers::clean::clean;
use peers::{Home, PATIENCE, Peer, files_in, some_time};
use survivors::{Block, CAPACITY, LANES, Ledger, Longest, SURVIVOR, Survivors, block, options_for};

const VICTIM: u64 = 2 * SURVIVOR;
const SUCCESSOR: u64 = 3 * SURVIVOR;
const PERIOD: Duration = Duration::from_millis(1);
/// A step this long was blocked, on the busiest machine.
const HANG: Duration = Duration::from_secs(30);

fn name() -> TopicName {
    "victims".parse().unwrap()
}

/// One test at a time: a process that another one is just starting holds this one's locks until its `exec`, and files stay for it.
fn alone() -> MutexGuard<'static, ()> {
    static ONE: Mutex<()> = Mutex::new(());
    ONE.lock().unwrap_or_else(PoisonError::into_inner)
}

#[test]
#[ignore = "a peer"]
fn peer_publishes_and_leaves_over_and_over() {
    let options = options_for(&peers::policy(), &peers::directory());
    peers::ready();
    loop {
        let mut publisher = Publisher::<Block>::open(name(), &options).unwrap();
        for _ in 0..20 {
            let _full = publisher.send_timeout(block(VICTIM, publisher.position()), PERIOD);
        }
        drop(publisher);
        stage_and_leave();
    }
}

/// Publishes as the outputs of nodes do: what is staged is released together, or taken back.
fn stage_and_leave() {
    let (directory, layout) = (Directory::at(peers::directory()).unwrap(), Layout::of::<Block>());
    let (type_name, description) = (layout.type_name(), layout.description());
    let kind = Kind { type_name, layout_hash: layout.hash(), description: &description };
    let making = Making {
        capacity: CAPACITY,
        least: CAPACITY,
        policy: if peers::policy() == "reliable" { DeliveryPolicy::Reliable } else { DeliveryPolicy::Latest },
        access: directory.access().unwrap(),
        publishers: LANES,
        wakes: true,
        is_latched: false,
    };
    let mut publication = Publication::open(&directory, &name(), kind, layout.payload(), &making).unwrap();
    for turn in 0..12 {
        let mut staged = 0;
        for _ in 0..3 {
            // Only the first one of a turn may pass numbers over.
            let number = publication.position() + staged;
            staged += u64::from(publication.stage(&block(VICTIM, number)).is_ok());
        }
        let done = if turn % 3 == 0 { publication.take_back_staged() } else { publication.release_staged(0) };
        assert_eq!(done, staged);
        std::thread::park_timeout(PERIOD / 4);
    }
}

#[test]
#[ignore = "a peer"]
fn peer_subscribes_and_leaves_over_and_over() {
    let options = options_for(&peers::policy(), &peers::directory());
    let reliable = peers::policy() == "reliable";
    peers::ready();
    for turn in 0_u64.. {
        let wait_strategy = if turn % 2 == 0 { WaitStrategy::Sleep } else { WaitStrategy::Spin };
        let options = options.clone().wait_strategy(wait_strategy);
        let mut subscriber = Subscriber::open(name(), &options).unwrap();
        let mut ledger = Ledger::default();
        for _ in 0..20 {
            ledger.wait_and_receive(&mut subscriber, 2 * PERIOD, reliable);
            ledger.receive(&mut subscriber, reliable);
        }
    }
}

/// Sends one message, once its parent sleeps, and dies before it could wake it.
#[test]
#[ignore = "a peer"]
fn peer_dies_before_it_rings() {
    let options = options_for(&peers::policy(), &peers::directory());
    let mut publisher = Publisher::<Block>::open(name(), &options).unwrap();
    peers::ready();
    std::thread::park_timeout(100 * PERIOD);
    publisher.try_send(block(VICTIM, 0)).unwrap();
}

#[test]
fn sleeper_finds_the_message_of_a_publisher_that_died_before_it_rang() {
    let _alone = alone();
    for policy in ["reliable", "latest"] {
        let files = tempfile::tempdir_in("/dev/shm").unwrap();
        // Before the victim: a subscriber that comes later, on a busy machine behind the message, receives nothing.
        let options = options_for(policy, files.path()).wait_strategy(WaitStrategy::Sleep);
        let mut subscriber = Subscriber::<Block>::open(name(), &options).unwrap();
        let variable = Some((VARIABLE, "publish:position:1".to_owned()));
        let mut victim = Peer::start_with("peer_dies_before_it_rings", files.path(), policy, variable);
        victim.wait_until_ready();
        let started = Instant::now();
        assert!(subscriber.recv_timeout(PATIENCE).is_some());
        assert!(started.elapsed() < PATIENCE / 2, "it slept to the end");
        victim.was_killed();
    }
}

/// Remakes a topic that a subscriber made, and dies in it.
#[test]
#[ignore = "a peer"]
fn peer_remakes_the_topic() {
    peers::ready();
    let options = options_for(&peers::policy(), &peers::directory());
    drop(Publisher::<Block>::open(name(), options).unwrap());
}

#[test]
fn topic_whose_remaking_was_cut_off_at_any_step_loses_nothing_of_the_next_publisher() {
    let _alone = alone();
    let steps: Vec<_> = NAMES.iter().filter(|place| place.starts_with("remake:")).collect();
    assert!(steps.len() >= 5, "{steps:?}");
    for (turn, step) in steps.iter().flat_map(|step| [step; 4]).enumerate() {
        let policy = ["reliable", "latest"][turn % 2];
        let files = tempfile::tempdir_in("/dev/shm").unwrap();
        let making = Options::default()
            .directory(files.path())
            .wait_strategy([WaitStrategy::Sleep, WaitStrategy::Spin][turn / 2 % 2]);
        let mut subscriber = Subscriber::<Block>::open(name(), &making).unwrap();
        // Twice, so that the second one finds what the first one left. What is finished, the second one takes as it is.
        let times = if **step == "remake:remade" { 1 } else { 2 };
        for _ in 0..times {
            let variable = Some((VARIABLE, format!("{step}:1")));
            Peer::start_with("peer_remakes_the_topic", files.path(), policy, variable).was_killed();
            assert!(subscriber.try_recv().is_none(), "{step}");
        }
        // Another subscriber may be the one that repairs it, and need more.
        let second = (turn % 4 < 2).then(|| {
            let options = Options::default().publishers(3).directory(files.path());
            Subscriber::<Block>::open(name(), options).unwrap()
        });
        let mut publisher = Publisher::<Block>::open(name(), options_for(policy, files.path())).unwrap();
        for number in 0..5 {
            publisher.try_send(block(SUCCESSOR, number)).unwrap();
        }
        for mut subscriber in [Some(subscriber), second].into_iter().flatten() {
            for number in 0..5 {
                let received = subscriber.recv_timeout(PATIENCE).expect("it was sent");
                assert!(received.message == block(SUCCESSOR, number) && received.sequence == number, "{step}");
            }
            assert!(
                subscriber.try_recv().is_none() && subscriber.missed() == 0 && subscriber.check().is_ok(),
                "{step}"
            );
        }
        drop(publisher);
        assert_eq!(files_in(files.path()), 0, "{step}");
    }
}

/// Who is killed, and how; follows from the number of the kill.
#[derive(Debug)]
struct Plan {
    role: &'static str,
    publishes: bool,
    policy: &'static str,
    /// Whether the survivors use the victim's topic, or another one in the same directory.
    together: bool,
    /// Where the victim lives.
    home: Home,
    /// Name and passage; at a random time without.
    failpoint: Option<(&'static str, u64)>,
    after: After,
}

/// What happens next in the directory of a dead peer.
#[derive(Clone, Copy, Debug, PartialEq)]
enum After {
    Restart,
    Clean,
}

impl Plan {
    fn new(kill: u64) -> Self {
        // Every fourth kill at a random time; the others go through the failpoints in turn.
        let at_random = kill % 4 == 3;
        let round = kill / 4 * 3 + kill % 4;
        let places = in_the_matrix().count() as u64;
        let place = in_the_matrix().nth((round % places) as usize).unwrap();
        let turn = if at_random { kill / 4 } else { round / places };
        let publishes = if at_random { turn % 2 == 0 } else { is_publishers(place) };
        let alone = place.starts_with("create:") || place.starts_with("remove:");
        let together = NEEDS_SUBSCRIBER.contains(&place) || !publishes || (turn / 2 % 2 == 0 && !alone);
        let often = place.starts_with("publish:") || place.starts_with("stage:") || place.starts_with("take:");
        let passage = 1 + turn.wrapping_mul(2_654_435_761) % if often { 50 } else { 4 };
        Self {
            role: match publishes {
                true => "peer_publishes_and_leaves_over_and_over",
                false => "peer_subscribes_and_leaves_over_and_over",
            },
            publishes,
            home: HOMES[(kill % HOMES.len() as u64) as usize],
            policy: if turn % 2 == 0 && !NEEDS_LATEST.contains(&place) { "reliable" } else { "latest" },
            together,
            failpoint: (!at_random).then_some((place, passage)),
            after: [After::Restart, After::Clean][(turn % 2) as usize],
        }
    }
}

/// Victims' homes, in turn: 5 of 7 here, for the others take longer to start. The number of homes shares no factor with that of
/// the plans.
const HOMES: [Home; 7] = [Home::Here, Home::Pids, Home::Here, Home::Here, Home::Time, Home::Here, Home::Users];
/// Steps that are done on `latest` topics only.
const NEEDS_LATEST: [&str; 3] = ["publish:unless-held", "hold:raised", "hold:held"];
/// The failpoints that everybody comes by; remaking a topic has a test of its own.
fn in_the_matrix() -> impl Iterator<Item = &'static str> {
    NAMES.iter().copied().filter(|place| !place.starts_with("remake:") && !place.starts_with("board:"))
}
/// Steps that a publisher does only where a subscriber sleeps.
const NEEDS_SUBSCRIBER: [&str; 1] = ["publish:rung"];

/// Whose step a failpoint is.
fn is_publishers(place: &str) -> bool {
    match place.split(':').next().unwrap() {
        "create" | "claim" | "publish" | "stage" | "release" | "remove" => true,
        "join" | "take" | "hold" | "sleep" | "leave" => false,
        other => panic!("{other}: say here who comes by this failpoint"),
    }
}

/// Tries until it succeeds; false if it is not going to. Between two attempts the other threads have a moment.
fn soon(mut attempt: impl FnMut() -> bool) -> bool {
    let started = Instant::now();
    while !attempt() {
        if started.elapsed() > HANG {
            return false;
        }
        std::thread::park_timeout(PERIOD / 10);
    }
    true
}

/// What all kills together came to.
#[derive(Default)]
struct Account {
    places: BTreeMap<&'static str, u64>,
    at_random: u64,
    publishers: u64,
    messages: u64,
    steps: Longest,
    pauses: Longest,
    restarts: Longest,
    elsewhere: u64,
    possible: BTreeMap<String, bool>,
}

impl Account {
    fn is_possible(&mut self, home: Home) -> bool {
        let possible = *self.possible.entry(format!("{home:?}")).or_insert_with(|| home.is_possible());
        self.elsewhere += u64::from(possible && home != Home::Here);
        possible
    }

    fn kill_one(&mut self, kill: u64, directory: &Path) {
        let plan = Plan::new(kill);
        let options = options_for(plan.policy, directory);
        let reliable = plan.policy == "reliable";
        let topic = if plan.together { name() } else { "beside".parse().unwrap() };
        let mut survivors = Survivors::new(&topic, &options, reliable);
        let variable = plan.failpoint.map(|(place, passage)| (VARIABLE, format!("{place}:{passage}")));
        let home = if self.is_possible(plan.home) { plan.home } else { Home::Here };
        let mut victim = Peer::start_in(home, plan.role, directory, plan.policy, variable);
        match plan.failpoint {
            Some((place, _)) => *self.places.entry(place).or_default() += 1,
            None => {
                victim.wait_until_ready();
                self.at_random += 1;
            }
        }
        let started = Instant::now();
        while !victim.is_dead() {
            survivors.step();
            if plan.failpoint.is_none() && started.elapsed() > some_time(kill) {
                victim.kill();
            }
            assert!(started.elapsed() < PATIENCE, "the victim never comes by");
            std::thread::park_timeout(PERIOD);
        }
        if kill.is_multiple_of(2) {
            victim.was_killed(); // reaped; otherwise it stays a zombie to the end
        }
        self.goes_on(&mut survivors);
        self.restart(&plan, directory, &mut survivors);
        self.goes_on(&mut survivors);

        self.publishers += u64::from(plan.publishes);
        let (messages, longest) = survivors.leave();
        assert!(longest.time < HANG, "a survivor was held up for {:?}", longest.time);
        self.messages += messages;
        self.steps = self.steps.max(longest);
        assert_eq!(files_in(directory), 0, "left behind");
    }

    /// From now on the survivors are held up by each other only: how long until a step sends all its messages.
    fn goes_on(&mut self, survivors: &mut Survivors) {
        let goes_on = self.pauses.measure(|| soon(|| survivors.step()));
        assert!(goes_on, "who is dead or gone holds the survivors up");
    }

    fn restart(&mut self, plan: &Plan, directory: &Path, survivors: &mut Survivors) {
        let options = options_for(plan.policy, directory);
        match plan.after {
            After::Restart => {}
            After::Clean => {
                let cleaned = clean(&Directory::at(directory).unwrap()).unwrap();
                assert!(cleaned.unjudged.is_empty(), "{:?}", cleaned.unjudged);
                assert_eq!(files_in(directory), 1, "the survivors' topic stays, and only that");
            }
        }
        if plan.publishes {
            let open = || Publisher::<Block>::open(name(), &options).unwrap();
            let mut successor = self.restarts.measure(open);
            assert!(
                successor.send_timeout(block(SUCCESSOR, successor.position()), HANG).is_ok(),
                "the successor cannot send"
            );
            let heard = |survivors: &mut Survivors| {
                survivors.step();
                survivors.ledger.authors[successor.lane()] == SUCCESSOR
            };
            assert!(!plan.together || soon(|| heard(survivors)), "the successor is not heard");
        } else {
            let open = || Subscriber::<Block>::open(name(), &options).unwrap();
            let mut successor = self.restarts.measure(open);
            let mut hears = |survivors: &mut Survivors| {
                survivors.step();
                successor.try_recv().is_some()
            };
            assert!(soon(|| hears(survivors)), "the successor hears nothing");
        }
    }
}

#[test]
fn peers_killed_at_every_step_hold_nobody_up_tear_and_lose_nothing_and_leave_nothing_behind() {
    let _alone = alone();
    let kills: u64 = std::env::var("HORUS_KILLS").map_or(300, |text| text.parse().expect("a number of kills"));
    let mut account = Account::default();
    let mut told = Instant::now();
    for kill in 0..kills {
        let files = tempfile::tempdir_in("/dev/shm").unwrap();
        // Catching the panic would hide nothing and tell more: which kill it was, after how many good ones.
        let result = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| account.kill_one(kill, files.path())));
        assert!(result.is_ok(), "kill {kill} of {kills} failed: {:?}", Plan::new(kill));
        if told.elapsed() > Duration::from_secs(5) {
            println!("{} of {kills} kills", kill + 1);
            told = Instant::now();
        }
    }
    let Account { places, at_random, publishers, messages, steps, pauses, restarts, elsewhere, .. } = account;
    if kills >= 300 {
        assert_eq!(places.len(), in_the_matrix().count(), "a failpoint was left out: {places:?}");
    }
    println!(
        "{kills} kills, {} at {} failpoints and {at_random} at random times, of {publishers} publishers and {} subscribers, \
         {elsewhere} of them in other namespaces: \
         of {messages} messages 0 torn and 0 lost, 0 survivors blocked (longest step {:?} with {:?} of CPU time, \
         longest from a death to a clean step {:?}), 0 restarts refused (longest {:?}), 0 files left",
        kills - at_random,
        places.len(),
        kills - publishers,
        steps.time,
        steps.cpu,
        pauses.time,
        restarts.time,
    );
}
