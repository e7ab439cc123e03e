//! What the way topic, `horus bridge zenoh`, TCP on the loopback, `horus bridge zenoh`, topic costs beside a put and a subscription of
//! plain Zenoh with the same payload and the same settings: `cargo bench --bench beside_zenoh -- --quick`.
//!
//! Sender and receiver are two processes. The load is open: a message has a time at which it is meant to be sent, and its latency
//! counts from there, whichever side is late. Unpaced, the receiver says how far it is, to both systems alike. Systems take
//! turns. Raw data go to the file of `--csv`; a table with ratios is printed.

mod process;
mod receiver;

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use clap::Parser;
use horus::topic::{Bytes, Options as Topic, Publisher, Subscriber};
use horus_bridge::zenoh::{Links, open};
use horus_sys::clock::monotonic_ns;
use process::{Running, cpu_ticks};
use receiver::{Seen, number_at};
use zenoh::Wait;

/// Command line.
#[derive(Parser)]
struct Options {
    /// A tenth of the messages
    #[arg(long)]
    quick: bool,
    /// How often everything is measured, in turn
    #[arg(long, default_value_t = 3)]
    runs: u32,
    /// Only figures and systems whose name has this in it, such as 64k or eager; plain Zenoh is always measured
    #[arg(long, default_value = "")]
    only: String,
    /// Where the raw data go
    #[arg(long)]
    csv: Option<PathBuf>,
    /// Where Zenoh listens; the next port is used, too
    #[arg(long, default_value_t = 17447)]
    port: u16,
    /// What this process is for its owner: zenoh or topic
    #[arg(long, hide = true)]
    role: Option<String>,
    #[arg(long, hide = true, default_value = "")]
    place: String,
    #[arg(long, hide = true, default_value_t = 0)]
    count: u64,
    #[arg(long, hide = true, default_value_t = 0)]
    bytes: usize,
    #[arg(long, hide = true)]
    back: Option<PathBuf>,
    /// Said by cargo
    #[arg(long, hide = true)]
    bench: bool,
}

/// A figure: its name, bytes of a message, messages a second (0: as fast as it goes), messages in all.
const FIGURES: [(&str, usize, u64, u64); 6] = [
    ("96 B at 200/s", 96, 200, 4_000),
    ("96 B at 10k/s", 96, 10_000, 200_000),
    ("96 B unpaced", 96, 0, 1_000_000),
    ("64k at 200/s", 65_536, 200, 4_000),
    ("64k at 1k/s", 65_536, 1_000, 20_000),
    ("64k unpaced", 65_536, 0, 20_000),
];
/// Plain Zenoh, the bridge as it is, and a bridge that looks at its topics all the time.
const SYSTEMS: [(&str, Option<u32>); 3] = [("zenoh", None), ("bridge", Some(1_000)), ("bridge, eager", Some(0))];
const KEY: &str = "benchmark/plain";
const CAPACITY: usize = 1024;
/// Unpaced, so many messages are on their way at most: the receiver says how far it is, every so many messages, by a topic.
const WINDOW: u64 = 512;
const SAID_EVERY: u64 = 32;
const BACK: &str = "came";
/// Nothing came for so long: it is over, though messages are missing.
const SILENCE: Duration = Duration::from_secs(3);
/// Nothing waits longer for anything.
const PATIENCE: Duration = Duration::from_secs(60);
/// Number and intended time.
const HEAD: usize = 16;

fn main() -> Result<(), String> {
    let options = Options::parse();
    // Sleeping is exact to the microsecond instead of fifty of them; threads inherit it.
    let _ = std::fs::write("/proc/self/timerslack_ns", "1");
    match options.role.as_deref() {
        Some("zenoh") => receiver::receive_by_zenoh(&options),
        Some(_) => receiver::receive_by_topic(&options),
        None => measure(&options),
    }
}

