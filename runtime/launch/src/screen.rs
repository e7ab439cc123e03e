//! What is printed: a line's beginning says which program it is of, and colours tell programs apart where a terminal shows them.

use std::io::{self, IsTerminal, Write};

use horus::outside::shown;

/// Of the terminal, for programs in turn; red is not among them, for it looks like an error.
const COLOURS: [&str; 5] = ["\x1b[36m", "\x1b[33m", "\x1b[32m", "\x1b[35m", "\x1b[34m"];
const BOLD: &str = "\x1b[1m";
const PLAIN: &str = "\x1b[0m";
/// The most characters of a line.
const MOST: usize = 4096;

/// Where lines go.
pub struct Screen {
    out: Box<dyn Write>,
    has_colours: bool,
    width: usize,
    /// The reader is gone.
    pub(crate) is_closed: bool,
}

impl Screen {
    /// The standard output; in colours if it is a terminal that has them, unless `NO_COLOR` is set.
    pub fn stdout() -> Self {
        let is_set = |name: &str| std::env::var_os(name).is_some_and(|value| !value.is_empty());
        let is_dumb = std::env::var_os("TERM").is_some_and(|term| term == "dumb");
        let has_colours = io::stdout().is_terminal() && !is_set("NO_COLOR") && !is_dumb;
        Self::new(Box::new(io::stdout()), has_colours)
    }

    fn new(out: Box<dyn Write>, has_colours: bool) -> Self {
        Self { out, has_colours, width: 0, is_closed: false }
    }

    /// Makes room for names.
    pub(crate) fn fit<'a>(&mut self, names: impl Iterator<Item = &'a str>) {
        self.width = names.map(str::len).max().unwrap_or_default();
    }

    /// A sentence about program number `place`.
    pub(crate) fn say(&mut self, place: usize, name: &str, sentence: &str) {
        let name = self.name(place, name);
        let text = self.coloured(BOLD, &shown(sentence, MOST));
        self.put(&format!("{name}  {text}\n"));
    }

    /// A line of program number `place`.
    pub(crate) fn line(&mut self, place: usize, name: &str, line: &str) {
        let name = self.name(place, name);
        self.put(&format!("{name} | {}\n", shown(line, MOST)));
    }

    /// A sentence about all.
    pub fn tell(&mut self, sentence: &str) {
        let text = self.coloured(BOLD, &shown(sentence, MOST));
        self.put(&format!("{text}\n"));
    }

    fn name(&self, place: usize, name: &str) -> String {
        let padded = format!("{name:<width$}", width = self.width);
        self.coloured(COLOURS[place % COLOURS.len()], &padded)
    }

    fn coloured(&self, colour: &str, text: &str) -> String {
        if self.has_colours { format!("{colour}{text}{PLAIN}") } else { text.to_owned() }
    }

    fn put(&mut self, text: &str) {
        if !self.is_closed {
            self.is_closed = self.out.write_all(text.as_bytes()).and_then(|()| self.out.flush()).is_err();
        }
    }
}
