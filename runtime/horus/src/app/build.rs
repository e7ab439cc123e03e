//! From declared nodes to threads that can run them: settings are applied, everything is checked, and nothing of it needs
//! the machine.

use std::collections::BTreeSet;
use std::path::Path;
use std::time::Duration;

use super::{App, Declared};
use crate::cpus::CpuChoice;
use crate::deadline::Timing;
use crate::executor::{MAX_EVENT_NODES, Parts, Port, change};
use crate::graph::{NodeInfo, OutputInfo, ProcessInfo, hexadecimal};
use crate::node::{Action, Cycle, SpecError};
use crate::outside::Word;
use crate::param::Assembled;
use crate::port::{LostCollector, MissedCollector, Outlet};
use crate::startup::{Reservation, SchedulingPolicy, Thread};
use crate::supervise::Watched;
use crate::time::MonotonicTime;
use crate::topic::IntoTopicName;
use crate::{log, miss, stale};

/// An input is stale after this many periods without a message, where nothing else is asked for.
const STALE_PERIODS: u32 = 100;

/// And not before this time: a peer that restarts is back within it.
const SHORTEST_DEFAULT_STALE_AFTER: Duration = Duration::from_secs(1);

/// A program that can run.
pub(crate) struct Built {
    pub info: ProcessInfo,
    pub threads: Vec<ThreadPlan>,
    pub watched: Vec<Watched>,
    pub params: Assembled,
}

/// The nodes of one thread, and what it asks for.
pub(crate) struct ThreadPlan {
    pub thread: Thread,
    /// How many of them events release.
    events: usize,
    /// The numbers of the nodes, in the order of `info`.
    pub nodes: Vec<usize>,
    pub runners: Vec<Parts<'static>>,
}

/// Builds the threads of a program.
pub(crate) fn build(app: App) -> crate::Result<Built> {
    let App { name, settings, inputs, outlets, params, mut nodes, chains, releases, .. } = app;
    if !inputs.is_empty() || !outlets.is_empty() {
        let topic = inputs.first().map_or_else(|| outlets[0].topic(), |input| input.sight.topic());
        return Err(crate::Error::new(format!("topic {topic} was opened for no node: open it before app.node(…)")));
    }
    if let Some(left) = params.first() {
        let text = format!("parameter {} was declared for no node: declare it before app.node(…)", left.name());
        return Err(crate::Error::new(text));
    }
    if nodes.is_empty() {
        return Err(crate::Error::new("the program has no nodes: add one by app.node(\"name\", node).period(ms(10))"));
    }
    settings.apply(&mut nodes)?;
    nodes.iter_mut().for_each(rename);
    let mut names = BTreeSet::new();
    for declared in &nodes {
        // It is the name of a thread, and stands in journals and tables.
        declared
            .spec
            .name
            .parse::<Word>()
            .map_err(|error| crate::Error::new(format!("the name of a node: {error}")))?;
        if !names.insert(declared.spec.name.clone()) {
            return Err(crate::Error::new(format!(
                "two nodes are named {}: give each its own name",
                declared.spec.name
            )));
        }
    }
    for chain in &chains {
        if let Some(unknown) = chain.nodes.iter().find(|node| !names.contains(*node)) {
            return Err(crate::Error::new(format!("the chain {} names no node {unknown}", chain.nodes.join(" → "))));
        }
    }
    let declared: Vec<_> = nodes.iter().map(|node| (node.spec.name.as_str(), &*node.params)).collect();
    let mut params = Assembled::of(&name, &declared)?;
    settings.apply_params(&mut params)?;
    let info = ProcessInfo { name, nodes: Vec::new(), chains };
    let mut built = Built { info, threads: Vec::new(), watched: Vec::new(), params };
    for declared in nodes {
        let named = declared.spec.name.clone();
        check(&declared).map_err(|error| {
            // What the file says is to be changed there.
            let place = settings.place(&named, error.words()).map(|place| format!("{place}: ")).unwrap_or_default();
            crate::Error::new(format!("{place}node {named} {error}"))
        })?;
        add(&mut built, declared, releases.unwrap_or(u64::MAX))
            .map_err(|error| crate::Error::new(format!("node {named} {error}")))?;
    }
    Ok(built)
}

