//! From the bytes of a CPU's trace to its events.

use std::collections::BTreeMap;

use crate::event::{Event, Task, What};
use crate::page::{Corrupt, Page, Raw};
use crate::tracefs::Pages;
use crate::tracefs::format::{Format, PageShape};

/// The lower bits of a thread's state as the scheduler reports it: any of them says that it sleeps. The bit above says that it was
/// preempted.
const SLEEPS: i64 = 0xff;

/// Knows where each event's fields are.
#[derive(Clone, Debug)]
pub struct Decoder {
    shape: PageShape,
    formats: BTreeMap<u16, Format>,
}

impl Decoder {
    /// From the kernel's `header_page` and `format` files. Returns `None` when pages are laid out as we cannot read them.
    pub fn new<'a>(header_page: &str, formats: impl IntoIterator<Item = &'a str>) -> Option<Self> {
        let formats = formats.into_iter().filter_map(Format::parse).map(|format| (format.id, format));
        Some(Self { shape: PageShape::parse(header_page)?, formats: formats.collect() })
    }

    /// The size of a page.
    pub fn page_size(&self) -> usize {
        self.shape.size
    }

    /// The events of pages, the oldest first. A gap is an event of its own ([`What::Lost`]).
    ///
    /// # Errors
    /// When a page is damaged.
    pub fn events(&self, pages: &Pages) -> Result<Vec<Event>, Corrupt> {
        let mut events: Vec<Event> = Vec::new();
        for bytes in pages.iter() {
            let page = Page::new(bytes, self.shape)?;
            let mut has_gap = page.follows_a_gap && !events.is_empty();
            for raw in page {
                let mut event = self.event(&raw?).ok_or(Corrupt(0))?;
                let before = events.last().map_or(0, |event| event.ns);
                if has_gap || event.ns < before {
                    // A time before the last one's is what a clock's or a page's change leaves: what lies between is not known.
                    event.ns = event.ns.max(before);
                    events.push(Event { ns: before, tid: event.tid, what: What::Lost });
                    has_gap = false;
                }
                events.push(event);
            }
        }
        Ok(events)
    }

    /// One event. Those of other kinds say at least who had the CPU.
    fn event(&self, raw: &Raw<'_>) -> Option<Event> {
        // These two fields are at the same place in every event: the kernel's struct trace_entry.
        let id = u16::from_ne_bytes(raw.bytes.get(..2)?.try_into().ok()?);
        let tid = u32::from_ne_bytes(raw.bytes.get(4..8)?.try_into().ok()?);
        let what = self.formats.get(&id).map_or(Some(What::Other), |format| what(format, raw.bytes));
        Some(Event { ns: raw.ns, tid, what: what? })
    }
}

/// What happened. `None` when the event is shorter than its kind.
fn what(format: &Format, bytes: &[u8]) -> Option<What> {
    let number = |name| format.number(bytes, name);
    let unsigned = |name| number(name).map(|number| number as u64); // an address comes as a signed number of its bits
    let narrow = |name| u32::try_from(number(name)?).ok();
    let task = |tid, name, priority| {
        let priority = i32::try_from(number(priority)?).ok()?;
        Some(Task { tid: narrow(tid)?, name: format.text(bytes, name)?, priority })
    };
    Some(match format.name.as_str() {
        "sched_switch" => What::Switch {
            from: task("prev_pid", "prev_comm", "prev_prio")?,
            sleeps: number("prev_state")? & SLEEPS != 0,
            to: task("next_pid", "next_comm", "next_prio")?,
        },
        "irq_handler_entry" => {
            What::InterruptEntry { number: narrow("irq")?, name: format.text(bytes, "name").unwrap_or_default() }
        }
        "irq_handler_exit" => What::InterruptExit,
        "local_timer_entry" => What::TimerEntry,
        "local_timer_exit" => What::TimerExit,
        "softirq_entry" => What::SoftirqEntry(narrow("vec")?),
        "softirq_exit" => What::SoftirqExit,
        "page_fault_user" => What::Touch(unsigned("address")?),
        "fault" => What::FaultEntry(unsigned("address")),
        "fault_end" => What::FaultExit,
        "workqueue_execute_start" => What::WorkStart(unsigned("function")?),
        "workqueue_execute_end" => What::WorkEnd,
        "cpu_frequency" => What::Frequency { cpu: narrow("cpu_id")?, khz: unsigned("state")? },
        "print" => What::Marker,
        _ => What::Other,
    })
}
