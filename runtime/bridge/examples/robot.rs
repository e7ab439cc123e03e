//! A robot's other end for the check of services, parameters, transforms and latched topics of docs/ros2.md.
//!
//! ```text
//! robot serve SERVICE [silent]             nav_msgs/GetPlan: a plan of one pose whose x is twice the tolerance; silent: never answers
//! robot call SERVICE COUNT LIMIT_MS        asks with the tolerances 1 to COUNT, eight calls at a time, until one fails; `result right 100, wrong 0, failed 0: WHY`
//! robot parameters PROGRAM                 a program with parameters of two nodes
//! robot frames                             sends base in odom (moving) and lidar in base (fixed); at a line `TARGET SOURCE` says where it is
//! robot act ACTION FILE                    serves test_msgs/Fibonacci, of which FILE is the definition: feedbacks, then the sequence; one of the
//!                                          order 0 is aborted, and one above 30 goes on until it is canceled
//! robot drive ACTION FILE                  at a line `ORDER [cancel|stay]` sends such a goal; says `result` and what became of it
//! robot map send|receive TOPIC NUMBER      a latched nav_msgs/OccupancyGrid of 300x300 whose cells are NUMBER; `send` ends at once
//! ```
//! Each but `call` and `map` says `ready` and stays until standard input ends.

use std::io::BufRead;
use std::time::{Duration, Instant};

use horus::action::{ActionClient, ActionServer, GoalId, Options as ActionOptions, Progress};
use horus::message::layout::{Layout, MadeOf};
use horus::prelude::*;
use horus::service::{Client, Options as ServiceOptions, Pending, Server};
use horus::topic::{Options, Publisher, Raw, Subscriber};
use horus::transform::{Broadcaster, Frames, StaticBroadcaster, Transform};
use horus_bridge::interface::import::{self, Sizes};
use horus_bridge::interface::{services, standard};

const PLAN: &str = "nav_msgs/srv/GetPlan";
/// Calls of ours that are unanswered at a time.
const AT_A_TIME: usize = 8;
const SIDE: usize = 300;

fn main() -> horus::Result {
    let words: Vec<_> = std::env::args().skip(1).collect();
    let words: Vec<_> = words.iter().map(String::as_str).collect();
    match words[..] {
        ["serve", service, ref rest @ ..] => serve(service, !rest.is_empty()),
        ["call", service, count, limit] => call(service, number(count), Duration::from_millis(number(limit))),
        ["parameters", program] => parameters(program)?,
        ["frames"] => frames()?,
        ["act", action, file] => act(action, file),
        ["drive", action, file] => drive(action, file),
        ["map", "send", topic, value] => send_map(topic, number(value) as u8),
        ["map", "receive", topic, value] => receive_map(topic, number(value) as u8),
        _ => panic!("{words:?}: this program does not know how"),
    }
    Ok(())
}

fn number(word: &str) -> u64 {
    word.parse().expect("a number")
}

/// What `horus bridge import` prints for a message.
fn layout(name: &str) -> Layout {
    let fields = [("data".to_owned(), SIDE * SIDE)].into();
    let whole = standard::whole(name).expect("it is known");
    import::layout(&whole, &Sizes { texts: 32, lists: 4, fields })
        .and_then(|text| text.parse().map_err(|error| format!("{error}")))
        .expect("a layout")
}

/// Where a number is in a message: `plan.poses.0.pose.position.x`.
fn place(layout: &Layout, path: &str) -> usize {
    let mut words = path.split('.');
    let name = words.next().unwrap_or_default();
    let field = layout.fields().iter().find(|field| field.name() == name).unwrap_or_else(|| panic!("no {name}"));
    let (mut at, mut made_of) = (field.offset(), field.made_of());
    let mut rest: Vec<_> = words.collect();
    if let MadeOf::Array(element, _) = made_of
        && !rest.is_empty()
    {
        let bytes = match &**element {
            MadeOf::Number(_, bytes) => *bytes,
            MadeOf::Nested(inner) => inner.payload().bytes,
            MadeOf::Array(..) => panic!("an array in an array"),
        };
        at += bytes * number(rest.remove(0)) as usize;
        made_of = element;
    }
    match made_of {
        MadeOf::Nested(inner) if !rest.is_empty() => at + place(inner, &rest.join(".")),
        _ => at,
    }
}

