//! `horus-bridge`: what `horus bridge` runs.
//!
//! Exit status: 0 it was ended by a signal, 1 it could not start or go on, 2 the command line is none.
#![forbid(unsafe_code)]

use std::collections::BTreeMap;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::atomic::AtomicBool;

use clap::Parser;
#[cfg(feature = "zenoh")]
use horus_bridge::config::fleet::Fleet;
use horus_bridge::config::{Config, Durability, Quality, Reliability, Transforms, Wire};
use horus_bridge::interface::import::{self, Sizes};
use horus_bridge::interface::{Whole, file, hash, services, standard};
use horus_bridge::route::{Mark, Server, Transport};
#[cfg(feature = "zenoh")]
use horus_bridge::zenoh;
use horus_shm::directory::{Directory, Location};

/// Carry topics, services, actions, parameters and frames to ROS 2 and back, without ROS; and topics between appliances.
#[derive(Parser)]
#[command(name = "horus bridge", bin_name = "horus bridge", version)]
enum Command {
    /// Carry topics, services, actions, parameters and frames to ROS 2 and from it.
    Ros2(Ros2),
    /// Share topics with other appliances, and take theirs.
    #[cfg(feature = "zenoh")]
    Zenoh(Between),
    /// Print the messages of ROS 2 that the bridge knows, with their hashes.
    Messages,
    /// Print a layout for a message of ROS 2, by which the bridge carries it.
    Import(Import),
}

#[derive(clap::Args)]
struct Import {
    /// A message that is known, such as sensor_msgs/msg/NavSatFix, or a service, such as std_srvs/srv/SetBool, or a file
    /// PACKAGE/msg/NAME.msg, PACKAGE/srv/NAME.srv or PACKAGE/action/NAME.action
    #[arg(value_name = "MESSAGE")]
    message: String,
    /// Which message of a service or an action
    #[arg(long, value_enum)]
    part: Option<Part>,
    /// Bytes of a text
    #[arg(long, default_value_t = 32)]
    texts: usize,
    /// Elements of a list
    #[arg(long, default_value_t = 16)]
    lists: usize,
    /// Bytes or elements of the fields of a name, for instance data=40000
    #[arg(long, value_name = "FIELD=NUMBER", value_parser = size)]
    size: Vec<(String, usize)>,
}

#[derive(Clone, Copy, clap::ValueEnum)]
enum Part {
    Request,
    Response,
    Goal,
    Result,
    Feedback,
}

impl Part {
    /// What the message of it ends with.
    fn of(self) -> &'static str {
        match self {
            Self::Request => services::PARTS[0],
            Self::Response => services::PARTS[1],
            Self::Goal => services::OF_ACTIONS[0],
            Self::Result => services::OF_ACTIONS[1],
            Self::Feedback => services::OF_ACTIONS[2],
        }
    }
}

fn size(word: &str) -> Result<(String, usize), String> {
    let sides = word.split_once('=').and_then(|(name, number)| Some((name.to_owned(), number.parse().ok()?)));
    sides
        .filter(|(_, number)| *number > 0)
        .ok_or_else(|| "write a field and a number above 0, such as data=40000".into())
}

