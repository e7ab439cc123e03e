//! The live page: what is looked at is drawn until the user leaves. It restores the terminal after a panic, too.

mod draw;
mod order;
mod view;

use std::io::IsTerminal;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use horus::time::MonotonicTime;
use ratatui::DefaultTerminal;
use ratatui::crossterm::event::{self, Event};
use signal_hook::consts::{SIGHUP, SIGTERM};

use super::page::page;
use super::{Args, Looks};
use view::View;

/// How often the page is drawn, and a signal noticed, while no key is pressed.
const LOOK: Duration = Duration::from_millis(100);

/// Shows pages until the user leaves, or a signal ends it.
pub fn show(args: &Args) -> Result<(), String> {
    if !std::io::stdout().is_terminal() || !std::io::stdin().is_terminal() {
        return Err("the live page needs a terminal: use --once or --json".to_owned());
    }
    let ended = Arc::new(AtomicBool::new(false));
    for signal in [SIGTERM, SIGHUP] {
        signal_hook::flag::register(signal, Arc::clone(&ended)).map_err(|error| error.to_string())?;
    }
    let mut looks = Looks::begin(args)?;
    let mut terminal = ratatui::try_init().map_err(|error| format!("this terminal cannot be drawn on: {error}"))?;
    let shown = pages(&mut terminal, &mut looks, args.interval, &ended);
    ratatui::restore(); // before anything is said
    shown
}

fn pages(
    terminal: &mut DefaultTerminal,
    looks: &mut Looks,
    interval: Duration,
    ended: &AtomicBool,
) -> Result<(), String> {
    let broken = |error: std::io::Error| format!("the terminal: {error}");
    let mut view = View::default();
    let mut next = MonotonicTime::now().plus(interval);
    // Relaxed: the flag guards nothing.
    while !view.is_left && !ended.load(Ordering::Relaxed) {
        let now = MonotonicTime::now();
        if now >= next {
            view.show(looks.again(page)?);
            next = next.plus(interval).max(now);
        }
        terminal.draw(|frame| draw::draw(frame, &mut view)).map_err(broken)?;
        if event::poll(LOOK.min(next.since(now))).map_err(broken)?
            && let Event::Key(key) = event::read().map_err(broken)?
        {
            view.key(key);
        }
    }
    Ok(())
}