struct Plan {
    request: Layout,
    answer: Layout,
    tolerance: usize,
    count: usize,
    x: usize,
}

impl Plan {
    fn new() -> Self {
        let [request, answer] = services::messages(PLAN).map(|name| layout(&name));
        let (tolerance, count) = (place(&request, "tolerance"), place(&answer, "plan.poses_count"));
        let x = place(&answer, "plan.poses.0.pose.position.x");
        Self { request, answer, tolerance, count, x }
    }

    fn request(&self, tolerance: f32) -> Vec<u8> {
        let mut bytes = vec![0; self.request.payload().bytes];
        bytes[self.tolerance..][..4].copy_from_slice(&tolerance.to_le_bytes());
        bytes
    }

    fn is_answer(&self, answer: &[u8], tolerance: f64) -> bool {
        answer[self.count..][..4] == 1_u32.to_le_bytes() && answer[self.x..][..8] == (2.0 * tolerance).to_le_bytes()
    }

    fn answer_to(&self, request: &[u8]) -> Vec<u8> {
        let tolerance = f32::from_le_bytes(*request[self.tolerance..].first_chunk().expect("four bytes"));
        let mut bytes = vec![0; self.answer.payload().bytes];
        bytes[self.count..][..4].copy_from_slice(&1_u32.to_le_bytes());
        bytes[self.x..][..8].copy_from_slice(&(2.0 * f64::from(tolerance)).to_le_bytes());
        bytes
    }
}

fn serve(service: &str, is_silent: bool) {
    let plan = Plan::new();
    let mut server =
        Server::<Raw, Raw>::open_as(service, &plan.request, &plan.answer, ServiceOptions::default()).expect("a server");
    let lines = lines();
    println!("ready");
    let (mut served, mut kept) = (0, Vec::new());
    while lines.try_recv() != Err(std::sync::mpsc::TryRecvError::Disconnected) {
        let is_one = server.serve(Duration::from_millis(20), |request, answer| match is_silent {
            true => kept.push(answer.later()),
            false => answer.send(plan.answer_to(request)).expect("it has room"),
        });
        served += u64::from(is_one);
    }
    println!("served {served}");
}

fn call(service: &str, count: u64, limit: Duration) {
    let plan = Plan::new();
    let mut client =
        Client::<Raw, Raw>::open_as(service, &plan.request, &plan.answer, ServiceOptions::default()).expect("a client");
    println!("ready");
    assert!(client.wait_until_served(Duration::from_secs(30)).expect("the topics"), "no server came");
    println!("begun");
    let (mut right, mut wrong, mut failed, mut why) = (0, 0, 0, String::new());
    let mut asked: Vec<(u64, Instant, Pending)> = Vec::new();
    let mut next = 1;
    while (next <= count || !asked.is_empty()) && failed == 0 {
        while next <= count && asked.len() < AT_A_TIME {
            match client.ask(plan.request(next as f32)) {
                Ok(pending) => asked.push((next, Instant::now(), pending)),
                Err(error) => (failed, why) = (failed + 1, error.to_string()),
            }
            next += 1;
        }
        client.wait(Duration::from_millis(5));
        client.check_server().expect("the topics");
        asked.retain_mut(|(number, since, pending)| {
            match pending.try_answer(&mut client) {
                Ok(None) if since.elapsed() < limit => return true,
                Ok(None) => (failed, why) = (failed + 1, "no answer within the limit".to_owned()),
                Ok(Some(answer)) if plan.is_answer(&answer, *number as f64) => right += 1,
                Ok(Some(_)) => wrong += 1,
                Err(error) => (failed, why) = (failed + 1, error.to_string()),
            }
            false
        });
    }
    println!("result right {right}, wrong {wrong}, failed {failed}: {why}");
}