#[derive(clap::Args)]
struct Ros2 {
    /// Over DDS, as robots on ROS 2's default middleware [default, unless the settings name a wire]
    #[arg(long, conflicts_with = "zenoh")]
    dds: bool,
    /// Over Zenoh, as robots with rmw_zenoh
    #[arg(long)]
    zenoh: bool,
    /// A topic that goes to ROS, for instance imu=/imu:sensor_msgs/msg/Imu
    #[arg(long, value_name = "TOPIC=/ROS[:TYPE]")]
    to_ros: Vec<String>,
    /// A topic that comes from ROS, for instance /cmd_vel=base.cmd:horus/CmdVel
    #[arg(long, value_name = "/ROS[:TYPE]=TOPIC[:MESSAGE]")]
    from_ros: Vec<String>,
    /// A service of ours that ROS may call, for instance map.save=/save_map:std_srvs/srv/Trigger
    #[arg(long, value_name = "SERVICE=/ROS[:TYPE]")]
    service_to_ros: Vec<String>,
    /// A service of ROS that programs here may call, for instance /get_plan=plan:nav_msgs/srv/GetPlan
    #[arg(long, value_name = "/ROS=SERVICE[:TYPE]")]
    service_from_ros: Vec<String>,
    /// An action of ours that ROS may send goals to, for instance drive_to=/drive_to:my_robot/action/DriveTo
    #[arg(long, value_name = "ACTION=/ROS[:TYPE]")]
    action_to_ros: Vec<String>,
    /// An action of ROS that programs here may send goals to, for instance /navigate=navigate:my_robot/action/Navigate
    #[arg(long, value_name = "/ROS=ACTION[:TYPE]")]
    action_from_ros: Vec<String>,
    /// A program whose parameters ROS may look at and set, for instance nav, or nav=/navigation
    #[arg(long, value_name = "PROGRAM[=/NODE]")]
    parameters: Vec<String>,
    /// Which way frames go as /tf and /tf_static
    #[arg(long, value_enum)]
    transforms: Option<Frames>,
    /// The definition of a message, service or action of one's own, a file PACKAGE/msg/NAME.msg, PACKAGE/srv/NAME.srv or
    /// PACKAGE/action/NAME.action
    #[arg(long, value_name = "FILE")]
    definition: Vec<PathBuf>,
    /// A file of settings, docs/ros2.md has one
    #[arg(long, value_name = "FILE")]
    config: Option<PathBuf>,
    /// With --zenoh: whom to connect to, for instance tcp/192.168.7.2:7447 [default: the router on this machine]
    #[arg(long, value_name = "PLACE")]
    connect: Vec<String>,
    /// With --zenoh: where to listen, for instance tcp/0.0.0.0:7447
    #[arg(long, value_name = "PLACE")]
    listen: Vec<String>,
    /// The number of the domain [default: that of the settings, or $ROS_DOMAIN_ID, or 0]
    #[arg(long, value_name = "NUMBER")]
    domain: Option<u16>,
    /// What the bridge is called among the nodes of ROS [default: that of the settings, or horus_bridge]
    #[arg(long, value_name = "NAME")]
    node: Option<String>,
    /// Whether lost messages are sent again, of topics whose settings do not say [default: to ROS, messages up to 64 kB and reliable
    /// topics are; from ROS, reliable topics are]
    #[arg(long, value_enum)]
    reliability: Option<Reliability>,
    /// Whether who comes later gets the last messages, of topics whose settings do not say [default: volatile]
    #[arg(long, value_enum)]
    durability: Option<Durability>,
}

/// Which way frames go.
#[derive(Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
#[value(rename_all = "snake_case")]
enum Frames {
    ToRos,
    FromRos,
    Both,
}

#[cfg(feature = "zenoh")]
#[derive(clap::Args)]
struct Between {
    /// What the others call this appliance
    #[arg(long)]
    name: Option<String>,
    /// A topic that the others may take
    #[arg(long, value_name = "TOPIC")]
    share: Vec<String>,
    /// A topic of another appliance, and what it is called here, for instance robot2/imu=robot2.imu
    #[arg(long, value_name = "NAME/TOPIC=TOPIC")]
    take: Vec<String>,
    /// Whom to connect to, for instance tcp/192.168.7.2:7447
    #[arg(long, value_name = "PLACE")]
    connect: Vec<String>,
    /// Where to listen, for instance tcp/0.0.0.0:7447
    #[arg(long, value_name = "PLACE")]
    listen: Vec<String>,
    /// A file of settings, docs/ros2.md has one
    #[arg(long, value_name = "FILE")]
    config: Option<PathBuf>,
}

fn main() -> ExitCode {
    let done = match Command::parse() {
        Command::Ros2(args) => ros2(&args),
        #[cfg(feature = "zenoh")]
        Command::Zenoh(args) => between(&args),
        Command::Messages => messages(),
        Command::Import(args) => import(&args),
    };
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(reason) => {
            eprintln!("horus bridge: {reason}");
            ExitCode::FAILURE
        }
    }
}

fn messages() -> Result<(), String> {
    let mut text = String::new();
    for name in standard::names() {
        let whole = standard::whole(&name).map_err(|error| error.to_string())?;
        text += &format!("{} {name}\n", hash::rihs01(&whole));
    }
    // Who reads only the first lines has what it wants.
    let _ = std::io::stdout().write_all(text.as_bytes());
    Ok(())
}

