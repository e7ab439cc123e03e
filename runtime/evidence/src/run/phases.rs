//! The measuring part of a run: the self-test, and each phase under its load.

use std::path::Path;
use std::time::Duration;

use horus::deadline::Timing;

use crate::config::phases::{IDLE, LOAD, Measure, PhasePlan};
use crate::measure::cyclictest::{self, Task};
use crate::measure::grants::Awake;
use crate::measure::load::{self, CpuTime, Running};
use crate::measure::metered::{self, Judged, Place};
use crate::measure::plan::{Places, Times};
use crate::measure::{answer, control, hwlat, message, node, self_test};
use crate::record::judge::Conditions;
use crate::record::schema::{Kind, Phase, SelfTest};
use crate::view::journal::{self, Journal};
use crate::view::text;

use super::Settings;

/// What the node's thread may compute without sleeping: the self-test's longest stall, several times over.
const LONGEST_COMPUTATION: Duration = Duration::from_secs(2);

/// What a load may outlast the run by, before it ends by itself.
const LOAD_MARGIN: Duration = Duration::from_secs(30);

/// Where a load writes its files, beside the reports.
const LOAD_FILES: &str = "files-of-a-load";

/// A run while it measures.
pub struct Run<'a> {
    settings: &'a Settings,
    pub journal: &'a mut Journal,
    pub conditions: Conditions,
    places: Places,
    times: Times,
    /// What the process as a whole was refused.
    notes: Vec<String>,
    awake: Option<Awake>,
}

impl<'a> Run<'a> {
    /// A run that has measured nothing; `notes` are what the process was refused.
    pub fn new(settings: &'a Settings, journal: &'a mut Journal, notes: Vec<String>) -> Self {
        let mut run = Self {
            settings,
            journal,
            conditions: Conditions::default(),
            places: Places::of_machine(Path::new("/")),
            times: Times::of(settings.config.duration, &settings.config.phases),
            notes,
            awake: None,
        };
        run.stay_awake();
        run
    }

    fn stay_awake(&mut self) {
        match Awake::take() {
            Ok(awake) => self.awake = Some(awake),
            Err(refused) if !self.notes.contains(&refused) => self.notes.push(refused),
            Err(_) => {}
        }
    }

    /// Tells a person, or the journal of a long run, what is done now.
    pub fn say(&self, what: &str) {
        if self.settings.progress {
            eprintln!("horus determinism: {what} …");
        }
    }

    fn place(&self) -> Place {
        Place {
            cpu: self.places.node,
            priority: Some(self.settings.config.priority),
            longest_computation: LONGEST_COMPUTATION,
        }
    }

    /// The positive control.
    pub fn self_test(&mut self) -> SelfTest {
        self.say("self-test");
        let timing = self.settings.config.timing;
        let result = self_test::run(timing, self.times.self_test, self.place(), self.settings.injected_stall);
        self.journal.write(&journal::self_test(&result));
        result
    }

    /// All phases in their order, and the commands of the loads that they need. A load is started once for all phases that follow each
    /// other under it.
    pub fn phases(&mut self) -> (Vec<Phase>, Vec<Vec<String>>) {
        let config = &self.settings.config;
        let place = load::Place {
            housekeeping: self.places.housekeeping.clone(),
            data: self.settings.destination.directories()[0].join(LOAD_FILES),
            seconds: (config.duration + LOAD_MARGIN).as_secs(),
        };
        let mut phases = Vec::with_capacity(config.phases.len());
        for group in config.phases.chunk_by(|one, next| one.load == next.load) {
            let name = &group[0].load;
            let started = config.loads.get(name).filter(|_| name != IDLE);
            match started.map(|load| Running::start(name, load, &place, self.times.load_start)).transpose() {
                Ok(running) => {
                    for plan in group {
                        let phase = self.phase(plan, phases.len(), &phases);
                        self.keep(phase, &mut phases);
                    }
                    if let Some(Err(reason)) = running.map(Running::end) {
                        self.conditions.load_failures.push(failure(name, &reason));
                    }
                }
                Err(reason) => {
                    for plan in group {
                        let load = Some(name.clone());
                        self.keep(
                            Phase { load, ..Phase::not_measured(&plan.name, failure(name, &reason)) },
                            &mut phases,
                        );
                    }
                    self.conditions.load_failures.push(failure(name, &reason));
                }
            }
        }
        let commands = config.used_loads().into_iter().map(|(_, load)| load::command_line(load, &place));
        (phases, commands.collect())
    }

