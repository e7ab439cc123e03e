//! Programs of nodes in virtual time.

use horus::figures::State;
use horus::journal;
use horus::node::Spec;
use horus::prelude::*;
use horus::transform::Transform;

struct Balance {
    imu: Input<Imu>,
    cmd: Output<CmdVel>,
    gain: f64,
}

impl Node for Balance {
    fn step(&mut self, _: &Cycle) {
        if let Some(imu) = self.imu.latest() {
            self.cmd.set(CmdVel { forward: self.gain * imu.angular_velocity.y, turn: 0.0 });
        }
    }

    fn safe_state(&mut self, _: &Cycle) {
        self.cmd.set(CmdVel::STOP);
    }
}

fn balance(app: &mut App) -> horus::Result {
    let node = Balance { imu: app.input("imu")?, cmd: app.output("base.cmd")?, gain: 0.8 };
    let control = app.node("control", node).period(ms(1)).budget(us(150)).deadline(us(800));
    control.on_miss(SafeState::after(3).within(100));
    Ok(())
}

fn tilted() -> Imu {
    let mut imu = Imu::zeroed();
    imu.angular_velocity.y = 0.5;
    imu
}

/// The entries of one kind.
fn told(world: &VirtualWorld, id: &str) -> Vec<String> {
    let of_kind = world.journal().iter().filter(|entry| entry.get("MESSAGE_ID") == Some(id));
    of_kind.map(|entry| entry.message().to_owned()).collect()
}

#[test]
fn a_silent_imu_stops_the_base() {
    let mut world = VirtualWorld::new(balance).unwrap();
    world.publish("imu", &tilted());
    world.run_for(ms(10));
    assert!(world.last::<CmdVel>("base.cmd").unwrap().forward > 0.0);
    world.delay("control", ms(5)).for_cycles(3);
    world.run_for(ms(10));
    assert_eq!(world.last::<CmdVel>("base.cmd"), Some(CmdVel::STOP));
    assert_eq!(world.state("control"), State::Safe);
    assert_eq!(
        told(&world, journal::id::NODE_REACTION),
        ["node control is in its safe state: 3 misses within 100 cycles"]
    );
}

#[test]
fn a_node_that_somebody_arms_runs_its_steps_again_and_may_become_safe_again() {
    let mut world = VirtualWorld::new(balance).unwrap();
    world.rearm("control");
    world.publish("imu", &tilted());
    world.run_for(ms(5));
    for _ in 0..2 {
        world.delay("control", ms(5)).for_cycles(3);
        world.run_for(ms(40));
        assert_eq!(world.state("control"), State::Safe, "what was asked for before is forgotten");
        world.rearm("control");
        world.run_for(ms(5));
        assert_eq!(world.state("control"), State::Running);
        assert_eq!(world.last::<CmdVel>("base.cmd").unwrap().forward, 0.4);
    }
    let told = told(&world, journal::id::NODE_REACTION);
    let armed = told.iter().filter(|text| text.starts_with("node control runs its steps again from cycle ")).count();
    assert_eq!(armed, 2, "{told:?}");
}

#[test]
fn a_cycle_that_ends_on_a_release_does_not_end_its_node() {
    let mut world = VirtualWorld::new(|app| {
        app.node("work", |_: &Cycle| {}).period(ms(10));
        Ok(())
    })
    .unwrap();
    world.delay("work", ms(20)).for_cycles(1); // released at 10 ms, over at 30 ms
    world.run_for(ms(100));
    let tally = world.tally("work");
    assert_eq!(
        (tally.releases(), tally.cycles, tally.misses),
        (10, 8, 3),
        "at 10, 40, 50 … 100 ms; 20 and 30 ms were missed"
    );
}

#[test]
fn what_is_safe_is_learnt_and_not_published() {
    let mut world = VirtualWorld::new(balance).unwrap();
    world.run_for(ms(5));
    assert_eq!(world.last::<CmdVel>("base.cmd"), None, "no imu came, so nothing was set");
}

