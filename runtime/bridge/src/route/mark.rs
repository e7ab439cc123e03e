//! Marks by which bridges of one machine know of each other.
//!
//! A mark is an abstract socket: it ends with its holder, whatever ends that, and leaves no file behind. Like what ROS sees, it is one of
//! the network: another network namespace has marks of its own.

use std::io;
use std::os::linux::net::SocketAddrExt;
use std::os::unix::net::{SocketAddr, UnixDatagram};

use sha2::{Digest, Sha256};

use super::Sender;

/// A mark that is held until this is dropped.
#[derive(Debug)]
pub struct Mark {
    _socket: UnixDatagram,
}

impl Mark {
    /// Marks that these words are this process's; `None` if they are another one's.
    ///
    /// # Errors
    /// When the system has no socket for it.
    pub fn set(words: &[&[u8]]) -> io::Result<Option<Self>> {
        match UnixDatagram::bind_addr(&address(words)?) {
            Ok(socket) => Ok(Some(Self { _socket: socket })),
            Err(error) if error.kind() == io::ErrorKind::AddrInUse => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// Whether a process holds that mark.
    pub fn is_set(words: &[&[u8]]) -> bool {
        let ask = || UnixDatagram::unbound()?.connect_addr(&address(words)?);
        ask().is_ok()
    }
}

/// The words of a bridge that sends a topic under a number of its own. Who gets messages with that number and would publish them in the
/// same topic has them go round.
pub fn sending<'a>(sender: &'a Sender, topic: &'a str) -> [&'a [u8]; 3] {
    [b"sends", sender, topic.as_bytes()]
}

/// A name has room for 107 bytes, so it is a hash of the words.
fn address(words: &[&[u8]]) -> io::Result<SocketAddr> {
    let mut digest = Sha256::new();
    for word in words {
        digest.update((word.len() as u64).to_le_bytes());
        digest.update(word);
    }
    let mut name = b"horus-bridge ".to_vec();
    name.extend_from_slice(&digest.finalize());
    SocketAddr::from_abstract_name(name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_mark_is_one_holders_and_ends_with_it() {
        let process = std::process::id().to_le_bytes();
        let words: [&[u8]; 2] = [b"a test", &process];
        assert!(!Mark::is_set(&words));
        let mark = Mark::set(&words).unwrap().expect("it is free");
        assert!(Mark::is_set(&words) && Mark::set(&words).unwrap().is_none());
        assert!(!Mark::is_set(&[b"a tes", b"t", &process]), "other words");
        drop(mark);
        assert!(!Mark::is_set(&words));
    }
}
