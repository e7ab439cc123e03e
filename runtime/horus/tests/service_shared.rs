//! Servers that share a service: each request goes to one of them, and the others go on when one is gone.

mod peers;

use std::time::{Duration, Instant};

use horus::message::Stamp;
use horus::prelude::*;
use horus::service::{CallError, Client, MAX_CALLS, Options, Pending, SERVERS, ServeError, Server};
use tempfile::TempDir;

use peers::{PATIENCE, Peer, await_no_file};

horus::message! {
    /// Another answer than a [`Stamp`].
    pub struct Other = "test/Other" {
        /// A number.
        number: u64,
    }
}

fn files() -> (TempDir, Options) {
    let files = tempfile::tempdir_in("/dev/shm").unwrap();
    let options = Options::default().directory(files.path()).shared();
    (files, options)
}

fn asks(number: u64) -> Stamp {
    Stamp { sequence: number, sent_ns: 0 }
}

/// Has a server answer all that it has by its own number; how many.
fn serve(server: &mut Server<Stamp, Stamp>, number: u64) -> u64 {
    let mut served = 0;
    while server.serve(Duration::ZERO, |request, answer| {
        answer.send(Stamp { sequence: request.sequence, sent_ns: number }).unwrap();
    }) {
        served += 1;
    }
    served
}

#[test]
fn each_request_goes_to_one_server_and_all_have_their_share() {
    let (files, options) = files();
    let mut early = Client::<Stamp, Stamp>::open("plan", &options).unwrap();
    let mut servers: Vec<_> = (0..3).map(|_| Server::<Stamp, Stamp>::open("plan", &options).unwrap()).collect();
    let mut late = Client::<Stamp, Stamp>::open("plan", &options).unwrap();
    for client in [&mut early, &mut late] {
        let mut asked: Vec<_> = (0..12).map(|number| client.ask(asks(number)).unwrap()).collect();
        let served: Vec<_> = servers.iter_mut().zip(0..).map(|(server, number)| serve(server, number)).collect();
        assert_eq!(served, [4, 4, 4]);
        for (number, pending) in asked.iter_mut().enumerate() {
            assert_eq!(pending.try_answer(client).unwrap().unwrap().sequence, number as u64);
        }
        assert_eq!((client.unanswered(), client.late()), (0, 0));
    }
    assert!(early.is_shared() && servers.iter().all(|server| server.service() == "plan"));
    drop((early, late, servers));
    await_no_file(files.path());
}

#[test]
fn the_server_with_the_fewest_calls_is_asked() {
    let (_files, options) = files();
    let mut slow = Server::<Stamp, Stamp>::open("plan", &options).unwrap();
    let mut fast = Server::<Stamp, Stamp>::open("plan", &options).unwrap();
    let mut client = Client::<Stamp, Stamp>::open("plan", &options).unwrap();
    let mut kept = Vec::<Pending>::new();
    let mut of_the_fast = 0;
    for number in 0..10 {
        kept.push(client.ask(asks(number)).unwrap());
        of_the_fast += serve(&mut fast, 1);
        kept.retain_mut(|pending| matches!(pending.try_answer(&mut client), Ok(None)));
    }
    assert_eq!((of_the_fast, kept.len(), serve(&mut slow, 0)), (9, 1, 1));
}

#[test]
fn a_server_that_stops_ends_its_calls_alone_and_a_late_joiner_is_asked() {
    let (_files, options) = files();
    let mut client = Client::<Stamp, Stamp>::open("plan", &options).unwrap();
    assert!(matches!(client.ask(asks(0)), Err(CallError::NotServed { .. })));
    assert!(matches!(client.call(asks(0), PATIENCE), Err(CallError::NotServed { .. })));
    let first = Server::<Stamp, Stamp>::open("plan", &options).unwrap();
    let mut second = Server::<Stamp, Stamp>::open("plan", &options).unwrap();
    let mut asked = [client.ask(asks(1)).unwrap(), client.ask(asks(2)).unwrap()];
    drop(first);
    serve(&mut second, 2);
    assert!(matches!(asked[0].try_answer(&mut client), Err(CallError::Stopped { .. })));
    assert_eq!(asked[1].try_answer(&mut client).unwrap().unwrap().sent_ns, 2);
    // All go to the one that is left, until another one takes the place that is free.
    let mut asked = [client.ask(asks(3)).unwrap(), client.ask(asks(4)).unwrap()];
    assert_eq!(serve(&mut second, 2), 2);
    assert!(asked.iter_mut().all(|pending| pending.try_answer(&mut client).unwrap().is_some()));
    let mut third = Server::<Stamp, Stamp>::open("plan", &options).unwrap();
    let asked = [client.ask(asks(5)).unwrap(), client.ask(asks(6)).unwrap()];
    assert_eq!((serve(&mut second, 2), serve(&mut third, 3)), (1, 1));
    drop(asked);
}