fn import(args: &Import) -> Result<(), String> {
    let path = Path::new(&args.message);
    let mut wholes: Vec<Whole> = match path.extension() {
        Some(_) => file::read(path)?,
        None if args.message.contains("/srv/") => {
            let parts = services::messages(&standard::check_service(&args.message)?);
            let whole = |name: &String| standard::whole(name).map_err(|error| error.to_string());
            parts.iter().map(whole).collect::<Result<_, _>>()?
        }
        None => {
            let name = horus_bridge::names::message(&args.message).map_err(|error| error.to_string())?;
            vec![standard::whole(&name).map_err(|error| error.to_string())?]
        }
    };
    let whole = match (wholes.len(), args.part) {
        (1, None) => wholes.remove(0),
        (1, Some(_)) => return Err("a message has no parts: leave out --part".to_owned()),
        (_, part) => {
            let found = part.and_then(|part| wholes.iter().position(|whole| whole.top.name.ends_with(part.of())));
            wholes.remove(found.ok_or(
                "a service has two messages, and an action three: say --part request or response, or goal, result or feedback",
            )?)
        }
    };
    if args.texts == 0 || args.lists == 0 {
        return Err("a text and a list have room for one at least".to_owned());
    }
    let sizes = Sizes { texts: args.texts, lists: args.lists, fields: BTreeMap::from_iter(args.size.clone()) };
    let text = import::layout(&whole, &sizes)?;
    let _ = writeln!(std::io::stdout(), "{text}");
    Ok(())
}

fn ros2(args: &Ros2) -> Result<(), String> {
    let mut config = match &args.config {
        Some(path) => Config::read(path).map_err(|error| format!("{}: {error}", path.display()))?,
        None => Config::default(),
    };
    for word in &args.to_ros {
        config.add_to_ros(word).map_err(|error| error.to_string())?;
    }
    for word in &args.from_ros {
        config.add_from_ros(word).map_err(|error| error.to_string())?;
    }
    for word in &args.service_to_ros {
        config.add_service_to_ros(word).map_err(|error| error.to_string())?;
    }
    for word in &args.service_from_ros {
        config.add_service_from_ros(word).map_err(|error| error.to_string())?;
    }
    for word in &args.action_to_ros {
        config.add_action_to_ros(word).map_err(|error| error.to_string())?;
    }
    for word in &args.action_from_ros {
        config.add_action_from_ros(word).map_err(|error| error.to_string())?;
    }
    args.parameters.iter().for_each(|word| config.add_parameters(word));
    if let Some(way) = args.transforms {
        let said = config.transforms.take().unwrap_or_default();
        config.transforms = Some(Transforms { to_ros: way != Frames::FromRos, from_ros: way != Frames::ToRos, ..said });
    }
    config.definitions.extend_from_slice(&args.definition);
    let learned = config.definitions.iter().map(|path| file::read(path)).collect::<Result<Vec<_>, _>>()?;
    standard::learn(learned.into_iter().flatten().collect());
    config.connect.extend_from_slice(&args.connect);
    config.listen.extend_from_slice(&args.listen);
    config.node = args.node.clone().or(config.node);
    config.check().map_err(|error| error.to_string())?;
    config.otherwise(Quality { reliability: args.reliability, durability: args.durability, depth: None });
    let wire = match (args.dds, args.zenoh) {
        (true, _) => Wire::Dds,
        (_, true) => Wire::Zenoh,
        _ => config.wire.unwrap_or_default(),
    };
    let domain = match args.domain.or(config.domain) {
        Some(domain) => domain,
        None => from_environment()?,
    };
    if domain > LAST_DOMAIN {
        return Err(format!("there is no domain {domain}: a domain is a number from 0 to {LAST_DOMAIN}"));
    }
    let node = config.node.clone().unwrap_or_else(|| "horus_bridge".to_owned());
    let who = Who { name: node.clone(), place: format!("{wire:?} domain {domain}"), option: "--node" };
    serve(who, config, |config, stop| transport(wire, config, domain, &node, stop))
}

