//! What is printed: a line's beginning says which program it is of, and colours tell programs apart where a terminal shows them.
//!
//! A thread writes. A terminal that was stopped (Ctrl-S) or a pipe that is not read holds up that thread, and neither restarts nor the end of
//! programs. Lines wait for it, up to a bound; those beyond are counted.

use std::io::{self, IsTerminal, Read, Write};
use std::os::unix::net::UnixStream;
use std::sync::mpsc::{SyncSender, sync_channel};
use std::thread;
use std::time::Duration;

use horus::outside::shown;

/// Of the terminal, for programs in turn; red is not among them, for it looks like an error.
const COLOURS: [&str; 5] = ["\x1b[36m", "\x1b[33m", "\x1b[32m", "\x1b[35m", "\x1b[34m"];
const BOLD: &str = "\x1b[1m";
const PLAIN: &str = "\x1b[0m";
/// The most characters of a line.
const MOST: usize = 4096;
/// The most lines that wait to be written.
const MOST_LINES: usize = 4096;
/// How long the last lines may take to be written.
const LAST_LINES: Duration = Duration::from_secs(1);

/// Where lines go.
pub struct Screen {
    lines: Option<SyncSender<String>>,
    /// Ends when the thread does: all is written, or the reader is gone.
    end: UnixStream,
    has_colours: bool,
    width: usize,
    /// Lines that had no room.
    lost: u64,
}

impl Screen {
    /// The standard output; in colours if it is a terminal that has them, unless `NO_COLOR` is set.
    ///
    /// # Errors
    /// When the system has no thread to give.
    pub fn stdout() -> io::Result<Self> {
        let is_set = |name: &str| std::env::var_os(name).is_some_and(|value| !value.is_empty());
        let is_dumb = std::env::var_os("TERM").is_some_and(|term| term == "dumb");
        let has_colours = io::stdout().is_terminal() && !is_set("NO_COLOR") && !is_dumb;
        Self::new(io::stdout(), has_colours)
    }

    fn new(mut out: impl Write + Send + 'static, has_colours: bool) -> io::Result<Self> {
        let (lines, waiting) = sync_channel::<String>(MOST_LINES);
        let (end, of_thread) = UnixStream::pair()?;
        thread::Builder::new().name("screen".to_owned()).spawn(move || {
            let _of_thread = of_thread;
            let written = |line: String| out.write_all(line.as_bytes()).and_then(|()| out.flush()).is_ok();
            let _reader_is_gone = !waiting.into_iter().all(written);
        })?;
        Ok(Self { lines: Some(lines), end, has_colours, width: 0, lost: 0 })
    }

    /// Makes room for names.
    pub(crate) fn fit<'a>(&mut self, names: impl Iterator<Item = &'a str>) {
        self.width = names.map(str::len).max().unwrap_or_default();
    }

    /// Readable when the reader is gone.
    pub(crate) fn end(&self) -> &UnixStream {
        &self.end
    }

    /// Whether the reader is gone.
    pub(crate) fn is_closed(&self) -> bool {
        // The thread writes nothing into it.
        self.end.set_nonblocking(true).is_ok_and(|()| matches!((&self.end).read(&mut [0]), Ok(0)))
    }

    /// A sentence about program number `place`.
    pub(crate) fn say(&mut self, place: usize, name: &str, sentence: &str) {
        let name = self.name(place, name);
        let text = self.coloured(BOLD, &shown(sentence, MOST));
        self.put(format!("{name}  {text}\n"));
    }

    /// A line of program number `place`.
    pub(crate) fn line(&mut self, place: usize, name: &str, line: &str) {
        let name = self.name(place, name);
        self.put(format!("{name} | {}\n", shown(line, MOST)));
    }

    /// A sentence about all.
    pub fn tell(&mut self, sentence: &str) {
        let text = self.coloured(BOLD, &shown(sentence, MOST));
        self.put(format!("{text}\n"));
    }

    fn name(&self, place: usize, name: &str) -> String {
        let padded = format!("{name:<width$}", width = self.width);
        self.coloured(COLOURS[place % COLOURS.len()], &padded)
    }

    fn coloured(&self, colour: &str, text: &str) -> String {
        if self.has_colours { format!("{colour}{text}{PLAIN}") } else { text.to_owned() }
    }

    fn put(&mut self, line: String) {
        let Some(lines) = &self.lines else { return };
        if self.lost > 0 {
            let lost = format!("{} lines are not shown: they came faster than they could be written\n", self.lost);
            if lines.try_send(lost).is_ok() {
                self.lost = 0;
            }
        }
        if lines.try_send(line).is_err() {
            self.lost += 1;
        }
    }
}

impl Drop for Screen {
    /// Waits for the last lines, as long as they may take.
    fn drop(&mut self) {
        self.lines = None;
        let is_waiting = self.end.set_nonblocking(false).and_then(|()| self.end.set_read_timeout(Some(LAST_LINES)));
        if is_waiting.is_ok() {
            let _ = (&self.end).read(&mut [0]);
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::{Arc, Mutex};

    use super::*;

    #[derive(Clone, Default)]
    struct Kept(Arc<Mutex<Vec<u8>>>);

    impl Write for Kept {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            self.0.lock().unwrap().write(bytes)
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    fn written(has_colours: bool) -> String {
        let kept = Kept::default();
        let mut screen = Screen::new(kept.clone(), has_colours).unwrap();
        screen.fit(["sim", "vision"].into_iter());
        screen.say(0, "sim", "ready after 0.1 s");
        screen.line(1, "vision", "on\x1b[2J");
        screen.tell("vision, sim ended in order");
        drop(screen);
        let bytes = kept.0.lock().unwrap().clone();
        String::from_utf8(bytes).unwrap()
    }

    #[test]
    fn sentences_and_lines_stand_in_columns() {
        let wanted = "sim     ready after 0.1 s\nvision | on\u{fffd}[2J\nvision, sim ended in order\n";
        assert_eq!(written(false), wanted);
    }

    #[test]
    fn a_terminal_shows_each_name_in_its_colour_and_sentences_in_bold() {
        let text = written(true);
        assert!(text.starts_with("\x1b[36msim   \x1b[0m  \x1b[1mready after 0.1 s\x1b[0m\n"), "{text:?}");
        assert!(text.contains("\x1b[33mvision\x1b[0m | on\u{fffd}[2J\n"), "{text:?}");
    }

    #[test]
    fn a_reader_that_is_gone_is_noticed() {
        struct Gone;
        impl Write for Gone {
            fn write(&mut self, _: &[u8]) -> io::Result<usize> {
                Err(io::ErrorKind::BrokenPipe.into())
            }

            fn flush(&mut self) -> io::Result<()> {
                Ok(())
            }
        }
        let mut screen = Screen::new(Gone, false).unwrap();
        assert!(!screen.is_closed());
        screen.tell("hello");
        screen.end.set_nonblocking(false).unwrap();
        assert_eq!((&screen.end).read(&mut [0]).unwrap(), 0);
        assert!(screen.is_closed());
    }
}
