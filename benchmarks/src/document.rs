//! Documents that are made of results: a run's `table.md`, and tables between markers in documents that people write.
//!
//! A marker names a table and the results that it is made of, relative to the repository:
//! `<!-- generated: messages, benchmarks/results/<run> -->`. Everything up to `<!-- end generated -->` is replaced.

use std::path::Path as File;

use crate::cell::{BUSY, Cell, Heading, Path};
use crate::host::Host;
use crate::report::{Report, markdown, nanoseconds, rate, remarks, table};
use crate::transport::Failure;
use crate::{gateway, languages, results, targets};

/// Floors that differ by more than this factor are of two placements of the CPUs: siblings of one core, or two cores.
const ANOTHER_PLACEMENT: f64 = 1.5;

/// The whole `table.md` of a run.
pub fn of_run(reports: &[Report]) -> Result<String, Failure> {
    let host = &reports.first().ok_or("no report")?.host;
    let mut cells: Vec<&Cell> = reports.iter().flat_map(|report| &report.cells).collect();
    cells.sort_by_key(|cell| {
        let heading = &cell.heading;
        let ends = (heading.publishers, heading.subscribers);
        (heading.path, heading.kind(), heading.bytes, ends, heading.system != "horus", heading.system.clone())
    });
    let quick = if host.quick { "; --quick" } else { "" };
    Ok(format!(
        "# Benchmarks on {}, {}\n\n{}, {}, {} CPUs online, CPUs {} used, governor {}, clock {}, load before {};\n\
         kernel {}; commit {}{quick}.\n\n\
         Times are nanoseconds, one way unless the message column says otherwise; busy waiting unless it says asleep. The\n\
         floor is one cache line between the same two CPUs. Made of the files beside this one by `cargo run --bin tables`.\n\n\
         {}\n## Targets\n\nWhere two systems are compared, it is at the nearest floors; \"not measured\" where those differ by \
         more than 15 %.\n\n{}\n## Remarks\n\n{}",
        host.host,
        host.date,
        host.kind(),
        host.cpu_model,
        host.cpus_online,
        host.cpus,
        host.governor,
        host.clock_source,
        host.load,
        host.kernel,
        host.commit,
        table(&cells),
        targets::table(reports),
        remarks(reports),
    ))
}

/// Fills in every generated part of a document; also says how many there are.
pub fn fill(document: &str, repository: &File) -> Result<(String, usize), Failure> {
    const START: &str = "<!-- generated: ";
    const END: &str = "<!-- end generated -->";
    let (mut filled, mut rest, mut count) = (String::new(), document, 0);
    while let Some((before, after)) = rest.split_once(START) {
        let (marker, after) = after.split_once(" -->\n").ok_or("a marker has no end: close it with ' -->'")?;
        let (_, after) = after.split_once(END).ok_or_else(|| format!("'{marker}' has no '{END}' below it"))?;
        let (name, directory) =
            marker.split_once(", ").ok_or("a marker needs a table's name, a comma and a directory")?;
        let text = table_of(name, &repository.join(directory))?;
        filled += &format!("{before}{START}{marker} -->\n{text}{END}");
        (rest, count) = (after, count + 1);
    }
    Ok((filled + rest, count))
}

/// Tables that hold all of one program's results.
const PROGRAMS: [(&str, &str); 2] = [("services", "service_benchmark"), ("transforms", "transform_benchmark")];

fn table_of(name: &str, directory: &File) -> Result<String, Failure> {
    if let Some((.., table)) = languages::TABLES.iter().find(|(language, ..)| *language == name) {
        return table(directory);
    }
    if let Some((.., table)) = gateway::TABLES.iter().find(|(of_gateway, ..)| *of_gateway == name) {
        return gateway::of_document(*table, directory);
    }
    let mut reports = results::read(directory)?;
    if let Some((_, program)) = PROGRAMS.iter().find(|(of_program, _)| *of_program == name) {
        return Ok(of_program(&reports, program));
    }
    // Those were measured on another day, and are no part of a table of messages.
    reports.retain(|report| PROGRAMS.iter().all(|(_, program)| report.benchmark != *program));
    match name {
        "messages" => Ok(messages(&reports)),
        "lines" => Ok(lines(&reports)),
        "ticks" => Ok(ticks(&reports)),
        _ => {
            let known = "messages, lines, ticks, services, transforms, cpp, python, csharp, gateway, gateway-rivals and gateway-steps";
            Err(format!("no table is called '{name}': there are {known}").into())
        }
    }
}

