//! Programs of nodes, started in every order, killed and started again: each message that was accepted arrives once, in order, or is counted.
//!
//! A source publishes `a`, a relay hands it on to `b`, and a sink reads that: three programs, whose topics have the options that a run's number
//! chooses, unequal ones too. One of the programs may be killed with SIGKILL, at a random time or at a step of the protocol, and is started
//! again. Each program writes a record of native 64-bit words: what its outputs accepted, what its inputs got and missed, and when its steps
//! began. In the end the records of both sides are compared.
//!
//! `HORUS_ORDERS` says how many runs there are; `./scripts/soak nodes --count N` does many, with the steps of the protocol
//! (`--cfg failpoints`). Everything about a run follows from its number, which stands in the message of a failure. `HORUS_ORDERS_FROM` is the
//! number of the first one: so a failed run is done again, and many are gone on with.
//! `HORUS_ROLE_SOURCE`, `_RELAY` and `_SINK` name programs that take a role in place of this one: they are given the same environment.
//!
//! # What is not claimed
//! What a step set that did not return was perhaps not published. What a reader took that was killed is perhaps not in its record. Who joins
//! late gets nothing from before.

#[path = "any_order/record.rs"]
mod record;
#[path = "any_order/roles.rs"]
mod roles;

use std::os::unix::process::ExitStatusExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use horus::time::MonotonicTime;
use record::{Link, Record};
use rustix::process::{Pid, Signal, kill_process};

/// Longer than anything here takes on the slowest machine; what it ends is a hang.
const PATIENCE: Duration = Duration::from_secs(60);
/// Steps that each reader does before the source ends.
const STEPS_TOGETHER: usize = 12;
const ROLES: [&str; 3] = ["source", "relay", "sink"];
/// Where a program of nodes comes by, in the order of its life.
const FAILPOINTS: [&str; 6] =
    ["stage:marked", "stage:filled", "stage:released", "stage:position", "take:copied", "take:advanced"];

#[test]
#[ignore = "a program"]
fn role() {
    roles::run();
}

/// All that a run does; it follows from the run's number.
#[derive(Debug)]
struct Plan {
    /// Numbers of [`ROLES`].
    order: [usize; 3],
    /// Whether each is started when the one before it runs, and not at once.
    is_one_by_one: bool,
    policy: &'static str,
    /// What the publishers ask for, and the subscribers; 0 is whatever there is.
    capacities: [[usize; 2]; 2],
    victim: Option<usize>,
    /// When it is killed, after the last one was started; or where.
    after: Duration,
    failpoint: Option<String>,
}

impl Plan {
    fn new(run: u64) -> Self {
        let mut state = run.wrapping_mul(0x9e37_79b9_7f4a_7c15) ^ 0x5bf0_3635;
        let mut choose = |among: usize| {
            // xorshift64*: any noise that is the same each time will do.
            state ^= state >> 12;
            state ^= state << 25;
            state ^= state >> 27;
            (state.wrapping_mul(0x2545_f491_4f6c_dd1d) >> 33) as usize % among
        };
        let orders = [[0, 1, 2], [0, 2, 1], [1, 0, 2], [1, 2, 0], [2, 0, 1], [2, 1, 0]];
        let policy = ["reliable", "latest"][(run / 6 % 2) as usize];
        let capacities = [(); 2].map(|()| [[8, 16, 64][choose(3)], [0, 4, 8][choose(3)]]);
        let victim = [None, Some(0), Some(1), Some(2)][choose(4)];
        let at_a_step = cfg!(failpoints) && choose(3) > 0;
        let place = FAILPOINTS[choose(FAILPOINTS.len())];
        let passage = 1 + choose(40);
        let stages = place.starts_with("stage:");
        let comes_by = matches!((victim, stages), (Some(0), true) | (Some(1), _) | (Some(2), false));
        Self {
            order: orders[(run % 6) as usize],
            is_one_by_one: (run / 12).is_multiple_of(2),
            policy,
            capacities,
            victim,
            after: Duration::from_micros(choose(80_000) as u64),
            failpoint: (at_a_step && comes_by).then(|| format!("{place}:{passage}")),
        }
    }
}

