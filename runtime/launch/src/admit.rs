//! Whether all programs of a robot fit on this machine together, before any of them starts.
//!
//! A program says what its nodes are when it is started with `--describe`. Any other program would do its work at that, so only those are asked
//! that are programs of nodes: what has a node.toml, and what has the library's words in its file.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::Read;
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::thread;
use std::time::Duration;

use horus::admission::TaskPolicy;
use horus::figures::{self, Everywhere, ProcessFigures};
use horus::graph::{self, Admitted, Machine, ProcessInfo};
use horus_shm::directory::{DIRECTORY_VARIABLE, Directory, Location, Namespace};

use crate::command;
use crate::describe::describe;
use crate::robot::{Program, Robot};

/// How long a program may take to describe its nodes on a laptop; an interpreter loads its modules first.
const LIMIT: Duration = Duration::from_secs(10);
/// Of a file, no more is looked into.
const MOST_BYTES: u64 = 256 << 20;
/// So much of it at a time.
const PART: usize = 1 << 20;
/// So many programs are asked at a time.
const AT_A_TIME: usize = 8;

/// What is said of a robot that may start.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Verdict {
    /// One sentence about all of it; `None` where no program has nodes.
    pub sentence: Option<String>,
    /// Programs that are left out, or could not be counted, and why.
    pub notes: Vec<String>,
}

/// How the programs of a robot are asked, and beside what they will run.
pub struct Asking<'a> {
    /// The user and the group that they are asked as; `None` for those of this process.
    pub user: Option<(u32, u32)>,
    /// How long a program may take to describe its nodes.
    pub limit: Duration,
    /// Whether a program with a node.toml that does not describe its nodes is refused.
    pub is_strict: bool,
    /// Whether a process that runs ends before the robot starts, as those of the version that it replaces.
    pub leaves: &'a (dyn Fn(u32) -> bool + Sync),
    /// Whether no answer is wanted any more: programs that have not given one are ended.
    pub is_called_off: &'a (dyn Fn() -> bool + Sync),
}

impl Default for Asking<'_> {
    fn default() -> Self {
        Self { user: None, limit: LIMIT, is_strict: false, leaves: &|_| false, is_called_off: &|| false }
    }
}

impl Robot {
    /// Asks the programs what their nodes are, and whether all fit on `machine`, beside those that run already.
    ///
    /// # Errors
    /// Why the robot must not start: what does not fit, and what to do; or a program that runs already.
    pub fn admit(&self, machine: &Machine, asking: &Asking) -> Result<Verdict, String> {
        let location = Location::from_environment().map_err(|error| error.to_string())?;
        let left_out = self.left_out.iter().map(|(name, reason)| format!("{name} is left out: {reason}"));
        let mut notes: Vec<_> = left_out.collect();
        let mut asked = Vec::new();
        for (program, described) in self.programs.iter().zip(self.described(asking)?) {
            match described {
                Some(Ok(info)) => asked.push((program, info)),
                Some(Err(reason)) if asking.is_strict && program.start.settings.is_some() && !program.is_optional => {
                    return Err(format!("{}: {reason}", program.name));
                }
                Some(Err(reason)) => notes.push(format!("{} is not counted: {reason}", program.name)),
                None => {}
            }
        }
        twice(&asked, &location)?;
        run_already(&asked, &location, asking)?;
        let (programs, nodes) = (asked.len(), asked.iter().map(|(_, info)| info.nodes.len()).sum::<usize>());
        if programs == 0 {
            return Ok(Verdict { sentence: None, notes });
        }
        // Named as in the file: one program can run twice, in two namespaces.
        let own_place = location.namespace.to_string();
        let apart = |program: &Program| program.namespace.clone().filter(|namespace| *namespace != own_place);
        let named = |(program, info): (&Program, ProcessInfo)| match apart(program) {
            Some(namespace) => ProcessInfo { name: program.name.clone(), ..services_of(&namespace, info) },
            None => ProcessInfo { name: program.name.clone(), ..info },
        };
        let mut all: Vec<_> = asked.into_iter().map(named).collect();
        let own = all.clone();
        let mut others = Everywhere::look(&location);
        others.own.retain(|process| !(asking.leaves)(process.process));
        others.others.retain(|(_, process)| !(asking.leaves)(process.process));
        let others = others.programs();
        all.extend(others.into_iter().map(|info| ProcessInfo { name: format!("running {}", info.name), ..info }));
        // What others say of themselves is no reason not to start.
        let admitted = graph::admit(&all, machine).or_else(|_| graph::admit(&own, machine));
        let admitted = admitted.map_err(|error| format!("refused: {error}"))?;
        if !admitted.is_admitted() {
            return Err(admitted.to_string());
        }
        notes.extend(admitted.circles.iter().map(ToString::to_string));
        Ok(Verdict { sentence: Some(sentence(nodes, programs, &admitted)), notes })
    }

