//! Tables of what the gateway costs, beside its bounds and beside others: made of the files that `gateway_benchmark --out` leaves in a
//! run's `gateway/`.
//!
//! Ratios are taken within one repetition, whose systems ran one after the other, and the median of all repetitions is shown.

use std::fs;
use std::path::Path;

use serde::Deserialize;

use crate::report::{markdown, nanoseconds, rate};
use crate::transport::Failure;

/// A table of one directory.
type Table = fn(&Rows) -> String;

/// Every table: its name in documents, its title, and how it is made.
pub const TABLES: [(&str, &str, Table); 3] = [
    ("gateway", "What was promised", verdicts),
    ("gateway-rivals", "From a sender to a receiver", rivals),
    ("gateway-steps", "Single steps", steps),
];

/// Where a run keeps these files.
pub const FOLDER: &str = "gateway";
/// Its rows.
pub const CSV: &str = "gateway.csv";
/// What they were measured on, in one line that begins with the date.
pub const MACHINE: &str = "machine.txt";
/// How the line of a quick run ends: its figures only show whether it works.
pub const QUICK: &str = "; --quick";
/// Who writes these files.
const WRITER: &str = "gateway_benchmark --out in benchmarks/compare writes it";

/// Names of figures, in the rows and here.
pub mod figure {
    /// A robot's usual pace.
    pub const SLOW: &str = "96 B at 200/s";
    /// The same, with a process in the middle that never sleeps.
    pub const POLLING: &str = "96 B at 200/s, busy-polling";
    /// Paces that are faster.
    pub const FASTER: [&str; 2] = ["96 B at 10k/s", "96 B at 100k/s"];
    /// As fast as it goes, one by one.
    pub const UNPACED: &str = "96 B unpaced";
    /// Faster than most brokers go.
    pub const TENS: &str = "96 B by tens at 2M/s";
    /// As fast as it goes, ten at a time.
    pub const UNPACED_TENS: &str = "96 B by tens, unpaced";
    /// A crowd of clients.
    pub const CROWD: &str = "1000 clients, 96 B at 20/s";
    /// One message thrown back and forth.
    pub const PING_PONG: &str = "96 B ping-pong, one hop";
    /// Steps: pushed, popped, written, read, encoded, decoded, and encoded and decoded by tens.
    pub const STEPS: [&str; 8] = [
        "ring push, 64 B",
        "ring pop, 64 B",
        "log write, 64 B",
        "log read, 64 B",
        "encode a frame, 64 B",
        "decode a frame, 64 B",
        "encode a batch of 10 x 64 B",
        "decode a batch of 10 x 64 B",
    ];
}

/// Names of systems, in the rows and here.
pub mod system {
    /// The gateway.
    pub const GATEWAY: &str = "horus-gateway";
    /// What only copies bytes.
    pub const RELAY: &str = "tcp-relay";
    /// Redis.
    pub const REDIS: &str = "redis";
    /// The gateway with a client that does not read, and one that sends garbage.
    pub const TROUBLED: &str = "with slow, garbage";
}

/// A row of `gateway_benchmark`.
#[derive(Clone, Debug, Default, Deserialize)]
struct Row {
    figure: String,
    system: String,
    run: u32,
    lost: Option<u64>,
    twice: Option<u64>,
    out_of_order: Option<u64>,
    wrong: Option<u64>,
    delivered_per_s: Option<f64>,
    p50_ns: Option<f64>,
    p99_ns: Option<f64>,
    memory_bytes: Option<f64>,
    memory_bound_bytes: Option<f64>,
}

/// All rows of a directory.
pub struct Rows(Vec<Row>);

/// Which column.
type Field = fn(&Row) -> Option<f64>;
const P50: Field = |row| row.p50_ns;
const P99: Field = |row| row.p99_ns;
const RATE: Field = |row| row.delivered_per_s;

/// The whole `table.md` of a directory.
pub fn of_run(directory: &Path) -> Result<String, Failure> {
    let machine = read(directory, MACHINE)?;
    let rows = rows(directory)?;
    let mut text = format!(
        "# What the gateway costs\n\n{}\n\nMade of the files beside this one by `cargo run --bin tables`.\n",
        machine.trim()
    );
    for (_, title, table) in TABLES {
        text += &format!("\n## {title}\n\n{}", table(&rows));
    }
    Ok(text)
}

