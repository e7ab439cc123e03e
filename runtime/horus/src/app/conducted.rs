//! How a program of nodes runs where a conductor has the time: `horus run --virtual`.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicBool, Ordering};

use horus_sys::clock::stamp_virtually;

use super::run::{publish_params, sheet, status, what};
use super::{App, NodeAccount, build};
use crate::conduct::{BEGINNING, Report, Turns};
use crate::simulation::{Event, Simulation};
use crate::supervise::{INTERVAL, Watched};
use crate::time::MonotonicTime;
use crate::world::Running;
use crate::{stop, supervise};

/// A program in its turns.
struct Conducted {
    simulation: Simulation,
    running: Running,
    watched: Vec<Watched>,
    background: Vec<Box<dyn FnMut(MonotonicTime) + Send>>,
    /// When the thread beside the loops would look next.
    look: MonotonicTime,
}

impl App {
    /// Runs the nodes in the calling thread, in the turns that a conductor gives, until it has no more, SIGTERM comes, or all nodes have
    /// used up their releases.
    pub(super) fn run_conducted(mut self, mut turns: Turns) -> crate::Result<Vec<NodeAccount>> {
        self.settings.told(&self.name).send_or_print();
        let grace = self.grace;
        let mut background = std::mem::take(&mut self.background);
        let setters = self.setters.take();
        let mut built = build(self)?;
        let stop = stop::on_termination_within(grace)?;
        let sheet = sheet(&built)?;
        // Values that were saved are a machine's, and the run would be another one there: files alone say what they are here.
        if let Some(mut keeper) = publish_params(&mut built, setters.as_ref())? {
            background.push(Box::new(move |_| keeper.refuse("a program on a virtual clock saves and loads nothing")));
        }
        let watched = std::mem::take(&mut built.watched).into_iter().enumerate();
        let watched = watched.map(|(node, watched)| watched.with(sheet.of(node))).collect();
        let threads = std::mem::take(&mut built.threads);
        let (simulation, running) = Running::arrange(threads, &built.info.nodes, &sheet)?;
        let running = running.of_this_process();
        let look = BEGINNING.plus(INTERVAL);
        let mut program = Conducted { simulation, running, watched, background, look };
        turns.report(program.report())?;
        supervise::notify_ready(&status(&built));
        let ran = catch_unwind(AssertUnwindSafe(|| program.take_turns(&mut turns, &stop)));
        program.end();
        match ran {
            Ok(ran) => ran?,
            Err(panic) => {
                let node = program.running.last().map_or_else(String::new, |name| format!("node {name} "));
                return Err(crate::Error::new(format!("{node}{}", what(&*panic))));
            }
        }
        if stop.load(Ordering::Relaxed) {
            eprintln!("{}: stopped", built.info.name);
        }
        let accounts = program.running.runners().map(|(name, runner)| NodeAccount::of(name.to_owned(), runner));
        super::run::none_stopped(accounts.collect())
    }
}

impl Conducted {
    fn take_turns(&mut self, turns: &mut Turns, stop: &AtomicBool) -> crate::Result {
        while let Some(until) = turns.wait(stop)? {
            self.run(until);
            let report = self.report();
            turns.report(report)?;
            if report.is_over {
                break;
            }
        }
        Ok(())
    }

    /// Runs what is due by `until`.
    fn run(&mut self, until: MonotonicTime) {
        stamp_virtually(until.as_nanos());
        loop {
            self.running.release_by_events(&mut self.simulation, until);
            let Some(event) = self.simulation.next_event(until, &mut self.running) else { break };
            self.running.take(&event);
            if matches!(event, Event::Complete { .. }) && self.running.has_stopped() {
                break;
            }
        }
        if until >= self.look {
            self.watched.iter_mut().for_each(|node| node.collect(until, |entry| entry.send_or_print()));
            self.background.iter_mut().for_each(|work| work(until));
            self.look = until.plus(INTERVAL);
        }
    }

    fn report(&self) -> Report {
        let is_over = self.running.has_stopped() || self.running.have_ended();
        let next = self.simulation.next_instant().map_or(self.look, |next| next.min(self.look));
        Report { next: (!is_over).then_some(next), is_over }
    }

    /// The last words: what is safe, and what there is to tell.
    fn end(&mut self) {
        let now = self.simulation.now();
        for runner in self.running.runners_mut() {
            runner.publish_safe(now);
            runner.end();
        }
        self.watched.drain(..).for_each(|node| node.finish(|entry| entry.send_or_print()));
        self.background.iter_mut().for_each(|work| work(MonotonicTime::MAX));
    }
}
