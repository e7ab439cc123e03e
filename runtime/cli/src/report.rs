//! `horus report`: prints a report file as text.

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use horus_evidence::measure::machine;
use horus_evidence::record::destination::{DEFAULT_DIRECTORY, RAM_DIRECTORY};
use horus_evidence::record::history::{History, Merged};
use horus_evidence::record::load::{LoadError, load};
use horus_evidence::record::schema::Report;
use horus_evidence::report::compare;
use horus_evidence::report::newest::{Newest, Run, newest};
use horus_evidence::view::text::line;
use horus_evidence::view::{history, html, junit, openmetrics, standing};

use crate::{blame, output};

/// Command line of `horus report`.
#[derive(clap::Args)]
#[command(args_conflicts_with_subcommands = true)]
pub struct Args {
    #[command(subcommand)]
    command: Option<Command>,
    /// The report file [default: the newest report of this machine]
    file: Option<PathBuf>,
    /// Show the newest report of this directory, instead of this machine's
    #[arg(long, value_name = "DIR", conflicts_with = "file")]
    from: Option<PathBuf>,
    #[command(flatten)]
    format: Format,
}

/// How a report is printed, where not as text.
#[derive(clap::Args)]
#[group(multiple = false)]
struct Format {
    /// Print the file's JSON, indented, once it has proved to be a whole report
    #[arg(long)]
    json: bool,
    /// Print one self-contained page of HTML, with charts
    #[arg(long)]
    html: bool,
    /// Print JUnit XML: phases and audit rules as test cases
    #[arg(long)]
    junit: bool,
    /// Print the figures in OpenMetrics' text format
    #[arg(long)]
    openmetrics: bool,
}

impl Format {
    /// Whether a program reads it, so that nothing else may stand in it.
    fn is_any(&self) -> bool {
        self.json || self.html || self.junit || self.openmetrics
    }
}

/// What else can be done with reports.
#[derive(clap::Subcommand)]
enum Command {
    /// Tell in one sentence whether the tail changed between two reports, or between two folders of reports.
    Compare {
        /// A report file, or a folder of reports: how it was
        a: PathBuf,
        /// The same: how it is
        b: PathBuf,
    },
}

/// Runs the command.
pub fn run(args: &Args) -> ExitCode {
    if let Some(Command::Compare { a, b }) = &args.command {
        return run_compare(a, b);
    }
    let (found, notice) = match choose(args) {
        Ok(found) => found,
        Err(error) => {
            eprintln!("horus report: {error}");
            if args.file.is_none() {
                eprintln!("horus report: {}", Run::of_this_boot().sentence());
            }
            return ExitCode::FAILURE;
        }
    };
    let kept = kept(args);
    let together = kept.of_report(&found.report);
    if args.format.is_any() {
        notice.iter().for_each(|notice| eprintln!("horus report: {notice}"));
    }
    let watch = watch(args, &found.report);
    let text = match &args.format {
        Format { json: true, .. } => json(&found.report, watch.as_ref()),
        Format { html: true, .. } => {
            let culprits = blame::of_boot(&found.report.boot_id);
            html::render(&found.report, &kept, together.as_ref(), watch.as_ref(), &culprits)
        }
        Format { junit: true, .. } => junit::render(&found.report),
        Format { openmetrics: true, .. } => openmetrics::render(&found.report, together.as_ref(), watch.as_ref()),
        _ => {
            let notice = notice.map(|notice| format!("{notice}\n\n")).unwrap_or_default();
            let mut screen = history::screen(&found.report, together.as_ref());
            if let Some(watch) = &watch {
                screen.push('\n');
                line(&mut screen, "watch", &standing::sentence(watch));
                screen.truncate(screen.trim_end().len());
            }
            output::lines(&format!("{notice}{screen}\n file       {}\n", found.path.display()))
        }
    };
    output::print("horus report", &text)
}

fn run_compare(a: &Path, b: &Path) -> ExitCode {
    let compared = compare::read(a).and_then(|a| compare::compare(&a, &compare::read(b)?));
    match compared {
        Ok(comparison) => output::print("horus report", &output::lines(&format!("{}\n", comparison.render()))),
        Err(error) => {
            eprintln!("horus report: {error}");
            ExitCode::FAILURE
        }
    }
}

/// What the watch found of the system of `report`, on this machine or beside the reports.
fn watch(args: &Args, report: &Report) -> Option<Merged> {
    let reports = match (&args.from, &args.file) {
        (Some(directory), _) => directory,
        (None, None) => Path::new(DEFAULT_DIRECTORY),
        (None, Some(_)) => return None,
    };
    standing::of_report(report, &standing::directory(reports))
}

/// The report's JSON, with what the watch found under a key of its own.
fn json(report: &Report, watch: Option<&Merged>) -> String {
    let mut value = serde_json::to_value(report).expect("a report that was read can be written");
    if let Some(watch) = watch {
        value["watch"] = standing::json(watch);
    }
    serde_json::to_string_pretty(&value).expect("a value can be written") + "\n"
}

/// What is kept beside the report, or on this machine; nothing for a file that the user named.
fn kept(args: &Args) -> History {
    let directories: Vec<&Path> = match (&args.from, &args.file) {
        (Some(directory), _) => vec![directory],
        (None, None) => vec![Path::new(RAM_DIRECTORY), Path::new(DEFAULT_DIRECTORY)],
        (None, Some(_)) => return History::default(),
    };
    History::read(&directories, &machine::boot_id(Path::new("/")))
}

/// The report to show, and what to say above it: a file that the user named needs no comment.
fn choose(args: &Args) -> Result<(Newest, Option<String>), LoadError> {
    if let Some(path) = args.file.clone() {
        return load(&path).map(|report| (Newest { report, path, is_of_this_boot: true }, None));
    }
    let boot_id = machine::boot_id(Path::new("/"));
    let found = match &args.from {
        Some(directory) => newest(&[directory], &boot_id)?,
        None => newest(&[Path::new(RAM_DIRECTORY), Path::new(DEFAULT_DIRECTORY)], &boot_id)?,
    };
    let notice = if found.is_of_this_boot { None } else { found.notice(&Run::of_this_boot()) };
    Ok((found, notice))
}
