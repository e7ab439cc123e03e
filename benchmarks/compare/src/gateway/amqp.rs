//! AMQP 0-9-1 by hand, as much of it as carries messages: the handshake, one channel, one queue.
//!
//! A frame is a type (1 byte), a channel (2), a length (4), so many bytes, and 0xCE; numbers begin with their high byte. A message is three
//! frames: a method, a head with the length of the body, and the body, which is short enough here for one frame.

use std::io::{Read, Write};
use std::net::TcpStream;

use horus_benchmarks::transport::Failure;

const METHOD: u8 = 1;
const HEAD: u8 = 2;
const BODY: u8 = 3;
const HEARTBEAT: u8 = 8;
const END: u8 = 0xCE;
/// Bytes before what is in a frame.
const FRAME_HEAD: usize = 7;
const CHANNEL: u16 = 1;
/// Class and method.
type Method = (u16, u16);
const START: Method = (10, 10);
const START_OK: Method = (10, 11);
const TUNE: Method = (10, 30);
const TUNE_OK: Method = (10, 31);
const OPEN: Method = (10, 40);
const OPEN_OK: Method = (10, 41);
const CHANNEL_OPEN: Method = (20, 10);
const CHANNEL_OPEN_OK: Method = (20, 11);
const DECLARE: Method = (50, 10);
const DECLARE_OK: Method = (50, 11);
const CONSUME: Method = (60, 20);
const CONSUME_OK: Method = (60, 21);
const PUBLISH: Method = (60, 40);
/// The queue, by whose name the default exchange finds it.
const QUEUE: &str = "bench";

/// Connects a client to the server's first user, and opens a channel.
///
/// # Errors
/// When what is there is no RabbitMQ, or refuses.
pub fn greet(stream: &mut TcpStream) -> Result<(), Failure> {
    stream.write_all(b"AMQP\0\0\x09\x01")?;
    answer(stream, START)?;
    // No properties; the password as it is; a language.
    let words = [&0_u32.to_be_bytes()[..], b"\x05PLAIN", &12_u32.to_be_bytes(), b"\0guest\0guest", b"\x05en_US"];
    send(stream, 0, START_OK, &words.concat())?;
    let tune = answer(stream, TUNE)?;
    // Channels and lengths as it offers them, and no heartbeats.
    let offered = tune.get(..6).ok_or("RabbitMQ offers no lengths")?;
    send(stream, 0, TUNE_OK, &[offered, &[0, 0]].concat())?;
    send(stream, 0, OPEN, b"\x01/\0\0")?;
    answer(stream, OPEN_OK)?;
    send(stream, CHANNEL, CHANNEL_OPEN, b"\0")?;
    answer(stream, CHANNEL_OPEN_OK)?;
    Ok(())
}

/// Makes the queue, which goes with this connection, and asks for its messages without acknowledging them.
///
/// # Errors
/// When the server refuses.
pub fn consume(stream: &mut TcpStream) -> Result<(), Failure> {
    const EXCLUSIVE: u8 = 1 << 2;
    const NO_ACK: u8 = 1 << 1;
    let no_table = 0_u32.to_be_bytes();
    send(stream, CHANNEL, DECLARE, &[&[0, 0], &short(QUEUE)[..], &[EXCLUSIVE], &no_table].concat())?;
    answer(stream, DECLARE_OK)?;
    send(stream, CHANNEL, CONSUME, &[&[0, 0], &short(QUEUE)[..], &short("tag"), &[NO_ACK], &no_table].concat())?;
    answer(stream, CONSUME_OK)?;
    Ok(())
}

/// What stands before each published message of so many bytes; `b"\xCE"` stands behind it.
pub fn before(bytes: usize) -> Vec<u8> {
    let mut out = Vec::new();
    let publish = [&method(PUBLISH)[..], &[0, 0], &short(""), &short(QUEUE), &[0]].concat();
    frame(&mut out, METHOD, CHANNEL, &publish);
    let (class, no_weight, no_properties) = (PUBLISH.0.to_be_bytes(), [0, 0], [0, 0]);
    frame(&mut out, HEAD, CHANNEL, &[&class[..], &no_weight, &(bytes as u64).to_be_bytes(), &no_properties].concat());
    out.push(BODY);
    out.extend(CHANNEL.to_be_bytes());
    out.extend((bytes as u32).to_be_bytes());
    out
}