/// HORUS and its rivals from process to process, beside nothing but the cache lines; what is left out is said below.
fn messages(reports: &[Report]) -> String {
    let one_way = |cell: &&Cell| {
        cell.heading.is_busy_crossing()
            && cell.p50_ns.is_some()
            && matches!(cell.heading.path, Path::Process1To1 | Path::Thread1To1)
    };
    let cells: Vec<&Cell> = reports.iter().flat_map(|report| &report.cells).filter(one_way).collect();
    let mut floors: Vec<f64> = cells.iter().map(|cell| cell.floor_ns()).collect();
    floors.sort_by(f64::total_cmp);
    let usual = floors.get(floors.len() / 2).copied().unwrap_or_default();
    let is_here = |cell: &&Cell| (usual / ANOTHER_PLACEMENT..=usual * ANOTHER_PLACEMENT).contains(&cell.floor_ns());
    let of = |path: Path, system: &str, bytes: usize| -> Vec<&Cell> {
        let fits = |cell: &&Cell| {
            let heading = &cell.heading;
            (heading.path, heading.system.as_str(), heading.bytes, &heading.message) == (path, system, bytes, &None)
                && cell.steady
                && is_here(cell)
        };
        cells.iter().copied().filter(fits).collect()
    };
    const SYSTEMS: [(&str, &str); 5] =
        [("horus", "HORUS"), ("aeron-ipc", "Aeron IPC"), ("iceoryx2", "iceoryx2"), ("pipe", "pipe"), ("udp", "UDP")];
    let mut rows: Vec<Vec<String>> = Vec::new();
    for (what, bytes, lines) in
        [("16 B (velocities)", 16, 1), ("304 B (IMU)", 304, 5), ("1480 B (laser scan)", 1480, 24)]
    {
        let mut row = vec![what.to_owned(), times(&of(Path::Thread1To1, "lines each way", lines * 64))];
        row.extend(SYSTEMS.iter().map(|(system, _)| bold(system, times(&of(Path::Process1To1, system, bytes)))));
        rows.push(row);
    }
    let rates = SYSTEMS.iter().map(|(system, _)| {
        let rates = of(Path::Process1To1, system, 16).iter().filter_map(|cell| cell.per_second).collect();
        bold(system, range(rates, rate))
    });
    rows.push(["16 B, messages a second".to_owned(), "-".to_owned()].into_iter().chain(rates).collect());
    let head: Vec<_> = ["", "nothing but the cache lines"].into_iter().chain(SYSTEMS.map(|(_, name)| name)).collect();

    let shown = cells.iter().filter(|cell| is_here(cell)).map(|cell| cell.floor_ns()).collect();
    let mut text = markdown(&head, 1, &rows);
    text += &format!(
        "\nMedian one way in ns, and how many times the floor that is; the floor, one cache line, took {} ns.\n",
        range(shown, |ns| format!("{ns:.0}"))
    );
    let elsewhere = named(cells.iter().filter(|cell| cell.steady && !is_here(cell)));
    let mixed = named(cells.iter().filter(|cell| !cell.steady));
    for (title, left_out) in [
        ("At another floor, so on another placement of the CPUs", elsewhere),
        ("On two placements within one cell, so not to be compared", mixed),
    ] {
        if !left_out.is_empty() {
            text += &format!("{title}: {left_out}.\n");
        }
    }
    text
}

/// Cells with their medians and floors, for a sentence.
fn named<'a>(cells: impl Iterator<Item = &'a &'a Cell>) -> String {
    let name = |cell: &&Cell| {
        let Cell { heading, p50_ns, .. } = cell;
        let what = heading.message.as_deref().unwrap_or(&heading.system);
        let (median, floor) = (nanoseconds(p50_ns.unwrap_or_default()), nanoseconds(cell.floor_ns()));
        format!("{what} {} B {} {median} (floor {floor})", heading.bytes, heading.path.name())
    };
    cells.map(name).collect::<Vec<_>>().join(", ")
}

/// What the machine needs for a message's cache lines, and for copying as many bytes within one CPU's caches.
fn lines(reports: &[Report]) -> String {
    let cells = reports.iter().flat_map(|report| &report.cells);
    let wanted = cells.filter(|cell| {
        ["cache line", "lines each way", "bare ring", "memcpy", "clock"].contains(&cell.heading.system.as_str())
    });
    let row = |cell: &Cell| {
        let Cell { heading: Heading { system, bytes, .. }, p50_ns, p999_ns, .. } = cell;
        let time = |ns: &Option<f64>| ns.map_or_else(|| "-".to_owned(), nanoseconds);
        vec![system.clone(), bytes.to_string(), nanoseconds(cell.floor_ns()), time(p50_ns), time(p999_ns)]
    };
    markdown(&["what", "bytes", "floor", "p50", "p99.9"], 1, &wanted.map(row).collect::<Vec<_>>())
}

