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
    pub(crate) fn page_size(&self) -> usize {
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
            let mut has_gap = page.follows_a_gap;
            for raw in page {
                let mut event = self.event(&raw?).ok_or(Corrupt(0))?;
                let before = events.last().map_or(event.ns, |event| event.ns);
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

#[cfg(test)]
mod tests {
    use super::*;

    const HEADER: &str = "	field: u64 timestamp;	offset:0;	size:8;	signed:0;
	field: local_t commit;	offset:8;	size:8;	signed:1;
	field: char data;	offset:16;	size:112;	signed:0;
";
    const SOFTIRQ: &str = "name: softirq_entry
ID: 9
format:
	field:unsigned short common_type;	offset:0;	size:2;	signed:0;
	field:int common_pid;	offset:4;	size:4;	signed:1;
	field:unsigned int vec;	offset:8;	size:4;	signed:0;
";

    /// A page with one event of three words.
    fn page(ns: u64, has_gap: bool, id: u16) -> Vec<u8> {
        let mut bytes = ns.to_ne_bytes().to_vec();
        bytes.extend((16_u64 | u64::from(has_gap) << 31).to_ne_bytes());
        let head: u32 = if cfg!(target_endian = "little") { 3 } else { 3 << 27 };
        [head, u32::from(id), 140, 7].iter().for_each(|word| bytes.extend(word.to_ne_bytes()));
        bytes.resize(128, 0);
        bytes
    }

    fn pages(all: &[Vec<u8>]) -> Pages {
        Pages { bytes: all.concat(), size: 128 }
    }

    #[test]
    fn events_of_unknown_kinds_say_at_least_who_had_the_cpu() {
        let decoder = Decoder::new(HEADER, [SOFTIRQ]).unwrap();
        let events = decoder.events(&pages(&[page(5, false, 9), page(6, false, 10)])).unwrap();
        let expected = [(5, What::SoftirqEntry(7)), (6, What::Other)];
        assert_eq!(events, expected.map(|(ns, what)| Event { ns, tid: 140, what }));
    }

    #[test]
    fn a_gap_is_an_event_of_its_own_and_so_is_a_step_back_in_time() {
        let decoder = Decoder::new(HEADER, [SOFTIRQ]).unwrap();
        let events = decoder.events(&pages(&[page(5, true, 9), page(9, true, 9), page(7, false, 9)])).unwrap();
        let told: Vec<_> = events.iter().map(|event| (event.ns, event.what == What::Lost)).collect();
        assert_eq!(told, [(5, true), (5, false), (5, true), (9, false), (9, true), (9, false)]);
    }

    #[test]
    fn an_event_shorter_than_its_kind_is_damage() {
        let decoder = Decoder::new(HEADER, [SOFTIRQ.replace("offset:8", "offset:12").as_str()]).unwrap();
        assert!(decoder.events(&pages(&[page(5, false, 9)])).is_err());
        assert!(Decoder::new("", [SOFTIRQ]).is_none());
    }
}
