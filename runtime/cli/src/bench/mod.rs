//! `horus bench`: how long messages take, and how many get through.
//!
//! Exit status: 0 it was measured and every message arrived once and in order, 1 otherwise.

mod bare;
mod inject;
mod own;
mod receive;
mod result;

use std::process::ExitCode;
use std::sync::Arc;
use std::sync::atomic::AtomicU64;

use horus_gateway::client::{Address, ClientError, PATIENCE};
use horus_gateway::frame::words::{Advertise, Begin, Subscribe, WhenFull};

use crate::gateway::identity;
use inject::{Injector, Plan};
use receive::Receiver;
use result::Result as Measured;

/// Command line of `horus bench`.
#[derive(clap::Args)]
pub struct Args {
    #[command(subcommand)]
    what: What,
}

#[derive(clap::Subcommand)]
enum What {
    /// Send messages through a gateway: open loop, each latency from the time at which the message was to be sent
    Gateway(Gateway),
    /// The relay that `gateway` is compared with
    #[command(hide = true)]
    Relay,
}

/// What to send.
#[derive(clap::Args)]
struct Gateway {
    /// Messages a second; 0 for as many as go through, without latencies
    #[arg(long, default_value_t = 1_000.0)]
    rate: f64,
    /// Messages
    #[arg(long, default_value_t = 10_000)]
    count: u64,
    /// Bytes of a message
    #[arg(long, default_value_t = 96, value_parser = clap::value_parser!(u32).range(16..=65_536))]
    bytes: u32,
    /// Messages in a frame
    #[arg(long, default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..=1_000))]
    batch: u32,
    /// A gateway that runs, and serves the topic both ways as one of bytes [default: one of its own, over TCP on this machine]
    #[arg(short = 'a', long)]
    connect: Option<Address>,
    #[command(flatten)]
    identity: identity::Options,
    /// The topic there
    #[arg(long, default_value = "bench")]
    topic: String,
    /// Have the gateway of its own log the topic
    #[arg(long, conflicts_with = "connect")]
    log: bool,
    /// Have the gateway of its own look at topics all the time
    #[arg(long, conflicts_with = "connect")]
    busy: bool,
    /// Write the result as JSON
    #[arg(long)]
    json: bool,
}

/// Runs the command.
pub fn run(args: &Args) -> ExitCode {
    let outcome = match &args.what {
        What::Gateway(wanted) => gateway(wanted),
        What::Relay => bare::relay().map(|()| true).map_err(|error| error.to_string()),
    };
    match outcome {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(reason) => {
            eprintln!("horus bench: {reason}");
            ExitCode::FAILURE
        }
    }
}

/// Measures, and then the same over a relay that only copies bytes; true if nothing was lost.
fn gateway(wanted: &Gateway) -> Result<bool, String> {
    if !(0.0..=1e7).contains(&wanted.rate) || wanted.count == 0 {
        return Err("--rate is 0 to 10000000 messages a second, --count is 1 or more".into());
    }
    let (bytes, batch) = (wanted.bytes as usize, wanted.batch as usize);
    let plan = Plan { rate: wanted.rate, count: wanted.count, bytes, batch };
    let own = match &wanted.connect {
        None => Some(own::Gateway::start(wanted).map_err(|error| format!("cannot start a gateway: {error}"))?),
        Some(_) => None,
    };
    let address = own.as_ref().map(own::Gateway::address).or(wanted.connect.as_ref()).expect("one of them").clone();
    let through = through_gateway(&address, wanted, plan)?;
    drop(own);
    let bare = bare::measure(plan).map_err(|error| format!("cannot measure the relay: {error}"))?;
    if wanted.json {
        let result = serde_json::json!({
            "rate": plan.rate, "count": plan.count, "bytes": plan.bytes, "batch": plan.batch, "address": address.to_string(),
            "gateway": through, "relay": bare,
        });
        println!("{}", serde_json::to_string_pretty(&result).expect("text and numbers are always JSON"));
    } else {
        println!("{} messages of {bytes} bytes, {batch} a frame, through {address}", plan.count);
        print!("gateway:\n{through}");
        print!("a relay that only copies bytes, over TCP on this machine:\n{bare}");
    }
    Ok(through.is_complete())
}

fn through_gateway(address: &Address, wanted: &Gateway, plan: Plan) -> Result<Measured, String> {
    let text = |error: ClientError| error.to_string();
    let mut sending = wanted.identity.connect(address, "horus bench, sender", PATIENCE)?;
    let mut receiving = wanted.identity.connect(address, "horus bench, receiver", PATIENCE)?;
    sending.advertise(1, &Advertise { layout_hash: 0, topic: wanted.topic.clone() }).map_err(text)?;
    let when_full = WhenFull::DropOldest;
    let subscription = Subscribe { begin: Begin::Now, when_full, topic: wanted.topic.clone() };
    receiving.subscribe(1, &subscription).map_err(text)?;
    let ended = Arc::new(AtomicU64::new(0));
    let receiver = Receiver::start(receive::Source::Gateway(Box::new(receiving)), plan, Arc::clone(&ended));
    let injected = Injector::new(inject::Sink::Gateway(Box::new(sending)), plan).run(&ended);
    let received = receiver.join();
    Ok(Measured::new(plan, injected.map_err(text)?, received.map_err(text)?))
}