/// The programs of a run.
struct Scene<'a> {
    plan: &'a Plan,
    folder: &'a Path,
    running: [Option<(Child, PathBuf)>; 3],
    /// All records, each with its role and its number.
    records: Vec<(usize, u64, PathBuf)>,
}

impl Scene<'_> {
    fn start(&mut self, role: usize, failpoint: Option<&str>) {
        let number = self.records.len() as u64 + 1;
        let record = self.folder.join(format!("{number}.record"));
        let name = ROLES[role];
        let another = std::env::var(format!("HORUS_ROLE_{}", name.to_uppercase()));
        let mut command = match &another {
            Ok(words) => {
                let mut words = words.split(' ');
                let mut command = Command::new(words.next().unwrap());
                command.args(words);
                command
            }
            Err(_) => {
                let mut command = Command::new(std::env::current_exe().unwrap());
                command.args(["--exact", "role", "--ignored", "--nocapture"]);
                command
            }
        };
        let [[a, of_a], [b, of_b]] = self.plan.capacities;
        let said = std::fs::File::create(self.folder.join(format!("{number}.{name}.said"))).unwrap();
        let child = command
            .env("ROLE", name)
            .env("RECORD", &record)
            .env("NUMBER", number.to_string())
            .env("POLICY", self.plan.policy)
            .env("CAPACITIES", format!("{a} {of_a} {b} {of_b}"))
            .env("HORUS_SHM_DIR", self.folder.join("topics"))
            .env(horus::journal::VARIABLE, horus::journal::PRINT)
            .env_remove("NOTIFY_SOCKET")
            .envs(failpoint.map(|place| ("HORUS_FAILPOINT", place)))
            .stdout(said.try_clone().unwrap())
            .stderr(said)
            .stdin(Stdio::null())
            .spawn()
            .unwrap_or_else(|error| panic!("{command:?}: {error}"));
        self.running[role] = Some((child, record.clone()));
        self.records.push((role, number, record));
    }

    /// Kills a program, or waits until it kills itself at its failpoint; it may have ended before.
    fn kill(&mut self, role: usize) {
        let (mut child, record) = self.running[role].take().unwrap();
        if self.plan.failpoint.is_none() {
            std::thread::park_timeout(self.plan.after);
            let _ended_already = child.kill();
        } else {
            // It goes by the failpoint soon, or never: a topic that no peer publishes has nothing to take.
            let started = Instant::now();
            while child.try_wait().unwrap().is_none() && started.elapsed() < Duration::from_millis(300) {
                std::thread::park_timeout(Duration::from_millis(1));
            }
            let _ended_already = child.kill();
        }
        let status = child.wait().unwrap();
        assert_eq!(status.signal(), Some(9), "{} ended by itself, with {status}", ROLES[role]);
        record::note_death(&record, MonotonicTime::now());
    }

    /// Waits until a program has begun its first step, or has ended: it may be one that is to be killed.
    fn wait_until_it_runs(&mut self, role: usize) {
        let (child, record) = self.running[role].as_mut().unwrap();
        let started = Instant::now();
        while Record::read(record).steps_since(MonotonicTime::default()) == 0 && child.try_wait().unwrap().is_none() {
            assert!(started.elapsed() < PATIENCE, "{} does not begin", ROLES[role]);
            std::thread::park_timeout(Duration::from_millis(1));
        }
    }

    /// Waits until so many steps of a program began after `since`. With two of them it has read what was sent before that.
    fn wait_for_steps(&mut self, role: usize, since: MonotonicTime, steps: usize) {
        let (child, record) = self.running[role].as_mut().unwrap();
        let started = Instant::now();
        while Record::read(record).steps_since(since) < steps {
            assert!(child.try_wait().unwrap().is_none(), "{} ended early", ROLES[role]);
            assert!(started.elapsed() < PATIENCE, "{} stands still", ROLES[role]);
            std::thread::park_timeout(Duration::from_millis(1));
        }
    }

    /// Asks a program to end, once it runs and hears that; returns when it had ended.
    fn end(&mut self, role: usize) -> MonotonicTime {
        self.wait_for_steps(role, MonotonicTime::default(), 1);
        let (mut child, _) = self.running[role].take().unwrap();
        kill_process(Pid::from_raw(child.id().cast_signed()).unwrap(), Signal::TERM).unwrap();
        let started = Instant::now();
        loop {
            if let Some(status) = child.try_wait().unwrap() {
                assert!(status.success(), "{} ended with {status}", ROLES[role]);
                return MonotonicTime::now();
            }
            if started.elapsed() > PATIENCE {
                let _ended_now = child.kill();
                panic!("{} does not end", ROLES[role]);
            }
            std::thread::park_timeout(Duration::from_millis(1));
        }
    }

    fn tells(&self) -> String {
        let said = std::fs::read_dir(self.folder).unwrap().flatten().map(|entry| entry.path());
        let said = said.filter(|path| path.extension().is_some_and(|ending| ending == "said"));
        said.map(|path| format!("{}:\n{}\n", path.display(), std::fs::read_to_string(&path).unwrap_or_default()))
            .collect()
    }
}

