//! A frozen trace as a file that `trace-cmd report` and KernelShark read: `trace.dat`, version 6.
//!
//! ```text
//!  magic, version, byte order, word size, page size | header_page | header_event | formats of the tracer's own events
//!  formats by group | symbols | printk formats | threads' names | number of CPUs | options | "flyrecord" | offset and size by CPU | pages
//! ```
//!
//! The layout is that of trace-cmd's `trace-cmd.dat.v6.5` manual page.

use std::collections::BTreeMap;

use crate::event::{Event, What};
use crate::tracefs::Pages;

/// The kernel's own descriptions, which a reader of the file needs.
#[derive(Clone, Debug, Default)]
pub struct Descriptions {
    /// `events/header_page`.
    pub header_page: String,
    /// `events/header_event`.
    pub header_event: String,
    /// `format` files by their event: `sched/sched_switch`.
    pub formats: BTreeMap<String, String>,
}

/// The group of the tracer's own events, which stand apart.
const OWN: &str = "ftrace";
/// The option that names the clock (TRACECMD_OPTION_TRACECLOCK).
const CLOCK_OPTION: u16 = 4;

/// The file's bytes. `functions` are the names of those addresses that the events have.
pub fn file(
    descriptions: &Descriptions,
    cpu: u32,
    pages: &Pages,
    events: &[Event],
    functions: &BTreeMap<u64, String>,
) -> Vec<u8> {
    let mut file = vec![0x17, 0x08, 0x44];
    file.extend(b"tracing6\0");
    file.push(u8::from(cfg!(target_endian = "big")));
    file.push(size_of::<usize>() as u8); // of the kernel's long, which is as wide as ours
    number(&mut file, pages.size);
    file.extend(b"header_page\0");
    long(&mut file, &descriptions.header_page);
    file.extend(b"header_event\0");
    long(&mut file, &descriptions.header_event);
    let mut groups: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    for (event, format) in &descriptions.formats {
        groups.entry(event.split('/').next().unwrap_or_default()).or_default().push(format);
    }
    let own = groups.remove(OWN).unwrap_or_default();
    number(&mut file, own.len());
    own.into_iter().for_each(|format| long(&mut file, format));
    number(&mut file, groups.len());
    for (group, formats) in groups {
        file.extend(group.bytes().chain([0]));
        number(&mut file, formats.len());
        formats.into_iter().for_each(|format| long(&mut file, format));
    }
    let symbols: String = functions.iter().map(|(address, name)| format!("{address:016x} T {name}\n")).collect();
    number(&mut file, symbols.len());
    file.extend(symbols.bytes());
    number(&mut file, 0); // printk formats
    long(&mut file, &threads(events));
    let cpus = cpu as usize + 1;
    number(&mut file, cpus);
    file.extend(b"options  \0");
    let clock = b"[mono]\0";
    file.extend(CLOCK_OPTION.to_ne_bytes());
    number(&mut file, clock.len());
    file.extend(clock);
    file.extend(0_u16.to_ne_bytes());
    file.extend(b"flyrecord\0");
    let data = (file.len() + cpus * 16).next_multiple_of(pages.size.max(1));
    for index in 0..cpus {
        let size = if index + 1 == cpus { pages.bytes.len() } else { 0 };
        file.extend((data as u64).to_ne_bytes());
        file.extend((size as u64).to_ne_bytes());
    }
    file.resize(data, 0);
    file.extend(&pages.bytes);
    file
}

/// A number of four bytes.
fn number(file: &mut Vec<u8>, value: usize) {
    file.extend(u32::try_from(value).unwrap_or(u32::MAX).to_ne_bytes());
}

/// A text behind its length of eight bytes.
fn long(file: &mut Vec<u8>, text: &str) {
    file.extend((text.len() as u64).to_ne_bytes());
    file.extend(text.bytes());
}

/// Each thread's number and name, a line each.
fn threads(events: &[Event]) -> String {
    let mut names: BTreeMap<u32, &str> = BTreeMap::new();
    for event in events {
        if let What::Switch { from, to, .. } = &event.what {
            names.extend([(from.tid, from.name.as_str()), (to.tid, to.name.as_str())]);
        }
    }
    names.iter().filter(|(tid, _)| **tid != 0).map(|(tid, name)| format!("{tid} {name}\n")).collect()
}
