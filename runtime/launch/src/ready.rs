//! A socket at which one start of a program says that it is ready, by the protocol of `sd_notify`.

use std::io;
use std::os::unix::net::UnixDatagram;
use std::path::{Path, PathBuf};

/// The longest message that is read; systemd's own is as long.
const MOST_BYTES: usize = 4096;
/// The most messages that are read at once, so that a program that sends on and on holds up no other.
const MOST_MESSAGES: usize = 64;

/// The socket; its file is removed with it.
#[derive(Debug)]
pub struct Socket {
    socket: UnixDatagram,
    path: PathBuf,
}

impl Socket {
    /// Makes one. Each start has its own, so that a program that has ended says nothing for its successor.
    pub fn bind(folder: &Path, program: usize, start: u32) -> io::Result<Self> {
        let path = folder.join(format!("{program}.{start}"));
        let socket = UnixDatagram::bind(&path)?;
        socket.set_nonblocking(true)?;
        Ok(Self { socket, path })
    }

    /// What `NOTIFY_SOCKET` says.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// For waiting.
    pub fn socket(&self) -> &UnixDatagram {
        &self.socket
    }

    /// Whether one of the messages that are there says READY=1.
    pub fn hears_ready(&self) -> bool {
        let mut bytes = [0; MOST_BYTES];
        let messages = (0..MOST_MESSAGES)
            .map_while(|_| self.socket.recv(&mut bytes).ok().map(|length| says_ready(&bytes[..length])));
        messages.filter(|says_ready| *says_ready).count() > 0
    }
}

fn says_ready(message: &[u8]) -> bool {
    message.split(|byte| *byte == b'\n').any(|line| line == b"READY=1")
}

impl Drop for Socket {
    fn drop(&mut self) {
        let _ = std::fs::remove_file(&self.path);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ready_is_heard_among_other_words_and_from_no_other_word() {
        let folder = tempfile::tempdir().unwrap();
        let socket = Socket::bind(folder.path(), 0, 0).unwrap();
        let other = UnixDatagram::unbound().unwrap();
        for word in ["STATUS=READY=1", "READY=0\nREADY=11", ""] {
            other.send_to(word.as_bytes(), socket.path()).unwrap();
            assert!(!socket.hears_ready(), "{word}");
        }
        other.send_to(b"WATCHDOG=1", socket.path()).unwrap();
        other.send_to(b"STATUS=runs ping\nREADY=1\n", socket.path()).unwrap();
        assert!(socket.hears_ready());
        drop(socket);
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0);
    }
}
