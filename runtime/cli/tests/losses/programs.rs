//! Programs of nodes that lose messages, each in one way: this test's own binary, started once more with the way in its environment.

use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::{Arc, Mutex};
use std::time::Instant;

use horus::prelude::*;
use horus::topic::Bytes;
use rustix::process::{Pid, Signal, kill_process};

use crate::PATIENCE;

horus::message! {
    /// A message that is a number.
    pub struct Number = "losses/Number" {
        /// It.
        number: u64,
    }
}

horus::message! {
    /// A message that is lent in its place.
    pub struct Page = "losses/Page" {
        /// Its number, everywhere.
        words: [u64; 1024],
    }
}

const WAY: &str = "LOSES";

/// A program that runs, and what it says.
pub struct Program {
    child: Child,
    said: PathBuf,
    pub topics: PathBuf,
    pub name: &'static str,
}

impl Program {
    /// Starts the program that loses messages in this way. It has the name of the way, and so has its node.
    pub fn start(way: &'static str, scratch: &Path) -> Self {
        let (said, topics) = (scratch.join(format!("{way}.said")), scratch.join("topics"));
        let file = std::fs::File::create(&said).unwrap();
        let child = Command::new(std::env::current_exe().unwrap())
            .args(["--exact", "program", "--ignored", "--nocapture"])
            .env(WAY, way)
            .env("HORUS_SHM_DIR", &topics)
            .env(horus::journal::VARIABLE, horus::journal::PRINT)
            .env_remove("HORUS_NAMESPACE")
            .env_remove("HORUS_NODE_FILE")
            .env_remove("NOTIFY_SOCKET")
            .current_dir("/")
            .stdin(Stdio::null())
            .stdout(file.try_clone().unwrap())
            .stderr(file)
            .spawn()
            .unwrap();
        Self { child, said, topics, name: way }
    }

    /// What it has said so far, its journal among it.
    pub fn text(&self) -> String {
        std::fs::read_to_string(&self.said).unwrap()
    }

    /// Waits until it says this.
    pub fn says(&self, words: &str) {
        self.until(words, || self.text().contains(words));
    }

    /// Waits until something holds.
    pub fn until(&self, what: &str, mut holds: impl FnMut() -> bool) {
        let started = Instant::now();
        while !holds() {
            assert!(started.elapsed() < PATIENCE, "{}: not '{what}', but: {}", self.name, self.text());
            std::thread::park_timeout(ms(5));
        }
    }

    pub fn signal(&self, signal: Signal) {
        kill_process(Pid::from_child(&self.child), signal).unwrap();
    }

    /// Kills it.
    pub fn kill(self) {
        self.signal(Signal::KILL);
        self.ended();
    }

    /// Lets it go on where it hangs.
    pub fn go_on(&self) {
        std::fs::write(go_on(&self.topics), "").unwrap();
    }

    /// Asks it to end, which it does well and with an account that has these words.
    pub fn accounts_for(self, words: &[&str]) {
        let name = self.name;
        self.signal(Signal::TERM);
        let (status, said) = self.ended();
        assert!(status.success(), "{status}: {said}");
        let account = said.lines().rfind(|line| line.starts_with(&format!("{name}: ")));
        let account = account.unwrap_or_else(|| panic!("{name} gives no account: {said}"));
        assert!(words.iter().all(|words| account.contains(words)), "{account}");
    }

    /// How it ended, and all that it said.
    pub fn ended(mut self) -> (ExitStatus, String) {
        let started = Instant::now();
        loop {
            if let Some(status) = self.child.try_wait().unwrap() {
                return (status, self.text());
            }
            assert!(started.elapsed() < PATIENCE, "{} does not end: {}", self.name, self.text());
            std::thread::park_timeout(ms(5));
        }
    }
}

impl Drop for Program {
    fn drop(&mut self) {
        let _ended_already = self.child.kill();
        let _ = self.child.wait();
    }
}