    fn keep(&mut self, phase: Phase, phases: &mut Vec<Phase>) {
        self.journal.write(&journal::phase(&phase));
        phases.push(phase);
    }

    /// Measures phase number `number`; `earlier` are those that were measured before it.
    fn phase(&mut self, plan: &PhasePlan, number: usize, earlier: &[Phase]) -> Phase {
        let count = self.times.phases.len();
        let left = text::time_left(self.times.left(number));
        self.say(&format!("phase {} of {count}, {}; {left} left", number + 1, plan.name));
        let before = CpuTime::now(&self.places.housekeeping);
        let mut phase = self.measure(plan, self.times.phases[number], earlier);
        phase.load = load_of(plan);
        phase.busy_percent = CpuTime::busy_percent_since(before, &self.places.housekeeping);
        phase
    }

    fn measure(&mut self, plan: &PhasePlan, time: Duration, earlier: &[Phase]) -> Phase {
        let name = &plan.name;
        let timing = |own: &Option<Timing>| own.unwrap_or(self.settings.config.timing);
        match &plan.measure {
            Measure::Node(own) => self.judged(name, timing(own), time, node::phase),
            Measure::Message(None) => message::measure(name, &self.places, time),
            Measure::Message(Some(timing)) => {
                let places = self.places.clone();
                self.judged(name, *timing, time, |task| answer::phase(task, &places))
            }
            Measure::Cyclictest { interval, default_system } => {
                let config = &self.settings.config;
                let interval = interval.unwrap_or(config.cyclictest_interval);
                let task = Task { priority: config.priority, interval, default_system: *default_system, time };
                self.cyclictest(plan, task, earlier)
            }
            Measure::Hwlat => hwlat::measure(name, Path::new(horus_witness::TRACEFS), self.places.node, time),
            Measure::Control => control::measure(name, self.place(), self.places.node_is_isolated, time),
        }
    }

    /// A node, or messages with a deadline.
    fn judged(
        &mut self,
        name: &str,
        timing: Timing,
        time: Duration,
        measure: impl FnOnce(&metered::Task) -> Judged,
    ) -> Phase {
        let task = metered::Task { name, timing, time, place: self.place(), root: &self.settings.root };
        let Judged { mut phase, refused } = measure(&task);
        for reason in refused {
            if !self.conditions.refused.contains(&reason) {
                self.conditions.refused.push(reason);
            }
        }
        phase.notes.splice(0..0, self.notes.iter().cloned());
        phase
    }

    fn cyclictest(&mut self, plan: &PhasePlan, task: Task, earlier: &[Phase]) -> Phase {
        let name = &plan.name;
        if !task.default_system {
            return cyclictest::measure(name, task, &self.places);
        }
        self.awake = None;
        let is_kept = Awake::is_kept_by_others();
        let mut phase = cyclictest::measure(name, task, &self.places);
        self.stay_awake();
        if is_kept {
            phase.notes.push(
                "a program on this machine keeps the CPUs awake, so that power management has no part in this"
                    .to_owned(),
            );
        }
        phase.notes.extend(difference(&phase, plan, earlier));
        phase
    }
}

/// What it costs that cyclictest left power management alone, against the last phase of cyclictest under the same load.
fn difference(phase: &Phase, plan: &PhasePlan, earlier: &[Phase]) -> Option<String> {
    let is_like = |other: &&Phase| other.kind() == Kind::Witness && other.measured && other.load == load_of(plan);
    let tuned = earlier.iter().rev().find(is_like)?;
    text::difference_sentence(phase, tuned)
}

/// The load in the report.
fn load_of(plan: &PhasePlan) -> Option<String> {
    (plan.load != IDLE).then(|| plan.load.clone())
}

/// Why a load does not count.
fn failure(name: &str, reason: &str) -> String {
    if name == LOAD { format!("load: {reason}") } else { format!("load '{name}': {reason}") }
}
