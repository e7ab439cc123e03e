//! What HORUS is to reach, and what it reached: ratios to the floor and to its rivals.

use crate::cell::{Cell, ONE_WAY, Path};
use crate::floor::TOLERANCE;
use crate::report::{Report, markdown};

/// Which figure of a cell.
type Field = fn(&Cell) -> Option<f64>;

const P50: Field = |cell| cell.p50_ns;
const P999: Field = |cell| cell.p999_ns;
const RATE: Field = |cell| cell.per_second;

/// Which cells: path, bytes, system, message and unit.
#[derive(Clone, Copy)]
struct Which<'a>(Path, usize, &'a str, Option<&'a str>, &'a str);

/// HORUS between processes.
const fn horus(bytes: usize) -> Which<'static> {
    Which(Path::Process1To1, bytes, "horus", None, ONE_WAY)
}

/// All cells of a run.
struct Cells<'a>(Vec<(&'a str, &'a Cell)>);

impl Cells<'_> {
    /// Cells with one publisher and one subscriber that have the figure; loops of others are no comparison.
    fn fits(&self, Which(path, bytes, system, message, unit): Which, field: Field) -> Vec<(&str, &Cell)> {
        let fits = |(_, cell): &&(&str, &Cell)| {
            let heading = &cell.heading;
            heading.loop_of.is_none()
                && field(cell).is_some()
                && (heading.path, heading.bytes, heading.system.as_str()) == (path, bytes, system)
                && (heading.message.as_deref(), heading.unit.as_str()) == (message, unit)
                && (heading.publishers, heading.subscribers) == (1, 1)
        };
        self.0.iter().filter(fits).copied().collect()
    }

    /// The figure, divided by the cell's floor or not. Several programs measure the same: the one that is about it goes
    /// first, then the one with the steadier floor.
    fn figure(&self, which: Which, field: Field, over_floor: bool) -> Option<f64> {
        let moved = |cell: &Cell| (cell.floor_before_ns - cell.floor_after_ns).abs() / cell.floor_ns();
        let rank = |(program, cell): &(&str, &Cell)| (*program != "cross_process_benchmark", moved(cell));
        let best = self
            .fits(which, field)
            .into_iter()
            .min_by(|one, other| rank(one).partial_cmp(&rank(other)).unwrap_or(std::cmp::Ordering::Equal));
        let (_, cell) = best?;
        Some(field(cell)? / if over_floor { cell.floor_ns() } else { 1.0 })
    }

    /// One figure divided by another's, of the two cells whose floors differ least: with different floors they were
    /// measured on two machines, so to say. `None` if those differ by more than the floors of one cell may.
    fn against(&self, own: Which, other: Which, field: Field) -> Option<f64> {
        let (own, others) = (self.fits(own, field), self.fits(other, field));
        let apart =
            |one: &Cell, other: &Cell| (one.floor_ns() - other.floor_ns()).abs() / one.floor_ns().min(other.floor_ns());
        let pairs = own.iter().flat_map(|(_, one)| others.iter().map(move |(_, other)| (*one, *other)));
        let (one, other) = pairs.min_by(|a, b| apart(a.0, a.1).total_cmp(&apart(b.0, b.1)))?;
        (apart(one, other) <= TOLERANCE).then_some(field(one)? / field(other)?)
    }
}

/// A figure, its comparison with the target, and what was measured.
struct Target(String, Option<Goal>, Option<f64>);

enum Goal {
    AtMost(f64),
    AtLeast(f64),
}

/// The targets as a Markdown table.
pub fn table(reports: &[Report]) -> String {
    let cells = reports.iter().flat_map(|report| report.cells.iter().map(|cell| (report.benchmark.as_str(), cell)));
    let row = |Target(figure, goal, measured): Target| {
        let (target, met) = match goal {
            None => ("-".to_owned(), None),
            Some(Goal::AtMost(most)) => (format!("<= {most}"), measured.map(|measured| measured <= most)),
            Some(Goal::AtLeast(least)) => (format!(">= {least}"), measured.map(|measured| measured >= least)),
        };
        let verdict = match (measured, met) {
            (None, _) => "not measured",
            (_, None) => "for comparison",
            (_, Some(true)) => "met",
            (_, Some(false)) => "**missed**",
        };
        let shown = measured.map_or_else(|| "-".to_owned(), |measured| format!("{measured:.2}"));
        vec![figure, verdict.to_owned(), target, shown]
    };
    let rows: Vec<_> = targets(&Cells(cells.collect())).into_iter().map(row).collect();
    markdown(&["figure", "", "target", "measured"], 2, &rows)
}

fn targets(cells: &Cells) -> Vec<Target> {
    use Goal::{AtLeast, AtMost};
    use Path::{Process1To1, SameThread, Thread1To1};
    let mut targets = Vec::new();
    let mut add = |figure: String, goal, measured| targets.push(Target(figure, goal, measured));
    for (figure, field, most) in [("p50", P50, 1.05), ("p99.9", P999, 2.0)] {
        let measured = cells.figure(horus(16), field, true);
        add(format!("process-1:1, 16 B, {figure} / floor"), Some(AtMost(most)), measured);
    }
    for path in [Thread1To1, Process1To1] {
        for (bytes, most) in [(304, 1.4), (1480, 1.9)] {
            let measured = cells.figure(Which(path, bytes, "horus", None, ONE_WAY), P50, true);
            add(format!("{}, {bytes} B, p50 / floor", path.name()), Some(AtMost(most)), measured);
        }
    }
    for (bytes, lines) in [(16, 1), (304, 5), (1480, 24), (65536, 1024)] {
        let alone = Which(Thread1To1, lines * 64, "lines each way", None, ONE_WAY);
        let figure = format!("process-1:1, {bytes} B, p50 / nothing but {lines} cache lines each way");
        add(figure, None, cells.against(horus(bytes), alone, P50));
    }
    let in_place = Which(Process1To1, 65536, "horus", Some("in place"), ONE_WAY);
    let figure = "process-1:1, 64 KiB in place, header touched, p50 / floor".to_owned();
    add(figure, Some(AtMost(1.3)), cells.figure(in_place, P50, true));
    let one_thread = Which(SameThread, 16, "horus", None, "send + receive");
    let figure = "same thread, 16 B, send + receive, ns".to_owned();
    add(figure, Some(AtMost(12.0)), cells.figure(one_thread, P50, false));
    for bytes in [16, 304, 1480] {
        // The target is HORUS between processes, also where the rival only knows threads.
        for (path, rival, least) in
            [(Process1To1, "aeron-ipc", 1.0), (Thread1To1, "rtrb", 1.0), (Process1To1, "iceoryx2", 10.0)]
        {
            let measured = cells.against(horus(bytes), Which(path, bytes, rival, None, ONE_WAY), RATE);
            add(format!("process-1:1, {bytes} B, messages a second / {rival}'s"), Some(AtLeast(least)), measured);
        }
    }
    let asleep = |system| Which(Thread1To1, 16, system, Some("asleep"), ONE_WAY);
    let wake = cells.against(asleep("horus"), asleep("raw futex"), P50);
    add("wake-up of a sleeper between threads, p50 / raw futex".to_owned(), Some(AtMost(1.1)), wake);
    targets
}
