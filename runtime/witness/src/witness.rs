//! The witness itself: its traces, and a verdict for each question.

mod pace;
mod traced;

use std::collections::BTreeMap;
use std::io;
use std::os::fd::OwnedFd;
use std::path::{Path, PathBuf};

use horus::cpus::CpuList;
use horus::time::MonotonicTime;
use horus::witness::protocol::{Confidence, Kind, Missed, Recording, Share, Verdict};
use rustix::time::{ClockId, clock_getres};

use crate::attribution::{Account, Signs};
use crate::event::What;
use crate::flight::Flight;
use crate::flight::trace_dat::{self, Descriptions};
use crate::notice::Notice;
use crate::signs::Watch;
use crate::symbols::Symbols;
use crate::tracefs::events::{Group, WANTED};
use crate::tracefs::{Instance, Tracefs};
use pace::Pace;
use traced::Traced;

/// A silence below this is a wake-up's; no other sign is asked about it.
const LEAST_SILENCE_NS: u64 = 200_000;
/// A trace that was frozen for so long has no program that asks about it.
const PATIENCE_NS: u64 = 5_000_000_000;
/// How often in a second a CPU's trace is read at most, and a node's is kept.
const MOST_READ: usize = 5;
const MOST_KEPT: usize = 2;
/// The most nodes whose pace is remembered.
const MOST_NODES: usize = 256;

/// Traces CPUs, and knows whose time it was.
pub struct Witness {
    tracefs: Option<Tracefs>,
    cpus: BTreeMap<u32, Traced>,
    descriptions: Descriptions,
    symbols: Symbols,
    watch: Watch,
    flight: Option<Flight>,
    kept: BTreeMap<String, Pace>,
    /// Why the last trace was not kept: said once, and not for each on a disk that stays full.
    not_kept: Option<String>,
    /// Why nothing is traced, if nothing is.
    reason: String,
}

impl Witness {
    /// Sets up the traces. What is in the way is told, and never fatal.
    pub fn new(root: &Path, cpus: &[u32], traces: PathBuf, quota_bytes: u64, notice: &mut dyn FnMut(Notice)) -> Self {
        let housekeeping = (0..).find(|cpu| !cpus.contains(cpu)).unwrap_or_default();
        let flight = Flight::new(traces, quota_bytes);
        let flight = flight.map_err(|error| notice(Notice::NotKept { reason: error.to_string() })).ok();
        let mut witness = Self {
            tracefs: None,
            cpus: BTreeMap::new(),
            descriptions: Descriptions::default(),
            symbols: Symbols::default(),
            watch: Watch::new(housekeeping),
            flight,
            kept: BTreeMap::new(),
            not_kept: None,
            reason: "no CPU is to be traced".to_owned(),
        };
        if let Err(error) = witness.set_up(root, cpus, notice) {
            let help = "mount tracefs there, and set CONFIG_FTRACE and CONFIG_EVENT_TRACING in the kernel";
            witness.reason = format!("the kernel's tracer at {} cannot be used: {error}; {help}", root.display());
            notice(Notice::NotTraced { cpu: None, reason: witness.reason.clone() });
        }
        notice(Notice::Started { cpus: witness.cpus.keys().copied().collect() });
        witness
    }

    fn set_up(&mut self, root: &Path, cpus: &[u32], notice: &mut dyn FnMut(Notice)) -> io::Result<()> {
        let tracefs = Tracefs::open(root)?;
        tracefs.clear();
        let mut missing = tracefs.probe_faults();
        self.descriptions = descriptions(&tracefs)?;
        tracefs.make_instances(cpus);
        let mut instances: Vec<Instance> = Vec::new();
        for &cpu in cpus {
            match tracefs.instance(cpu, crate::KILOBYTES) {
                Ok((instance, lacks)) => {
                    missing.extend(lacks);
                    instances.push(instance);
                }
                Err(error) => {
                    self.reason = error.to_string();
                    notice(Notice::NotTraced { cpu: Some(cpu), reason: self.reason.clone() });
                }
            }
        }
        let sees_ticks =
            !missing.iter().any(|lacks| lacks.unseen == crate::tracefs::events::Missing::of(Group::Timer, "").unseen);
        for instance in instances {
            let tick_ns = tick_ns(instance.cpu).filter(|_| sees_ticks && cfg!(target_arch = "x86_64"));
            self.cpus.insert(instance.cpu, Traced::new(instance, &self.descriptions, tick_ns)?);
        }
        let mut told: Vec<&str> = Vec::new();
        // Where nothing is traced, the kernel lacks nothing: the reason is told above.
        for lacks in missing.into_iter().filter(|_| !self.cpus.is_empty()) {
            if !told.contains(&lacks.unseen) {
                told.push(lacks.unseen);
                notice(Notice::Missing(lacks));
            }
        }
        self.tracefs = Some(tracefs);
        Ok(())
    }

