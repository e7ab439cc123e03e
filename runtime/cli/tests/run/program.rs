//! A program of nodes for the tests of `horus run --virtual`; its only argument says which.
//!
//! Its steps look at virtual time alone, so two runs are the same. What goes wrong in `broken` is said by `FAULT`.

use std::process::ExitCode;

use horus::message::Stamp;
use horus::prelude::*;

/// A wheel that turns as it is told, and says so a thousand times a second.
fn sim(app: &mut App) -> horus::Result {
    let mut cmd = app.input::<CmdVel>("base.cmd")?;
    let mut odom = app.output::<Odometry>("odom")?;
    let mut base = app.broadcaster("odom", "base")?;
    let mut at = 0.0;
    let step = move |cycle: &Cycle| {
        at += cmd.latest().map_or(0.0, |cmd| cmd.forward) * 0.001;
        let mut message = Odometry::zeroed();
        message.position.x = at;
        odom.set(message);
        let mut here = horus::transform::Transform::IDENTITY;
        here.translation.x = at;
        base.send(cycle.release, &here).expect("time goes on");
    };
    app.node("wheels", step).period(ms(1)).deadline(us(500));
    Ok(())
}

/// Drives to a place, by a parameter, and asks where that is.
fn nav(app: &mut App) -> horus::Result {
    let mut odom = app.input::<Odometry>("odom")?;
    let mut cmd = app.output::<CmdVel>("base.cmd")?;
    let gain = app.param("gain", std::env::var("GAIN").map_or(0.8, |gain| gain.parse().expect("a number")));
    let frames = app.transforms()?;
    let mut client = app.client::<Stamp, Stamp>("goal")?;
    let (mut asked, mut goal) = (None, 0.0);
    let step = move |_: &Cycle| {
        match &mut asked {
            None => asked = client.ask(Stamp::default()).ok(),
            Some(pending) => {
                if let Ok(Some(answer)) = pending.try_answer(&mut client) {
                    (asked, goal) = (None, answer.sequence as f64);
                }
            }
        }
        let here = frames.newest("odom", "base").map_or(0.0, |(here, _)| here.translation.x);
        let said = odom.latest().map_or(0.0, |odom| odom.position.x);
        cmd.set(CmdVel { forward: gain.get() * (goal - (here + said) / 2.0), turn: 0.0 });
    };
    app.node("drive", step).period(ms(10)).deadline(ms(5));
    Ok(())
}

/// Knows the goal, and writes a line, by itself and through no output, for each message of the wheels.
fn goals(app: &mut App) -> horus::Result {
    let mut answers = 0;
    app.service::<Stamp, Stamp>("goal", move |_, answer| {
        answers += 1;
        let _ = answer.send(Stamp { sequence: 1 + answers / 100, sent_ns: 0 });
    })?;
    let mut odom = app.input::<Odometry>("odom")?;
    let mut lines = Publisher::<Stamp>::open("lines", Options::latest(8).stamped())?;
    let step = move |cycle: &Cycle| {
        let came = odom.messages().count() as u64;
        let _ = lines.try_send(Stamp { sequence: came, sent_ns: cycle.release.as_nanos() });
    };
    app.node("log", step).on("odom");
    Ok(())
}

/// Does in its tenth step what `FAULT` says.
fn broken(app: &mut App) -> horus::Result {
    let fault = std::env::var("FAULT").unwrap_or_default();
    let mut out = app.output::<Stamp>("broken")?;
    let step = move |cycle: &Cycle| {
        out.set(Stamp { sequence: cycle.number, sent_ns: 0 });
        match fault.as_str() {
            _ if cycle.number < 10 => {}
            "hang" => horus::time::pause(secs(3600)),
            "panic" => panic!("the gear is gone"),
            "leave" => std::process::exit(0),
            _ => {}
        }
    };
    app.node("gear", step).period(ms(10));
    Ok(())
}

/// Answers what `echo` says, at once.
fn echo(app: &mut App) -> horus::Result {
    let (from, to) = if std::env::var_os("FIRST").is_some() { ("there", "here") } else { ("here", "there") };
    let mut from_other = app.input::<Stamp>(from)?;
    let mut to_other = app.output_with::<Stamp>(to, Options::latest(16).publishers(2))?;
    let step = move |_: &Cycle| to_other.set(from_other.latest().copied().unwrap_or_default());
    app.node("echo", step).on(from);
    if std::env::var_os("FIRST").is_some() {
        let mut begin = app.output_with::<Stamp>("here", Options::latest(16).publishers(2))?;
        app.node("begin", move |_: &Cycle| begin.set(Stamp::default())).period(secs(1));
    }
    Ok(())
}

fn main() -> ExitCode {
    let role = std::env::args().nth(1).unwrap_or_default();
    let declare = match role.as_str() {
        "sim" => sim,
        "nav" => nav,
        "goals" => goals,
        "echo" => echo,
        _ => broken,
    };
    let run = || {
        let mut app = horus::app::start(&std::env::var("NAME").unwrap_or(role))?;
        declare(&mut app)?;
        horus::app::finish(app)
    };
    match run() {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("{error}");
            ExitCode::FAILURE
        }
    }
}