fn parameters(program: &str) -> horus::Result {
    let mut app = App::new(program)?;
    let gain = app.param("gain", 0.8).unit("1/s").range(0.0..=4.0).about("speed for a metre of distance");
    let mode = app.param("mode", "slow");
    let mut said = (0.0, String::new());
    let drive = move |_: &Cycle| {
        let now = (gain.get(), mode.get().to_string());
        if now != said {
            said = now;
            println!("drive {} {}", said.0, said.1);
        }
    };
    app.node("drive", drive).period(ms(10));
    let (turns, is_armed) = (app.param("turns", 3).range(0..=10), app.param("armed", false));
    let _model = app.param("model", "diff").read_only();
    let mut said = (0, true);
    let spin = move |_: &Cycle| {
        let now = (turns.get(), is_armed.get());
        if now != said {
            said = now;
            println!("spin {} {}", said.0, said.1);
        }
    };
    app.node("spin", spin).period(ms(10));
    app.run()?;
    Ok(())
}

fn frames() -> horus::Result {
    let options = Options::default();
    let mut base = Broadcaster::open("odom", "base", &options)?;
    let mut fixed = StaticBroadcaster::open(&options)?;
    fixed.add("base", "lidar", &Transform::planar(0.5, 0.0, 0.0))?;
    let frames = Frames::open(&options)?;
    let lines = lines();
    println!("ready");
    let mut x = 0.0;
    loop {
        x += 0.01;
        base.send(horus::time::MonotonicTime::now(), &Transform::planar(x, 1.0, 0.0))?;
        match lines.recv_timeout(Duration::from_millis(20)) {
            Ok(line) => {
                let (target, source) = line.split_once(' ').expect("two frames");
                match frames.newest(target, source) {
                    Ok((Transform { translation, .. }, when)) => {
                        println!(
                            "found {:.3} {:.3} {}",
                            translation.x,
                            translation.y,
                            if when.is_some() { "moving" } else { "fixed" }
                        );
                    }
                    Err(error) => println!("none {error}"),
                }
            }
            Err(std::sync::mpsc::RecvTimeoutError::Timeout) => {}
            Err(std::sync::mpsc::RecvTimeoutError::Disconnected) => return Ok(()),
        }
    }
}

/// What an action's three messages are here: goal, feedback and result.
fn fibonacci(file: &str) -> [Layout; 3] {
    let wholes = horus_bridge::interface::file::read(std::path::Path::new(file)).expect("the definition");
    let layouts = wholes.iter().map(|whole| {
        let sizes = Sizes { texts: 32, lists: 64, fields: Default::default() };
        import::layout(whole, &sizes).expect("a layout").parse::<Layout>().expect("a layout")
    });
    let [goal, result, feedback] = layouts.collect::<Vec<_>>().try_into().expect("three parts");
    [goal, feedback, result]
}

fn sequence(layout: &Layout, numbers: &[i32]) -> Vec<u8> {
    let mut bytes = vec![0; layout.payload().bytes];
    bytes[place(layout, "sequence_count")..][..4].copy_from_slice(&(numbers.len() as u32).to_le_bytes());
    for (index, number) in numbers.iter().enumerate() {
        bytes[place(layout, &format!("sequence.{index}"))..][..4].copy_from_slice(&number.to_le_bytes());
    }
    bytes
}

fn numbers(layout: &Layout, bytes: &[u8]) -> Vec<i32> {
    let number = |at: usize| i32::from_le_bytes(*bytes[at..].first_chunk().expect("four bytes"));
    let count = number(place(layout, "sequence_count"));
    (0..count).map(|index| number(place(layout, &format!("sequence.{index}")))).collect()
}

fn act(action: &str, file: &str) {
    let [goal, feedback, result] = fibonacci(file);
    let options = ActionOptions::default().at_once(8);
    let mut server =
        ActionServer::<Raw, Raw, Raw>::open_as(action, &goal, &feedback, &result, options).expect("a server");
    let order_at = place(&goal, "order");
    let mut sequences: std::collections::BTreeMap<GoalId, Vec<i32>> = std::collections::BTreeMap::new();
    let lines = lines();
    println!("ready");
    while lines.try_recv() != Err(std::sync::mpsc::TryRecvError::Disconnected) {
        server.wait(Duration::from_millis(10));
        server.each(|mut one| {
            let order = i32::from_le_bytes(*one.value()[order_at..].first_chunk().expect("four bytes"));
            let so_far = sequences.entry(one.id()).or_insert_with(|| vec![0, 1]);
            let id = one.id();
            if order == 0 {
                one.abort("an order of 0 has no sequence").expect("the client looks");
            } else if one.is_canceling() {
                one.canceled_with(sequence(&result, so_far)).expect("the client looks");
            } else if so_far.len() > order as usize && order <= 30 {
                one.succeed(sequence(&result, so_far)).expect("the client looks");
            } else {
                if so_far.len() <= 30 {
                    so_far.push(so_far[so_far.len() - 1].wrapping_add(so_far[so_far.len() - 2]));
                }
                return one.feedback(sequence(&feedback, so_far)).expect("it fits");
            }
            sequences.remove(&id);
        });
    }
}

