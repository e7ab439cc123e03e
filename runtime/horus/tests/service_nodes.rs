//! Services in nodes: answered in a cycle that the request releases, asked in one step and looked for in a later one, and the same each time in
//! virtual time.

use horus::prelude::*;
use horus::service::{Answer, CallError, Client, MAX_CALLS, Options, Pending, Ticket};

horus::message! {
    /// Asks for the square of a number.
    pub struct Square = "test/Square" {
        /// The number.
        number: u64,
    }
}
horus::message! {
    /// The square.
    pub struct Squared = "test/Squared" {
        /// Of that number.
        square: u64,
    }
}

/// Asks for the squares of 1, 2, 3, …, one at a time, and says what it hears.
fn asker(app: &mut App, name: &str, topic: &str) -> horus::Result {
    let mut client = app.client::<Square, Squared>("square")?;
    let mut told = app.output::<Squared>(topic)?;
    let (mut asked, mut number) = (None::<Pending>, 0);
    let step = move |_: &Cycle| {
        if let Some(pending) = &mut asked {
            let Some(squared) = pending.try_answer(&mut client).expect("the server lives") else { return };
            assert_eq!(squared.square, number * number);
            told.set(squared);
        }
        number += 1;
        asked = Some(client.ask(Square { number }).expect("one call at a time"));
    };
    app.node(name, step).period(ms(10));
    Ok(())
}

fn program(app: &mut App) -> horus::Result {
    asker(app, "first", "first.told")?;
    asker(app, "second", "second.told")?;
    app.service::<Square, Squared>("square", |Square { number }, answer| {
        answer.send(Squared { square: number * number }).expect("its client looks");
    })?
    .min_inter_arrival(ms(1))
    .deadline(ms(1));
    Ok(())
}

fn run() -> (Vec<String>, [Option<Squared>; 2]) {
    let mut world = VirtualWorld::new(program).unwrap();
    world.takes("square", us(300)).for_cycles(20);
    world.run_for(secs(1));
    let events = world.events().iter().map(|event| format!("{event:?}")).collect();
    (events, ["first.told", "second.told"].map(|topic| world.last::<Squared>(topic)))
}

#[test]
fn nodes_ask_a_node_and_each_gets_its_own_answers() {
    let (_, [first, second]) = run();
    assert_eq!((first.unwrap().square, second.unwrap().square), (99 * 99, 99 * 99));
}

#[test]
fn two_runs_in_virtual_time_are_the_same() {
    let (events, told) = run();
    assert!(events.len() > 300, "{}", events.len());
    assert_eq!((events, told), run());
}

#[test]
fn requests_release_the_node_that_serves_them() {
    let mut world = VirtualWorld::new(program).unwrap();
    world.run_for(secs(1));
    // Both ask in the same instant, and one cycle answers both.
    let cycles = world.tally("square").cycles;
    assert!((95..=200).contains(&cycles), "{cycles}");
}

#[test]
fn a_node_may_answer_in_a_later_cycle_and_serve_among_other_work() {
    let mut world = VirtualWorld::new(|app| {
        asker(app, "asker", "told")?;
        let mut server = app.server::<Square, Squared>("square")?;
        let mut kept = None::<(Ticket, u64)>;
        let step = move |_: &Cycle| {
            if let Some((ticket, number)) = kept.take() {
                server.answer(ticket).send(Squared { square: number * number }).unwrap();
            }
            server.serve(|request, answer| kept = Some((answer.later(), request.number)));
        };
        app.node("server", step).period(ms(5));
        Ok(())
    })
    .unwrap();
    world.run_for(secs(1));
    assert!(world.last::<Squared>("told").unwrap().square >= 40 * 40);
}