/// Runs a graph with faults; what happened, and what was published.
fn a_run() -> (Vec<horus::world::Event>, Vec<Option<CmdVel>>) {
    let mut world = VirtualWorld::new(|app| {
        balance(app)?;
        let mut seen = app.input::<CmdVel>("base.cmd")?;
        let mut sum = 0.0;
        let mut total = app.output::<CmdVel>("total")?;
        let watch = move |_: &Cycle| {
            sum += seen.messages().map(|cmd| cmd.forward).sum::<f64>();
            total.set(CmdVel { forward: sum, turn: 0.0 });
        };
        app.node("watch", watch).on("base.cmd").min_inter_arrival(us(1500)).scheduling_policy("fifo:10".parse()?);
        Ok(())
    })
    .unwrap();
    let mut published = Vec::new();
    for step in 0..200_u64 {
        world.publish("imu", &tilted());
        world.takes("control", us(step * 13 % 400));
        world.takes("watch", us(step * 31 % 700));
        if step % 50 == 7 {
            world.delay("control", us(900)).for_cycles(1);
            world.lose("imu", 2);
        }
        world.run_for(us(700));
        published.extend([world.last("base.cmd"), world.last("total")]);
    }
    (world.events().to_vec(), published)
}

#[test]
fn the_same_graph_and_the_same_faults_give_the_same_run_bit_for_bit() {
    let (first, second) = (a_run(), a_run());
    assert!(first.0.len() > 300 && first.1.iter().flatten().count() > 300);
    assert_eq!(first.0, second.0);
    let bits = |run: &[Option<CmdVel>]| run.iter().map(|cmd| cmd.map(|cmd| cmd.forward.to_bits())).collect::<Vec<_>>();
    assert_eq!(bits(&first.1), bits(&second.1));
}

#[test]
fn a_node_runs_when_a_message_came_and_at_most_once_in_its_gap() {
    let mut world = VirtualWorld::new(|app| {
        let mut camera = app.input::<Imu>("camera")?;
        let mut count = app.output::<CmdVel>("count")?;
        let track = move |_: &Cycle| count.set(CmdVel { forward: camera.messages().count() as f64, turn: 0.0 });
        app.node("track", track).on("camera").min_inter_arrival(ms(20)).deadline(ms(15));
        Ok(())
    })
    .unwrap();
    world.run_for(ms(100));
    assert_eq!(world.tally("track").cycles, 0);
    for _ in 0..30 {
        world.publish("camera", &tilted());
        world.run_for(ms(2));
    }
    // At 100, 120, 140 and 160 ms: the last takes what came from 140 to 158 ms.
    world.run_for(ms(40));
    assert_eq!(world.tally("track").cycles, 4);
    assert_eq!(world.last::<CmdVel>("count").unwrap().forward, 10.0);
}

#[test]
fn releases_by_events_are_used_up_like_those_of_a_grid() {
    let mut world = VirtualWorld::new(|app| {
        let mut camera = app.input::<Imu>("camera")?;
        let track = move |_: &Cycle| {
            camera.latest();
        };
        app.node("track", track).on("camera");
        app.releases(2);
        Ok(())
    })
    .unwrap();
    for _ in 0..5 {
        world.publish("camera", &tilted());
        world.run_for(ms(10));
    }
    assert_eq!(world.tally("track").releases(), 2);
}

#[test]
fn an_event_of_a_node_with_logical_execution_time_comes_when_its_message_can_be_seen() {
    let mut world = VirtualWorld::new(|app| {
        let mut out = app.output::<CmdVel>("out")?;
        let produce = move |cycle: &Cycle| out.set(CmdVel { forward: cycle.number as f64, turn: 0.0 });
        app.node("produce", produce).period(ms(10)).deadline(ms(5)).logical_execution_time();
        let mut input = app.input::<CmdVel>("out")?;
        let mut copy = app.output::<CmdVel>("copy")?;
        let follow = move |_: &Cycle| input.messages().for_each(|message| copy.set(message));
        app.node("follow", follow).on("out");
        Ok(())
    })
    .unwrap();
    world.run_for(ms(34)); // produced at 10, 20 and 30 ms, and seen 5 ms later
    assert_eq!((world.tally("follow").cycles, world.last::<CmdVel>("copy").unwrap().forward), (2, 1.0));
    world.run_for(ms(2));
    assert_eq!((world.tally("follow").cycles, world.last::<CmdVel>("copy").unwrap().forward), (3, 2.0));
}

