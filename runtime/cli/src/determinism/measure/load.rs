//! The load on the housekeeping CPUs: started before the phases that need it, seen to work, ended for sure.
//!
//! Three things end it, whichever comes first: dropping [`Running`], its own time limit (the `{seconds}` of its
//! command), and the kernel when this process dies, because it is started through `horus determinism-load`, which asks
//! for that.

use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Command, ExitCode, Stdio};
use std::time::Duration;

use horus::cpus::CpuList;
use rustix::process::{Pid, Signal, getppid, set_parent_process_death_signal};

use crate::determinism::child::{Group, Words, pause};
use crate::determinism::config::{CPUS, SECONDS};

/// A load that leaves the housekeeping CPUs idle for more than half of the time is none.
const MIN_BUSY: f64 = 0.5;

/// What to do about a load that does not load.
const REMEDY: &str = "choose another 'load' in /var/lib/horus/determinism.toml";

/// The load, running.
pub struct Running {
    group: Group,
    words: Words,
    housekeeping: CpuList,
    before: Option<CpuTime>,
}

/// Command line of the hidden `horus determinism-load`: becomes the load program.
#[derive(clap::Args)]
pub struct Args {
    /// The process whose death ends the load.
    #[arg(long)]
    parent: i32,
    /// Program and arguments.
    #[arg(last = true, required = true)]
    command: Vec<String>,
}

/// Runs `horus determinism-load`.
pub fn become_load(args: &Args) -> ExitCode {
    let result = set_parent_process_death_signal(Some(Signal::TERM));
    // A parent that died before the line above gives no signal any more.
    let orphaned = getppid().map(Pid::as_raw_pid) != Some(args.parent);
    if let (Ok(()), false) = (result, orphaned) {
        let error = Command::new(&args.command[0]).args(&args.command[1..]).exec();
        eprintln!("cannot start the load program {}: {error}", args.command[0]);
    }
    ExitCode::FAILURE
}

/// The command with its placeholders filled in.
pub fn command_line(load: &[String], housekeeping: &CpuList, seconds: u64) -> Vec<String> {
    let fill =
        |word: &String| word.replace(CPUS, &housekeeping.len().to_string()).replace(SECONDS, &seconds.to_string());
    load.iter().map(fill).collect()
}

impl Running {
    /// Starts `command` on the CPUs of the calling thread and waits `settle` until it works.
    pub fn start(command: &[String], housekeeping: &CpuList, settle: Duration) -> Result<Self, String> {
        let program = &command[0];
        if !is_installed(program) {
            return Err(format!("load program {program} is not installed; install it, or {REMEDY}"));
        }
        let mut starter = Command::new("/proc/self/exe");
        starter.args(["determinism-load", "--parent", &std::process::id().to_string(), "--"]).args(command);
        // The directory takes the temporary files that stress-ng insists on; the root file system is read-only.
        starter.current_dir(std::env::temp_dir()).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::piped());
        let mut group = Group::start(&mut starter).map_err(|error| format!("load program {program}: {error}"))?;
        let words = Words::of(group.leader().stderr.take().expect("stderr is a pipe"));
        let mut running = Self { group, words, housekeeping: housekeeping.clone(), before: None };
        pause(settle);
        running.check_alive(program)?;
        running.before = CpuTime::now(housekeeping);
        Ok(running)
    }

    fn check_alive(&mut self, program: &str) -> Result<(), String> {
        if self.group.is_running() {
            return Ok(());
        }
        Err(format!("load program {program} ended early{}; run it by hand, or {REMEDY}", self.words.last()))
    }

    /// Ends the load; says why the phases under it do not count, if they do not.
    pub fn end(mut self, program: &str) -> Result<(), String> {
        let after = CpuTime::now(&self.housekeeping);
        self.check_alive(program)?;
        let (Some(before), Some(after)) = (self.before, after) else {
            return Err("the effect of the load cannot be read from /proc/stat".to_owned());
        };
        let busy = after.busy_since(&before);
        if busy < MIN_BUSY {
            let percent = busy * 100.0;
            return Err(format!(
                "load program {program} kept the housekeeping CPUs only {percent:.0} % busy; {REMEDY}"
            ));
        }
        Ok(())
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
pub struct CpuTime {
    idle: u64,
    total: u64,
}

impl CpuTime {
    /// What `cpus` of this machine have spent until now.
    pub fn now(cpus: &CpuList) -> Option<Self> {
        Self::read(Path::new("/proc/stat"), cpus)
    }

    /// How busy `cpus` were since `before`, in percent with one decimal; `None` when that cannot be read.
    pub fn busy_percent_since(before: Option<Self>, cpus: &CpuList) -> Option<f64> {
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

    #[test]
    fn placeholders_are_filled_wherever_they_stand() {
        let words = ["stress-ng", "--cpu", "{cpus}", "--timeout", "{seconds}s"].map(str::to_owned);
        let filled = command_line(&words, &"0-2".parse().unwrap(), 30);
        assert_eq!(filled, ["stress-ng", "--cpu", "3", "--timeout", "30s"]);
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
        let command = ["no-such-load".to_owned()];
        let error = Running::start(&command, &"0".parse().unwrap(), Duration::ZERO).err().unwrap();
        assert!(error.contains("no-such-load is not installed"), "{error}");
    }
}
