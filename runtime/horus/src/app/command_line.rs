//! What a program of nodes understands on its command line.

use std::process::ExitCode;

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
    match run(name, declare) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("{name}: {error}");
            ExitCode::FAILURE
        }
    }
}

fn run(name: &str, declare: impl FnOnce(&mut App) -> crate::Result) -> crate::Result {
    let mut arguments = std::env::args().skip(1);
    let (mut releases, mut is_strict, mut describes) = (None, false, false);
    while let Some(argument) = arguments.next() {
        match argument.as_str() {
            "--describe" => describes = true,
            "--strict" => is_strict = true,
            "--releases" => {
                let number = arguments.next().unwrap_or_default();
                let wrong = |_| crate::Error::new(format!("--releases takes a number, and not '{number}'"));
                releases = Some(number.parse().map_err(wrong)?);
            }
            "--help" | "-h" => {
                println!("{HELP}");
                return Ok(());
            }
            other => return Err(crate::Error::new(format!("there is no option '{other}': --help names them"))),
        }
    }
    if describes {
        return describe(name, declare);
    }
    let mut app = App::new(name)?;
    declare(&mut app)?;
    if let Some(releases) = releases {
        app.releases(releases);
    }
    if is_strict {
        app.strict();
    }
    for account in app.run()? {
        println!("{account}");
    }
    Ok(())
}

/// The nodes with their settings. Their topics are made elsewhere, so that nothing of a running program is touched.
fn describe(name: &str, declare: impl FnOnce(&mut App) -> crate::Result) -> crate::Result {
    let scratch = crate::world::scratch()?;
    let mut app = App::in_virtual_time(scratch.path().to_owned(), super::Settings::find(name)?);
    app.name = name.to_owned();
    declare(&mut app)?;
    let built = build(app)?;
    let text = serde_json::to_string_pretty(&built.info)?;
    println!("{text}");
    Ok(())
}
