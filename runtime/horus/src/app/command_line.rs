//! What a program of nodes understands on its command line.

use std::ffi::OsString;
use std::os::unix::ffi::OsStringExt;
use std::process::ExitCode;

use horus_shm::directory::Scope;

use super::{App, build};

const HELP: &str = "\
Options of every program of nodes:
  --describe       print its nodes as JSON, and do not run them
  --releases N     end after N releases of each node
  --strict         do not start unless the system grants all that the nodes ask for
  --help           print this

Its settings are in node.toml: the file that $HORUS_NODE_FILE names, or the one in the current folder.";

/// `main` of a program of nodes; [`main!`](crate::main!) calls it.
pub fn main(name: &str, declare: impl FnOnce(&mut App) -> crate::Result) -> ExitCode {
    let run = || match Wishes::read(arguments(), |option| Err(unknown(option)))? {
        Wishes { wants_help: true, .. } => {
            println!("{HELP}");
            Ok(())
        }
        wishes => {
            let mut app = wishes.app(name)?;
            declare(&mut app)?;
            finish(app)
        }
    };
    match run() {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            complain(name, &error);
            ExitCode::FAILURE
        }
    }
}

/// Says why a program ended.
pub fn complain(name: &str, error: &dyn std::fmt::Display) {
    eprintln!("{name}: {error}");
}

/// A program without nodes that is started as [`main`] starts it, for who declares them elsewhere than in a function. What the
/// command line has beside the options of every program is the program's own.
///
/// # Errors
/// Those of [`App::new`], and what is wrong with an option.
pub fn start(name: &str) -> crate::Result<App> {
    start_with(name, arguments())
}

/// As [`start`], with the command line that an interpreter's program was given.
///
/// # Errors
/// As there.
pub fn start_with(name: &str, arguments: impl IntoIterator<Item = OsString>) -> crate::Result<App> {
    Wishes::read(arguments, |_own| Ok(()))?.app(name)
}

/// Runs a program as [`main`] does, and prints the accounts of its nodes; or prints what they are, with `--describe`.
///
/// # Errors
/// As [`App::run`].
pub fn finish(mut app: App) -> crate::Result {
    if let Some(_scratch) = app.described_in.take() {
        return describe(app);
    }
    for account in app.run()? {
        println!("{account}");
    }
    Ok(())
}

/// Prints what a program's nodes are.
fn describe(app: App) -> crate::Result {
    Scope::end_all();
    println!("{}", serde_json::to_string_pretty(&build(app)?.info)?);
    Ok(())
}

/// Prints what a program's nodes are and ends the process, if that is what was asked for: in a program that was written without [`main`],
/// it is not known what comes after its nodes.
pub(super) fn describe_if_asked(mut app: App) -> crate::Result<App> {
    let Some(scratch) = app.described_in.take() else { return Ok(app) };
    describe(app)?;
    drop(scratch);
    std::process::exit(0)
}

/// Whether this process was asked what its nodes are, in whatever way it reads its command line.
pub(super) fn is_asked_to_describe() -> bool {
    arguments().any(|argument| argument == "--describe")
}

/// A program whose topics are elsewhere, so that nothing of a running one is touched.
pub(super) fn described(name: &str) -> crate::Result<App> {
    let scratch = crate::world::Scratch::new()?;
    Scope::stay(scratch.path()); // what nodes open by themselves is there, too
    let mut app = App::in_virtual_time(scratch.path().to_owned(), super::Settings::find(name)?);
    app.name = name.to_owned();
    app.described_in = Some(scratch);
    Ok(app)
}

/// The command line after the program's name.
fn arguments() -> impl Iterator<Item = OsString> {
    let mut all: Vec<_> = std::env::args_os().collect();
    if all.is_empty() {
        // Rust knows them where its own `main` runs, and with glibc. In a static program of C or C++ with musl only the kernel tells.
        let raw = std::fs::read("/proc/self/cmdline").unwrap_or_default();
        let words = raw.strip_suffix(&[0]).unwrap_or(&raw).split(|byte| *byte == 0);
        all = words.map(|word| OsString::from_vec(word.to_owned())).collect();
    }
    all.into_iter().skip(1)
}

fn unknown(option: &str) -> crate::Error {
    crate::Error::new(format!("there is no option '{option}': --help names them"))
}

/// What the command line asks for.
#[derive(Default)]
struct Wishes {
    releases: Option<u64>,
    is_strict: bool,
    describes: bool,
    wants_help: bool,
}

impl Wishes {
    fn read(
        arguments: impl IntoIterator<Item = OsString>,
        other: impl Fn(&str) -> crate::Result,
    ) -> crate::Result<Self> {
        let (mut wishes, mut arguments) = (Self::default(), arguments.into_iter());
        while let Some(argument) = arguments.next() {
            match argument.to_string_lossy().as_ref() {
                "--describe" => wishes.describes = true,
                "--strict" => wishes.is_strict = true,
                "--releases" => {
                    let number = arguments.next().unwrap_or_default().to_string_lossy().into_owned();
                    let wrong = |_| crate::Error::new(format!("--releases takes a number, and not '{number}'"));
                    wishes.releases = Some(number.parse().map_err(wrong)?);
                }
                "--help" | "-h" => wishes.wants_help = true,
                option => other(option)?,
            }
        }
        Ok(wishes)
    }

    /// The program's beginning.
    fn app(&self, name: &str) -> crate::Result<App> {
        if self.describes {
            return described(name);
        }
        let mut app = App::new(name)?;
        app.releases = self.releases;
        app.is_strict |= self.is_strict;
        Ok(app)
    }
}
