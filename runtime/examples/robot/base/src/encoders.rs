//! The encoders of both wheels: whole ticks since the start.

use std::f64::consts::TAU;

use horus::prelude::*;

use crate::messages::{TICKS_PER_TURN, Ticks, Wheels};

/// Declares the node. It sends what was counted in all, and not since the last time: who misses a message has lost nothing.
pub fn encoders(app: &mut App) -> horus::Result {
    let mut turned = app.input::<Wheels>("sim.wheels")?;
    let mut ticks = app.output::<Ticks>("encoders")?;
    let step = move |cycle: &Cycle| {
        let Some(wheels) = turned.latest() else { return };
        let count = |angle: f64| (angle / TAU * TICKS_PER_TURN).floor() as i64;
        ticks.set(Ticks { stamp_ns: cycle.release.as_nanos(), left: count(wheels.left), right: count(wheels.right) });
    };
    app.node("encoders", step).rate(50.0);
    Ok(())
}