/// Hands over the bodies of all frames that are whole, and says how many bytes these frames had.
///
/// # Errors
/// When something is no frame, or says that the connection is at its end.
pub fn bodies(bytes: &[u8], each: &mut dyn FnMut(&[u8])) -> Result<usize, Failure> {
    let mut at = 0;
    while let Some((kind, _, length)) = bytes.get(at..at + FRAME_HEAD).and_then(head) {
        let begin = at + FRAME_HEAD;
        let Some(payload) = bytes.get(begin..begin + length + 1) else { break };
        let (end, payload) = payload.split_last().ok_or("an empty frame")?;
        match kind {
            _ if *end != END => return Err("RabbitMQ sent something that is no frame".into()),
            BODY => each(payload),
            METHOD if is_close(payload) => return Err(format!("RabbitMQ: {}", printable(payload)).into()),
            METHOD | HEAD | HEARTBEAT => {}
            other => return Err(format!("RabbitMQ sent a frame of type {other}").into()),
        }
        at = begin + length + 1;
    }
    Ok(at)
}

fn head(bytes: &[u8]) -> Option<(u8, u16, usize)> {
    let [kind, c1, c0, l3, l2, l1, l0] = *bytes.first_chunk::<FRAME_HEAD>()?;
    Some((kind, u16::from_be_bytes([c1, c0]), u32::from_be_bytes([l3, l2, l1, l0]) as usize))
}

/// Whether a method ends the connection or its channel.
fn is_close(payload: &[u8]) -> bool {
    [method((10, 50)), method((20, 40))].iter().any(|close| payload.starts_with(close))
}

fn printable(bytes: &[u8]) -> String {
    bytes.iter().filter(|byte| byte.is_ascii_graphic() || **byte == b' ').map(|byte| char::from(*byte)).collect()
}

fn method((class, method): Method) -> [u8; 4] {
    let ([c1, c0], [m1, m0]) = (class.to_be_bytes(), method.to_be_bytes());
    [c1, c0, m1, m0]
}

fn short(text: &str) -> Vec<u8> {
    let mut bytes = vec![text.len() as u8];
    bytes.extend(text.as_bytes());
    bytes
}

fn frame(out: &mut Vec<u8>, kind: u8, channel: u16, payload: &[u8]) {
    out.push(kind);
    out.extend(channel.to_be_bytes());
    out.extend((payload.len() as u32).to_be_bytes());
    out.extend(payload);
    out.push(END);
}

fn send(stream: &mut TcpStream, channel: u16, name: Method, arguments: &[u8]) -> Result<(), Failure> {
    let mut out = Vec::new();
    frame(&mut out, METHOD, channel, &[&method(name)[..], arguments].concat());
    Ok(stream.write_all(&out)?)
}

/// The arguments of the answer that is waited for.
fn answer(stream: &mut TcpStream, wanted: Method) -> Result<Vec<u8>, Failure> {
    let mut bytes = [0; FRAME_HEAD];
    stream.read_exact(&mut bytes)?;
    let (_, _, length) = head(&bytes).ok_or("no frame")?;
    if length > 1 << 20 {
        return Err("what listens there does not speak AMQP".into());
    }
    let mut payload = vec![0; length + 1];
    stream.read_exact(&mut payload)?;
    payload.pop();
    match payload.strip_prefix(&method(wanted)[..]) {
        Some(arguments) => Ok(arguments.to_vec()),
        None => Err(format!("RabbitMQ did not answer with {wanted:?}: {}", printable(&payload)).into()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn delivered(messages: &[[u8; 5]]) -> Vec<u8> {
        let mut bytes = Vec::new();
        for message in messages {
            frame(&mut bytes, METHOD, CHANNEL, &[&method((60, 60))[..], b"\x03tag"].concat());
            frame(&mut bytes, HEAD, CHANNEL, &[0; 14]);
            frame(&mut bytes, BODY, CHANNEL, message);
        }
        bytes
    }

    #[test]
    fn bodies_are_found_wherever_the_stream_is_cut() {
        let bytes = delivered(&[*b"first", *b"other"]);
        for cut in 0..bytes.len() {
            let (mut found, mut buffer) = (Vec::new(), Vec::new());
            for part in [&bytes[..cut], &bytes[cut..]] {
                buffer.extend_from_slice(part);
                let taken = bodies(&buffer, &mut |body| found.push(body.to_vec())).unwrap();
                buffer.drain(..taken);
            }
            assert_eq!((found.as_slice(), buffer.len()), (&[b"first".to_vec(), b"other".to_vec()][..], 0), "{cut}");
        }
    }

    #[test]
    fn a_closed_channel_is_an_error_with_the_servers_words() {
        let mut bytes = Vec::new();
        frame(&mut bytes, METHOD, CHANNEL, &[&method((20, 40))[..], b"\x01\x94\x09NOT_FOUND"].concat());
        assert!(bodies(&bytes, &mut |_| ()).unwrap_err().to_string().contains("NOT_FOUND"));
    }
}