/// The program, which may be a publisher or a subscriber without nodes; else all of its work is in a node that has its name.
pub fn run() {
    let way = std::env::var(WAY).expect("a test starts this program");
    match way.as_str() {
        "loans" => loans(),
        "subscribes" => subscribes(),
        _ => run_nodes(&way),
    }
}

fn run_nodes(way: &str) {
    let mut app = App::new(way).unwrap();
    let ends = match way {
        "full" => sets(&mut app, way, Options::reliable(2), 1),
        "beyond" => sets(&mut app, way, Options::latest(2), 3),
        "invalid" => invalid(&mut app),
        "held" => held(&mut app),
        "panics" => panics(&mut app),
        "hangs" => hangs(&mut app),
        "dies" => dies(&mut app),
        "threads" => threads(&mut app),
        "outlives" => outlives(&mut app),
        "overwritten" => overwritten(&mut app),
        "event" => event(&mut app),
        "question" => question(&mut app),
        other => panic!("no way to lose a message: {other}"),
    };
    match app.run() {
        Ok(accounts) => accounts.iter().for_each(|account| println!("{account}")),
        Err(error) => println!("ended with: {error}"),
    }
    ends();
}

type Ending = Box<dyn FnOnce()>;

fn nothing() -> Ending {
    Box::new(|| ())
}

/// Sets so many messages in each step, and says what became of them.
fn sets(app: &mut App, name: &str, options: Options, messages: u64) -> Ending {
    let mut output = app.output_with::<Number>("t", options).unwrap();
    let step = move |_: &Cycle| {
        let set: Vec<_> = (0..messages).map(|number| output.try_set(Number { number })).collect();
        println!("set {set:?} lost {:?}", output.lost());
    };
    app.node(name, step).period(ms(20));
    nothing()
}

/// Sets bytes that the topic can carry, and bytes that it cannot.
fn invalid(app: &mut App) -> Ending {
    let mut output = app.output_as::<[u8]>("log", Bytes::up_to(8), Options::default()).unwrap();
    let step = move |_: &Cycle| {
        let set = ["just fit", "does not fit"].map(|line| output.try_set(line));
        println!("set {set:?} lost {:?}", output.lost());
    };
    app.node("invalid", step).period(ms(20));
    nothing()
}

fn panics(app: &mut App) -> Ending {
    let mut output = app.output_with::<Number>("numbers", Options::reliable(8)).unwrap();
    let step = move |_: &Cycle| {
        let set = output.try_set(Number { number: 1 });
        panic!("a wheel came off, {set:?}");
    };
    app.node("panics", step).period(ms(20));
    nothing()
}

/// Hangs in its third step or a later one until it is told to go on, which is when the monitor has taken its place.
struct Hanging(Output<CmdVel>);

impl Node for Hanging {
    fn step(&mut self, cycle: &Cycle) {
        let _ = self.0.try_set(CmdVel { forward: 1.0, turn: 0.0 });
        if cycle.number >= 2 {
            println!("its step does not return");
            while !go_on(&topics()).exists() {
                std::thread::park_timeout(ms(5));
            }
        }
    }

    fn safe_state(&mut self, _: &Cycle) {
        let _ = self.0.try_set(CmdVel::STOP);
        println!("lost {:?}", self.0.lost());
    }
}

fn hangs(app: &mut App) -> Ending {
    let node = Hanging(app.output("t").unwrap());
    app.node("hangs", node).period(ms(20)).on_miss(SafeState::after(1000).within(1000));
    nothing()
}

/// The file by which a program that hangs is told to go on.
fn go_on(topics: &Path) -> PathBuf {
    topics.with_file_name("go-on")
}

fn topics() -> PathBuf {
    std::env::var_os("HORUS_SHM_DIR").expect("the directory of topics").into()
}

/// Sets a message in its first step, and never returns from that.
struct Dying(Output<Number>);

impl Node for Dying {
    fn step(&mut self, _: &Cycle) {
        println!("set {:?}", self.0.try_set(Number { number: 1 }));
        loop {
            std::thread::park();
        }
    }

    fn safe_state(&mut self, _: &Cycle) {
        let _ = self.0.try_set(Number { number: 0 });
    }
}

