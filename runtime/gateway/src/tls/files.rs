//! Certificates and keys, read from PEM files.

use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};

use super::TlsError;

/// A certificate, read whole.
pub type Certificate = CertificateDer<'static>;
/// A private key, read whole.
pub type Key = PrivateKeyDer<'static>;

/// Longer files are none of certificates or keys.
const MAX_BYTES: u64 = 1 << 20;

/// All certificates of a file, of which there has to be one.
pub fn certificates(path: &Path) -> Result<Vec<Certificate>, TlsError> {
    let content = |reason: String| TlsError::Content { path: path.to_owned(), wanted: "certificate", reason };
    let bytes = read(path)?;
    let found: Result<Vec<_>, _> = CertificateDer::pem_slice_iter(&bytes).collect();
    let found = found.map_err(|error| content(error.to_string()))?;
    if found.is_empty() { Err(content("nothing in it begins with BEGIN CERTIFICATE".into())) } else { Ok(found) }
}

/// The private key of a file that not everybody may read.
pub fn key(path: &Path) -> Result<Key, TlsError> {
    let bytes = read(path)?;
    let mode = std::fs::metadata(path).map_err(|source| TlsError::Read { path: path.to_owned(), source })?;
    if mode.permissions().mode() & 0o007 != 0 {
        return Err(TlsError::Open(path.to_owned()));
    }
    PrivateKeyDer::from_pem_slice(&bytes).map_err(|error| TlsError::Content {
        path: path.to_owned(),
        wanted: "private key",
        reason: error.to_string(),
    })
}

fn read(path: &Path) -> Result<Vec<u8>, TlsError> {
    let error = |source| TlsError::Read { path: path.to_owned(), source };
    if std::fs::metadata(path).map_err(error)?.len() > MAX_BYTES {
        return Err(error(std::io::ErrorKind::FileTooLarge.into()));
    }
    std::fs::read(path).map_err(error)
}
