//! How a program of nodes runs on the machine.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use horus_shm::board::{self, Board};
use horus_shm::directory::Location;

use super::build::{ThreadPlan, check_cpus};
use super::{App, Built, NodeAccount, build, command_line};
use crate::executor::{Executor, Runner};
use crate::figures::{Everywhere, Sheet};
use crate::graph::admit::Machine;
use crate::graph::{self, ProcessInfo};
use crate::journal::{Entry, Priority};
use crate::monitor::Presence;
use crate::node::StepFailed;
use crate::param::Keeper;
use crate::startup::{Granted, Process};
use crate::time::{MonotonicTime, SystemClock};
use crate::topic::{Directory, Group};
use crate::witness::client::{Client, Seat};
use crate::witness::freeze::Trace;
use crate::witness::protocol::SOCKET;
use crate::{startup, stop, supervise};

/// The longest that a real-time thread may compute without sleeping before the kernel ends the process: for where no monitor takes
/// its policy away.
const RT_TIME_LIMIT: Duration = Duration::from_secs(1);

/// What a program's start has to spare for a witness that answers late.
const ENROLMENT: Duration = Duration::from_millis(300);

/// What a thread reports when it has taken its place, and when it has ended. Dropped before its first release, it ends the thread and waits
/// for that: the thread has the program's figures, and so its name.
struct Handles {
    thread: Option<JoinHandle<Ended>>,
    granted: Receiver<(Granted, Seat)>,
    go: Option<Sender<Go>>,
}

impl Handles {
    /// The word for its first release; a thread that has panicked is found when it is joined.
    fn go(&self, go: Go) {
        let _ = self.go.as_ref().map(|sender| sender.send(go));
    }

    /// Waits for its end.
    fn join(mut self) -> thread::Result<Ended> {
        self.thread.take().expect("a thread is joined once").join()
    }
}

impl Drop for Handles {
    fn drop(&mut self) {
        self.go = None;
        let _ = self.thread.take().map(JoinHandle::join); // why the start failed is told already
    }
}

/// The word for a thread's first release.
struct Go {
    from: MonotonicTime,
    /// What its misses freeze.
    trace: Option<Arc<Trace>>,
}

/// What is left of a thread.
struct Ended {
    accounts: Vec<(usize, NodeAccount)>,
    panicked: Option<String>,
}

impl App {
    /// Runs the nodes until SIGTERM or SIGINT, until they have used up their [`releases`](Self::releases), or until one of them
    /// stops the program. Returns their accounts.
    ///
    /// # Errors
    /// Before the first release: what is wrong with the graph, or with this machine. Later: a node panicked, or reacted to its misses by
    /// the program's end.
    pub fn run(self) -> crate::Result<Vec<NodeAccount>> {
        let mut app = command_line::describe_if_asked(self)?;
        match app.turns.take() {
            Some(turns) => app.run_conducted(turns),
            None => app.run_for_real(),
        }
    }

