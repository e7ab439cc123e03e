//! The kernel's tracer, by its files: one instance for each real-time CPU, which is set up before nodes start.
//!
//! An instance traces one CPU into a buffer of its own. Its `trace_marker` freezes it: a trigger switches the instance off when a
//! program writes there. Nothing else of the tracer is touched, but for the two fault probes, which the kernel keeps for all instances.

pub mod events;
pub mod format;
mod instance;

use std::fs;
use std::io;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

pub use instance::{Instance, Pages};

use events::{Group, Missing};

/// What our instances are called: this and the CPU's number.
const PREFIX: &str = "horus-cpu";
/// The group of our probes.
const PROBES: &str = "horus";

/// The kernel's tracer.
#[derive(Clone, Debug)]
pub struct Tracefs {
    root: PathBuf,
}

impl Tracefs {
    /// The tracer whose files are under `root`.
    ///
    /// # Errors
    /// When there is no tracer, or this user may not use it.
    pub fn open(root: &Path) -> io::Result<Self> {
        fs::metadata(root.join("instances"))?;
        fs::read(root.join("events/header_page"))?;
        Ok(Self { root: root.to_owned() })
    }

    /// A file of the tracer.
    pub fn path(&self, name: &str) -> PathBuf {
        self.root.join(name)
    }

    /// The text of a file of the tracer.
    ///
    /// # Errors
    /// When it cannot be read.
    pub fn text(&self, name: &str) -> io::Result<String> {
        read(&self.path(name))
    }

    /// Writes to a file of the tracer.
    fn write(&self, name: &str, text: &str) -> io::Result<()> {
        let path = self.path(name);
        write(&path, text).map_err(|error| self.refused(&path, &error))
    }

    /// Gives the buffer of one CPU its size. Linux 6.18 makes the file for readers alone, and a witness has no right to overrule that
    /// (CAP_DAC_OVERRIDE); as the file's owner it may change it.
    fn resize(&self, name: &str, kilobytes: u32) -> io::Result<()> {
        let _ = fs::set_permissions(self.path(name), fs::Permissions::from_mode(0o640)); // where it fails, writing tells why
        self.write(name, &kilobytes.to_string())
    }

    /// An error of writing, with the file and what to do.
    fn refused(&self, path: &Path, error: &io::Error) -> io::Error {
        let help = match error.kind() {
            io::ErrorKind::ReadOnlyFilesystem => format!("; mount -o remount,rw {} allows it", self.root.display()),
            _ => String::new(),
        };
        io::Error::new(error.kind(), format!("{}: {error}{help}", path.display()))
    }

    /// Removes the instances of a witness that was killed. Those whose marker a program still holds stay, and are used again.
    pub fn clear(&self) {
        for instance in self.instances() {
            let _ = fs::write(instance.join("events/enable"), "0"); // in use or not, it costs nothing until it is set up again
            let _ = fs::remove_dir(instance);
        }
    }

    /// The folders of our instances.
    fn instances(&self) -> Vec<PathBuf> {
        let entries = fs::read_dir(self.path("instances")).into_iter().flatten().flatten();
        let ours = entries.filter(|entry| {
            let name = entry.file_name();
            let number = name.to_str().and_then(|name| name.strip_prefix(PREFIX));
            number.is_some_and(|number| number.parse::<u32>().is_ok())
        });
        ours.map(|entry| entry.path()).collect()
    }

    /// Makes the probes that say when the kernel maps a page, and when it has. They cost nothing until an instance enables them.
    /// Returns what is missing.
    pub(crate) fn probe_faults(&self) -> Vec<Missing> {
        if self.has_event(PROBES, "fault") && self.has_event(PROBES, "fault_end") {
            return Vec::new(); // of a witness before this one
        }
        // The second argument of handle_mm_fault is the address.
        let entry = ["p:horus/fault handle_mm_fault address=$arg2:u64", "p:horus/fault handle_mm_fault"];
        let made = entry.iter().any(|probe| self.append("kprobe_events", probe).is_ok());
        let made = made && self.append("kprobe_events", "r:horus/fault_end handle_mm_fault").is_ok();
        if made { Vec::new() } else { vec![Missing::of(Group::Faults, "horus/fault")] }
    }

    /// Whether the kernel has an event.
    pub(crate) fn has_event(&self, group: &str, name: &str) -> bool {
        self.path(&format!("events/{group}/{name}/format")).exists()
    }

    fn append(&self, name: &str, line: &str) -> io::Result<()> {
        use std::io::Write;
        fs::OpenOptions::new().append(true).open(self.path(name))?.write_all(format!("{line}\n").as_bytes())
    }

    /// Makes the instances of these CPUs, for whose events the kernel keeps no table of threads' names: that would be a third of what tracing
    /// costs a cycle, and switches have the names in them. An instance takes this setting from the user's own tracing at its birth, and has
    /// no file for it. All are made at once, before any event of ours is on: the kernel counts who wants names, and switching this
    /// counts every event that is on.
    pub(crate) fn make_instances(&self, cpus: &[u32]) {
        const NAMES: &str = "options/record-cmd";
        let are_kept = self.text(NAMES).is_ok_and(|text| text.trim() == "1");
        let set = |text| are_kept.then(|| self.write(NAMES, text));
        set("0");
        for cpu in cpus {
            let _ = fs::create_dir(self.path(&instance_of(*cpu))); // tried again, and told, by `instance`
        }
        set("1");
    }