#[test]
fn with_logical_execution_time_data_do_not_depend_on_how_long_a_step_takes() {
    let seen_at = |execution, is_logical: bool| {
        let mut world = VirtualWorld::new(|app| {
            let mut out = app.output::<CmdVel>("out")?;
            let produce = move |cycle: &Cycle| out.set(CmdVel { forward: cycle.number as f64, turn: 0.0 });
            let produce =
                app.node("produce", produce).period(ms(10)).deadline(ms(5)).scheduling_policy("fifo:20".parse()?);
            if is_logical {
                produce.logical_execution_time();
            }
            let mut input = app.input::<CmdVel>("out")?;
            let mut copy = app.output::<CmdVel>("copy")?;
            let consume =
                move |_: &Cycle| copy.set(input.latest().copied().unwrap_or(CmdVel { forward: -1.0, turn: 0.0 }));
            app.node("consume", consume).period(ms(10)).phase(ms(3)).scheduling_policy("fifo:30".parse()?);
            Ok(())
        })
        .unwrap();
        world.takes("produce", execution);
        world.run_for(ms(44));
        world.last::<CmdVel>("copy").unwrap().forward
    };
    // The consumer runs 3 ms behind the producer's releases at 10, 20, 30 and 40 ms; the last one at 43 ms.
    assert_eq!((seen_at(ms(1), false), seen_at(ms(4), false)), (3.0, 2.0));
    assert_eq!((seen_at(ms(1), true), seen_at(ms(4), true)), (2.0, 2.0));
}

#[test]
fn a_lower_rate_a_left_out_release_and_an_end_are_what_a_miss_leads_to() {
    let run = |on_miss: OnMiss| {
        let mut world = VirtualWorld::new(|app| {
            app.node("work", |_: &Cycle| {}).period(ms(10)).deadline(ms(5)).on_miss(on_miss);
            Ok(())
        })
        .unwrap();
        world.run_for(ms(35)); // cycles 0, 1, 2
        world.takes("work", ms(7)).for_cycles(1);
        world.run_for(ms(100)); // releases at 40 … 130 ms
        let tally = world.tally("work");
        (tally.cycles, tally.misses, tally.skipped, world.state("work"))
    };
    assert_eq!(run(OnMiss::count()), (13, 1, 0, State::Running));
    assert_eq!(run(OnMiss::warn()), (13, 1, 0, State::Running));
    assert_eq!(run(OnMiss::skip()), (12, 2, 1, State::Running));
    assert_eq!(run(OnMiss::degrade(3)), (7, 1, 0, State::Degraded), "at 40, 70, 100 and 130 ms");
    assert_eq!(run(OnMiss::stop()), (4, 1, 0, State::Stopped));
    assert_eq!(run(OnMiss::stop().after(2)), (13, 1, 0, State::Running));
}

#[test]
fn mistakes_in_a_graph_are_told_with_their_node_and_a_remedy() {
    fn refused(declare: impl FnOnce(&mut App) -> horus::Result) -> String {
        VirtualWorld::new(declare).map(drop).expect_err("it is accepted").to_string()
    }
    type Wish = fn(&mut Spec) -> &mut Spec;
    for (wish, words) in [
        ((|a| a) as Wish, "node a has neither a period nor an event"),
        (|a| a.rate(0.0), "node a period 0ns is out of range"),
        (|a| a.on("x"), "open app.input(\"x\") before"),
        (|a| a.period(ms(1)).deadline(ms(2)), "shorten the deadline"),
        (|a| a.period(ms(1)).budget(ms(2)), "budget 2ms is longer"),
        (
            |a| a.period(ms(1)).budget(ms(0)),
            "node a budget 0 s is no time for a step: give what its longest cycle takes",
        ),
        (|a| a.period(ms(10)).stale_after_of("imu", ms(0)), "node a stale_after 0 s would be told"),
        (
            |a| a.period(ms(10)).stale_after_of("umi", ms(5)),
            "node a has a stale_after for topic umi, which is none of its inputs: it has imu",
        ),
        (|a| a.period(ms(10)).stale_after(ms(0)), "node a stale_after 0 s would be told"),
        (|a| a.period(ms(10)).min_inter_arrival(ms(5)), "has a min_inter_arrival and no event"),
        (|a| a.period(ms(10)).monitor_limit(ms(20)), "react by their safe state"),
        (|a| a.period(ms(10)).monitor_limit(ms(9)).on_miss(SafeState::after(3)), "choose 10ms, its deadline, to 1s"),
        (|a| a.period(ms(1)).on_miss(SafeState::after(3).within(2)), "choose 1 to 2"),
        (|a| a.on("imu").on_miss(OnMiss::skip()), "choose another reaction"),
        (|a| a.period(ms(1)).scheduling_policy(SchedulingPolicy::Deadline), "declares no budget"),
    ] {
        let error = refused(|app| {
            let _input = app.input::<Imu>("imu")?;
            wish(app.node("a", |_: &Cycle| {}));
            Ok(())
        });
        assert!(error.contains(words), "{words}: {error}");
    }
    for (declare, words) in [
        ((|_| Ok(())) as fn(&mut App) -> horus::Result, "has no nodes"),
        (
            |app| {
                for _ in 0..2 {
                    app.node("a", |_: &Cycle| {}).period(ms(1));
                }
                Ok(())
            },
            "two nodes are named a",
        ),
        (|app| app.input::<Imu>("imu").map(drop), "topic imu was opened for no node"),
        (
            |app| {
                app.node("a", |_: &Cycle| {}).period(ms(1));
                app.chain(["a", "b"]).end_to_end(ms(1));
                Ok(())
            },
            "names no node b",
        ),
    ] {
        let error = refused(declare);
        assert!(error.contains(words), "{words}: {error}");
    }
}