    /// What each program says of its nodes; `None` for one that has none.
    pub(crate) fn described(&self, asking: &Asking) -> Result<Vec<Option<Result<ProcessInfo, String>>>, String> {
        // Were one of them no program of nodes, it would publish on the robot's topics.
        let elsewhere = tempfile::tempdir_in("/dev/shm").map_err(|error| format!("/dev/shm: {error}"))?;
        if let Some((user, group)) = asking.user {
            let given = std::os::unix::fs::chown(elsewhere.path(), Some(user), Some(group));
            given.map_err(|error| format!("{}: {error}", elsewhere.path().display()))?;
        }
        let ask = |program: &Program| {
            is_of_nodes(program).then(|| {
                let mut command = command::of(program);
                command.env(DIRECTORY_VARIABLE, elsewhere.path());
                if let Some((user, group)) = asking.user {
                    command.uid(user).gid(group);
                }
                let shown = program.start.script.as_ref().unwrap_or(&program.start.command).display().to_string();
                describe(&mut command, &shown, asking.limit, asking.is_called_off)
            })
        };
        let together = |programs: &[Program]| {
            thread::scope(|scope| {
                let asked: Vec<_> = programs.iter().map(|program| scope.spawn(|| ask(program))).collect();
                asked.into_iter().map(|asked| asked.join().unwrap_or(None)).collect::<Vec<_>>()
            })
        };
        let mut all = Vec::new();
        for programs in self.programs.chunks(AT_A_TIME) {
            if (asking.is_called_off)() {
                return Err("was called off".to_owned());
            }
            all.extend(together(programs));
        }
        Ok(all)
    }
}

/// Whether a program has nodes, as far as its files tell.
fn is_of_nodes(program: &Program) -> bool {
    let start = &program.start;
    if start.settings.is_some() {
        return true;
    }
    let file = start.script.as_ref().unwrap_or(&start.command);
    match start.script {
        // In Python, a node is added to an App.
        Some(_) => has(file, "horus") && has(file, "App("),
        // In Rust the library is a part of the program; in C and C++ the program names its functions.
        None => has(file, "HORUS_NODE_FILE") || has(file, "horus_app_new"),
    }
}

/// Whether a word stands in a file, which may be large.
fn has(file: &Path, word: &str) -> bool {
    let Ok(file) = File::open(file) else { return false };
    let mut file = file.take(MOST_BYTES);
    let (mut part, mut length) = (vec![0; PART], 0);
    loop {
        match file.read(&mut part[length..]) {
            Ok(read @ 1..) => length += read,
            Ok(0) | Err(_) => return false,
        }
        if String::from_utf8_lossy(&part[..length]).contains(word) {
            return true;
        }
        // The word may begin at the end of this part.
        let rest = length.min(word.len());
        part.copy_within(length - rest..length, 0);
        length = rest;
    }
}