    /// Sets up the trace of one CPU. Returns it, and what is missing of it.
    ///
    /// # Errors
    /// When the instance cannot be made, or cannot be frozen by a program or told to trace only its CPU.
    pub fn instance(&self, cpu: u32, kilobytes: u32) -> io::Result<(Instance, Vec<Missing>)> {
        let name = instance_of(cpu);
        match fs::create_dir(self.path(&name)) {
            Err(error) if error.kind() != io::ErrorKind::AlreadyExists => {
                return Err(self.refused(&self.path(&name), &error));
            }
            _ => {}
        }
        let set = |file: &str, text: &str| self.write(&format!("{name}/{file}"), text);
        set("tracing_on", "0")?;
        set("trace_clock", "mono")?;
        set("buffer_size_kb", "4")?; // of all CPUs: only one of them is written
        self.resize(&format!("{name}/per_cpu/cpu{cpu}/buffer_size_kb"), kilobytes)?;
        set("tracing_cpumask", &mask(cpu))?;
        let _ = set("options/overwrite", "1"); // the newest events are the ones that matter; this is how instances are born
        let frozen = set("events/ftrace/print/trigger", "traceoff");
        if !self.text(&format!("{name}/events/ftrace/print/trigger"))?.contains("traceoff") {
            frozen?; // a trigger that is there already is refused
            return Err(io::Error::other("the kernel did not take the trigger that freezes a trace"));
        }
        let mut missing = Vec::new();
        for event in events::WANTED.iter().filter(|event| event.is_of_this_machine()) {
            let file = format!("events/{}/{}/enable", event.group, event.name);
            if set(&file, "1").is_err() {
                missing.push(Missing::of(event.kind, &format!("{}/{}", event.group, event.name)));
            }
        }
        let instance = Instance::open(self.path(&name), cpu)?;
        instance.empty()?;
        instance.thaw()?;
        Ok((instance, missing))
    }

    /// Removes our instances and probes. What a program still holds stays, switched off.
    pub fn remove(&self) {
        for instance in self.instances() {
            let _ = fs::write(instance.join("tracing_on"), "0");
        }
        self.clear();
        for probe in ["-:horus/fault", "-:horus/fault_end"] {
            let _ = self.append("kprobe_events", probe);
        }
    }
}

/// The folder of a CPU's instance.
fn instance_of(cpu: u32) -> String {
    format!("instances/{PREFIX}{cpu}")
}

/// One CPU in the kernel's notation of masks: groups of eight hexadecimal digits.
pub fn mask(cpu: u32) -> String {
    let first = format!("{:x}", 1_u32 << (cpu % 32));
    first + &",00000000".repeat(cpu as usize / 32)
}

/// Reads by large pieces: `header_page` gives its text to the first read only, however little that takes.
fn read(path: &Path) -> io::Result<String> {
    use std::io::Read;
    let mut file = fs::File::open(path)?;
    let (mut text, mut piece) = (Vec::new(), vec![0; 64 * 1024]);
    loop {
        match file.read(&mut piece)? {
            0 => return String::from_utf8(text).map_err(io::Error::other),
            length => text.extend_from_slice(&piece[..length]),
        }
    }
}

/// Writes without creating or cutting: tracefs has neither.
fn write(path: &Path, text: &str) -> io::Result<()> {
    use std::io::Write;
    fs::OpenOptions::new().write(true).open(path)?.write_all(text.as_bytes())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_buffer_whose_file_is_for_readers_alone_is_given_its_size() {
        let folder = std::env::temp_dir().join(format!("horus-tracefs-{}", std::process::id()));
        fs::create_dir_all(&folder).unwrap();
        let file = folder.join("buffer_size_kb");
        fs::write(&file, "7\n").unwrap();
        fs::set_permissions(&file, fs::Permissions::from_mode(0o440)).unwrap();
        Tracefs { root: folder.clone() }.resize("buffer_size_kb", 64).unwrap();
        let (text, mode) = (fs::read_to_string(&file).unwrap(), fs::metadata(&file).unwrap().permissions().mode());
        fs::remove_dir_all(folder).unwrap();
        assert_eq!((text.as_str(), mode & 0o777), ("64", 0o640));
    }

    #[test]
    fn a_cpu_is_a_bit_of_a_mask_of_groups() {
        assert_eq!([mask(0), mask(1), mask(31), mask(33)], ["1", "2", "80000000", "2,00000000"]);
    }

    #[test]
    fn a_folder_without_a_tracer_is_an_error() {
        let empty = tempfile::tempdir().unwrap();
        assert_eq!(Tracefs::open(empty.path()).unwrap_err().kind(), io::ErrorKind::NotFound);
    }
}