#[test]
fn what_a_file_says_out_of_range_is_told_with_file_line_and_remedy() {
    let scratch = tempfile::tempdir().unwrap();
    let file = scratch.path().join("node.toml");
    let refused = |text: &str| {
        std::fs::write(&file, text).unwrap();
        let declare = |app: &mut App| {
            let _input = app.input::<Imu>("imu")?;
            app.node("a", |_: &Cycle| {}).period(ms(10));
            Ok(())
        };
        VirtualWorld::with_settings(&file, declare).err().unwrap().to_string()
    };
    for (line, number, words) in [
        ("budget = \"0 s\"", 3, "budget 0 s is no time for a step"),
        ("cpu = 0\nbudget = \"20 ms\"", 4, "budget 20ms is longer than deadline 10ms"),
        ("deadline = \"20 ms\"", 3, "shorten the deadline"),
        ("cpu = 0\n\nperiod = \"1 us\"", 5, "out of range"),
        ("min_inter_arrival = \"5 ms\"", 3, "has a min_inter_arrival and no event"),
        ("stale_after = \"0 s\"", 3, "would be told in every cycle"),
        ("stale_after = { imu = \"0 s\" }", 3, "would be told in every cycle"),
        ("stale_after = { umi = \"1 s\" }", 3, "stale_after for topic umi, which is none of its inputs: it has imu"),
        ("on_miss = { safe_state = { after = 3, within = 2 } }", 3, "choose 1 to 2"),
        ("monitor_limit = \"20 ms\"", 3, "react by their safe state"),
    ] {
        let error = refused(&format!("strict = false\n[node.a]\n{line}\n"));
        let place = format!("{}, line {number}: node a ", file.display());
        assert!(error.starts_with(&place) && error.contains(words), "{line}: {error}");
    }
    let error = refused("[node.a]\ncpu = 0\n[node.b]\ncpu = 0\n");
    assert!(error.contains("node.toml: [node.b]: the program has no such node"), "{error}");
}

#[test]
fn each_input_of_a_node_is_stale_after_a_time_of_its_own() {
    let scratch = tempfile::tempdir().unwrap();
    let file = scratch.path().join("node.toml");
    let stale_after = |text: &str| {
        std::fs::write(&file, text).unwrap();
        let declare = |app: &mut App| {
            let mut inputs = ["gps", "imu", "map"].map(|topic| app.input::<CmdVel>(topic).unwrap());
            let look = move |_: &Cycle| inputs.iter_mut().for_each(|input| input.messages().for_each(drop));
            app.node("look", look).period(ms(10)).stale_after(secs(2)).stale_after_of("imu", ms(50));
            Ok(())
        };
        let mut world = VirtualWorld::with_settings(&file, declare).unwrap();
        for topic in ["gps", "imu", "map"] {
            world.publish(topic, &CmdVel::STOP);
        }
        world.run_for(secs(10));
        let limit = |topic: &str| {
            let is_it = |entry: &&horus::journal::Entry| {
                entry.get("HORUS_TOPIC") == Some(topic)
                    && entry.get("MESSAGE_ID") == Some(horus::journal::id::INPUT_STALE)
            };
            let entry = world.journal().iter().find(is_it).unwrap();
            entry.get("HORUS_STALE_NS").unwrap().parse::<u64>().unwrap() / 1_000_000
        };
        ["gps", "imu", "map"].map(limit)
    };
    assert_eq!(stale_after(""), [2_000, 50, 2_000]);
    assert_eq!(stale_after("[node.look]\nstale_after = \"3 s\"\n"), [3_000, 50, 3_000]);
    assert_eq!(stale_after("[node.look]\nstale_after = { gps = \"5 s\", imu = \"70 ms\" }\n"), [5_000, 70, 2_000]);
}