    /// A descriptor that freezes a CPU's trace, or why there is none.
    pub fn marker(&self, cpu: u32) -> Result<OwnedFd, String> {
        let traced = self.cpus.get(&cpu).ok_or_else(|| match self.cpus.is_empty() {
            true => self.reason.clone(),
            false => format!("CPU {cpu} is not among those that are traced"),
        })?;
        traced.instance.marker().map_err(|error| format!("the trace of CPU {cpu} has no marker: {error}"))
    }

    /// Who is to blame for a miss. The CPU's trace goes on afterwards. What the node recorded is kept beside the trace.
    pub fn judge(&mut self, missed: &Missed, recorded: Option<&Recording>, notice: &mut dyn FnMut(Notice)) -> Verdict {
        let now = MonotonicTime::now().as_nanos();
        let Some(traced) = self.cpus.get_mut(&missed.cpu) else {
            return unknown(missed, "its CPU is not traced");
        };
        let is_known = traced.has_the_most_of(missed);
        if is_known {
            let _ = traced.instance.thaw(); // the program may have frozen it again after it was read
        } else {
            if !traced.pace.allows(now, MOST_READ) {
                let _ = traced.instance.thaw();
                return unknown(missed, "too many misses in this second: its trace was not read");
            }
            if let Err(error) = traced.read() {
                notice(Notice::NotRead { cpu: missed.cpu, reason: error.to_string() });
                return unknown(missed, "its trace cannot be read");
            }
        }
        let account = Account::new(&traced.record, missed, traced.tick_ns);
        let silence = account.longest_silence().filter(|silence| silence.end - silence.start >= LEAST_SILENCE_NS);
        let signs = silence.map(|silence| self.signs(missed.cpu, &silence)).unwrap_or_default();
        let symbols = &mut self.symbols;
        let work = self.cpus.get(&missed.cpu).map_or(&[][..], |traced| &traced.record.events);
        symbols.learn(work.iter().filter_map(|event| match event.what {
            What::WorkStart(function) => Some(function),
            _ => None,
        }));
        let mut verdict = account.verdict(missed, &signs, &mut |address| symbols.name(address));
        if !is_known || verdict.confidence != Confidence::None {
            verdict.trace = self.keep(missed, recorded, now, notice);
        }
        verdict
    }

    /// What else says that no task had a CPU at that time.
    fn signs(&mut self, cpu: u32, silence: &std::ops::Range<u64>) -> Signs {
        let mut seen = self.watch.seen(cpu);
        if let Some((other, traced)) = self.cpus.iter_mut().find(|(other, _)| **other != cpu) {
            // Another program's question about that CPU is answered from what is read here.
            let is_read = traced.record.seen.end >= silence.end || traced.read().is_ok();
            if is_read && traced.record.fell_silent(silence) {
                seen.push(format!("CPU {other} was silent too"));
            }
        }
        Signs { seen }
    }