/// Refuses a program that would run twice in one namespace by this file.
pub(crate) fn twice(asked: &[(&Program, ProcessInfo)], location: &Location) -> Result<(), String> {
    let mut seen: BTreeMap<(String, &str), &str> = BTreeMap::new();
    for (program, info) in asked {
        let namespace = program.namespace.clone().unwrap_or_else(|| location.namespace.to_string());
        if let Some(other) = seen.insert((namespace, &info.name), &program.name) {
            return Err(format!(
                "{other} and {} are both the program `{}` on the same topics: give one of them a `namespace` of its own, or remove it",
                program.name, info.name
            ));
        }
    }
    Ok(())
}

/// Refuses a program that runs already.
fn run_already(asked: &[(&Program, ProcessInfo)], location: &Location, asking: &Asking) -> Result<(), String> {
    for (program, info) in asked {
        let namespace = program.namespace.clone().unwrap_or_else(|| location.namespace.to_string());
        if let Some(place) = runs(location, &namespace, &info.name, asking) {
            return Err(format!(
                "{} runs already: the program `{}` is on the topics of {place}; stop it, or give {} a `namespace` of its own",
                program.name, info.name, program.name
            ));
        }
    }
    Ok(())
}

/// The folder of the topics on which a program runs.
fn runs(location: &Location, namespace: &str, name: &str, asking: &Asking) -> Option<String> {
    let namespace: Namespace = namespace.parse().ok()?;
    let directory = Directory::find(namespace.path_in(&location.directory)).ok()??;
    let processes = figures::list(&directory).ok()?;
    let is_same = |process: &ProcessFigures| process.info().name == name && !(asking.leaves)(process.process);
    processes.iter().any(is_same).then(|| directory.path().display().to_string())
}

/// With its services named as those of a namespace: the same names elsewhere are other services.
fn services_of(namespace: &str, mut info: ProcessInfo) -> ProcessInfo {
    for service in info.nodes.iter_mut().flat_map(|node| node.asks.iter_mut().chain(&mut node.serves)) {
        *service = format!("{namespace}/{service}");
    }
    info
}

/// `12 nodes of 4 programs admitted: the fullest CPU is 1 with 41 %`.
fn sentence(nodes: usize, programs: usize, admitted: &Admitted) -> String {
    let of = |count: usize, what: &str| format!("{count} {what}{}", if count == 1 { "" } else { "s" });
    let whole = format!("{} of {}", of(nodes, "node"), of(programs, "program"));
    let mut cpus: BTreeMap<u32, f64> = BTreeMap::new();
    let tasks = admitted.admission.assessments().iter().map(|assessment| &assessment.task);
    for task in tasks.filter(|task| task.policy != TaskPolicy::Other) {
        *cpus.entry(task.cpu).or_default() += task.utilisation();
    }
    let Some((cpu, used)) = cpus.into_iter().max_by(|(_, one), (_, other)| one.total_cmp(other)) else {
        return format!("{whole}: none asks for a scheduling policy, a budget and one CPU, so no deadline is promised");
    };
    let left_out = admitted.not_analysed.len();
    let left_out = if left_out == 0 { String::new() } else { format!("; {} without a promise", of(left_out, "node")) };
    format!("{whole} admitted: the fullest CPU is {cpu} with {:.0} %{left_out}", 100.0 * used)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_word_is_found_wherever_it_stands_in_a_large_file() {
        let file = tempfile::NamedTempFile::new().unwrap();
        for place in [0, PART - 5, PART, 3 * PART - 1] {
            let mut bytes = vec![0xff; 3 * PART + 100];
            bytes[place..place + 15].copy_from_slice(b"HORUS_NODE_FILE");
            std::fs::write(file.path(), &bytes).unwrap();
            assert!(has(file.path(), "HORUS_NODE_FILE") && !has(file.path(), "horus_app_new"), "{place}");
        }
        assert!(!has(Path::new("/nowhere"), "x"));
    }
}