#[test]
fn a_step_that_has_not_ended_counts_its_misses_by_now_and_never_twice() {
    let mut world = VirtualWorld::new(|app| {
        app.node("work", |_: &Cycle| {}).period(ms(10)).deadline(ms(5));
        Ok(())
    })
    .unwrap();
    world.run_for(ms(5));
    world.takes("work", ms(45)).for_cycles(1); // released at 10 ms, over at 55 ms
    let mut counts = Vec::new();
    for _ in 0..6 {
        world.run_for(ms(9));
        let tally = world.tally("work");
        counts.push((world.elapsed().as_millis(), tally.misses, tally.skipped, tally.cycles, tally.max_consecutive));
    }
    let expected =
        [(14, 0, 0, 0, 0), (23, 2, 1, 0, 2), (32, 3, 2, 0, 3), (41, 4, 3, 0, 4), (50, 4, 3, 0, 4), (59, 5, 4, 1, 5)];
    assert_eq!(counts, expected);
}

#[test]
fn a_graph_that_does_not_fit_is_refused_before_it_runs_with_the_node_that_is_in_the_way() {
    let mut app = App::new("overloaded").unwrap();
    for (name, priority) in [("control", "fifo:80"), ("vision", "fifo:85")] {
        let node = app.node(name, |_: &Cycle| panic!("it runs"));
        node.period(ms(1))
            .budget(us(600))
            .deadline(us(800))
            .cpu(CpuChoice::Number(0))
            .scheduling_policy(priority.parse().unwrap());
    }
    let error = app.run().unwrap_err().to_string();
    assert!(error.starts_with("refused: control ") && error.contains("vision (fifo:85"), "{error}");
}

/// Odometry sends where the base is; a camera looks up where it is itself, in the release of the odometry and half a cycle before.
fn localized(app: &mut App) -> horus::Result {
    let mut mounted = app.static_broadcaster()?;
    mounted.add("base", "camera", &Transform::planar(0.2, 0.0, 0.0))?;
    let mut base = app.broadcaster("odom", "base")?;
    let drive = move |cycle: &Cycle| {
        let seconds = cycle.release.as_nanos() as f64 / 1e9;
        base.send(cycle.release, &Transform::planar(2.0 * seconds, 0.0, seconds)).unwrap();
    };
    app.node("drive", drive).period(ms(10));
    let frames = app.transforms()?;
    let mut seen = app.output::<CmdVel>("seen")?;
    let look = move |cycle: &Cycle| {
        let _mounted = &mounted;
        let between = MonotonicTime::from_nanos(cycle.release.as_nanos().saturating_sub(5_000_000));
        if let (Ok(now), Ok(before)) =
            (frames.at("odom", "camera", cycle.release), frames.at("odom", "camera", between))
        {
            seen.set(CmdVel { forward: now.translation.x - before.translation.x, turn: now.rotation.yaw() });
        }
    };
    app.node("look", look).period(ms(10));
    Ok(())
}

#[test]
fn transforms_are_the_worlds_and_the_same_in_each_run() {
    let run = || {
        let mut world = VirtualWorld::new(localized).unwrap();
        let mut seen = Vec::new();
        for _ in 0..100 {
            world.run_for(ms(10));
            seen.extend(world.last::<CmdVel>("seen").map(|seen| [seen.forward.to_bits(), seen.turn.to_bits()]));
        }
        seen
    };
    let first = run();
    assert!(first.len() > 90, "{}", first.len());
    assert_eq!(first, run());
}
