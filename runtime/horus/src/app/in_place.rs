//! A program's nodes in the calling thread, on a clock of the caller's: for meters of the loop's own cost.

use std::sync::atomic::AtomicBool;

use super::{App, NodeAccount, build};
use crate::executor::{Executor, Runner};
use crate::figures::Sheet;
use crate::time::Clock;

impl App {
    /// Runs the nodes in the calling thread, on `clock`, until `stop` is set or all of them have used up their
    /// [`releases`](Self::releases). The loop is the one that [`run`](Self::run) runs.
    ///
    /// Nothing is asked of the machine, and no other process hears of the nodes: there is no CPU, scheduling policy or locked memory, no
    /// admission, no journal, and no figures outside of this process. A thread that waits for events waits by the machine's
    /// clock.
    ///
    /// # Errors
    /// What is wrong with the graph, or that its nodes ask for more than one thread.
    pub fn run_in_place(self, clock: impl Clock, stop: &AtomicBool) -> crate::Result<Vec<NodeAccount>> {
        let from = clock.now();
        let (mut executor, names) = executor(self, clock)?;
        executor.run(from, stop);
        executor.end();
        Ok(names.into_iter().zip(executor.runners()).map(|(name, runner)| NodeAccount::of(name, runner)).collect())
    }
}

/// The loop of a program with one thread, and the names of its nodes.
pub(crate) fn executor<C: Clock>(app: App, clock: C) -> crate::Result<(Executor<'static, C>, Vec<String>)> {
    let built = build(app)?;
    let sheet = Sheet::own(built.info.nodes.len(), "");
    let [plan] = <[_; 1]>::try_from(built.threads).map_err(|threads| {
        crate::Error::new(format!(
            "the nodes ask for {} threads, and there is this one: give them one CPU and one scheduling policy",
            threads.len()
        ))
    })?;
    let runners = plan.nodes.iter().zip(plan.runners).map(|(&node, parts)| Runner::new(parts, sheet.of(node)));
    let names = built.info.nodes.into_iter().map(|info| info.name).collect();
    Ok((Executor::new(runners.collect(), clock), names))
}
