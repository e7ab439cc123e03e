//! A robot's control loop between two processes: sensors in, commands out, six types of message, all of them verified.
//!
//! A tick is one turn of the loop. The robot publishes an `Imu` (with `Odometry` every 10th, a `LaserScan` every 25th and
//! a `BatteryState` every 1000th tick, before it); the controller reads all that is there and answers with a
//! `JointCommand` and a `CmdVel`. Timed is the loop's reaction: from before the first sensor message is sent until after
//! the `CmdVel` is there. Ticks follow each other at once; 6.2 million messages, fewer with `--quick`.

use std::process::ExitCode;

use horus::message::Message;
use horus::messages::{BatteryState, CmdVel, Imu, JointCommand, LaserScan, Odometry};
use horus_benchmarks::cell::{Heading, Measured, Path};
use horus_benchmarks::content::{Mark, Prepared, verify};
use horus_benchmarks::loops::{receive, send};
use horus_benchmarks::patience::{NEVER, Patience, Stuck};
use horus_benchmarks::peer::{Peer, Role};
use horus_benchmarks::pinning::pin_to;
use horus_benchmarks::samples::Samples;
use horus_benchmarks::stage::Stage;
use horus_benchmarks::suite::{Suite, Task};
use horus_benchmarks::systems::horus::{Publishing, Subscribing};
use horus_benchmarks::tally::{Counts, Tally};
use horus_benchmarks::transport::{Content, Failure, Meeting, Receiver};
use horus_sys::clock::monotonic_ns;

const CAPACITY: usize = 64;
/// A tick has 3 messages and, on average, 0.141 of the rarer ones: 1 974 000 ticks are 6.2 million messages.
const TICKS: u64 = 1_974_000;
const QUICK_TICKS: u64 = TICKS / 10;
const ODOMETRY_EVERY: u64 = 10;
const SCAN_EVERY: u64 = 25;
const BATTERY_EVERY: u64 = 1000;

/// Each type of message has a topic.
fn topic<M: Message>(meeting: &Meeting) -> Meeting {
    meeting.of(M::TYPE_NAME.trim_start_matches("horus/"))
}

/// A publisher that numbers what it sends.
struct Out<M: Message + Content> {
    publisher: Publishing<M>,
    prepared: Prepared<M>,
    sent: u64,
}

impl<M: Message + Content> Out<M> {
    fn new(meeting: &Meeting) -> Result<Self, Failure> {
        Ok(Self { publisher: Publishing::new(&topic::<M>(meeting), CAPACITY)?, prepared: Prepared::default(), sent: 0 })
    }

    #[inline]
    fn send(&mut self, patience: &Patience) -> Result<(), Stuck> {
        self.send_marked(Mark::nth(self.sent, 1), patience)?;
        self.sent += 1;
        Ok(())
    }

    fn say_end(&mut self, patience: &Patience) -> Result<(), Stuck> {
        self.send_marked(Mark::End { publisher: 0, sent: self.sent }, patience)
    }

    #[inline]
    fn send_marked(&mut self, mark: Mark, patience: &Patience) -> Result<(), Stuck> {
        send(&mut self.publisher, self.prepared.number(mark), patience)
    }
}

/// A subscriber that keeps account.
struct In<M: Message + Content> {
    subscriber: Subscribing<M>,
    latest: M,
    tally: Tally,
}

impl<M: Message + Content> In<M> {
    fn new(meeting: &Meeting) -> Result<Self, Failure> {
        let subscriber = Subscribing::new(&topic::<M>(meeting), CAPACITY)?;
        Ok(Self { subscriber, latest: M::new_zeroed(), tally: Tally::new(1) })
    }

    /// Takes the next message if it is there; [`check`](Self::check) looks at it later.
    #[inline]
    fn take(&mut self) -> bool {
        self.subscriber.try_recv(&mut self.latest)
    }

    #[inline]
    fn wait(&mut self, patience: &Patience) -> Result<(), Stuck> {
        receive(&mut self.subscriber, &mut self.latest, patience)
    }

    #[inline]
    fn check(&mut self) {
        self.tally.note(verify(&self.latest));
    }
}

