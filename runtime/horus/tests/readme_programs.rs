//! The programs of README.md together, in every order: none refuses another, and nothing is lost.
//!
//! Each is opened as it opens its topics there, and so is what `horus topic pub` makes of a topic. A second subscriber by each topic's side sees what comes.

use std::path::Path;
use std::sync::atomic::AtomicBool;

use horus::prelude::*;
use horus::time::SystemClock;

/// What a program holds while it runs.
#[allow(clippy::large_enum_variant)] // four of them live for a moment
enum Program {
    Publisher(Publisher<CmdVel>),
    Subscriber(Subscriber<CmdVel>),
    Node(App),
    ByHand(Publisher<Imu>),
}

/// Starts the program of this number with its topics in `here`.
fn start(number: usize, here: &Path) -> Program {
    let placed = |options: Options| options.directory(here);
    match number {
        0 => Program::Publisher(Publisher::<CmdVel>::open("speed", placed(Options::latest(8))).unwrap()),
        1 => Program::Subscriber(Subscriber::<CmdVel>::open("speed", placed(Options::default())).unwrap()),
        2 => {
            let mut app = App::new("balance").unwrap();
            let mut imu = app.input_with::<Imu>("imu", placed(Options::default())).unwrap();
            let mut cmd = app.output_with::<CmdVel>("base.cmd", placed(Options::default())).unwrap();
            let control = move |_: &Cycle| {
                if let Some(imu) = imu.latest() {
                    cmd.set(CmdVel { forward: 0.8 * imu.angular_velocity.y, turn: 0.0 });
                }
            };
            app.node("control", control).period(ms(1)).deadline(us(800));
            app.releases(1);
            Program::Node(app)
        }
        _ => Program::ByHand(Publisher::<Imu>::open("imu", placed(Options::default())).unwrap()),
    }
}

/// All orders of four.
fn orders() -> Vec<[usize; 4]> {
    let all = (0..256).map(|code| [code / 64, code / 16 % 4, code / 4 % 4, code % 4]);
    all.filter(|order| (0..4).all(|program| order.contains(&program))).collect()
}

#[test]
fn programs_of_the_readme_accept_each_other_in_every_order_and_lose_nothing() {
    let page = include_str!("../../../README.md");
    for line in [
        r#"Publisher::<CmdVel>::open("speed", Options::latest(8))"#,
        r#"Subscriber::<CmdVel>::open("speed", Options::default())"#,
        r#"app.input::<Imu>("imu")"#,
        r#"app.output::<CmdVel>("base.cmd")"#,
    ] {
        assert!(page.contains(line), "the page opens its topics otherwise by now: {line}");
    }
    assert_eq!(orders().len(), 24);
    for order in orders() {
        let files = tempfile::tempdir_in("/dev/shm").unwrap();
        let mut commands = Subscriber::<CmdVel>::open("base.cmd", Options::default().directory(files.path())).unwrap();
        let (mut publisher, mut subscriber, mut node, mut by_hand) = (None, None, None, None);
        for number in order {
            match start(number, files.path()) {
                Program::Publisher(program) => publisher = Some(program),
                Program::Subscriber(program) => subscriber = Some(program),
                Program::Node(program) => node = Some(program),
                Program::ByHand(program) => by_hand = Some(program),
            }
        }
        let (mut publisher, mut subscriber) = (publisher.unwrap(), subscriber.unwrap());
        let mut tilted = Imu::zeroed();
        tilted.angular_velocity.y = 0.5;
        by_hand.as_mut().unwrap().try_send(tilted).unwrap();
        for number in 0..5 {
            publisher.try_send(CmdVel { forward: f64::from(number), turn: 0.0 }).unwrap();
        }
        node.unwrap().run_in_place(SystemClock, &AtomicBool::new(false)).unwrap();
        let received = std::iter::from_fn(|| subscriber.try_recv()).map(|received| received.message.forward);
        assert_eq!(received.collect::<Vec<_>>(), [0.0, 1.0, 2.0, 3.0, 4.0], "{order:?}");
        assert_eq!(subscriber.missed(), 0, "{order:?}");
        assert_eq!(commands.try_recv().map(|received| received.message.forward), Some(0.4), "{order:?}");
    }
}
