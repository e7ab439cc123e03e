//! The load on the housekeeping CPUs: started before the phases that need it, seen to work, ended for sure.
//!
//! Three things end it, whichever comes first: dropping [`Running`], its own time limit (the `{seconds}` of its
//! command), and the kernel when this process dies, because it is started through `horus determinism-load`, which asks
//! for that.

use std::fs;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode, Stdio};
use std::time::Duration;

use horus::cpus::CpuList;
use horus::time::pause;
use rustix::process::{Pid, Signal, getppid, set_parent_process_death_signal};

use crate::child::{Group, Words};
use crate::config::phases::{LOAD, Load};
use crate::config::{CPUS, DATA, SECONDS};

/// Where and how long a load works.
#[derive(Clone, Debug)]
pub struct Place {
    /// The CPUs that it loads.
    pub housekeeping: CpuList,
    /// A directory for a load that writes to the disk: made for it and removed after it, so no other program may have anything there.
    pub data: PathBuf,
    /// What it has to last, in seconds.
    pub seconds: u64,
}

/// The load, running.
pub struct Running {
    group: Group,
    /// After the group, so that no process writes any more when they go.
    _files: Option<Files>,
    words: Words,
    housekeeping: CpuList,
    before: Option<CpuTime>,
    least_busy: f64,
    program: String,
    remedy: String,
}

/// Becomes the load program `command`, whose first word is its name. The process `parent` is the one whose death ends it. Returns where
/// it cannot.
pub fn become_load(parent: i32, command: &[String]) -> ExitCode {
    let result = set_parent_process_death_signal(Some(Signal::TERM));
    // A parent that died before the line above gives no signal any more.
    let orphaned = getppid().map(Pid::as_raw_pid) != Some(parent);
    if let (Ok(()), false) = (result, orphaned) {
        let error = Command::new(&command[0]).args(&command[1..]).exec();
        eprintln!("cannot start the load program {}: {error}", command[0]);
    }
    ExitCode::FAILURE
}

/// The command with its placeholders filled in.
pub(crate) fn command_line(load: &Load, place: &Place) -> Vec<String> {
    let (cpus, seconds) = (place.housekeeping.len().to_string(), place.seconds.to_string());
    let data = place.data.to_string_lossy();
    let fill = |word: &String| word.replace(CPUS, &cpus).replace(SECONDS, &seconds).replace(DATA, &data);
    load.command.iter().map(fill).collect()
}

/// What to do about a load that does not load.
fn remedy(name: &str) -> String {
    match name {
        LOAD => "choose another 'load' in /var/lib/horus/determinism.toml".to_owned(),
        name => format!("choose another [loads.{name}], or phases without it, in the file of the run's phases"),
    }
}

impl Running {
    /// Starts the load called `name` on the CPUs of the calling thread and waits `settle` until it works.
    pub fn start(name: &str, load: &Load, place: &Place, settle: Duration) -> Result<Self, String> {
        let (command, remedy) = (command_line(load, place), remedy(name));
        let program = command[0].clone();
        if !is_installed(&program) {
            return Err(format!("load program {program} is not installed; install it, or {remedy}"));
        }
        let files = Files::for_load(load, &place.data)
            .map_err(|error| format!("no directory for the load's files, {}: {error}", place.data.display()))?;
        let mut starter = Command::new("/proc/self/exe");
        starter.args(["determinism-load", "--parent", &std::process::id().to_string(), "--"]).args(&command);
        // The directory takes the temporary files that stress-ng insists on; the root file system is read-only.
        starter.current_dir(std::env::temp_dir()).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::piped());
        let mut group = Group::start(&mut starter).map_err(|error| format!("load program {program}: {error}"))?;
        let words = Words::of(group.leader().stderr.take().expect("stderr is a pipe"));
        let least_busy = f64::from(load.least_busy_percent) / 100.0;
        let housekeeping = place.housekeeping.clone();
        let mut running = Self { group, _files: files, words, housekeeping, before: None, least_busy, program, remedy };
        pause(settle);
        running.check_alive()?;
        running.before = CpuTime::now(&place.housekeeping);
        Ok(running)
    }

    fn check_alive(&mut self) -> Result<(), String> {
        if self.group.is_running() {
            return Ok(());
        }
        let Self { program, remedy, .. } = self;
        Err(format!("load program {program} ended early{}; run it by hand, or {remedy}", self.words.last()))
    }

    /// Ends the load; says why the phases under it do not count, if they do not.
    pub fn end(mut self) -> Result<(), String> {
        let after = CpuTime::now(&self.housekeeping);
        self.check_alive()?;
        let (Some(before), Some(after)) = (self.before, after) else {
            return Err("the effect of the load cannot be read from /proc/stat".to_owned());
        };
        let busy = after.busy_since(&before);
        if busy < self.least_busy {
            let (program, percent, remedy) = (&self.program, busy * 100.0, &self.remedy);
            return Err(format!(
                "load program {program} kept the housekeeping CPUs only {percent:.0} % busy; {remedy}"
            ));
        }
        Ok(())
    }
}

/// The directory of a load's files; dropping it removes them.
struct Files(PathBuf);

impl Files {
    /// An empty one, where the load's command names it; that of a run that was killed goes.
    fn for_load(load: &Load, directory: &Path) -> std::io::Result<Option<Self>> {
        if !load.command.iter().any(|word| word.contains(DATA)) {
            return Ok(None);
        }
        let _ = fs::remove_dir_all(directory);
        fs::create_dir_all(directory)?;
        Ok(Some(Self(directory.to_owned())))
    }
}