#[test]
fn a_client_is_told_how_much_is_too_much_for_all_servers() {
    let (_files, options) = files();
    let servers: Vec<_> = (0..2).map(|_| Server::<Stamp, Stamp>::open("plan", &options).unwrap()).collect();
    let mut client = Client::<Stamp, Stamp>::open("plan", &options).unwrap();
    let kept: Vec<_> = (0..2 * MAX_CALLS as u64).map(|number| client.ask(asks(number)).unwrap()).collect();
    assert!(matches!(client.ask(asks(0)), Err(CallError::TooMany { .. })));
    drop(kept);
    assert!(matches!(client.ask(asks(0)), Err(CallError::Full { .. })));
    drop(servers);
}

#[test]
fn a_hundred_thousand_calls_to_servers_that_never_answer_stay_bounded() {
    let (files, options) = files();
    let mut servers: Vec<_> = (0..3).map(|_| Server::<Stamp, Stamp>::open("plan", &options).unwrap()).collect();
    let mut client = Client::<Stamp, Stamp>::open("plan", &options).unwrap();
    let size =
        || -> u64 { std::fs::read_dir(files.path()).unwrap().map(|it| it.unwrap().metadata().unwrap().len()).sum() };
    let (before, mut full, mut kept) = (size(), 0, Vec::new());
    for call in 0..100_000 {
        match client.ask(asks(call)) {
            Ok(pending) => kept.push(pending),
            Err(CallError::TooMany { .. }) => kept.clear(), // all are given up
            Err(CallError::Full { .. }) => full += 1,
            Err(other) => panic!("{other}"),
        }
    }
    kept.clear();
    assert!(full > 99_000, "{full}");
    assert_eq!((client.unanswered(), size()), (0, before));
    servers.iter_mut().for_each(|server| while server.serve(Duration::ZERO, |_, answer| drop(answer)) {});
    let mut asked = client.ask(asks(7)).unwrap();
    servers.iter_mut().for_each(|server| _ = serve(server, 1));
    assert_eq!(asked.try_answer(&mut client).unwrap().unwrap().sequence, 7);
}

#[test]
fn who_says_shared_and_who_does_not_refuse_each_other() {
    let (files, shared) = files();
    let alone = Options::default().directory(files.path());
    let refused = |server: Result<Server<Stamp, Stamp>, ServeError>, part: &str| {
        let error = server.err().unwrap();
        assert!(matches!(error, ServeError::NotAlike { .. }), "{error}");
        let text = error.to_string();
        assert!(text.contains("service plan is open ") && text.contains(part), "{text}");
    };
    let server = Server::<Stamp, Stamp>::open("plan", &shared).unwrap();
    refused(Server::open("plan", &alone), "for servers that share it and this server says that it is the only one");
    let error = Client::<Stamp, Stamp>::open("plan", &alone).err().unwrap().to_string();
    assert!(error.contains("plan") && error.contains("horus/SharedService"), "{error}");
    drop(server);
    let server = Server::<Stamp, Stamp>::open("plan", &alone).unwrap();
    refused(Server::open("plan", &shared), "for one server alone and this server says `Options::shared`");
    let error = Client::<Stamp, Stamp>::open("plan", &shared).err().unwrap().to_string();
    assert!(error.contains("plan") && error.contains("horus/SharedService"), "{error}");
    drop(server);
    // A client that waits for its servers counts as well.
    let client = Client::<Stamp, Stamp>::open("plan", &shared).unwrap();
    refused(Server::open("plan", &alone), "for servers that share it");
    drop(client);
    let _client = Client::<Stamp, Stamp>::open("plan", &alone).unwrap();
    refused(Server::open("plan", &shared), "for one server alone");
}

#[test]
fn a_server_of_other_types_and_one_too_many_are_refused() {
    let (_files, options) = files();
    let _server = Server::<Stamp, Stamp>::open("plan", &options).unwrap();
    let refused = Server::<Stamp, Other>::open("plan", &options).err().unwrap().to_string();
    assert!(refused.contains("test/Other"), "{refused}");
    let refused = Client::<Other, Stamp>::open("plan", &options).err().unwrap().to_string();
    assert!(refused.contains("test/Other"), "{refused}");
    let _others: Vec<_> = (1..SERVERS).map(|_| Server::<Stamp, Stamp>::open("plan", &options).unwrap()).collect();
    let refused = Server::<Stamp, Stamp>::open("plan", &options).err().unwrap();
    assert!(matches!(refused, ServeError::TooMany { servers: SERVERS, .. }), "{refused}");
    assert!(refused.to_string().contains("8 servers share plan"), "{refused}");
}