fn dies(app: &mut App) -> Ending {
    let node = Dying(app.output_with("t", Options::reliable(8)).unwrap());
    app.node("dies", node).period(ms(20)).on_miss(SafeState::after(1000).within(1000));
    nothing()
}

/// Sets a large message in each step.
fn held(app: &mut App) -> Ending {
    let mut output = app.output_with::<Page>("pages", Options::latest(1)).unwrap();
    let step = move |_: &Cycle| {
        let set = output.try_set(Page { words: [1; 1024] });
        println!("set {set:?}, lost full: {}", output.lost().full > 0);
    };
    app.node("held", step).period(ms(20));
    nothing()
}

/// Publishes a message, and half of the next one.
fn loans() {
    let mut publisher = Publisher::<Page>::open("t", Options::reliable(4)).unwrap();
    publisher.try_send(Page { words: [1; 1024] }).unwrap();
    let mut loan = publisher.loan().unwrap();
    loan.words[..512].fill(2);
    println!("half of it is there");
    loop {
        std::thread::park();
    }
}

/// Subscribes, and never reads.
fn subscribes() {
    let _subscriber = Subscriber::<Number>::open("t", Options::reliable(2)).unwrap();
    println!("subscribed");
    loop {
        std::thread::park();
    }
}

/// Another thread sets messages without a pause, so that one comes while the executor publishes.
fn threads(app: &mut App) -> Ending {
    let mut output = app.output_with::<Page>("t", Options::latest(4)).unwrap();
    app.node("threads", |_: &Cycle| {}).period(ms(1));
    std::thread::spawn(move || {
        let message = Page { words: [7; 1024] };
        let (mut outside, mut told) = (0, false);
        loop {
            outside += u64::from(output.try_set(message) == horus::port::Set::Outside);
            if outside > 0 && !told {
                told = true;
                println!("set Outside, lost {}", output.lost().outside > 0);
            }
        }
    });
    nothing()
}

/// Keeps an output for longer than the program runs.
fn outlives(app: &mut App) -> Ending {
    let output = Arc::new(Mutex::new(app.output_with::<Number>("t", Options::latest(8)).unwrap()));
    let lent = Arc::clone(&output);
    let step = move |cycle: &Cycle| {
        let _ = lent.lock().unwrap().try_set(Number { number: cycle.number });
    };
    app.node("outlives", step).period(ms(20));
    app.releases(3);
    Box::new(move || {
        let mut output = output.lock().unwrap();
        println!("set {:?} lost {:?}", output.try_set(Number { number: 9 }), output.lost());
    })
}

/// Reads, and says what it missed.
fn overwritten(app: &mut App) -> Ending {
    let mut input = app.input_with::<Number>("t", Options::latest(4)).unwrap();
    let step = move |_: &Cycle| {
        let read = input.messages().count();
        println!("read {read} missed {}", input.missed());
    };
    app.node("overwritten", step).period(ms(500));
    nothing()
}

/// Is released by messages, and says which each release gave it.
fn event(app: &mut App) -> Ending {
    let mut input = app.input_with::<Number>("t", Options::latest(4)).unwrap();
    let step = move |_: &Cycle| {
        let numbers: Vec<_> = input.messages().map(|message| message.number).collect();
        println!("read {numbers:?} missed {}", input.missed());
    };
    app.node("event", step).on("t").min_inter_arrival(ms(200)).deadline(ms(200));
    nothing()
}

/// Asks twice in a step where one question has room, and reads the answers late.
fn question(app: &mut App) -> Ending {
    let mut question = app.output_with::<Number>("question", Options::latest(1)).unwrap();
    let mut answer = app.input_with::<Number>("answer", Options::latest(4)).unwrap();
    let step = move |_: &Cycle| {
        let set: Vec<_> = (0..2).map(|number| question.try_set(Number { number })).collect();
        let read = answer.messages().count();
        println!("set {set:?} beyond {} read {read} missed {}", question.lost().beyond, answer.missed());
    };
    app.node("question", step).period(ms(200));
    nothing()
}