/// Answers each request by what `other` answers to it, in a later cycle; how many calls it may not make goes to `told`.
fn asks_on(app: &mut App, service: &str, other: &str, told: &str) -> horus::Result {
    let mut client = app.client::<Square, Squared>(other)?;
    let mut server = app.server::<Square, Squared>(service)?;
    let mut told = app.output::<Squared>(told)?;
    let (mut asked, mut refused) = (Vec::<(Pending, Ticket)>::with_capacity(MAX_CALLS), 0);
    let step = move |_: &Cycle| {
        asked.retain_mut(|(pending, _)| matches!(pending.try_answer(&mut client), Ok(None)));
        let ask = |request: Square, answer: Answer<'_, Squared>| match client.ask(request) {
            Ok(pending) => asked.push((pending, answer.later())),
            Err(error) => {
                assert!(matches!(error, CallError::TooMany { .. } | CallError::Full { .. }), "{error}");
                refused += 1;
            }
        };
        server.serve(ask);
        told.set(Squared { square: refused });
    };
    app.node(service, step).period(ms(1));
    Ok(())
}

#[test]
fn nodes_that_ask_each_other_in_a_circle_go_on_and_their_calls_stay_bounded() {
    let mut world = VirtualWorld::new(|app| {
        asks_on(app, "a", "b", "a.refused")?;
        asks_on(app, "b", "a", "b.refused")?;
        let mut client = app.client::<Square, Squared>("a")?;
        let mut asked = Vec::<Pending>::with_capacity(MAX_CALLS);
        let step = move |_: &Cycle| {
            asked.retain_mut(|pending| matches!(pending.try_answer(&mut client), Ok(None)));
            asked.extend(client.ask(Square { number: 1 }));
        };
        app.node("asker", step).period(ms(10));
        Ok(())
    })
    .unwrap();
    world.run_for(secs(2));
    assert_eq!((world.tally("a").misses, world.tally("b").misses, world.tally("asker").cycles), (0, 0, 200));
    let refused =
        world.last::<Squared>("a.refused").unwrap().square + world.last::<Squared>("b.refused").unwrap().square;
    assert!(refused > 0, "the circle was never told");
}

#[test]
fn ports_and_parameters_of_before_a_service_are_those_of_the_next_node() {
    let mut world = VirtualWorld::new(|app| {
        let mut input = app.input::<Square>("number")?;
        let mut output = app.output::<Square>("copy")?;
        let factor = app.param("factor", 1_i64);
        app.service::<Square, Squared>("square", |_, _| {})?.deadline(ms(1));
        let step = move |_: &Cycle| {
            if let Some(Square { number }) = input.fresh() {
                output.set(Square { number: number * factor.get() as u64 });
            }
        };
        app.node("copy", step).on("number").deadline(ms(1));
        Ok(())
    })
    .unwrap();
    world.set_param("copy", "factor", 3).unwrap();
    world.publish("number", &Square { number: 7 });
    world.run_for(ms(10));
    assert_eq!(world.last::<Square>("copy").unwrap().number, 21);
}

#[test]
fn a_second_node_that_serves_the_same_is_refused() {
    let refused = VirtualWorld::new(|app| {
        app.service::<Square, Squared>("square", |_, _| {})?.deadline(ms(1));
        app.service::<Square, Squared>("square", |_, _| {})?.deadline(ms(1));
        Ok(())
    });
    assert!(refused.err().unwrap().to_string().contains("service square has a server already"));
}

#[test]
fn a_program_outside_of_a_world_asks_its_nodes() {
    let mut world = VirtualWorld::new(program).unwrap();
    let options = Options::default().directory(world.directory());
    let mut client = Client::<Square, Squared>::open("square", options).unwrap();
    let mut asked = client.ask(Square { number: 12 }).unwrap();
    assert!(matches!(asked.try_answer(&mut client), Ok(None)));
    world.run_for(ms(20));
    drop(world);
    // What it asked was stamped by the machine's clock, and the answer came before the end.
    match asked.try_answer(&mut client) {
        Ok(Some(squared)) => assert_eq!(squared.square, 144),
        other => assert!(matches!(other, Err(CallError::Stopped { .. })), "{other:?}"),
    }
}
