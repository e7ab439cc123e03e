//! Follows the path: looks a little ahead on it, turns there, and drives the slower the more it has to turn.

use std::f64::consts::PI;

use horus::prelude::*;
use horus::transform::Frames;

use crate::messages::Path;
use crate::room::planar;

/// How far ahead on the path it looks, metres: less than the door is wide, more than it errs.
const AHEAD: f64 = 0.3;
/// A path or a position that is older than this is none. Navigation sends five times as often.
const OLDEST: std::time::Duration = ms(500);

struct Controller {
    path: Input<Path>,
    frames: Frames,
    cmd: Output<CmdVel>,
    speed: Param<f64>,
    turn: Param<f64>,
    busy: Param<f64>,
}

/// Declares the node. Five late cycles of twenty stop the base: it has driven for a quarter of a second without looking then. It stays
/// stopped until a person says why it may drive on (`horus node rearm`).
pub fn controller(app: &mut App) -> horus::Result {
    let node = Controller {
        path: app.input("path")?,
        frames: app.transforms()?,
        cmd: app.output("base.cmd")?,
        speed: app.param("speed", 0.8).unit("m/s").range(0.1..=1.5).about("the fastest that it drives"),
        turn: app.param("turn", 2.5).unit("1/s").range(0.5..=6.0).about("how fast it turns for a radian of error"),
        busy: app.param("busy", 0.0).unit("ms").range(0.0..=200.0).about("how long each step computes for nothing"),
    };
    app.node("controller", node).period(ms(50)).on_miss(SafeState::after(5).within(20));
    Ok(())
}

impl Controller {
    /// What to do, if it is known where the base is and where it shall go.
    fn command(&mut self, cycle: &Cycle) -> Option<CmdVel> {
        self.path.latest()?;
        if self.path.age(cycle.release)? > OLDEST {
            return None;
        }
        let (here, time) = self.frames.newest("map", "base_link").ok()?;
        if cycle.release.since(time?) > OLDEST {
            return None;
        }
        let (x, y, yaw) = planar(&here);
        let path = self.path.latest()?;
        let away = |(to_x, to_y): (f64, f64)| (to_x - x).hypot(to_y - y);
        let goal = path.points().last()?;
        // The first point that is far enough away, behind the one that is nearest.
        let nearest = path.points().map(away).enumerate().min_by(|one, other| one.1.total_cmp(&other.1))?.0;
        let target = path.points().skip(nearest).find(|point| away(*point) > AHEAD).unwrap_or(goal);
        let error = wrapped((target.1 - y).atan2(target.0 - x) - yaw);
        let speed = self.speed.get().min(1.5 * away(goal)) * error.cos().max(0.0).powi(2);
        Some(CmdVel { forward: speed, turn: (self.turn.get() * error).clamp(-3.0, 3.0) })
    }
}

/// An angle between -π and π.
fn wrapped(angle: f64) -> f64 {
    (angle + PI).rem_euclid(2.0 * PI) - PI
}

impl Node for Controller {
    fn step(&mut self, cycle: &Cycle) {
        let busy_ms = self.busy.get();
        if busy_ms > 0.0 {
            // What a step must never do, so that it can be seen what becomes of a base whose controller is late.
            let until = MonotonicTime::now().plus_nanos((busy_ms * 1e6) as u64);
            while MonotonicTime::now() < until {
                std::hint::spin_loop();
            }
        }
        let command = self.command(cycle).unwrap_or(CmdVel::STOP);
        self.cmd.set(command);
    }

    fn safe_state(&mut self, _: &Cycle) {
        self.cmd.set(CmdVel::STOP);
    }
}