    /// Keeps the trace that a verdict was made of, unless its node had enough of them.
    fn keep(
        &mut self,
        missed: &Missed,
        recorded: Option<&Recording>,
        now: u64,
        notice: &mut dyn FnMut(Notice),
    ) -> Option<String> {
        let (flight, traced) = (self.flight.as_ref()?, self.cpus.get_mut(&missed.cpu)?);
        let recording = recorded.and_then(|recorded| serde_json::to_vec(&Kept { missed, recorded }).ok());
        if let Some(trace) = &traced.kept {
            // Kept of another miss. The first recording stays with it: it is the one of the miss that froze the trace.
            let added = recording.map_or(Ok(()), |recording| flight.add(Path::new(trace), &recording));
            return added
                .map_err(|error| notice(Notice::NotKept { reason: error.to_string() }))
                .ok()
                .map(|()| trace.clone());
        }
        if traced.pages.bytes.is_empty() {
            return None;
        }
        if self.kept.len() >= MOST_NODES && !self.kept.contains_key(&missed.node) {
            self.kept.clear();
        }
        if !self.kept.entry(missed.node.clone()).or_default().allows(now, MOST_KEPT) {
            return None;
        }
        let symbols = &mut self.symbols;
        let functions = traced.record.events.iter().filter_map(|event| match event.what {
            What::WorkStart(function) => Some((function, symbols.name(function)?)),
            _ => None,
        });
        let functions = functions.collect();
        let file = trace_dat::file(&self.descriptions, missed.cpu, &traced.pages, &traced.record.events, &functions);
        match flight.keep(missed, &file, recording.as_deref()) {
            Ok(path) => (traced.kept, self.not_kept) = (Some(path.display().to_string()), None),
            Err(error) => {
                let reason = error.to_string();
                if self.not_kept.replace(reason.clone()).as_ref() != Some(&reason) {
                    notice(Notice::NotKept { reason });
                }
            }
        }
        traced.kept.clone()
    }

    /// What is done about once a second: looks at counters, and thaws traces that no program asks about.
    pub fn look(&mut self, notice: &mut dyn FnMut(Notice)) {
        self.watch.look();
        let now = MonotonicTime::now().as_nanos();
        for (&cpu, traced) in &mut self.cpus {
            if traced.thaw_if_forgotten(now, PATIENCE_NS) {
                notice(Notice::Thawed { cpu });
            }
        }
    }

    /// Gives everything back to the kernel.
    pub fn end(self) {
        drop(self.cpus);
        if let Some(tracefs) = self.tracefs {
            tracefs.remove();
        }
    }
}

/// What stands in the file beside a trace.
#[derive(serde::Serialize)]
struct Kept<'a> {
    missed: &'a Missed,
    recorded: &'a Recording,
}

/// The kernel's descriptions of what we trace.
fn descriptions(tracefs: &Tracefs) -> io::Result<Descriptions> {
    let wanted =
        WANTED.iter().map(|event| format!("{}/{}", event.group, event.name)).chain(["ftrace/print".to_owned()]);
    let formats = wanted.filter_map(|event| {
        let text = tracefs.text(&format!("events/{event}/format")).ok()?;
        Some((event, text))
    });
    Ok(Descriptions {
        formats: formats.collect(),
        header_page: tracefs.text("events/header_page")?,
        header_event: tracefs.text("events/header_event")?,
    })
}

/// The time between two ticks of a CPU, which the coarse clock moves by. `None` for a CPU that computes without a tick.
fn tick_ns(cpu: u32) -> Option<u64> {
    let without = std::fs::read_to_string("/sys/devices/system/cpu/nohz_full").unwrap_or_default();
    let without: CpuList = without.trim().parse().unwrap_or_default();
    let tick = clock_getres(ClockId::MonotonicCoarse);
    (!without.contains(cpu) && tick.tv_sec == 0).then(|| u64::try_from(tick.tv_nsec).ok())?.filter(|tick| *tick > 0)
}

/// The verdict on what was not seen.
pub fn unknown(missed: &Missed, why: &str) -> Verdict {
    let window_ns = missed.completion_ns.saturating_sub(missed.release_ns);
    let name = format!("CPU {}", missed.cpu);
    let share = Share { kind: Kind::Unknown, name, ns: window_ns, is_suspect: true, detail: Some(why.to_owned()) };
    Verdict { cycle: missed.cycle, window_ns, shares: vec![share], confidence: Confidence::None, trace: None }
}