#[cfg(feature = "zenoh")]
fn between(args: &Between) -> Result<(), String> {
    let mut fleet = match &args.config {
        Some(path) => Fleet::read(path).map_err(|error| format!("{}: {error}", path.display()))?,
        None => Fleet::default(),
    };
    fleet.name = args.name.clone().or(fleet.name);
    for (all, more) in [
        (&mut fleet.share, &args.share),
        (&mut fleet.take, &args.take),
        (&mut fleet.connect, &args.connect),
        (&mut fleet.listen, &args.listen),
    ] {
        all.extend_from_slice(more);
    }
    if fleet.connect.is_empty() && fleet.listen.is_empty() {
        return Err(
            "it reaches no other machine: say --listen tcp/0.0.0.0:7447, or --connect tcp/192.168.7.2:7447".to_owned()
        );
    }
    let location = Location::from_environment().map_err(|error| error.to_string())?;
    let config = fleet.routes(&location.namespace).map_err(|error| error.to_string())?;
    let links = zenoh::Links { connect: fleet.connect, listen: fleet.listen, is_client: false };
    let who = Who { name: fleet.name.unwrap_or_default(), place: "the fleet".to_owned(), option: "--name" };
    serve(who, config, |_, _| Ok(Some(Box::new(zenoh::Fleet::join(zenoh::open(&links)?)))))
}

/// What others know a bridge by.
struct Who {
    name: String,
    /// Among whom it has this name.
    place: String,
    /// What gives it another one.
    option: &'static str,
}

impl Who {
    /// Marks the name as this bridge's on this machine, for the topics of a directory.
    fn mark(&self, directory: &Directory) -> Result<Mark, String> {
        let Self { name, place, option } = self;
        let path = directory.path().as_os_str().as_encoded_bytes();
        let mark =
            Mark::set(&[b"named", path, place.as_bytes(), name.as_bytes()]).map_err(|error| error.to_string())?;
        mark.ok_or_else(|| {
            format!(
                "a bridge called {name} runs on this machine already ({place}), and two of one name are taken for one: end it, put \
                 all topics into one bridge, or give this one another name: {option} NAME"
            )
        })
    }
}

/// Serves until it is told to end. What carries messages is opened last, by the thread that serves.
fn serve(
    who: Who,
    config: Config,
    transport: impl FnOnce(&Config, &AtomicBool) -> Result<Option<Box<dyn Transport>>, String>,
) -> Result<(), String> {
    let location = Location::from_environment().map_err(|error| error.to_string())?;
    let directory = Directory::at(&location.directory)
        .and_then(|directory| directory.in_namespace(&location.namespace))
        .map_err(|error| error.to_string())?;
    let _mark = who.mark(&directory)?;
    let stop = horus::stop::on_termination().map_err(|error| error.to_string())?;
    let Some(transport) = transport(&config, &stop)? else { return Ok(()) };
    Server::new(config, directory, transport).run(&stop, &format!("{} in {}", who.name, who.place));
    Ok(())
}

/// Domains beyond it have no ports.
const LAST_DOMAIN: u16 = 232;

fn from_environment() -> Result<u16, String> {
    match std::env::var("ROS_DOMAIN_ID").ok().filter(|text| !text.is_empty()) {
        None => Ok(0),
        Some(text) => text.parse().map_err(|_| format!("ROS_DOMAIN_ID={text} is no number from 0 to 232")),
    }
}

/// None when it is told to end before it reaches anybody.
fn transport(
    wire: Wire,
    config: &Config,
    domain: u16,
    node: &str,
    stop: &AtomicBool,
) -> Result<Option<Box<dyn Transport>>, String> {
    #[cfg(feature = "dds")]
    if wire == Wire::Dds {
        return Ok(Some(Box::new(horus_bridge::dds::Dds::join(domain, node)?)));
    }
    #[cfg(feature = "zenoh")]
    if wire == Wire::Zenoh {
        let links = zenoh::Links { connect: config.connect.clone(), listen: config.listen.clone(), is_client: false };
        let waits = |text: &str| {
            horus::journal::Entry::plain(horus::journal::Priority::Warning, format!("bridge: {text}")).send_or_print();
            horus::supervise::notify_ready(text);
        };
        let Some(session) = zenoh::open_until(links.to_ros(), stop, waits)? else { return Ok(None) };
        return Ok(Some(Box::new(zenoh::Zenoh::join(session, domain, node)?)));
    }
    let _ = (domain, node, config, stop);
    let feature = if wire == Wire::Dds { "dds" } else { "zenoh" };
    Err(format!("this program was built without --{feature}: build it with `cargo build --features {feature}`"))
}