/// A table for a document, with what it was measured on. That of a quick run is for no document.
pub fn of_document(table: Table, directory: &Path) -> Result<String, Failure> {
    let machine = read(directory, MACHINE)?;
    let machine = machine.trim();
    if machine.ends_with(QUICK) {
        return Err(format!("{} is of a quick run; run gateway_benchmark without --quick", directory.display()).into());
    }
    Ok(format!("{}\nMeasured on {machine}.\n", table(&rows(directory)?)))
}

fn read(directory: &Path, name: &str) -> Result<String, Failure> {
    let path = directory.join(name);
    fs::read_to_string(&path).map_err(|error| format!("cannot read {}: {error}; {WRITER}", path.display()).into())
}

fn rows(directory: &Path) -> Result<Rows, Failure> {
    let text = read(directory, CSV)?;
    let rows = csv::Reader::from_reader(text.as_bytes()).into_deserialize().collect::<Result<_, _>>();
    Ok(Rows(rows.map_err(|error| format!("{}: {error}", directory.join(CSV).display()))?))
}

/// The middle one; of two middle ones, the larger.
fn median(mut values: Vec<f64>) -> Option<f64> {
    values.sort_by(f64::total_cmp);
    values.get(values.len() / 2).copied()
}

impl Rows {
    fn of<'a>(&'a self, figure: &'a str, system: &'a str) -> impl Iterator<Item = &'a Row> {
        self.0.iter().filter(move |row| row.figure == figure && row.system == system)
    }

    /// The median of all repetitions.
    fn figure(&self, figure: &str, system: &str, field: Field) -> Option<f64> {
        median(self.of(figure, system).filter_map(field).collect())
    }

    /// How many times another system's figure it is.
    fn times(&self, figure: &str, own: &str, other: &str, field: Field) -> Option<f64> {
        let ratio = |row: &Row| {
            let beside = self.of(figure, other).find(|beside| beside.run == row.run)?;
            Some(field(row)? / field(beside)?)
        };
        median(self.of(figure, own).filter_map(ratio).collect())
    }

    /// Messages that did not arrive once, whole and in order.
    fn faults(&self, figure: &str, system: &str) -> u64 {
        let faults = |row: &Row| [row.lost, row.twice, row.out_of_order, row.wrong].into_iter().flatten().sum::<u64>();
        self.of(figure, system).map(faults).sum()
    }
}

/// What is promised of a figure.
#[derive(Clone, Copy)]
enum Promise {
    AtMost(f64),
    AtLeast(f64),
}

impl Promise {
    fn text(self, show: impl Fn(f64) -> String) -> String {
        match self {
            Self::AtMost(limit) => format!("at most {}", show(limit)),
            Self::AtLeast(limit) => format!("at least {}", show(limit)),
        }
    }

    /// Whether it is kept, or by how much not.
    fn holds(self, figure: Option<f64>) -> String {
        let Some(figure) = figure else { return "not measured".to_owned() };
        if let (Self::AtMost(0.0), 0.0) = (self, figure) {
            return "yes".to_owned();
        }
        let times = match self {
            Self::AtMost(limit) => figure / limit,
            Self::AtLeast(limit) => limit / figure,
        };
        match times {
            ..=1.0 => "yes".to_owned(),
            // Of what there should be nothing.
            f64::INFINITY => "no".to_owned(),
            times => format!("no: {times:.2} times"),
        }
    }
}