fn be_the_robot(stage: &Stage) -> Result<Measured, Failure> {
    pin_to(stage.cpus.first)?;
    let meeting = &stage.meeting;
    let peer = Peer::start(stage, meeting, "controller")?;
    let (mut imu, mut odometry) = (Out::<Imu>::new(meeting)?, Out::<Odometry>::new(meeting)?);
    let (mut scan, mut battery) = (Out::<LaserScan>::new(meeting)?, Out::<BatteryState>::new(meeting)?);
    let (mut joints, mut velocity) = (In::<JointCommand>::new(meeting)?, In::<CmdVel>::new(meeting)?);
    peer.wait_until_ready()?;

    let lives = || peer.lives();
    let patience = &stage.patience(&NEVER).watching(&lives);
    let ticks = if stage.effort.is_quick() { QUICK_TICKS } else { TICKS };
    let mut samples = Samples::new(1);
    let began = monotonic_ns();
    for tick in 0..ticks {
        let start = monotonic_ns();
        if tick.is_multiple_of(BATTERY_EVERY) {
            battery.send(patience)?;
        }
        if tick.is_multiple_of(SCAN_EVERY) {
            scan.send(patience)?;
        }
        if tick.is_multiple_of(ODOMETRY_EVERY) {
            odometry.send(patience)?;
        }
        imu.send(patience)?;
        velocity.wait(patience)?;
        let end = monotonic_ns();
        if tick >= stage.effort.warm_up {
            samples.record(end - start);
        }
        joints.wait(patience)?; // was sent before the velocity
        joints.check();
        velocity.check();
    }
    let elapsed_ns = monotonic_ns() - began;
    battery.say_end(patience)?;
    scan.say_end(patience)?;
    odometry.say_end(patience)?;
    imu.say_end(patience)?;

    let mut counts = peer.result::<Counts>()?;
    counts.add(&joints.tally.counts());
    counts.add(&velocity.tally.counts());
    counts.sent += imu.sent + odometry.sent + scan.sent + battery.sent;
    let note = format!(
        "{ticks} ticks: {} Imu, {} Odometry, {} LaserScan, {} BatteryState in, as many JointCommand and CmdVel out as Imu",
        imu.sent, odometry.sent, scan.sent, battery.sent
    );
    let per_second = Some(counts.received as f64 * 1e9 / elapsed_ns as f64);
    Ok(Measured { samples: Some(samples), counts, per_second, note: Some(note) })
}

fn be_the_controller(role: &Role) -> Result<(), Failure> {
    let meeting = &role.meeting;
    let (mut joints, mut velocity) = (Out::<JointCommand>::new(meeting)?, Out::<CmdVel>::new(meeting)?);
    let (mut imu, mut odometry) = (In::<Imu>::new(meeting)?, In::<Odometry>::new(meeting)?);
    let (mut scan, mut battery) = (In::<LaserScan>::new(meeting)?, In::<BatteryState>::new(meeting)?);
    role.ready()?;
    let patience = &role.patience();
    while !imu.tally.is_over() {
        imu.wait(patience)?;
        let came = [battery.take(), scan.take(), odometry.take()];
        joints.send(patience)?;
        velocity.send(patience)?;
        imu.check();
        if came[0] {
            battery.check();
        }
        if came[1] {
            scan.check();
        }
        if came[2] {
            odometry.check();
        }
    }
    let mut counts = Counts::default();
    for tally in [&imu.tally, &odometry.tally, &scan.tally, &battery.tally] {
        counts.add(&tally.counts());
    }
    // The end's mark was answered too, which is not read.
    counts.sent = joints.sent + velocity.sent - 2;
    role.result(&counts)
}

fn tasks() -> Vec<Task> {
    let heading =
        Heading::new(Path::Process1To1, "horus", size_of::<Imu>()).message("mixed robot loop").unit("reaction");
    vec![Task::new(heading, be_the_robot).with_peer(be_the_controller)]
}

fn main() -> ExitCode {
    Suite { name: "production_bench", tasks, summary: |_| Vec::new() }.main()
}