/// Topics of a node's wishes by their real names, as its inputs have them. The requests of a service that it shares have a topic of their own, and a
/// topic of an action has the real name of the action, and a word.
fn rename(declared: &mut Declared) {
    let Declared { spec, services, inputs, .. } = declared;
    let is_input = |name: &str| inputs.iter().any(|input| input.sight.topic() == name);
    let renamed = |name: &str| name.into_topic_name().map(|name| name.to_string()).ok();
    let real = |name: String| {
        // What is no name is none of its inputs, either, and is told so.
        let whole = renamed(&name).unwrap_or_else(|| name.clone());
        if let Some((_, requests)) = services.shares.iter().find(|(service, _)| *service == whole) {
            return requests.clone();
        }
        let of_action = name.rsplit_once('.').and_then(|(action, word)| Some(format!("{}.{word}", renamed(action)?)));
        of_action.filter(|name| !is_input(&whole) && is_input(name)).unwrap_or(whole)
    };
    spec.on = spec.on.take().map(real);
    spec.stale_after_of =
        std::mem::take(&mut spec.stale_after_of).into_iter().map(|(name, limit)| (real(name), limit)).collect();
}

/// Whether a node can be what it asks for.
fn check(declared: &Declared) -> Result<(), SpecError> {
    declared.spec.check()?;
    let topics: Vec<_> = declared.inputs.iter().map(|input| input.sight.topic()).collect();
    let known = if topics.is_empty() { "it has none".to_owned() } else { format!("it has {}", topics.join(", ")) };
    match declared.spec.stale_after_of.keys().find(|topic| !topics.contains(&topic.as_str())) {
        Some(topic) => Err(SpecError::StaleAfterOfNone(topic.clone(), known)),
        None => Ok(()),
    }
}

fn add(built: &mut Built, mut declared: Declared, releases: u64) -> crate::Result {
    let timing = declared.spec.check()?;
    let spec = &declared.spec;
    let never = MonotonicTime::default();
    declared.node.safe_state(&Cycle::new(0, never, never, never));
    declared.outlets.iter_mut().for_each(|outlet| outlet.learn_safe());
    let thread = thread_of(built, &declared, &timing)?;
    let info = describe(&declared, &timing, thread);

    let (recorder, misses) = miss::channel(&spec.name, timing, miss::RING_CAPACITY)?;
    let budget_ns = spec.budget.map(|budget| budget.as_nanos() as u64);
    let written = info.outputs.iter().map(|output| output.topic.clone()).collect();
    let misses = misses.of(&built.info.name, budget_ns).with_topics(info.inputs.clone(), written);
    let (changes, change_collector) = change::channel(&spec.name, spec.on_miss, budget_ns);
    let limit = spec.stale_after.unwrap_or_else(|| (timing.period() * STALE_PERIODS).max(SHORTEST_DEFAULT_STALE_AFTER));
    let (mut trigger, mut inputs, mut stale_inputs, mut missed) = (None, Vec::new(), Vec::new(), Vec::new());
    for input in declared.inputs {
        if spec.is_logical {
            input.sight.is_logical();
        }
        if spec.on.as_deref() == Some(input.sight.topic()) {
            trigger = Some((input.open_trigger)()?);
        }
        let limit = spec.stale_after_of.get(input.sight.topic()).copied().unwrap_or(limit);
        let (watch, collector) = stale::channel(&spec.name, input.sight.topic(), limit);
        missed.push(MissedCollector::new(&spec.name, std::sync::Arc::clone(&input.sight)));
        stale_inputs.push(collector);
        inputs.push(Port { sight: input.sight, watch, received: 0 });
    }
    if let (Some(topic), None) = (&spec.on, &trigger) {
        return Err(SpecError::NoSuchInput(topic.clone()).into());
    }
    let is_grid = spec.period.is_some();
    let every = match spec.on_miss.action {
        Action::Degrade(every) => every,
        _ => 1,
    };
    let counts =
        |outlet: &Outlet| LostCollector::new(&spec.name, outlet.topic(), std::sync::Arc::clone(outlet.counts()));
    let lost = declared.outlets.iter().map(counts).collect();
    let watched = Watched::new(is_grid, timing.period() * every, misses, change_collector, stale_inputs);
    let (log, log_collector) = log::channel(&built.info.name, &spec.name);
    built.watched.push(watched.with_messages(lost, missed).with_log(log_collector));
    let plan = &mut built.threads[thread];
    plan.nodes.push(built.info.nodes.len());
    built.info.nodes.push(info);
    plan.runners.push(Parts {
        node: declared.node,
        observer: None,
        timing,
        phase_ns: is_grid.then_some(spec.phase.as_nanos() as u64),
        trigger,
        min_inter_arrival_ns: spec.min_inter_arrival.map_or(0, |gap| gap.as_nanos() as u64),
        is_logical: spec.is_logical,
        budget_ns,
        on_miss: spec.on_miss,
        releases,
        inputs,
        outlets: declared.outlets,
        params: built.params.intake(&spec.name),
        recorder,
        changes,
        log,
    });
    Ok(())
}