fn verdicts(rows: &Rows) -> String {
    use Promise::{AtLeast, AtMost};
    use figure::{CROWD, POLLING, SLOW, STEPS, UNPACED_TENS};
    use system::{GATEWAY, REDIS, RELAY, TROUBLED};
    let ratio = |figure: f64| format!("{figure:.2}");
    let mut table = Vec::new();
    let mut line = |what: &str, figure: Option<f64>, promise: Promise, show: &dyn Fn(f64) -> String| {
        let shown = figure.map_or_else(|| "-".to_owned(), show);
        table.push(vec![what.to_owned(), shown, promise.text(show), promise.holds(figure)]);
    };
    let beside_relay = |figure, field| rows.times(figure, GATEWAY, RELAY, field);
    line("96 B at 200/s: p50 / the relay's", beside_relay(SLOW, P50), AtMost(1.15), &ratio);
    line("96 B at 200/s: p99 / the relay's", beside_relay(SLOW, P99), AtMost(2.0), &ratio);
    line("the same, both busy-polling: p50 / the relay's", beside_relay(POLLING, P50), AtMost(1.05), &ratio);
    line("96 B by tens, unpaced: a second", rows.figure(UNPACED_TENS, GATEWAY, RATE), AtLeast(2e6), &rate);
    let beside_redis = rows.times(UNPACED_TENS, GATEWAY, REDIS, RATE);
    line("96 B by tens, unpaced: rate / Redis's", beside_redis, AtLeast(5.0), &ratio);
    let is_sent = rows.of(UNPACED_TENS, GATEWAY).next().is_some();
    let faults = is_sent.then(|| rows.faults(UNPACED_TENS, GATEWAY) as f64);
    line("96 B by tens, unpaced: lost, twice, wrong", faults, AtMost(0.0), &|count| format!("{count:.0}"));
    let [_, _, write, read, encode, decode, ..] = STEPS;
    for (step, limit) in [(write, 20.0), (read, 10.0), (encode, 12.0), (decode, 8.0)] {
        line(&format!("{step}: ns"), rows.figure(step, GATEWAY, P50), AtMost(limit), &nanoseconds);
    }
    let crowd = |row: &Row| {
        let quiet = rows.of(CROWD, GATEWAY).find(|quiet| quiet.run == row.run)?;
        Some(row.p99_ns? / quiet.p99_ns?)
    };
    let crowd = median(rows.of(CROWD, TROUBLED).filter_map(crowd).collect());
    line("1000 clients, one slow, one garbage: p99 / undisturbed", crowd, AtMost(1.5), &ratio);
    let memory = |row: &Row| Some(row.memory_bytes? / row.memory_bound_bytes?);
    let memory = rows.of(CROWD, TROUBLED).filter_map(memory).max_by(f64::total_cmp);
    line("the gateway's memory meanwhile / what its settings allow", memory, AtMost(1.0), &ratio);
    markdown(&["figure, same run", "measured", "promised", "holds"], 1, &table)
}

fn rivals(rows: &Rows) -> String {
    let [fast, faster] = figure::FASTER;
    let mut systems: Vec<&str> = Vec::new();
    for row in rows.0.iter().filter(|row| row.figure == figure::SLOW || row.figure == figure::UNPACED) {
        if !systems.contains(&row.system.as_str()) {
            systems.push(&row.system);
        }
    }
    let microseconds = |ns: f64| format!("{:.1}", ns / 1e3);
    let row = |system: &&str| {
        let show = |name: &str, field: Field, show: &dyn Fn(f64) -> String| {
            rows.figure(name, system, field).map_or_else(|| "-".to_owned(), show)
        };
        let mut line = vec![(*system).to_owned()];
        for name in [figure::SLOW, fast, faster] {
            line.extend([show(name, P50, &microseconds), show(name, P99, &microseconds)]);
        }
        line.extend([figure::UNPACED, figure::UNPACED_TENS].map(|name| show(name, RATE, &rate)));
        let paced = [figure::SLOW, fast, faster, figure::UNPACED, figure::UNPACED_TENS];
        line.push(paced.iter().map(|name| rows.faults(name, system)).sum::<u64>().to_string());
        line
    };
    let head =
        ["µs", "200/s p50", "p99", "10k/s p50", "p99", "100k/s p50", "p99", "unpaced, a second", "by tens", "lost"];
    let mut text = markdown(&head, 1, &systems.iter().map(row).collect::<Vec<_>>());
    let hop = rows.0.iter().filter(|row| row.figure == figure::PING_PONG).filter_map(P50).collect();
    if let Some(hop) = median(hop) {
        text += &format!("\nOne hop of a message of 96 B, thrown back and forth by TCP: {} µs.\n", microseconds(hop));
    }
    for (name, system) in [("The relay", system::RELAY), ("The gateway", system::GATEWAY)] {
        if let Some(p50) = rows.figure(figure::POLLING, system, P50) {
            text += &format!("{name}, busy-polling on a CPU of its own, at 200/s: {} µs.\n", microseconds(p50));
        }
    }
    text
}

/// Names of Hermes' steps, what its own document says that they cost in ns, and ours.
const HERMES: [(&str, &str); 8] = [
    ("ring buffer push", "3.52"),
    ("ring buffer pop", "~0"),
    ("mmap storage write", "48.08"),
    ("mmap storage read", "~0"),
    ("encode", "52.64"),
    ("decode", "0.19"),
    ("batch of 10, encode", "469.10"),
    ("batch of 10, decode", "-"),
];

