//! `horus-top COMMAND…`: draws the pages that COMMAND prints, a JSON object a line, until the user leaves. `horus top` starts it so.
//!
//! It knows nothing of nodes or topics: a page is a line and some tables, and their columns say what they are sorted by.
//!
//! Exit status: 0 the user left, 1 the pages ended or the terminal cannot be used.
#![forbid(unsafe_code)]

mod draw;
mod page;
mod source;
mod view;

use std::io;
use std::process::ExitCode;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use ratatui::DefaultTerminal;
use ratatui::crossterm::event::{self, Event};
use signal_hook::consts::{SIGHUP, SIGTERM};

use source::{News, Source};
use view::View;

/// How often the page is drawn, and a signal noticed, while no key is pressed.
const LOOK: Duration = Duration::from_millis(100);

fn main() -> ExitCode {
    let command: Vec<_> = std::env::args_os().skip(1).collect();
    match run(&command) {
        Ok(()) => ExitCode::SUCCESS,
        Err(reason) => {
            eprintln!("horus-top: {reason}");
            ExitCode::FAILURE
        }
    }
}

fn run(command: &[std::ffi::OsString]) -> Result<(), String> {
    let ended = Arc::new(AtomicBool::new(false));
    for signal in [SIGTERM, SIGHUP] {
        signal_hook::flag::register(signal, Arc::clone(&ended)).map_err(|error| error.to_string())?;
    }
    let mut source = Source::start(command)?;
    let mut terminal = ratatui::try_init().map_err(|error| format!("this terminal cannot be drawn on: {error}"))?;
    let shown = show(&mut terminal, &mut source, &ended);
    ratatui::restore(); // before anything is said
    match shown {
        Ok(true) => Ok(()),
        Ok(false) => Err(source.last_words()),
        Err(error) => Err(format!("the terminal: {error}")),
    }
}

/// Shows pages; true when the user left, false when there are no more.
fn show(terminal: &mut DefaultTerminal, source: &mut Source, ended: &AtomicBool) -> io::Result<bool> {
    let mut view = View::default();
    while !view.is_left && !ended.load(Ordering::Relaxed) {
        match source.news() {
            News::Page(page) => view.show(page),
            News::Nothing => {}
            News::End => return Ok(false),
        }
        terminal.draw(|frame| draw::draw(frame, &mut view))?;
        if event::poll(LOOK)?
            && let Event::Key(key) = event::read()?
        {
            view.key(key);
        }
    }
    Ok(true)
}
