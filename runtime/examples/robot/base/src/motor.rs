//! The motors of both wheels: turns a command for the base into speeds of wheels, and none of them changes with a jerk.

use horus::prelude::*;

use crate::messages::Wheels;
use crate::physics::{RADIUS, TRACK};

/// A command that is older than this is none, and the wheels stop: its sender may be dead.
const OLDEST: std::time::Duration = ms(300);
/// The most that a wheel's speed changes in a cycle, rad/s: 3 m/s² at the tyre.
const CHANGE: f64 = 3.0 / RADIUS * 0.02;

struct Motor {
    cmd: Input<CmdVel>,
    speeds: Output<Wheels>,
    now: Wheels,
    was_young: bool,
}

/// Declares the node. Its safe state is what the process that watches over it publishes in its place, should this program hang or be killed.
pub fn motor(app: &mut App) -> horus::Result {
    let node = Motor {
        cmd: app.input("base.cmd")?,
        speeds: app.output("motor.speeds")?,
        now: Wheels::default(),
        was_young: false,
    };
    let motor = app.node("motor", node).period(ms(20));
    motor.on_miss(SafeState::after(25).within(50)).stale_after(secs(1));
    Ok(())
}

impl Node for Motor {
    fn step(&mut self, cycle: &Cycle) {
        let newest = self.cmd.latest().copied();
        let is_young = self.cmd.age(cycle.release).is_some_and(|age| age <= OLDEST);
        if self.was_young && !is_young {
            cycle.log(warn!("no command for {} ms: the wheels stop", OLDEST.as_millis() as u64));
        }
        self.was_young = is_young;
        let cmd = newest.filter(|_| is_young).unwrap_or(CmdVel::STOP);
        let aside = cmd.turn * TRACK / 2.0;
        let wanted = [(cmd.forward - aside) / RADIUS, (cmd.forward + aside) / RADIUS];
        let towards = |now: f64, wanted: f64| now + (wanted - now).clamp(-CHANGE, CHANGE);
        self.now.left = towards(self.now.left, wanted[0]);
        self.now.right = towards(self.now.right, wanted[1]);
        self.speeds.set(Wheels { stamp_ns: cycle.release.as_nanos(), ..self.now });
    }

    fn safe_state(&mut self, _: &Cycle) {
        self.now = Wheels::default();
        self.speeds.set(self.now);
    }
}
