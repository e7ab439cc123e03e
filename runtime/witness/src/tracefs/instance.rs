//! One CPU's trace: frozen, read and thawed.

use std::fs::{File, OpenOptions};
use std::io::{self, Read};
use std::os::fd::OwnedFd;
use std::os::unix::fs::{FileExt, OpenOptionsExt};
use std::path::PathBuf;

use rustix::fs::OFlags;

/// The most pages that are read at once: 8 MiB, sixteen times what an instance is given.
const MAX_PAGES: usize = 2048;

/// The trace of one CPU.
#[derive(Debug)]
pub struct Instance {
    /// The CPU.
    pub cpu: u32,
    folder: PathBuf,
    switch: File,
}

/// What a frozen trace held, the oldest page first.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct Pages {
    /// The bytes of whole pages, one after another.
    pub bytes: Vec<u8>,
    /// The size of each.
    pub size: usize,
}

impl Pages {
    /// Each page.
    pub fn iter(&self) -> impl Iterator<Item = &[u8]> {
        self.bytes.chunks_exact(self.size.max(1))
    }
}

impl Instance {
    pub(super) fn open(folder: PathBuf, cpu: u32) -> io::Result<Self> {
        let switch = OpenOptions::new().read(true).write(true).open(folder.join("tracing_on"))?;
        Ok(Self { cpu, folder, switch })
    }

    /// A descriptor whose every write freezes the trace, if it comes from this CPU.
    ///
    /// # Errors
    /// When it cannot be opened.
    pub fn marker(&self) -> io::Result<OwnedFd> {
        Ok(OpenOptions::new().write(true).open(self.folder.join("trace_marker"))?.into())
    }

    /// Whether the trace stands still.
    ///
    /// # Errors
    /// When the kernel does not say.
    pub(crate) fn is_frozen(&self) -> io::Result<bool> {
        let mut text = [0; 8];
        let length = self.switch.read_at(&mut text, 0)?;
        Ok(text[..length].trim_ascii() == b"0")
    }

    /// Stops the trace.
    ///
    /// # Errors
    /// When the kernel refuses.
    pub fn freeze(&self) -> io::Result<()> {
        self.switch.write_all_at(b"0", 0)
    }

    /// Lets the trace go on.
    ///
    /// # Errors
    /// When the kernel refuses.
    pub(crate) fn thaw(&self) -> io::Result<()> {
        self.switch.write_all_at(b"1", 0)
    }

    /// Throws away what the trace holds.
    ///
    /// # Errors
    /// When the kernel refuses.
    pub fn empty(&self) -> io::Result<()> {
        // Opened for writing and cut, this file empties the trace: that is how tracefs says it.
        OpenOptions::new().write(true).truncate(true).open(self.folder.join("trace")).map(drop)
    }

    /// Takes all pages out of the trace, without waiting. Meant for a frozen one: of a running one this may never be all.
    ///
    /// # Errors
    /// When the kernel refuses.
    pub(crate) fn take_pages(&self, size: usize) -> io::Result<Pages> {
        let path = self.folder.join(format!("per_cpu/cpu{}/trace_pipe_raw", self.cpu));
        let nonblocking = i32::try_from(OFlags::NONBLOCK.bits()).map_err(io::Error::other)?;
        let mut pipe = OpenOptions::new().read(true).custom_flags(nonblocking).open(path)?;
        let mut pages = Pages { bytes: Vec::new(), size };
        let mut page = vec![0; size];
        for _ in 0..MAX_PAGES {
            match pipe.read(&mut page) {
                Ok(length) if length == size => pages.bytes.extend_from_slice(&page),
                Ok(_) => break,
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => break,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
        Ok(pages)
    }
}
