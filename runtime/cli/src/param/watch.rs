//! `horus param watch`: changes as they come.

use std::io::Write;
use std::time::Duration;

use horus::param::{Change, Params, SetError};
use serde_json::json;

use super::{as_json, failed, text};

/// Nothing depends on it: the watch goes on.
const LOOK: Duration = Duration::from_secs(1);

/// Ends when the program ends, which is no failure.
pub fn run(params: &Params, names: &[&str], as_lines_of_json: bool) -> Result<String, String> {
    for name in names {
        params.get(name).map_err(|error| failed(&error))?; // it names what was meant
    }
    let is_wanted = |change: &Change| {
        let named = text::named(&change.now);
        names.is_empty() || names.iter().any(|name| *name == change.now.declaration.name || *name == named)
    };
    let mut watch = params.watch().map_err(|error| failed(&error))?;
    loop {
        match watch.next_within(LOOK) {
            Ok(changes) => {
                for change in changes.iter().filter(|change| is_wanted(change)) {
                    let line = match as_lines_of_json {
                        true => line_of_json(params.program(), change),
                        false => text::change(change),
                    };
                    let mut out = std::io::stdout().lock();
                    if writeln!(out, "{line}").and_then(|()| out.flush()).is_err() {
                        return Ok(String::new()); // its reader has gone
                    }
                }
            }
            Err(SetError::Ended(program)) => return Ok(ended(&program, as_lines_of_json)),
            Err(error) => return Err(failed(&error)),
        }
    }
}

fn ended(program: &str, as_lines_of_json: bool) -> String {
    if as_lines_of_json { String::new() } else { format!("{} has ended\n", horus::outside::printable(program)) }
}

fn line_of_json(program: &str, change: &Change) -> String {
    let mut line = as_json(program, &change.now);
    line["before"] = json!(change.before);
    line.to_string()
}
