//! `horus service call`: asks a service of any types, by the descriptions that stand in its topics.

use std::time::{Duration, Instant};

use horus::service::{Client, Options, Part};
use horus::time::parse_duration;
use horus::topic::Raw;
use horus_shm::directory::{Directory, Location, TopicName};

use super::layouts::{Messages, is_shared, messages};
use crate::topic::json_line;
use crate::topic::message::{Shown, kind, text, write};

/// Elements of an array that are printed as text at most.
const ELEMENTS: usize = 128;
/// The time between two looks for a part of an answer.
const LOOK: Duration = Duration::from_millis(1);

/// Whom to ask what.
#[derive(clap::Args)]
pub struct Args {
    /// The service's name
    name: TopicName,
    /// The request's values, such as 'slot: 3'; what is not named is zero
    #[arg(default_value = "")]
    values: String,
    /// How long to wait for the answer
    #[arg(long, value_name = "TIME", value_parser = parse_duration, default_value = "5s")]
    timeout: Duration,
}

/// Runs the command; what to print.
pub fn run(location: &Location, directory: Option<&Directory>, args: &Args, as_json: bool) -> Result<String, String> {
    let name = args.name.as_str();
    let is_shared = directory.is_some_and(|directory| is_shared(directory, &args.name));
    let service = if is_shared { format!("{name}.shared.0") } else { name.to_owned() };
    let (request, answer) = types(location, directory, &service, name)?;
    let mut message = vec![0; request.bytes];
    write(&kind(&request.description, request.bytes), &args.values, &mut message)
        .map_err(|reason| format!("{}: {reason}", request.layout.type_name()))?;
    let options = Options::default().directory(location.path());
    let options = if is_shared { options.shared() } else { options };
    let mut client = Client::<Raw, Raw>::open_as(&args.name, &request.layout, &answer.layout, options)
        .map_err(|error| error.to_string())?;
    let kind = kind(&answer.description, answer.bytes);
    let parts = ask(&mut client, &message, args.timeout)?;
    let shown = parts.iter().map(|bytes| Shown { kind: &kind, bytes });
    Ok(match as_json {
        true => shown.map(|shown| json_line(&shown)).collect(),
        false => shown.map(|shown| text(shown, ELEMENTS) + "---\n").collect(),
    })
}

/// All messages of the answer.
fn ask(client: &mut Client<Raw, Raw>, request: &[u8], limit: Duration) -> Result<Vec<Vec<u8>>, String> {
    let started = Instant::now();
    if !client.is_served().map_err(|error| error.to_string())? {
        return Err(no_server(client.service()));
    }
    let mut asked = client.ask(request).map_err(|error| error.to_string())?;
    let mut parts = Vec::new();
    loop {
        match asked.try_part(client).map_err(|error| error.to_string())? {
            Part::Next(part) => parts.push(part),
            Part::End => return Ok(parts),
            Part::Nothing if started.elapsed() >= limit => {
                let service = client.service();
                return Err(format!(
                    "the server of {service} lives and did not answer within {limit:?}: give it longer (--timeout)"
                ));
            }
            Part::Nothing => {
                client.check_server().map_err(|error| error.to_string())?;
                std::thread::park_timeout(LOOK);
            }
        }
    }
}

fn types(
    location: &Location,
    directory: Option<&Directory>,
    service: &str,
    name: &str,
) -> Result<(Messages, Messages), String> {
    let Some(directory) = directory else {
        return Err(format!(
            "there are no topics in {}: start the program that serves {name}",
            location.path().display()
        ));
    };
    let request = messages(directory, service)?;
    let answer = messages(directory, &format!("{service}.answer.0"))?;
    request.zip(answer).ok_or_else(|| no_server(name))
}

fn no_server(service: &str) -> String {
    format!("no program serves {service}: start it, or see `horus service list`")
}
