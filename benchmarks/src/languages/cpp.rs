//! The table of C and C++ beside Rust, and what follows from it by the original's names.

use std::path::Path;

use serde::Deserialize;

use super::{holds, median, rows};
use crate::report::{markdown, nanoseconds, rate};
use crate::transport::Failure;

/// A row of `languages_benchmark` and of `cpp_benchmark`, which ran in turns.
#[derive(Deserialize)]
struct Timed {
    what: String,
    median_ns: f64,
}

/// What the original HORUS publishes for a figure, in ns: its own documents say so (README of softmata/horus).
#[derive(Clone, Copy)]
struct Original {
    shown: &'static str,
    /// The fastest that it names.
    ns: f64,
}

/// What C++ may cost in ns, and what the original pays.
const CPP: [(&str, Option<f64>, Original); 5] = [
    ("call of the library", Some(3.0), Original { shown: "15 to 17", ns: 15.0 }),
    // The original's cheapest call that looks at something: `is_running` reads an atomic.
    ("an empty look", None, Original { shown: "16 to 17", ns: 16.0 }),
    ("tick of 1 node", Some(60.0), Original { shown: "250", ns: 250.0 }),
    ("tick of 10 nodes", Some(400.0), Original { shown: "2200", ns: 2200.0 }),
    ("tick of 50 nodes", Some(2000.0), Original { shown: "11 000", ns: 11_000.0 }),
];
/// What sending and receiving in C may cost at most, as a multiple of Rust's.
const C_OVER_RUST: f64 = 1.3;
const SEND_AND_RECEIVE: &str = "send and receive 16 B";

/// One language's figures: of each row the median of all rounds.
struct Figures(Vec<(String, f64)>);

impl Figures {
    fn read(directory: &Path, name: &str) -> Result<Self, Failure> {
        let mut of: Vec<(String, Vec<f64>)> = Vec::new();
        for Timed { what, median_ns } in rows(directory, name)? {
            match of.iter_mut().find(|(known, _)| *known == what) {
                Some((_, values)) => values.push(median_ns),
                None => of.push((what, vec![median_ns])),
            }
        }
        Ok(Self(of.into_iter().filter_map(|(what, values)| Some((what, median(values)?))).collect()))
    }

    fn of(&self, what: &str) -> Option<f64> {
        self.0.iter().find(|(known, _)| known == what).map(|(_, figure)| *figure)
    }
}

fn or_dash(figure: Option<f64>, show: impl FnOnce(f64) -> String) -> String {
    figure.map_or_else(|| "-".to_owned(), show)
}

/// How many times as much the original pays.
fn times(original: f64, own: f64) -> String {
    let ratio = original / own;
    if ratio < 9.95 { format!("{ratio:.1}") } else { format!("{ratio:.0}") }
}

/// The table of one directory.
pub fn table(directory: &Path) -> Result<String, Failure> {
    let rust = Figures::read(directory, "rust.csv")?;
    let own = Figures::read(directory, "cpp.csv")?;
    // Runs before this program was there have no such file.
    let c = if directory.join("c.csv").exists() { Figures::read(directory, "c.csv")? } else { Figures(Vec::new()) };
    let row = |(what, cpp): &(String, f64)| {
        let (cpp, rust, c) = (*cpp, rust.of(what), c.of(what));
        let known = CPP.iter().find(|(name, ..)| name == what);
        let (most, holds) = match known.and_then(|(_, most, _)| *most) {
            Some(most) => (nanoseconds(most), holds(cpp, most)),
            None if what == SEND_AND_RECEIVE => {
                // The promise is about C; a run without it tells what C++ makes of it.
                let judged = or_dash(rust, |rust| holds(c.unwrap_or(cpp), C_OVER_RUST * rust));
                (format!("{C_OVER_RUST} × Rust"), judged)
            }
            None => Default::default(),
        };
        let original = known.map(|(.., original)| *original);
        let over = |figure: Option<f64>| {
            or_dash(figure.zip(rust).map(|(own, rust)| own / rust), |ratio| format!("{ratio:.2}"))
        };
        let (shown, times) =
            original.map_or_else(Default::default, |original| (original.shown.to_owned(), times(original.ns, cpp)));
        let figures = [or_dash(c, nanoseconds), nanoseconds(cpp), or_dash(rust, nanoseconds), over(c), over(Some(cpp))];
        [what.clone()].into_iter().chain(figures).chain([shown, times, most, holds]).collect()
    };
    let head =
        ["ns", "C", "C++", "Rust", "C / Rust", "C++ / Rust", "original HORUS", "original / C++", "at most", "holds"];
    let mut text = markdown(&head, 1, &own.0.iter().map(row).collect::<Vec<_>>());
    if let Some(tick) = own.of("tick of 1 node") {
        text += &format!("\nThroughput and scalability, by the original's names.\n\n{}", throughput(&own, tick));
    }
    Ok(text)
}