#[test]
#[ignore = "a peer"]
fn peer_keeps_what_it_is_asked() {
    let options = Options::default().directory(peers::directory()).shared();
    let mut server = Server::<Stamp, Stamp>::open("plan", options).unwrap();
    peers::ready();
    let mut kept = Vec::new();
    loop {
        server.serve(PATIENCE, |_, answer| kept.push(answer.later()));
    }
}

#[test]
fn the_calls_of_a_server_that_is_killed_die_and_the_others_go_on() {
    let (files, options) = files();
    let mut peer = Peer::start("peer_keeps_what_it_is_asked", files.path(), "");
    peer.wait_until_ready();
    let mut server = Server::<Stamp, Stamp>::open("plan", &options).unwrap();
    let mut client = Client::<Stamp, Stamp>::open("plan", &options).unwrap();
    let mut asked: Vec<_> = (0..8).map(|number| client.ask(asks(number)).unwrap()).collect();
    assert_eq!(serve(&mut server, 1), 4);
    peer.kill();
    let started = Instant::now();
    let (mut died, mut answered) = (0, 0);
    while died + answered < 8 {
        assert!(started.elapsed() < PATIENCE, "a hang");
        assert!(client.check_server().unwrap());
        asked.retain_mut(|pending| match pending.try_answer(&mut client) {
            Ok(None) => true,
            Ok(Some(_)) => {
                answered += 1;
                false
            }
            Err(CallError::Died { .. }) => {
                died += 1;
                false
            }
            other => panic!("{other:?}"),
        });
    }
    assert_eq!((died, answered), (4, 4));
    // Nothing is asked of the dead one any more, and its place is free.
    let mut asked: Vec<_> = (0..4).map(|number| client.ask(asks(number)).unwrap()).collect();
    assert_eq!(serve(&mut server, 1), 4);
    assert!(asked.iter_mut().all(|pending| pending.try_answer(&mut client).unwrap().is_some()));
    let mut successor = Server::<Stamp, Stamp>::open("plan", &options).unwrap();
    let kept = [client.ask(asks(0)).unwrap(), client.ask(asks(1)).unwrap()];
    assert_eq!((serve(&mut server, 1), serve(&mut successor, 2)), (1, 1));
    drop((kept, client, server, successor, peer));
    await_no_file(files.path());
}

/// Two nodes that share a service, and one that asks.
fn program(app: &mut App) -> horus::Result {
    let options = || Options::default().shared();
    for name in ["left", "right"] {
        let mut server = app.server_as::<Stamp, Stamp>("plan", (), (), options())?;
        let mut told = app.output::<Stamp>(&format!("{name}.told"))?;
        let mut served = 0;
        let step = move |_: &Cycle| {
            while server.serve(|request, answer| _ = answer.send(request)) {
                served += 1;
            }
            told.set(Stamp { sequence: served, sent_ns: 0 });
        };
        app.node(name, step).on("plan").min_inter_arrival(ms(1)).deadline(ms(1));
    }
    let mut client = app.client_as::<Stamp, Stamp>("plan", (), (), options())?;
    let mut asked = Vec::<Pending>::with_capacity(4);
    let mut told = app.output::<Stamp>("asker.told")?;
    let mut heard = 0;
    let step = move |_: &Cycle| {
        asked.retain_mut(|pending| match pending.try_answer(&mut client) {
            Ok(None) => true,
            Ok(Some(_)) => {
                heard += 1;
                false
            }
            Err(error) => panic!("{error}"),
        });
        while asked.len() < 4 {
            asked.push(client.ask(Stamp::default()).expect("both serve"));
        }
        told.set(Stamp { sequence: heard, sent_ns: 0 });
    };
    app.node("asker", step).period(ms(10));
    Ok(())
}

#[test]
fn nodes_share_a_service_in_virtual_time_and_two_runs_are_the_same() {
    let run = || {
        let mut world = VirtualWorld::new(program).unwrap();
        world.takes("left", us(300)).for_cycles(50);
        world.run_for(secs(1));
        let told = ["left.told", "right.told", "asker.told"].map(|topic| world.last::<Stamp>(topic).unwrap().sequence);
        (told, world.events().iter().map(|event| format!("{event:?}")).collect::<Vec<_>>())
    };
    let ([left, right, heard], events) = run();
    assert_eq!((left, right, heard), (200, 200, 396));
    assert_eq!(([left, right, heard], events), run());
}