    fn run_for_real(mut self) -> crate::Result<Vec<NodeAccount>> {
        self.settings.told(&self.name).send_or_print();
        let mut topic_files = std::mem::take(&mut self.topic_files);
        self.background(move |now| topic_files.look(now).iter().for_each(Entry::send_or_print));
        let (is_strict, stack_bytes, grace) = (self.is_strict, self.stack_bytes, self.grace);
        let mut background = std::mem::take(&mut self.background);
        let setters = self.setters.take();
        let mut built = build(self)?;
        for plan in &built.threads {
            check_cpus(plan.thread.cpu)?;
        }
        admit(&mut built.info)?;
        if let Some(mut presence) = Presence::of(&built.info, Directory::from_environment()?) {
            background.push(Box::new(move |now| presence.look(now).iter().for_each(Entry::send_or_print)));
        }
        let stop = stop::on_termination_within(grace)?;
        let sheet = sheet(&built)?;
        take_saved_params(&mut built)?;
        if let Some(mut keeper) = publish_params(&mut built, setters.as_ref())? {
            background.push(Box::new(move |now| keeper.look(now)));
        }
        let watched = std::mem::take(&mut built.watched);
        let watched = watched.into_iter().enumerate().map(|(node, watched)| watched.with(sheet.of(node))).collect();
        let is_real_time = built.threads.iter().any(|plan| plan.thread.policy.is_real_time());
        let process = Process {
            lock_memory: is_real_time,
            hold_cpu_dma_latency: is_real_time,
            rt_time_limit: is_real_time.then_some(RT_TIME_LIMIT),
        };
        if is_real_time {
            horus_sys::heap::share_one_arena(); // each thread's own would be 64 MiB to lock
        }
        // Everything is open, on an ordinary thread. Other threads start before a policy is taken.
        let (witness, coming) = channel();
        let supervisor =
            supervise::spawn(watched, coming, move |now| background.iter_mut().for_each(|work| work(now)))?;
        let process = process.prepare();
        let threads = std::mem::take(&mut built.threads);
        let begin = |plan| start(plan, &built, &sheet, &process, &stop, stack_bytes);
        let handles: Vec<_> = threads.into_iter().map(begin).collect::<Result<_, _>>()?;
        let granted: Result<Vec<_>, _> = handles.iter().map(|handle| handle.granted.recv()).collect();
        let granted = granted.map_err(|_| crate::Error::new("a thread of nodes panicked before its first release"))?;
        let (granted, seats): (Vec<_>, Vec<_>) = granted.into_iter().unzip();
        if let Some(refused) = granted.iter().find(|granted| is_strict && !granted.is_complete()) {
            refused.complete()?;
        }
        let tids: Vec<_> = seats.iter().map(|seat: &Seat| seat.tid).collect();
        let mut client = Client::new(SOCKET, &built.info.name, seats);
        client.greet(ENROLMENT, |entry| entry.send_or_print());
        supervise::notify_ready(&status(&built));
        let from = MonotonicTime::now();
        for (handle, &tid) in handles.iter().zip(&tids) {
            handle.go(Go { from, trace: client.trace_of(tid) });
        }
        let _ = witness.send(client);
        let ended: Vec<_> = handles.into_iter().map(Handles::join).collect();
        drop(supervisor); // waits for its last entries
        if stop.load(Ordering::Relaxed) {
            eprintln!("{}: stopped", built.info.name);
        }
        accounts(ended)
    }
}

/// Refuses nodes that do not fit, together with those that run already in any namespace, and takes note of what was predicted.
fn admit(info: &mut ProcessInfo) -> crate::Result {
    let everywhere = Everywhere::look(&Location::from_environment()?);
    if let Some(unseen) = everywhere.unseen().filter(|_| info.nodes.iter().any(|node| node.budget_ns > 0)) {
        Entry::plain(Priority::Warning, format!("{}: {unseen}", info.name)).send_or_print();
    }
    let processes: Vec<_> = std::iter::once(info.clone()).chain(everywhere.programs()).collect();
    let machine = Machine::here();
    let together = graph::admit::admit(&processes, &machine);
    // What others say of themselves is no reason not to start.
    let admitted = together.or_else(|_| graph::admit::admit(&processes[..1], &machine))?;
    if !admitted.is_admitted() {
        return Err(crate::Error::new(admitted.to_string()));
    }
    for circle in &admitted.circles {
        Entry::plain(Priority::Warning, format!("{}: {circle}", info.name)).send_or_print();
    }
    for (index, node) in info.nodes.iter_mut().enumerate() {
        node.predicted_ns = admitted.predicted(0, index).map_or(0, |predicted| predicted.as_nanos() as u64);
    }
    Ok(())
}

/// The figures, where others see them.
pub(super) fn sheet(built: &Built) -> crate::Result<Arc<Sheet>> {
    let (name, nodes) = (&built.info.name, built.info.nodes.len());
    let text = serde_json::to_string(&built.info)?;
    let directory = Directory::from_environment()?;
    let words = Sheet::words(nodes, &text);
    if words > board::MAX_WORDS {
        return Err(crate::Error::new(format!(
            "{nodes} nodes with their safe messages take {words} words of figures, and {} are possible: make two programs of it",
            board::MAX_WORDS
        )));
    }
    let board = Board::make(&directory, &name.parse()?, words)?;
    let board = board.ok_or_else(|| runs_already(name, &directory))?;
    Ok(Sheet::on(board, nodes, &text))
}

/// Takes the values of parameters that were saved.
fn take_saved_params(built: &mut Built) -> crate::Result {
    if !built.params.is_empty() {
        built.params.take_saved(&Location::from_environment()?).iter().for_each(Entry::send_or_print);
    }
    Ok(())
}

/// The parameters, where others see and set them, and what saves them; none where the program has none.
pub(super) fn publish_params(built: &mut Built, setters: Option<&Group>) -> crate::Result<Option<Keeper>> {
    if built.params.is_empty() {
        return Ok(None);
    }
    let (sheet, keeper) = built.params.publish(&Location::from_environment()?, setters)?;
    let runners = built.threads.iter_mut().flat_map(|plan| &mut plan.runners);
    runners.filter_map(|parts| parts.params.as_mut()).for_each(|intake| intake.attach(Arc::clone(&sheet)));
    Ok(Some(keeper))
}

