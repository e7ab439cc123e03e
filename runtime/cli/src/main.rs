//! The `horus` command: parses, calls the libraries and prints.
//!
//! Most subcommands look at the machine from outside of every loop. Some are programs with loops of their own, which the units or other
//! subcommands start: `determinism` and `watch` measure at real-time priority, `gateway` serves, `witness` traces.
#![forbid(unsafe_code)]

mod action;
mod bench;
mod blame;
mod bridge;
mod deploy;
mod determinism;
mod doctor;
mod drift;
mod gateway;
mod greeting;
mod installed;
mod message;
mod new;
mod node;
mod output;
mod param;
mod report;
mod robot;
mod run;
mod scope;
mod service;
mod settings;
mod table;
mod tf;
mod top;
mod topic;
mod tune;
mod update;
mod watch;
mod witness;

use std::process::ExitCode;

use clap::Parser;

/// Observe, audit and report on a HORUS appliance.
#[derive(Parser)]
#[command(version)]
enum Command {
    /// Check every real-time setting of this machine against the audit rules.
    Doctor(doctor::Args),
    /// Measure how well this machine keeps its deadlines, and write the result to the journal.
    Determinism(determinism::Args),
    /// Make a project of a node that builds, is tested and can be deployed.
    New(new::Args),
    /// Build the node in this folder, or all programs of a robot.toml, for a machine, install them there over SSH and start them.
    Deploy(deploy::Args),
    /// Start all programs of a robot.toml in this terminal, and end them in reverse order.
    Run(run::Args),
    /// Show the robot that was deployed to this machine or another, start and stop it, or take its last version back.
    Robot(robot::Args),
    /// Install a new version of the system beside the one that runs, and show whether it stays.
    Update(update::Args),
    /// Install nodes, show those that run, or check whether a program's nodes would meet their deadlines here.
    Node(node::Args),
    /// Show nodes, topics and services as they run: response times, misses, rates.
    Top(top::Args),
    /// Show who broke the deadlines of this boot, how often, and what prevents it.
    Blame(blame::Args),
    /// Print a report file as text.
    Report(report::Args),
    /// Print what the console greets with: which machine this is, how it does, and what to type.
    Greeting(greeting::Args),
    /// Check the file of the boot partition that says how this machine is reached.
    Settings(settings::Args),
    /// Show and set the parameters of programs that run.
    Param(param::Args),
    /// Show, watch and publish the topics of this machine, or remove those that no program uses.
    Topic(topic::Args),
    /// Show the tree of frames, one frame in another, and what is wrong with the tree.
    Tf(tf::Args),
    /// Show the services of this machine, or call one.
    Service(service::Args),
    /// Show the actions of this machine, send a goal, or cancel goals.
    Action(action::Args),
    /// Serve topics to programs outside of this machine, by an allow-list, and keep logs of them.
    Gateway(gateway::Args),
    /// Print a topic's messages as a gateway sends them, from now on or from its log.
    Tap(gateway::tap::Args),
    /// Carry topics, services, actions, parameters and frames to ROS 2 and back, and topics between appliances.
    Bridge(bridge::Args),
    /// Measure how long messages take, and how many get through.
    Bench(bench::Args),
    /// Make structs of other languages for messages.
    Message(message::Args),
    /// Bring a Linux that is not our image to the real-time profile, check it, or take it back exactly.
    Tune(tune::Args),
    /// Ends the programs of a `horus run` that was killed, which starts it.
    #[command(hide = true)]
    RunGuard(run::Guard),
    /// The service that tells when a setting of the audit changes.
    #[command(hide = true)]
    Drift(drift::Args),
    /// The service that measures a node of lowest impact as long as the machine is up.
    #[command(hide = true)]
    Watch(watch::Args),
    /// The service that traces the real-time CPUs, and says who broke a deadline.
    #[command(hide = true)]
    Witness(witness::Args),
    /// The load of a determinism run, which starts it.
    #[command(hide = true)]
    DeterminismLoad(determinism::Load),
    /// The far end of a determinism run's message phases, which starts it.
    #[command(hide = true)]
    DeterminismEcho(determinism::Echo),
}

fn main() -> ExitCode {
    match Command::parse() {
        Command::Doctor(args) => doctor::run(&args),
        Command::Determinism(args) => determinism::run(&args),
        Command::New(args) => new::run(&args),
        Command::Deploy(args) => deploy::run(&args),
        Command::Run(args) => run::run(&args),
        Command::RunGuard(args) => run::guard(&args),
        Command::Robot(args) => robot::run(&args),
        Command::Update(args) => update::run(&args),
        Command::Node(args) => node::run(&args),
        Command::Top(args) => top::run(&args),
        Command::Blame(args) => blame::run(&args),
        Command::Report(args) => report::run(&args),
        Command::Greeting(args) => greeting::run(&args),
        Command::Settings(args) => settings::run(&args),
        Command::Message(args) => message::run(&args),
        Command::Param(args) => param::run(&args),
        Command::Topic(args) => topic::run(args),
        Command::Tf(args) => tf::run(&args),
        Command::Service(args) => service::run(&args),
        Command::Action(args) => action::run(&args),
        Command::Gateway(args) => gateway::run(&args),
        Command::Tap(args) => gateway::tap::run(&args),
        Command::Bridge(args) => bridge::run(&args),
        Command::Bench(args) => bench::run(&args),
        Command::Tune(args) => tune::run(&args),
        Command::Drift(args) => drift::run(&args),
        Command::Watch(args) => watch::run(&args),
        Command::Witness(args) => witness::run(&args),
        Command::DeterminismLoad(args) => determinism::load(&args),
        Command::DeterminismEcho(args) => determinism::echo(&args),
    }
}