/// The thread of its CPU and priority, which is made if there is none. A node that reserves CPU time has one of its own.
fn thread_of(built: &mut Built, declared: &Declared, timing: &Timing) -> crate::Result<usize> {
    let spec = &declared.spec;
    let reservation = match (spec.scheduling_policy, spec.budget) {
        (SchedulingPolicy::Deadline, Some(runtime)) => {
            Reservation { runtime, deadline: timing.deadline(), period: timing.period() }
        }
        (SchedulingPolicy::Deadline, None) => {
            return Err(crate::Error::new(
                "wants SCHED_DEADLINE and declares no budget: the kernel reserves that much CPU time",
            ));
        }
        _ => Reservation::default(),
    };
    let wanted = Thread { cpu: spec.cpu, policy: spec.scheduling_policy, reservation };
    let shared = built
        .threads
        .iter()
        .position(|plan| plan.thread == wanted && spec.scheduling_policy != SchedulingPolicy::Deadline);
    let index = shared.unwrap_or_else(|| {
        built.threads.push(ThreadPlan { thread: wanted, events: 0, nodes: Vec::new(), runners: Vec::new() });
        built.threads.len() - 1
    });
    built.threads[index].events += usize::from(spec.on.is_some());
    if built.threads[index].events > MAX_EVENT_NODES {
        return Err(crate::Error::new(format!(
            "is the event-driven node number {} of its thread, and {MAX_EVENT_NODES} are possible: give it another priority",
            MAX_EVENT_NODES + 1
        )));
    }
    Ok(index)
}

fn describe(declared: &Declared, timing: &Timing, thread: usize) -> NodeInfo {
    let spec = &declared.spec;
    let nanos = |span: Option<Duration>| span.map_or(0, |span| span.as_nanos() as u64);
    let is_safe = spec.on_miss.action == Action::SafeState;
    let output = |outlet: &Outlet| OutputInfo {
        topic: outlet.topic().to_owned(),
        safe: outlet.safe().filter(|_| is_safe).map(|safe| hexadecimal(&safe)).unwrap_or_default(),
    };
    NodeInfo {
        name: spec.name.clone(),
        period_ns: nanos(spec.period),
        on: spec.on.clone(),
        min_inter_arrival_ns: nanos(spec.min_inter_arrival),
        deadline_ns: timing.deadline_nanos(),
        budget_ns: nanos(spec.budget),
        monitor_limit_ns: nanos(spec.monitor_limit),
        cpu: spec.cpu.to_string(),
        scheduling_policy: spec.scheduling_policy.to_string(),
        logical: spec.is_logical,
        thread,
        predicted_ns: 0,
        inputs: declared.inputs.iter().map(|input| input.sight.topic().to_owned()).collect(),
        outputs: declared.outlets.iter().map(output).collect(),
        asks: declared.services.asks.clone(),
        serves: declared.services.serves.clone(),
    }
}

/// The CPU that a virtual machine gives a thread: roles become numbers, so that the same graph is the same everywhere.
pub(crate) fn virtual_cpu(choice: CpuChoice) -> u32 {
    match choice {
        CpuChoice::Any | CpuChoice::Housekeeping => 0,
        CpuChoice::Number(cpu) | CpuChoice::Range(cpu, _) => cpu,
        CpuChoice::Isolated(index) => 1 + index,
        CpuChoice::IsolatedLast => u32::from(u8::MAX),
    }
}

/// Whether this machine has the CPUs that a thread asks for.
pub(crate) fn check_cpus(choice: CpuChoice) -> crate::Result {
    let root = Path::new("/");
    // A role that the machine does not have is refused by the kernel's answer and told; the node runs. A number is a mistake.
    let is_number = matches!(choice, CpuChoice::Number(_) | CpuChoice::Range(..));
    if !is_number || !choice.resolve(root).is_empty() {
        return Ok(());
    }
    let (isolated, housekeeping) = (crate::cpus::isolated(root), crate::cpus::housekeeping(root));
    let isolated = if isolated.is_empty() { "none".to_owned() } else { isolated.to_string() };
    Err(crate::Error::new(format!(
        "cpu = \"{choice}\": this machine has CPUs {housekeeping} and, isolated, {isolated}"
    )))
}