fn measure(options: &Options) -> Result<(), String> {
    let mut csv = String::from(
        "figure,system,run,bytes,rate,sent,received,wrong,p50_ns,p99_ns,max_ns,per_second,cpu_us_a_message\n",
    );
    let mut all: Vec<(usize, usize, Seen, f64)> = Vec::new();
    for run in 0..options.runs {
        for (figure, &(name, bytes, rate, count)) in FIGURES.iter().enumerate() {
            for (system, &(title, look)) in SYSTEMS.iter().enumerate() {
                // Plain Zenoh is what the others are compared with.
                if system != 0 && !format!("{name} {title}").contains(&options.only) {
                    continue;
                }
                let count = if options.quick { count / 10 } else { count };
                let (seen, cpu_us) = cell(options, look, bytes, rate, count)?;
                let Seen { received, wrong, p50_ns, p99_ns, max_ns, per_second } = seen;
                csv += &format!(
                    "{name},\"{title}\",{run},{bytes},{rate},{count},{received},{wrong},{p50_ns},{p99_ns},{max_ns},{per_second:.0},{cpu_us:.2}\n"
                );
                if wrong > 0 || received == 0 {
                    return Err(format!(
                        "{name}, {title}: {received} messages came, and {wrong} of them are not what was sent"
                    ));
                }
                all.push((figure, system, seen, cpu_us));
            }
        }
    }
    if let Some(path) = &options.csv {
        std::fs::write(path, csv).map_err(|error| format!("{}: {error}", path.display()))?;
    }
    print(&all);
    Ok(())
}

/// The median of all runs, and how it stands to plain Zenoh's.
fn print(all: &[(usize, usize, Seen, f64)]) {
    println!(
        "{:16} {:14} {:>9} {:>6} {:>9} {:>6} {:>11} {:>6} {:>8} {:>6}",
        "", "", "P50 us", "x", "P99 us", "x", "1/s", "x", "CPU us", "x"
    );
    for (figure, (name, ..)) in FIGURES.iter().enumerate() {
        let of = |system: usize, what: fn(&Seen, f64) -> f64| {
            let mut found: Vec<_> =
                all.iter().filter(|row| (row.0, row.1) == (figure, system)).map(|row| what(&row.2, row.3)).collect();
            found.sort_by(f64::total_cmp);
            found.get(found.len() / 2).copied()
        };
        for (system, (title, _)) in SYSTEMS.iter().enumerate() {
            let columns: [fn(&Seen, f64) -> f64; 4] = [
                |seen, _| seen.p50_ns as f64 / 1e3,
                |seen, _| seen.p99_ns as f64 / 1e3,
                |seen, _| seen.per_second,
                |_, cpu| cpu,
            ];
            let cells: Option<Vec<_>> =
                columns.iter().map(|what| Some((of(system, *what)?, of(system, *what)? / of(0, *what)?))).collect();
            let Some(cells) = cells else { continue };
            print!("{name:16} {title:14}");
            for ((value, ratio), width) in cells.iter().zip([9, 9, 11, 8]) {
                print!(" {value:>width$.1} {ratio:>6.2}");
            }
            println!();
        }
    }
    println!("Unpaced, {WINDOW} messages are on their way at most, and the times are those of a queue.");
}