/// What follows from the ticks, with what the original says of its own: its tables "Throughput" and "Scalability".
fn throughput(own: &Figures, tick: f64) -> String {
    const ORIGINAL_TICK_NS: f64 = 350.0;
    let line = |name: String, own: String, original: &str, times: String| vec![name, own, original.to_owned(), times];
    let mut lines = vec![
        line("Ticks/second (1 node)".to_owned(), rate(1e9 / tick), "2.8 M", times(ORIGINAL_TICK_NS, tick)),
        line("Time per tick, ns".to_owned(), nanoseconds(tick), "350", times(ORIGINAL_TICK_NS, tick)),
        line(
            "CPU overhead at 1 kHz, % of a core".to_owned(),
            format!("{:.4}", tick * 1e3 / 1e9 * 100.0),
            "0.035",
            times(ORIGINAL_TICK_NS, tick),
        ),
    ];
    for (nodes, what, each) in
        [(1.0, "tick of 1 node", 250.0), (10.0, "tick of 10 nodes", 220.0), (50.0, "tick of 50 nodes", 220.0)]
    {
        let Some(own) = own.of(what).map(|all| all / nodes) else { continue };
        lines.push(line(
            format!("Per-Node Cost of {nodes}, ns"),
            nanoseconds(own),
            &nanoseconds(each),
            times(each, own),
        ));
    }
    markdown(&["", "C++", "original HORUS", "times as good"], 1, &lines)
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::super::tests::{directory, plain};
    use super::*;

    #[test]
    fn what_is_beyond_its_limit_is_said_with_by_how_much() {
        let head = "round,what,median_ns,fastest_ns\n";
        let files = [
            ("rust.csv", format!("{head}0,send and receive 16 B,10,9\n1,send and receive 16 B,12,9\n")),
            (
                "cpp.csv",
                format!(
                    "{head}0,send and receive 16 B,24,9\n1,send and receive 16 B,20,9\n0,call of the library,2.5,2\n"
                ),
            ),
        ];
        let directory = directory(&files.each_ref().map(|(name, text)| (*name, text.as_str())));
        let shown = plain(table(directory.path()));
        assert!(
            shown.contains("| send and receive 16 B | - | 24.0 | 12.0 | - | 2.00 | | | 1.3 × Rust | no: 1.54 times |"),
            "{shown}"
        );
        assert!(
            shown.contains("| call of the library | - | 2.5 | - | - | - | 15 to 17 | 6.0 | 3.0 | yes |"),
            "{shown}"
        );
        let c = format!("{head}0,send and receive 16 B,15,9\n");
        fs::write(directory.path().join("c.csv"), c).unwrap();
        let shown = plain(table(directory.path()));
        assert!(
            shown.contains("| send and receive 16 B | 15.0 | 24.0 | 12.0 | 1.25 | 2.00 | | | 1.3 × Rust | yes |"),
            "{shown}"
        );
    }

    #[test]
    fn what_follows_from_a_tick_stands_beside_what_the_original_says() {
        let head = "what,median_ns,fastest_ns\n";
        let own = format!("{head}tick of 1 node,50,40\ntick of 10 nodes,440,400\n");
        let directory = directory(&[("rust.csv", head), ("cpp.csv", &own)]);
        let shown = plain(table(directory.path()));
        for line in [
            "| Ticks/second (1 node) | 20.00 M | 2.8 M | 7.0 |",
            "| CPU overhead at 1 kHz, % of a core | 0.0050 | 0.035 | 7.0 |",
            "| Per-Node Cost of 10, ns | 44.0 | 220 | 5.0 |",
        ] {
            assert!(shown.contains(line), "{line}: {shown}");
        }
    }
}