/// What a node's tick costs, what a node's process costs, and what several runs of a node say together.
fn ticks(reports: &[Report]) -> String {
    const PROGRAMS: [&str; 2] = ["scheduler_benchmark", "determinism_benchmark"];
    let reports: Vec<_> = reports.iter().filter(|report| PROGRAMS.contains(&report.benchmark.as_str())).collect();
    let timed = reports.iter().flat_map(|report| &report.cells).filter(|cell| cell.heading.path == Path::SameThread);
    let row = |cell: &Cell| {
        let Cell { heading, p50_ns, p99_ns, .. } = cell;
        let time = |ns: &Option<f64>| ns.map_or_else(|| "-".to_owned(), nanoseconds);
        let floor = format!("{}{}", if cell.steady { "" } else { "*" }, nanoseconds(cell.floor_ns()));
        vec![heading.system.clone(), heading.kind(), floor, time(p50_ns), time(p99_ns)]
    };
    let table = markdown(&["system", "what", "floor", "p50", "p99"], 2, &timed.map(row).collect::<Vec<_>>());
    let sentences = reports.iter().flat_map(|report| &report.summary).map(|sentence| format!("- {sentence}\n"));
    let notes = reports.iter().flat_map(|report| &report.cells).filter(|cell| cell.heading.path == Path::Process1To1);
    let notes = notes.filter_map(|cell| Some(format!("- A node with three topics {}.\n", cell.heading.note.as_ref()?)));
    format!("{table}\n{}{}", sentences.collect::<String>(), notes.collect::<String>())
}

/// All cells of one program, and what it says of them; one sentence where it was not measured on this machine yet.
fn of_program(reports: &[Report], program: &str) -> String {
    let Some(report) = reports.iter().find(|report| report.benchmark == program) else {
        return format!("Not measured yet: `{program} --out DIR` measures it.\n");
    };
    let row = |cell: &Cell| {
        let Cell { heading, p50_ns, p99_ns, .. } = cell;
        let time = |ns: &Option<f64>| ns.map_or_else(|| "-".to_owned(), nanoseconds);
        let what = if heading.wait == BUSY { heading.kind() } else { heading.wait.clone() };
        vec![heading.system.clone(), what, nanoseconds(cell.floor_ns()), time(p50_ns), time(p99_ns)]
    };
    let rows: Vec<_> = report.cells.iter().map(row).collect();
    let sentences: String = report.summary.iter().map(|sentence| format!("- {sentence}\n")).collect();
    let Host { date, cpu_model, commit, .. } = &report.host;
    let table = markdown(&["system", "what", "floor", "p50", "p99"], 2, &rows);
    format!("{table}\n{sentences}- {}, {cpu_model}, {date}, commit {commit}.\n", report.host.kind())
}

/// Medians and their ratios to the floor: `150 to 166 (1.3 to 1.6 ×)`.
fn times(cells: &[&Cell]) -> String {
    let medians = cells.iter().filter_map(|cell| cell.p50_ns).collect();
    let ratios = cells.iter().filter_map(|cell| cell.p50_over_floor).collect();
    match range(medians, nanoseconds) {
        none if none == "-" => none,
        medians => format!("{medians} ({} ×)", range(ratios, |ratio| format!("{ratio:.1}"))),
    }
}

fn bold(system: &str, text: String) -> String {
    if system == "horus" && text != "-" { format!("**{text}**") } else { text }
}

/// The smallest and the largest; `-` of none.
fn range(mut values: Vec<f64>, show: impl Fn(f64) -> String) -> String {
    values.sort_by(f64::total_cmp);
    let (Some(first), Some(last)) = (values.first(), values.last()) else { return "-".to_owned() };
    let (first, last) = (show(*first), show(*last));
    if first == last { first } else { format!("{first} to {last}") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_marker_that_cannot_be_filled_is_an_error_that_says_what_to_do() {
        for (document, remedy) in [
            ("<!-- generated: messages, nowhere -->\n<!-- end generated -->", "name a directory"),
            ("<!-- generated: messages, nowhere -->\n", "has no '<!-- end generated -->'"),
            ("<!-- generated: messages -->\n<!-- end generated -->", "a comma and a directory"),
        ] {
            let error = fill(document, File::new("/nowhere")).unwrap_err().to_string();
            assert!(error.contains(remedy), "{error}");
        }
        assert_eq!(fill("no marker", File::new("/")).unwrap(), ("no marker".to_owned(), 0));
    }

    #[test]
    fn a_range_of_one_value_is_that_value() {
        assert_eq!(range(vec![3.0, 1.0], |value| format!("{value}")), "1 to 3");
        assert_eq!(range(vec![1.04, 1.0], |value| format!("{value:.1}")), "1.0");
        assert_eq!(range(Vec::new(), nanoseconds), "-");
    }
}