/// One figure of one system; with the CPU time of all its processes, microseconds a message that came.
fn cell(options: &Options, look: Option<u32>, bytes: usize, rate: u64, count: u64) -> Result<(Seen, f64), String> {
    let scratch = tempfile::tempdir_in("/dev/shm").map_err(|error| error.to_string())?;
    let [near, far, back] = ["near", "far", "back"].map(|name| scratch.path().join(name));
    let (first, second) = (format!("tcp/127.0.0.1:{}", options.port), format!("tcp/127.0.0.1:{}", options.port + 1));
    let role = if look.is_some() { "topic" } else { "zenoh" };
    let mut receiver = Running::start(
        Command::new(std::env::current_exe().map_err(|error| error.to_string())?)
            .args(["--role", role, "--place", if look.is_some() { path(&far)? } else { &first }])
            .args(["--count", &count.to_string()])
            .args(["--bytes", &bytes.to_string(), "--back", path(&back)?]),
    )?;
    receiver.expect("ready")?;
    let mut came = Subscriber::<[u8]>::open_as(BACK, Bytes::up_to(8), Topic::latest(2).directory(&back))
        .map_err(|error| error.to_string())?;
    let mut others = Vec::new();
    if let Some(look) = look {
        for (name, topics, link, route) in [
            ("near", &near, format!("listen = [\"{second}\"]"), "share = [\"benchmark\"]"),
            ("far", &far, format!("connect = [\"{second}\"]"), "take = [\"near/benchmark=benchmark\"]"),
        ] {
            let settings = scratch.path().join(format!("{name}.toml"));
            let text = format!("name = \"{name}\"\n{link}\n{route}\nlook_every_us = {look}\n");
            std::fs::write(&settings, text).map_err(|error| error.to_string())?;
            let mut command = Command::new(env!("CARGO_BIN_EXE_horus-bridge"));
            command.args(["zenoh", "--config", path(&settings)?]).env("HORUS_SHM_DIR", topics).stderr(Stdio::null());
            others.push(Running::start(&mut command)?);
        }
    }
    let own = cpu_ticks("self");
    if look.is_some() {
        let topic = Topic::reliable(CAPACITY).directory(&near);
        let mut publisher =
            Publisher::<[u8]>::open_as("benchmark", Bytes::up_to(bytes), &topic).map_err(|error| error.to_string())?;
        load(&mut receiver, &mut came, (bytes, rate, count), |message| {
            publisher.try_send(message).map_err(|error| error.to_string())
        })?;
    } else {
        let session = open(&Links { connect: vec![first], listen: Vec::new(), is_client: false })?;
        let publisher = session.declare_publisher(KEY).congestion_control(zenoh::qos::CongestionControl::Block).wait();
        let publisher = publisher.map_err(|error| error.to_string())?;
        load(&mut receiver, &mut came, (bytes, rate, count), |message| {
            publisher.put(message.to_vec()).wait().map_err(|error| error.to_string())
        })?;
    }
    let seen = Seen::read(&receiver.expect("result")?).ok_or("the receiver said nothing")?;
    let ticks = cpu_ticks("self") - own + receiver.ticks() + others.iter().map(Running::ticks).sum::<u64>();
    // A tick is a hundredth of a second.
    Ok((seen, ticks as f64 * 1e4 / seen.received.max(1) as f64))
}

/// Sends message 0 until the receiver has one, then all others at their times.
fn load(
    receiver: &mut Running,
    came: &mut Subscriber<[u8]>,
    (bytes, rate, count): (usize, u64, u64),
    mut send: impl FnMut(&[u8]) -> Result<(), String>,
) -> Result<(), String> {
    let mut message = vec![0_u8; bytes];
    let end = Instant::now() + PATIENCE;
    while !receiver.has_said("matched") {
        send(&message)?;
        std::thread::park_timeout(Duration::from_millis(20));
        if Instant::now() > end {
            return Err("nothing comes through".to_owned());
        }
    }
    let start = monotonic_ns() + 1_000_000;
    let mut taken = 0;
    for number in 1..=count {
        while rate == 0 && number > taken + WINDOW {
            match came.recv_timeout(PATIENCE) {
                Some(number) => taken = number_at(number.message, 0),
                None => return Err(format!("the receiver stopped at message {taken}")),
            }
        }
        // Unpaced, a message is meant to be sent when it is.
        let due = (number * 1_000_000_000).checked_div(rate).map_or_else(monotonic_ns, |after| start + after);
        message[..8].copy_from_slice(&number.to_le_bytes());
        message[8..HEAD].copy_from_slice(&due.to_le_bytes());
        message[HEAD..].fill(number as u8);
        while let Some(left) = due.checked_sub(monotonic_ns()).filter(|left| *left > 0) {
            std::thread::park_timeout(Duration::from_nanos(left));
        }
        send(&message)?;
    }
    Ok(())
}

fn path(path: &Path) -> Result<&str, String> {
    path.to_str().ok_or_else(|| format!("{} is no text", path.display()))
}
