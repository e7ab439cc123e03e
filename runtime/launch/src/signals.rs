//! Signals that ask for the end, as bytes of a socket that the loop waits for.

use std::io::{self, Read};
use std::os::unix::net::UnixStream;

use rustix::event::{PollFd, PollFlags, poll};
use rustix::time::Timespec;
use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
use signal_hook::low_level::pipe::register;

/// The end at which signals arrive.
#[derive(Debug)]
pub struct Signals(UnixStream);

impl Signals {
    /// From now on, SIGINT, SIGTERM and SIGHUP (the terminal is gone) end nothing by themselves.
    ///
    /// # Errors
    /// When the kernel refuses the handlers.
    pub fn take() -> io::Result<Self> {
        let (here, there) = UnixStream::pair()?;
        here.set_nonblocking(true)?;
        for signal in [SIGINT, SIGTERM, SIGHUP] {
            register(signal, there.try_clone()?)?;
        }
        Ok(Self(here))
    }

    /// For waiting.
    pub(crate) fn socket(&self) -> &UnixStream {
        &self.0
    }

    /// Whether one has come since the last look; this is none.
    pub fn has_come(&self) -> bool {
        let now = Timespec { tv_sec: 0, tv_nsec: 0 };
        poll(&mut [PollFd::new(&self.0, PollFlags::IN)], Some(&now)).is_ok_and(|ready| ready > 0)
    }

    /// How many have come since the last look.
    pub fn count(&self) -> usize {
        (&self.0).read(&mut [0; 64]).unwrap_or_default()
    }
}
