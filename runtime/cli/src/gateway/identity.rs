//! The certificates of a client: three options, needed where the gateway's address begins with `tls:`.

use std::path::PathBuf;
use std::time::Duration;

use horus_gateway::client::{Address, Connection, Identity};
use horus_gateway::tls::Files;

/// The options.
#[derive(clap::Args, Clone)]
pub struct Options {
    /// The authority that signed the gateway's certificate, as a PEM file
    #[arg(long, value_name = "FILE", requires = "cert")]
    ca: Option<PathBuf>,
    /// This client's certificate
    #[arg(long, value_name = "FILE", requires = "key")]
    cert: Option<PathBuf>,
    /// Its key
    #[arg(long, value_name = "FILE", requires = "ca")]
    key: Option<PathBuf>,
}

impl Options {
    /// Reads the files, if there are any.
    pub fn read(&self) -> Result<Option<Identity>, String> {
        let (Some(authority), Some(certificate), Some(key)) = (&self.ca, &self.cert, &self.key) else {
            return Ok(None);
        };
        let (authority, certificate, key) = (authority.clone(), certificate.clone(), key.clone());
        Files { certificate, key, authority }.client().map(Some).map_err(|error| error.to_string())
    }

    /// Connects with them; no answer is waited for longer than `patience`.
    pub fn connect(&self, address: &Address, name: &str, patience: Duration) -> Result<Connection, String> {
        if matches!(address, Address::Tls(_)) && self.ca.is_none() {
            return Err(format!("{address} needs certificates: add --ca FILE --cert FILE --key FILE"));
        }
        let opened = Connection::open_within(address, name, self.read()?.as_ref(), patience);
        opened.map_err(|error| error.to_string())
    }
}
