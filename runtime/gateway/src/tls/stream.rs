//! A TCP connection that is encrypted. It waits where its socket waits, and says `WouldBlock` where its socket does.
//!
//! What it holds is bounded: 64 KiB that wait to be sent (rustls' limit), and one read's worth that came.

use std::io::{self, IoSlice, Read, Write};
use std::net::TcpStream;
use std::sync::Arc;

use rustls::pki_types::ServerName;
use rustls::{ClientConfig, ClientConnection, Connection, ServerConfig, ServerConnection};

/// The connection. An error of TLS itself is one of kind `InvalidData`.
pub struct Stream {
    tls: Connection,
    socket: TcpStream,
    /// Bytes that came, were decrypted and are not read yet.
    unread: usize,
}

impl Stream {
    /// The gateway's side of a connection.
    pub fn server(socket: TcpStream, config: &Arc<ServerConfig>) -> io::Result<Self> {
        let tls = ServerConnection::new(Arc::clone(config)).map_err(io::Error::other)?;
        Ok(Self { tls: tls.into(), socket, unread: 0 })
    }

    /// The client's side, which insists that the other one is `name`.
    pub fn client(socket: TcpStream, config: &Arc<ClientConfig>, name: ServerName<'static>) -> io::Result<Self> {
        let tls = ClientConnection::new(Arc::clone(config), name).map_err(io::Error::other)?;
        Ok(Self { tls: tls.into(), socket, unread: 0 })
    }

    /// The socket below.
    pub fn socket(&self) -> &TcpStream {
        &self.socket
    }

    /// Whether a read gives bytes that no poll of the socket tells of.
    pub(crate) fn has_unread(&self) -> bool {
        self.unread > 0
    }

    /// Which certificate the other side showed, when that is known: its name, if it has one, and its fingerprint.
    pub fn peer(&self) -> Option<String> {
        let certificate = self.tls.peer_certificates()?.first()?;
        let name = super::name::common_name(certificate).map_or_else(String::new, |name| format!("{name}/"));
        Some(name + &super::fingerprint(certificate))
    }

    /// Gives the socket what is encrypted.
    fn send(&mut self) -> io::Result<()> {
        while self.tls.wants_write() {
            if self.tls.write_tls(&mut self.socket)? == 0 {
                return Err(io::ErrorKind::WriteZero.into());
            }
        }
        Ok(())
    }

    /// The same, where it may as well be done later.
    fn send_some(&mut self) -> io::Result<()> {
        match self.send() {
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => Ok(()),
            other => other,
        }
    }
}

impl Read for Stream {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        loop {
            match self.tls.reader().read(into) {
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => {}
                // Nothing behind a frame is lost without a word of goodbye: what is a whole frame, its length says.
                Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => return Ok(0),
                other => {
                    let read = other?;
                    self.unread = self.unread.saturating_sub(read);
                    return Ok(read);
                }
            }
            self.tls.read_tls(&mut self.socket)?;
            match self.tls.process_new_packets() {
                Ok(state) => self.unread = state.plaintext_bytes_to_read(),
                Err(error) => {
                    let _ = self.send_some(); // the reason, for the other side, if it still listens
                    return Err(io::Error::new(io::ErrorKind::InvalidData, error));
                }
            }
            self.send_some()?;
        }
    }
}

impl Write for Stream {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.write_vectored(&[IoSlice::new(bytes)])
    }

    fn write_vectored(&mut self, pieces: &[IoSlice<'_>]) -> io::Result<usize> {
        self.send()?;
        let taken = self.tls.writer().write_vectored(pieces)?;
        self.send_some()?;
        if taken == 0 { Err(io::ErrorKind::WouldBlock.into()) } else { Ok(taken) }
    }

    fn flush(&mut self) -> io::Result<()> {
        self.send()
    }
}

impl Drop for Stream {
    fn drop(&mut self) {
        self.tls.send_close_notify();
        // The peer is waited for no more.
        let _ = self.socket.set_nonblocking(true).and_then(|()| self.send());
    }
}