impl Drop for Scene<'_> {
    fn drop(&mut self) {
        for (child, _) in self.running.iter_mut().flatten() {
            let _ended_already = child.kill();
            let _ended_already = child.wait();
        }
    }
}

/// One run; what was compared.
fn run(plan: &Plan, folder: &Path) -> Link {
    let records = Vec::new();
    let mut scene = Scene { plan, folder, running: [None, None, None], records };
    let result = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
        for role in plan.order {
            scene.start(role, plan.failpoint.as_deref().filter(|_| plan.victim == Some(role)));
            if plan.is_one_by_one {
                scene.wait_until_it_runs(role);
            }
        }
        if let Some(victim) = plan.victim {
            scene.kill(victim);
            scene.start(victim, None);
        }
        let all_run = MonotonicTime::now();
        [1, 2].into_iter().for_each(|role| scene.wait_for_steps(role, all_run, STEPS_TOGETHER));
        let ended = scene.end(0);
        scene.wait_for_steps(1, ended, 2);
        let ended = scene.end(1);
        scene.wait_for_steps(2, ended, 2);
        scene.end(2);
        let of = |wanted: usize| -> Vec<(u64, Record)> {
            let of_role = scene.records.iter().filter(|(role, ..)| *role == wanted);
            of_role.map(|(_, number, path)| (*number, Record::read(path))).collect()
        };
        let is_reliable = plan.policy == "reliable";
        let (sources, relays, sinks) = (of(0), of(1), of(2));
        let mut compared = record::compare("a", &sources, &relays, is_reliable);
        compared.add(&record::compare("b", &relays, &sinks, is_reliable));
        let topics = std::fs::read_dir(folder.join("topics")).map_or(0, |files| {
            files.flatten().filter(|file| file.path().extension().is_some_and(|ending| ending == "topic")).count()
        });
        assert_eq!(topics, 0, "topics are left behind");
        compared
    }));
    result.unwrap_or_else(|_| panic!("{plan:?} failed:\n{}", scene.tells()))
}

#[test]
fn what_a_node_accepts_arrives_once_in_order_or_is_counted_whoever_starts_first_and_is_killed() {
    let runs: u64 = std::env::var("HORUS_ORDERS").map_or(12, |text| text.parse().expect("a number of runs"));
    let first: u64 = std::env::var("HORUS_ORDERS_FROM").map_or(0, |text| text.parse().expect("a number of a run"));
    let mut all = Link::default();
    let mut told = Instant::now();
    let mut killed = 0;
    for number in first..first + runs {
        let folder = tempfile::tempdir_in("/dev/shm").unwrap();
        let plan = Plan::new(number);
        killed += u64::from(plan.victim.is_some());
        let result = std::panic::catch_unwind(|| run(&plan, folder.path()));
        all.add(&result.unwrap_or_else(|_| {
            panic!("run {number} failed, again by `scripts/soak nodes --from {number} --count 1`: {plan:?}")
        }));
        if told.elapsed() > Duration::from_secs(5) {
            println!("{} of {runs} runs, the next is {}", number + 1 - first, number + 1);
            told = Instant::now();
        }
    }
    assert!(runs < 12 || all.received > 0 && all.complete > 0, "nothing was compared: {all:?}");
    let Link { accepted, received, missed, complete } = all;
    println!(
        "{runs} runs of three programs in every order, {killed} kills: of {accepted} messages accepted 0 came twice, late or from nowhere, \
         {received} came, 0 of {complete} whose reader was there from first to last were lost uncounted, {missed} counted as missed, 0 topics left"
    );
}