/// Before any topic is opened: their errors would speak of publishers.
pub(super) fn refuse_second(name: &str) -> crate::Result {
    let directory = Directory::from_environment()?;
    match board::exists(&directory, &name.parse()?)? {
        true => Err(runs_already(name, &directory)),
        false => Ok(()),
    }
}

fn runs_already(name: &str, directory: &Directory) -> crate::Error {
    crate::Error::new(format!(
        "a program named {name} runs already on the topics of {}: stop it, or give one of them another name",
        directory.path().display()
    ))
}

pub(super) fn status(built: &Built) -> String {
    let names: Vec<_> = built.info.nodes.iter().map(|node| node.name.as_str()).collect();
    format!("runs {}", names.join(", "))
}

fn start(
    plan: ThreadPlan,
    built: &Built,
    sheet: &Arc<Sheet>,
    process: &Granted,
    stop: &Arc<AtomicBool>,
    stack_bytes: usize,
) -> crate::Result<Handles> {
    let (granted_sender, granted) = channel();
    let (go, went) = channel::<Go>();
    let ThreadPlan { thread, nodes, runners, .. } = plan;
    let names: Vec<_> = nodes.iter().map(|&node| built.info.nodes[node].clone()).collect();
    let figures: Vec<_> = nodes.iter().map(|&node| sheet.of(node)).collect();
    let runners: Vec<Runner> =
        runners.into_iter().zip(&figures).map(|(parts, figures)| Runner::new(parts, Arc::clone(figures))).collect();
    let (process, stop) = (process.clone(), Arc::clone(stop));
    // The kernel keeps 15 characters.
    let name: String = names[0].name.chars().take(15).collect();
    let body = move || {
        let mut executor = Executor::new(runners, SystemClock);
        let tid = rustix::thread::gettid().as_raw_nonzero().get().cast_unsigned();
        figures.iter().for_each(|figures| figures.set_thread(tid));
        let granted = process.and(thread.enter());
        for info in &names {
            granted.entry(info).send_or_print();
        }
        let _ = granted_sender.send((granted, Seat { tid, cpu: startup::only_cpu(), nodes: nodes.clone() }));
        let Ok(Go { from, trace }) = went.recv() else { return Ended { accounts: Vec::new(), panicked: None } };
        executor.runners().iter_mut().for_each(|runner| runner.freeze_by(trace.clone()));
        let ran = catch_unwind(AssertUnwindSafe(|| executor.run(from, &stop)));
        executor.end();
        let panicked = ran.err().map(|panic| {
            stop.store(true, Ordering::Relaxed);
            let node = &names[executor.running()].name;
            format!("node {node} {}", what(&*panic))
        });
        let accounts = nodes
            .iter()
            .zip(&names)
            .zip(executor.runners())
            .map(|((&node, info), runner)| (node, NodeAccount::of(info.name.clone(), runner)));
        Ended { accounts: accounts.collect(), panicked }
    };
    let thread = thread::Builder::new().name(name).stack_size(stack_bytes).spawn(body)?;
    Ok(Handles { thread: Some(thread), granted, go: Some(go) })
}

/// What a panic says.
pub(super) fn what(panic: &(dyn std::any::Any + Send)) -> String {
    if let Some(failed) = panic.downcast_ref::<StepFailed>() {
        return failed.to_string();
    }
    let text = panic.downcast_ref::<&str>().map(|text| (*text).to_owned());
    let text = text.or_else(|| panic.downcast_ref::<String>().cloned());
    format!("panicked: {}", text.unwrap_or_else(|| "without a text".to_owned()))
}

fn accounts(ended: Vec<thread::Result<Ended>>) -> crate::Result<Vec<NodeAccount>> {
    let mut accounts = Vec::new();
    for ended in ended {
        let Ok(ended) = ended else { return Err(crate::Error::new("a thread of nodes panicked outside of a step")) };
        if let Some(text) = ended.panicked {
            return Err(crate::Error::new(text));
        }
        accounts.extend(ended.accounts);
    }
    accounts.sort_by_key(|(node, _)| *node);
    none_stopped(accounts.into_iter().map(|(_, account)| account).collect())
}

/// The accounts, unless a node ended the program.
pub(super) fn none_stopped(accounts: Vec<NodeAccount>) -> crate::Result<Vec<NodeAccount>> {
    if let Some(stopped) = accounts.iter().find(|account| account.state == crate::figures::State::Stopped) {
        return Err(crate::Error::new(format!("node {} ended the program after its misses: {stopped}", stopped.name)));
    }
    Ok(accounts)
}
