//! Sockets, whichever kind: listening, accepting, and what a client of theirs is called.

use std::io::{self, IoSlice, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::os::fd::{AsFd, BorrowedFd};
use std::os::unix::fs::FileTypeExt;
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use rustix::fs::{CWD, Mode};

use super::config::{Listen, parse_mode};
use crate::tls::Stream;

/// Connections that may wait to be accepted; the kernel has a limit of its own (net.core.somaxconn).
const WAITING: i32 = 4096;

/// A place where clients connect.
pub enum Listener {
    /// A Unix socket and its file.
    Unix(UnixListener, PathBuf),
    /// A TCP port.
    Tcp(TcpListener),
    /// A TCP port for clients with certificates.
    Tls(TcpListener, Arc<rustls::ServerConfig>),
}

/// A connection.
pub enum Socket {
    Unix(UnixStream),
    Tcp(TcpStream),
    Tls(Box<Stream>),
}

impl Listener {
    /// Begins to listen.
    ///
    /// # Errors
    /// When the place is taken, or not permitted.
    pub fn open(listen: &Listen) -> io::Result<Self> {
        let listener = match listen {
            Listen::Unix { unix, mode } => {
                make_folder(unix)?;
                remove_left(unix)?;
                // Closed to all until its permissions are right; only the thread that starts the gateway runs by now.
                let before = rustix::process::umask(Mode::RWXU | Mode::RWXG | Mode::RWXO);
                let bound = UnixListener::bind(unix);
                rustix::process::umask(before);
                let bound = bound?;
                let mode = Mode::from_raw_mode(parse_mode(mode).expect("checked with the settings"));
                rustix::fs::chmodat(CWD, unix, mode, rustix::fs::AtFlags::empty())?;
                bound.set_nonblocking(true)?;
                Self::Unix(bound, unix.clone())
            }
            Listen::Tcp { tcp, tls } => {
                // Before the port: a mistake in a certificate is told first, and leaves nothing behind.
                let tls = tls.as_ref().map(|tls| tls.files().server()).transpose().map_err(io::Error::other)?;
                let bound = TcpListener::bind(tcp)?;
                // Where the queue of those who connect is full, the kernel forgets them, and they ask again a second later.
                rustix::net::listen(&bound, WAITING)?;
                bound.set_nonblocking(true)?;
                match tls {
                    None => Self::Tcp(bound),
                    Some(config) => Self::Tls(bound, config),
                }
            }
        };
        Ok(listener)
    }

    /// The next client; `None` when none waits.
    ///
    /// # Errors
    /// When the kernel cannot give one.
    pub fn accept(&self) -> io::Result<Option<(Socket, String)>> {
        let accepted = match self {
            Self::Unix(listener, _) => listener.accept().map(|(stream, _)| {
                let name = rustix::net::sockopt::socket_peercred(&stream)
                    .map_or_else(|_| "unix".into(), |peer| format!("unix:pid={},uid={}", peer.pid, peer.uid.as_raw()));
                (Socket::Unix(stream), name)
            }),
            Self::Tcp(listener) => {
                listener.accept().map(|(stream, address)| (Socket::Tcp(stream), format!("tcp:{address}")))
            }
            Self::Tls(listener, config) => listener.accept().and_then(|(stream, address)| {
                Ok((Socket::Tls(Box::new(Stream::server(stream, config)?)), format!("tls:{address}")))
            }),
        };
        match accepted {
            Ok((socket, name)) => {
                socket.prepare()?;
                Ok(Some((socket, name)))
            }
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// How clients name it.
    pub fn address(&self) -> String {
        match self {
            Self::Unix(_, path) => format!("unix:{}", path.display()),
            Self::Tcp(listener) => {
                listener.local_addr().map_or_else(|_| "tcp:?".into(), |address| format!("tcp:{address}"))
            }
            Self::Tls(listener, _) => {
                listener.local_addr().map_or_else(|_| "tls:?".into(), |address| format!("tls:{address}"))
            }
        }
    }
}

/// Whose client that is, by what [`Listener::accept`] calls it: the user of a Unix socket, the address of the others.
pub fn origin(name: &str) -> &str {
    let end = if name.starts_with("unix") { name.rsplit_once("uid=") } else { None };
    end.map_or_else(|| name.rsplit_once(':').map_or(name, |(address, _port)| address), |(_, user)| user)
}

impl Drop for Listener {
    fn drop(&mut self) {
        if let Self::Unix(_, path) = self {
            let _ = std::fs::remove_file(path); // the next gateway does it otherwise
        }
    }
}

/// Makes the folder of a socket where it is missing. Who may connect, the socket's own permissions say.
fn make_folder(path: &Path) -> io::Result<()> {
    let Some(folder) = path.parent().filter(|folder| !folder.as_os_str().is_empty() && !folder.exists()) else {
        return Ok(());
    };
    std::fs::create_dir_all(folder).map_err(|error| {
        let why = format!(
            "cannot make the folder {}: {error}; make it, or write a place of your own in `listen`, such as unix = \"gateway.socket\" for one \
             in the current folder",
            folder.display()
        );
        io::Error::new(error.kind(), why)
    })
}

/// Removes a socket that no process listens to any more.
fn remove_left(path: &Path) -> io::Result<()> {
    let Ok(found) = std::fs::symlink_metadata(path) else { return Ok(()) };
    if !found.file_type().is_socket() {
        return Err(io::Error::new(io::ErrorKind::AlreadyExists, "there is a file of this name that is no socket"));
    }
    if UnixStream::connect(path).is_ok() {
        return Err(io::Error::new(io::ErrorKind::AddrInUse, "another gateway listens there"));
    }
    std::fs::remove_file(path)
}

impl Socket {
    fn prepare(&self) -> io::Result<()> {
        match self {
            Self::Unix(stream) => stream.set_nonblocking(true),
            Self::Tcp(stream) => prepare(stream),
            Self::Tls(stream) => prepare(stream.socket()),
        }
    }

    /// Whether a read gives bytes of which the kernel will not tell.
    pub(crate) fn has_unread(&self) -> bool {
        matches!(self, Self::Tls(stream) if stream.has_unread())
    }

    /// Which certificate the client showed.
    pub fn certificate(&self) -> Option<String> {
        match self {
            Self::Tls(stream) => stream.peer(),
            Self::Unix(_) | Self::Tcp(_) => None,
        }
    }
}

fn prepare(stream: &TcpStream) -> io::Result<()> {
    stream.set_nodelay(true).and_then(|()| stream.set_nonblocking(true))
}

impl AsFd for Socket {
    fn as_fd(&self) -> BorrowedFd<'_> {
        match self {
            Self::Unix(stream) => stream.as_fd(),
            Self::Tcp(stream) => stream.as_fd(),
            Self::Tls(stream) => stream.socket().as_fd(),
        }
    }
}

impl AsFd for Listener {
    fn as_fd(&self) -> BorrowedFd<'_> {
        match self {
            Self::Unix(listener, _) => listener.as_fd(),
            Self::Tcp(listener) | Self::Tls(listener, _) => listener.as_fd(),
        }
    }
}

impl Read for Socket {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        match self {
            Self::Unix(stream) => stream.read(into),
            Self::Tcp(stream) => stream.read(into),
            Self::Tls(stream) => stream.read(into),
        }
    }
}

impl Write for Socket {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match self {
            Self::Unix(stream) => stream.write(bytes),
            Self::Tcp(stream) => stream.write(bytes),
            Self::Tls(stream) => stream.write(bytes),
        }
    }

    fn write_vectored(&mut self, pieces: &[IoSlice<'_>]) -> io::Result<usize> {
        match self {
            Self::Unix(stream) => stream.write_vectored(pieces),
            Self::Tcp(stream) => stream.write_vectored(pieces),
            Self::Tls(stream) => stream.write_vectored(pieces),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        match self {
            Self::Tls(stream) => stream.flush(),
            Self::Unix(_) | Self::Tcp(_) => Ok(()),
        }
    }
}