fn drive(action: &str, file: &str) {
    let [goal, feedback, result] = fibonacci(file);
    let options = ActionOptions::default();
    let mut client =
        ActionClient::<Raw, Raw, Raw>::open_as(action, &goal, &feedback, &result, options).expect("a client");
    println!("ready");
    assert!(client.wait_until_served(Duration::from_secs(30)).expect("the topics"), "no server came");
    println!("begun");
    for line in std::io::stdin().lock().lines().map_while(Result::ok) {
        let (order, how) = line.split_once(' ').unwrap_or((&line, ""));
        let mut bytes = vec![0; goal.payload().bytes];
        bytes[place(&goal, "order")..][..4].copy_from_slice(&(number(order) as i32).to_le_bytes());
        let mut sent = client.send(&bytes).expect("room");
        let (mut heard, mut asked, end) = (0, None, Instant::now() + Duration::from_secs(30));
        let told = loop {
            assert!(Instant::now() < end, "nothing came of the goal");
            match sent.look(&mut client) {
                Ok(Progress::Nothing) => {
                    client.wait(Duration::from_millis(5));
                    client.check_server().expect("the topics");
                }
                Ok(Progress::Accepted) => {}
                Ok(Progress::Feedback(_)) => {
                    heard += 1;
                    if heard == 2 && how == "cancel" {
                        asked = client.cancel(sent.id()).ok();
                    } else if heard == 2 {
                        println!("runs");
                    }
                }
                Ok(Progress::Ended(outcome)) => {
                    let numbers = outcome.result.map(|bytes| numbers(&result, &bytes));
                    break format!("{} {:?} {}", outcome.status, numbers.unwrap_or_default(), outcome.reason);
                }
                Err(error) => break format!("failed {error}"),
            }
        };
        drop(asked);
        println!("result {} {told}", if heard > 1 { "heard" } else { "unheard" });
    }
}

fn map(value: u8) -> (Layout, Vec<u8>) {
    let layout = layout("nav_msgs/msg/OccupancyGrid");
    let mut bytes = vec![0; layout.payload().bytes];
    for (path, number) in [("info.width", SIDE), ("info.height", SIDE), ("data_count", SIDE * SIDE)] {
        bytes[place(&layout, path)..][..4].copy_from_slice(&(number as u32).to_le_bytes());
    }
    let data = place(&layout, "data");
    bytes[data..][..SIDE * SIDE].fill(value);
    (layout, bytes)
}

fn send_map(topic: &str, value: u8) {
    let (layout, bytes) = map(value);
    let mut publisher = Publisher::<Raw>::open_as(topic, &layout, Options::latest(2).latched()).expect("the topic");
    publisher.try_send(&bytes).expect("room");
    println!("sent");
}

fn receive_map(topic: &str, value: u8) {
    let (layout, expected) = map(value);
    println!("ready");
    let end = Instant::now() + Duration::from_secs(30);
    let options = Options::latest(2).latched();
    let mut subscriber = Subscriber::<Raw>::open_as(topic, &layout, options).expect("the topic");
    let data = place(&layout, "data");
    while Instant::now() < end {
        if let Some(received) = subscriber.recv_timeout(Duration::from_millis(100))
            && received.message[data..][..SIDE * SIDE] == expected[data..][..SIDE * SIDE]
        {
            return println!("result the map {value} came");
        }
    }
    println!("result no map came");
}

/// The lines of standard input, until it ends.
fn lines() -> std::sync::mpsc::Receiver<String> {
    let (sender, receiver) = std::sync::mpsc::channel();
    std::thread::spawn(move || {
        for line in std::io::stdin().lock().lines().map_while(Result::ok) {
            let _ = sender.send(line);
        }
    });
    receiver
}
