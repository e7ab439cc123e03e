//! One traced CPU: its trace, and what the last reading of it gave.

use std::io;

use horus::time::MonotonicTime;
use horus::witness::protocol::Missed;

use super::pace::Pace;
use crate::attribution::Record;
use crate::decode::Decoder;
use crate::event::What;
use crate::flight::trace_dat::Descriptions;
use crate::tracefs::{Instance, Pages};

/// A CPU whose trace can be read.
pub struct Traced {
    pub instance: Instance,
    decoder: Decoder,
    /// The time between two ticks, where the CPU has them and the trace shows them.
    pub tick_ns: Option<u64>,
    /// Since when the trace goes on.
    thawed_ns: u64,
    /// When it was first found frozen.
    found_frozen_ns: Option<u64>,
    /// The last reading: several questions may be about the same frozen trace, and it can be read once.
    pub record: Record,
    pub pages: Pages,
    /// Where that one is kept.
    pub kept: Option<String>,
    /// How often it is read.
    pub pace: Pace,
}

impl Traced {
    pub fn new(instance: Instance, descriptions: &Descriptions, tick_ns: Option<u64>) -> io::Result<Self> {
        let formats = descriptions.formats.values().map(String::as_str);
        let decoder = Decoder::new(&descriptions.header_page, formats)
            .ok_or_else(|| io::Error::other("the kernel's trace pages are laid out in a way that is not known"))?;
        Ok(Self {
            instance,
            decoder,
            tick_ns,
            thawed_ns: MonotonicTime::now().as_nanos(),
            found_frozen_ns: None,
            record: Record::default(),
            pages: Pages::default(),
            kept: None,
            pace: Pace::default(),
        })
    }

    /// Whether the last reading holds at least as much of a missed cycle as another one could: what is in the trace now begins where it
    /// was thawed. So nodes that miss together on a CPU, by the same culprit, are all answered from one window.
    pub fn has_the_most_of(&self, missed: &Missed) -> bool {
        let overlap = |start: u64, end: u64| missed.completion_ns.min(end).saturating_sub(missed.release_ns.max(start));
        let seen = &self.record.seen;
        seen.end > seen.start && overlap(seen.start, seen.end) >= overlap(self.thawed_ns, u64::MAX)
    }

    /// Takes everything out of the trace, which is frozen for that if no program froze it, and lets it go on.
    pub fn read(&mut self) -> io::Result<()> {
        let was_frozen = self.instance.is_frozen()?;
        let now = MonotonicTime::now().as_nanos();
        if !was_frozen {
            self.instance.freeze()?;
        }
        let pages = self.instance.take_pages(self.decoder.page_size());
        let since = self.thawed_ns;
        self.instance.thaw()?;
        self.thawed_ns = MonotonicTime::now().as_nanos();
        self.found_frozen_ns = None;
        self.pages = pages?;
        self.kept = None;
        self.record = Record::default();
        let events = self.decoder.events(&self.pages).map_err(io::Error::other)?;
        // The program's write is the last that a trace holds which it froze.
        let end = if was_frozen { events.last().map_or(since, |event| event.ns) } else { now };
        let start = events.first().map_or(since, |first| if first.what == What::Lost { first.ns } else { since });
        self.record = Record { events, seen: start..end };
        Ok(())
    }

    /// Lets a trace go on that was frozen for longer than a program's question takes.
    pub fn thaw_if_forgotten(&mut self, now: u64, patience_ns: u64) -> bool {
        if !self.instance.is_frozen().unwrap_or(false) {
            self.found_frozen_ns = None;
            return false;
        }
        let since = *self.found_frozen_ns.get_or_insert(now);
        if now.saturating_sub(since) < patience_ns {
            return false;
        }
        self.found_frozen_ns = None;
        self.instance.thaw().is_ok()
    }
}
