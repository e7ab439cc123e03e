//! What a command prints as its result.

use std::io::{ErrorKind, Write, stdout};
use std::process::ExitCode;

use horus::outside::printable;

/// Prints a result of `command`. A reader that closes the pipe early (`| head`) has what it wanted; a full disk is a failure.
pub fn print(command: &str, text: &str) -> ExitCode {
    match write(text) {
        Ok(()) => ExitCode::SUCCESS,
        Err(reason) => {
            eprintln!("{command}: {reason}");
            ExitCode::FAILURE
        }
    }
}

/// As [`print`], for who tells the reason himself.
pub fn write(text: &str) -> Result<(), String> {
    let mut out = stdout().lock();
    match out.write_all(text.as_bytes()).and_then(|()| out.flush()) {
        Err(error) if error.kind() != ErrorKind::BrokenPipe => Err(format!("cannot write the result: {error}")),
        _ => Ok(()),
    }
}

/// Lines that hold what another program wrote, without what a terminal would obey.
pub fn lines(text: &str) -> String {
    text.split('\n').map(|line| printable(&line.replace('\t', " "))).collect::<Vec<_>>().join("\n")
}
