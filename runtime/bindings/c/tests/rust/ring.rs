//! Rust's place in the ring of five languages, and who starts and ends it: see scripts/checks/languages/ring.py.

use std::error::Error;
use std::io::{Read, Write};
use std::process::ExitCode;
use std::thread;

use horus::prelude::*;

horus::message! {
    /// What goes round.
    struct Token = "example/Token" {
        number: u64,
        value: f64,
        small: [i16; 3],
        hops: u8,
        spare: [u8; 1],
    }
}

/// The same with another name in it, under a module of its own because the message's name is the same.
mod changed {
    horus::message! {
        /// No other message means these fields.
        pub(super) struct Token = "example/Token" {
            number: u64,
            worth: f64,
            small: [i16; 3],
            hops: u8,
            spare: [u8; 1],
        }
    }
}

type Done<T = ()> = Result<T, Box<dyn Error>>;

fn options() -> Options {
    Options::reliable(64)
}

fn token(number: u64, hops: u8) -> Token {
    let small = (number % 1000) as i16;
    Token { number, value: number as f64 * 0.5, small: [small, -small, 7], hops, spare: [0x5a] }
}

fn ready() -> Done {
    println!("ready");
    std::io::stdout().flush()?;
    Ok(())
}

/// Says which field is not what it has to be.
fn check(got: &Token, want: &Token) -> Done {
    let fields = [
        ("number", got.number == want.number),
        ("value", got.value == want.value),
        ("small", got.small == want.small),
        ("hops", got.hops == want.hops),
        ("spare", got.spare == want.spare),
    ];
    match fields.iter().find(|(_, is_same)| !is_same) {
        Some((field, _)) => Err(format!("message {}: its field {field} is wrong: {got:?}", want.number).into()),
        None => Ok(()),
    }
}

fn pass(from: &str, to: &str, count: u64) -> Done {
    let mut incoming = Subscriber::<Token>::open(from, options())?;
    let mut outgoing = Publisher::<Token>::open(to, options())?;
    ready()?;
    for number in 0..count {
        let mut message = incoming.recv().message;
        check(&message, &token(number, message.hops))?;
        message.hops += 1;
        outgoing.send(message).map_err(|_| "there is no room")?;
    }
    Ok(())
}

/// Sends the messages into the ring, and verifies what comes out of it.
fn drive(first: &str, last: &str, count: u64, hops: u8) -> Done {
    let mut incoming = Subscriber::<Token>::open(last, options())?;
    let mut outgoing = Publisher::<Token>::open(first, options())?;
    ready()?;
    let sending = thread::spawn(move || (0..count).all(|number| outgoing.send(token(number, 0)).is_ok()));
    for number in 0..count {
        check(&incoming.recv().message, &token(number, hops))?;
    }
    match sending.join() {
        Ok(true) if incoming.missed() == 0 => Ok(()),
        sent => Err(format!("all sent: {sent:?}, missed: {}", incoming.missed()).into()),
    }
}

fn hold(topic: &str) -> Done {
    let _publisher = Publisher::<Token>::open(topic, options())?;
    ready()?;
    std::io::stdin().read_to_end(&mut Vec::new())?;
    Ok(())
}

fn run(arguments: &[&str]) -> Done<ExitCode> {
    match arguments {
        ["pass", from, to, count] => pass(from, to, count.parse()?)?,
        ["drive", first, last, count, hops] => drive(first, last, count.parse()?, hops.parse()?)?,
        ["hold", topic] => hold(topic)?,
        ["changed", topic] => {
            if let Err(refusal) = Subscriber::<changed::Token>::open(*topic, options()) {
                println!("{refusal}");
                return Ok(ExitCode::from(3));
            }
        }
        other => return Err(format!("unknown arguments: {other:?}").into()),
    }
    Ok(ExitCode::SUCCESS)
}

fn main() -> ExitCode {
    let arguments: Vec<_> = std::env::args().skip(1).collect();
    run(&arguments.iter().map(String::as_str).collect::<Vec<_>>()).unwrap_or_else(|error| {
        eprintln!("ring: {error}");
        ExitCode::FAILURE
    })
}