fn steps(rows: &Rows) -> String {
    let row = |((name, document), step): (&(&str, &str), &&str)| {
        let ours = |field| rows.figure(step, system::GATEWAY, field).map_or_else(|| "-".to_owned(), nanoseconds);
        vec![(*name).to_owned(), (*document).to_owned(), (*step).to_owned(), ours(P50), ours(P99)]
    };
    let table: Vec<_> = HERMES.iter().zip(&figure::STEPS).map(row).collect();
    let text = markdown(&["Hermes' name", "its document, ns", "here", "p50, ns", "p99, ns"], 1, &table);
    text + "\nHere every byte of a message is written or read, and what is logged or framed has a checksum. Hermes' document \
            measured pop, read and decode without looking at the message.\n"
}

#[cfg(test)]
mod tests {
    use super::*;

    const HEAD: &str = "figure,system,run,lost,twice,out_of_order,wrong,delivered_per_s,p50_ns,p99_ns,memory_bytes,memory_bound_bytes\n";

    fn directory(rows: &str) -> tempfile::TempDir {
        let directory = tempfile::tempdir().unwrap();
        fs::write(directory.path().join(CSV), format!("{HEAD}{rows}")).unwrap();
        fs::write(directory.path().join(MACHINE), "2026-11-24T05:00:00Z: a machine\n").unwrap();
        directory
    }

    /// Without the blanks that align columns.
    fn plain(text: &str) -> String {
        text.split_whitespace().collect::<Vec<_>>().join(" ")
    }

    #[test]
    fn ratios_are_of_one_repetition_and_the_median_of_all_is_judged() {
        let rows = "96 B at 200/s,tcp-relay,1,0,0,0,0,200,10000,20000,,\n\
            96 B at 200/s,horus-gateway,1,0,0,0,0,200,11000,50000,,\n\
            96 B at 200/s,tcp-relay,2,0,0,0,0,200,20000,20000,,\n\
            96 B at 200/s,horus-gateway,2,0,0,0,0,200,22000,50000,,\n\
            96 B at 200/s,tcp-relay,3,0,0,0,0,200,10000,20000,,\n\
            96 B at 200/s,horus-gateway,3,0,0,0,0,200,30000,50000,,\n";
        let text = plain(&of_run(directory(rows).path()).unwrap());
        assert!(text.contains("| 96 B at 200/s: p50 / the relay's | 1.10 | at most 1.15 | yes |"), "{text}");
        assert!(text.contains("| 96 B at 200/s: p99 / the relay's | 2.50 | at most 2.00 | no: 1.25 times |"), "{text}");
        assert!(
            text.contains("| the same, both busy-polling: p50 / the relay's | - | at most 1.05 | not measured |"),
            "{text}"
        );
        assert!(text.contains("| horus-gateway | 22.0 | 50.0 |"), "{text}");
    }

    #[test]
    fn a_lost_message_and_a_slow_rate_and_too_much_memory_are_said() {
        let rows = "\"96 B by tens, unpaced\",horus-gateway,1,3,0,0,0,1000000,,,,\n\
            \"96 B by tens, unpaced\",redis,1,0,0,0,0,100000,,,,\n\
            \"1000 clients, 96 B at 20/s\",horus-gateway,1,0,0,0,0,1,1000,2000,5,100\n\
            \"1000 clients, 96 B at 20/s\",\"with slow, garbage\",1,0,0,0,0,1,1000,2500,150,100\n";
        let text = plain(&of_run(directory(rows).path()).unwrap());
        for line in [
            "unpaced: a second | 1.00 M | at least 2.00 M | no: 2.00 times |",
            "rate / Redis's | 10.00 | at least 5.00 | yes |",
            "unpaced: lost, twice, wrong | 3 | at most 0 | no |",
            "one garbage: p99 / undisturbed | 1.25 | at most 1.50 | yes |",
            "what its settings allow | 1.50 | at most 1.00 | no: 1.50 times |",
        ] {
            assert!(text.contains(line), "{line} in {text}");
        }
    }

    #[test]
    fn a_document_says_what_was_measured_on_and_takes_no_quick_run() {
        let folder = tempfile::tempdir().unwrap();
        let of = |machine: &str| {
            fs::write(folder.path().join(MACHINE), machine).unwrap();
            fs::write(folder.path().join(CSV), HEAD).unwrap();
            of_document(verdicts, folder.path()).map_err(|error| error.to_string())
        };
        assert!(of("2026-02-01T00:00:00Z: x\n").unwrap().ends_with("Measured on 2026-02-01T00:00:00Z: x.\n"));
        assert!(of("2026-03-01T00:00:00Z: x; --quick").unwrap_err().contains("without --quick"));
        assert!(of_document(verdicts, Path::new("/nowhere")).unwrap_err().to_string().contains(WRITER));
    }
}