impl Drop for Files {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0); // what stays is some megabytes
    }
}

fn is_installed(program: &str) -> bool {
    let is_file = |path: &Path| path.is_file();
    program.contains('/') && is_file(Path::new(program))
        || std::env::var_os("PATH")
            .is_some_and(|paths| std::env::split_paths(&paths).any(|directory| is_file(&directory.join(program))))
}

/// Ticks that a set of CPUs spent since boot.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct CpuTime {
    idle: u64,
    total: u64,
}

impl CpuTime {
    /// What `cpus` of this machine have spent until now.
    pub fn now(cpus: &CpuList) -> Option<Self> {
        Self::read(Path::new("/proc/stat"), cpus)
    }

    /// How busy `cpus` were since `before`, in percent with one decimal; `None` when that cannot be read.
    pub(crate) fn busy_percent_since(before: Option<Self>, cpus: &CpuList) -> Option<f64> {
        let busy = Self::now(cpus)?.busy_since(&before?);
        Some((busy * 1_000.0).round() / 10.0)
    }

    /// Sums the `cpuN` lines of /proc/stat: user nice system idle iowait irq softirq steal; guest time is within user.
    fn read(stat: &Path, cpus: &CpuList) -> Option<Self> {
        let text = std::fs::read_to_string(stat).ok()?;
        let mut sum = Self::default();
        for line in text.lines() {
            let mut words = line.split_ascii_whitespace();
            let cpu = words.next().and_then(|name| name.strip_prefix("cpu")).and_then(|number| number.parse().ok());
            if !cpu.is_some_and(|cpu| cpus.contains(cpu)) {
                continue;
            }
            let ticks: Vec<u64> = words.take(8).filter_map(|word| word.parse().ok()).collect();
            sum.total += ticks.iter().sum::<u64>();
            sum.idle += ticks.iter().skip(3).take(2).sum::<u64>();
        }
        (sum.total > 0).then_some(sum)
    }

    fn busy_since(&self, before: &Self) -> f64 {
        let total = self.total.saturating_sub(before.total);
        let idle = self.idle.saturating_sub(before.idle);
        if total == 0 { 0.0 } else { 1.0 - idle as f64 / total as f64 }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn place(data: &Path) -> Place {
        Place { housekeeping: "0-2".parse().unwrap(), data: data.to_owned(), seconds: 30 }
    }

    fn load(words: &[&str]) -> Load {
        Load::new(words.iter().map(|word| (*word).to_owned()).collect())
    }

    #[test]
    fn placeholders_are_filled_wherever_they_stand() {
        let load = load(&["stress-ng", "--cpu", "{cpus}", "--timeout", "{seconds}s", "--temp-path={data}"]);
        let filled = command_line(&load, &place(Path::new("/d")));
        assert_eq!(filled, ["stress-ng", "--cpu", "3", "--timeout", "30s", "--temp-path=/d"]);
    }

    #[test]
    fn a_load_that_names_a_directory_has_it_empty_and_leaves_nothing() {
        let directory = tempfile::tempdir().unwrap();
        let data = directory.path().join("files");
        std::fs::create_dir(&data).unwrap();
        std::fs::write(data.join("of-a-killed-run"), "").unwrap();
        let files = Files::for_load(&load(&["sh", "{data}"]), &data).unwrap();
        assert_eq!(std::fs::read_dir(&data).unwrap().count(), 0);
        drop(files);
        assert!(!data.exists());
    }

    #[test]
    fn a_load_without_files_touches_no_directory() {
        let directory = tempfile::tempdir().unwrap();
        assert!(Files::for_load(&load(&["sh", "{cpus}"]), directory.path()).unwrap().is_none());
        assert!(directory.path().exists());
    }

    #[test]
    fn only_the_named_cpus_count_and_waiting_for_a_disk_is_idle() {
        let directory = tempfile::tempdir().unwrap();
        let stat = directory.path().join("stat");
        let write = |text: &str| std::fs::write(&stat, text).unwrap();
        write("cpu  9 9 9 9 9 9 9 9 0 0\ncpu0 10 0 0 80 10 0 0 0 0 0\ncpu1 0 0 0 0 0 0 0 0 0 0\nintr 1\n");
        let cpus = "0".parse().unwrap();
        let before = CpuTime::read(&stat, &cpus).unwrap();
        write("cpu0 40 0 0 90 10 0 0 0 0 0\ncpu1 999 0 0 0 0 0 0 0 0 0\n");
        let busy = CpuTime::read(&stat, &cpus).unwrap().busy_since(&before);
        assert!((busy - 0.75).abs() < 1e-9, "{busy}");
        assert!(CpuTime::read(&stat, &"7".parse().unwrap()).is_none());
    }

    #[test]
    fn a_load_that_is_not_there_is_an_error_that_names_it() {
        let start =
            |name| Running::start(name, &load(&["no-such-load"]), &place(Path::new("/nowhere")), Duration::ZERO);
        let [error, of_set] = [LOAD, "membw"].map(|name| start(name).err().unwrap());
        assert!(error.contains("no-such-load is not installed") && error.contains("determinism.toml"), "{error}");
        assert!(of_set.contains("[loads.membw]"), "{of_set}");
    }
}
