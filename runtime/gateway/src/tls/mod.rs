//! TLS 1.3 with certificates on both sides: what lets a port that other machines can reach know who connects.
//!
//! | file | what is in it |
//! |---|---|
//! | `files.rs` | certificates and keys, read from files |
//! | `name.rs` | the name in a certificate |
//! | `stream.rs` | a TCP connection that is encrypted, for sockets that wait and for those that do not |
//!
//! # What it does not do
//! It takes up no earlier session: each connection shows its certificate and has it checked, also its last day. Files are read when
//! the gateway starts, and not again.

mod files;
mod name;
mod stream;

use std::path::PathBuf;
use std::sync::Arc;

use rustls::server::{NoServerSessionStorage, WebPkiClientVerifier};
use rustls::{ClientConfig, RootCertStore, ServerConfig};
use sha2::{Digest, Sha256};
use thiserror::Error;

pub(crate) use stream::Stream;

/// Why certificates are not taken.
#[derive(Debug, Error)]
pub enum TlsError {
    /// A file cannot be read.
    #[error("cannot read {}: {source}", path.display())]
    Read {
        /// Which.
        path: PathBuf,
        /// What the kernel said.
        source: std::io::Error,
    },
    /// A file has something else in it.
    #[error("{} has no {wanted} in PEM form: {reason}", path.display())]
    Content {
        /// Which.
        path: PathBuf,
        /// What should be there.
        wanted: &'static str,
        /// What is wrong with it.
        reason: String,
    },
    /// Others can read a key.
    #[error("{} can be read by everybody: chmod o-rwx it, and make a new key if others use this machine", .0.display())]
    Open(PathBuf),
    /// The files do not belong together, or no TLS can be made of them.
    #[error("{} cannot be used: {reason}", path.display())]
    Unusable {
        /// The certificate, or those of the authority.
        path: PathBuf,
        /// Why.
        reason: String,
    },
}

/// Three files: who this is, and whose word counts for who others are.
#[derive(Clone, Debug)]
pub struct Files {
    /// Own certificate, and behind it those between it and the authority's, if there are any.
    pub certificate: PathBuf,
    /// Its key.
    pub key: PathBuf,
    /// The certificates of the authority: who shows one that it signed is let in.
    pub authority: PathBuf,
}

impl Files {
    /// For a gateway: only clients with a certificate of the authority are let in.
    ///
    /// # Errors
    /// [`TlsError`] names the file and what is wrong with it.
    pub fn server(&self) -> Result<Arc<ServerConfig>, TlsError> {
        let provider = Arc::new(rustls::crypto::ring::default_provider());
        let clients = WebPkiClientVerifier::builder_with_provider(self.authorities()?.into(), Arc::clone(&provider));
        let clients = clients.build().map_err(|error| unusable(&self.authority, &error))?;
        let (certificates, key) = self.own()?;
        let versions = ServerConfig::builder_with_provider(provider).with_protocol_versions(&[&rustls::version::TLS13]);
        let mut config = versions
            .map_err(|error| unusable(&self.certificate, &error))?
            .with_client_cert_verifier(clients)
            .with_single_cert(certificates, key)
            .map_err(|error| unusable(&self.certificate, &error))?;
        // A session that is taken up again would pass over the check of the certificate, and take memory meanwhile.
        config.session_storage = Arc::new(NoServerSessionStorage {});
        config.send_tls13_tickets = 0;
        Ok(config.into())
    }

    /// For a client: only a gateway with a certificate of the authority, for the name by which it was called, is spoken to.
    ///
    /// # Errors
    /// [`TlsError`] names the file and what is wrong with it.
    pub fn client(&self) -> Result<Arc<ClientConfig>, TlsError> {
        let provider = Arc::new(rustls::crypto::ring::default_provider());
        let (certificates, key) = self.own()?;
        let versions = ClientConfig::builder_with_provider(provider).with_protocol_versions(&[&rustls::version::TLS13]);
        let config = versions
            .map_err(|error| unusable(&self.certificate, &error))?
            .with_root_certificates(self.authorities()?)
            .with_client_auth_cert(certificates, key)
            .map_err(|error| unusable(&self.certificate, &error))?;
        Ok(config.into())
    }

    fn authorities(&self) -> Result<RootCertStore, TlsError> {
        let mut store = RootCertStore::empty();
        for certificate in files::certificates(&self.authority)? {
            store.add(certificate).map_err(|error| unusable(&self.authority, &error))?;
        }
        Ok(store)
    }

    fn own(&self) -> Result<(Vec<files::Certificate>, files::Key), TlsError> {
        Ok((files::certificates(&self.certificate)?, files::key(&self.key)?))
    }
}

fn unusable(path: &std::path::Path, error: &dyn std::error::Error) -> TlsError {
    TlsError::Unusable { path: path.to_owned(), reason: error.to_string() }
}

/// The first digits of a certificate's SHA-256, as `openssl x509 -fingerprint -sha256` prints it, without colons.
pub(crate) fn fingerprint(certificate: &[u8]) -> String {
    Sha256::digest(certificate)[..8].iter().map(|byte| format!("{byte:02X}")).collect()
}
