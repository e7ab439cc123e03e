//! The keys that a machine takes updates by: those in its image.
//!
//! ```text
//! /usr/lib/horus/update-keys/NAME.pub      an Ed25519 public key, PEM (RFC 8410), as `openssl pkey -pubout` writes it
//! ```
//!
//! To rotate a key, an update brings the new one beside the old one, and the update after it brings the new one alone. A key has no end date: the
//! clock of a machine without a battery begins in 1970.

use std::fmt;
use std::fs;
use std::path::{Path, PathBuf};

use base64::Engine as _;
use ring::signature::{ED25519, UnparsedPublicKey};
use thiserror::Error;

/// Where they are, below the root.
pub const PLACE: &str = "usr/lib/horus/update-keys";
/// What precedes the 32 bytes of an Ed25519 key in its DER form: RFC 8410, section 4.
const PREFIX: [u8; 12] = [0x30, 0x2a, 0x30, 0x05, 0x06, 0x03, 0x2b, 0x65, 0x70, 0x03, 0x21, 0x00];
/// Of a key's file, no more is read.
const MAX_BYTES: u64 = 4_096;

/// The keys of a machine.
#[derive(Debug)]
pub struct Keys {
    folder: PathBuf,
    keys: Vec<Key>,
}

/// One of them.
struct Key {
    name: String,
    bytes: Vec<u8>,
}

impl fmt::Debug for Key {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.name)
    }
}

/// Why no signature can be verified.
#[derive(Debug, Error)]
pub enum KeyError {
    /// There is none.
    #[error(
        "{0} has no key: this image was built without one and takes no update. Flash an image that has keys (docs/update.md)"
    )]
    None(PathBuf),
    /// A file there is no key.
    #[error("{path} is no Ed25519 public key in PEM: {cause}; no update is taken until the image is right")]
    NoKey {
        /// The file.
        path: PathBuf,
        /// What is wrong.
        cause: String,
    },
}

impl Keys {
    /// Reads those of the machine whose files are below `root`.
    ///
    /// # Errors
    /// When there is none, or a file that is none.
    pub fn read(root: &Path) -> Result<Self, KeyError> {
        let folder = root.join(PLACE);
        let mut paths: Vec<PathBuf> =
            fs::read_dir(&folder).into_iter().flatten().flatten().map(|entry| entry.path()).collect();
        paths.retain(|path| path.extension().is_some_and(|extension| extension == "pub"));
        paths.sort();
        let keys = paths.iter().map(|path| Key::read(path)).collect::<Result<Vec<_>, _>>()?;
        if keys.is_empty() {
            return Err(KeyError::None(folder));
        }
        Ok(Self { folder, keys })
    }

    /// The name of the key that signed `message`; `None` when none of them did.
    pub fn signer(&self, message: &[u8], signature: &[u8]) -> Option<&str> {
        let has_signed = |key: &&Key| UnparsedPublicKey::new(&ED25519, &key.bytes).verify(message, signature).is_ok();
        self.keys.iter().find(has_signed).map(|key| key.name.as_str())
    }

    /// Their names and their folder, for people.
    pub fn describe(&self) -> String {
        let names: Vec<_> = self.keys.iter().map(|key| key.name.as_str()).collect();
        format!("{} in {}", names.join(", "), self.folder.display())
    }
}

impl Key {
    fn read(path: &Path) -> Result<Self, KeyError> {
        let no_key = |cause: String| KeyError::NoKey { path: path.to_owned(), cause };
        let size = fs::metadata(path).map_err(|error| no_key(error.to_string()))?.len();
        if size > MAX_BYTES {
            return Err(no_key(format!("{size} bytes are more than any key has")));
        }
        let text = fs::read_to_string(path).map_err(|error| no_key(error.to_string()))?;
        let lines = text.lines().map(str::trim);
        let body: String = lines
            .skip_while(|line| *line != "-----BEGIN PUBLIC KEY-----")
            .skip(1)
            .take_while(|line| *line != "-----END PUBLIC KEY-----")
            .collect();
        let der = base64::engine::general_purpose::STANDARD.decode(body).map_err(|error| no_key(error.to_string()))?;
        match der.strip_prefix(&PREFIX) {
            Some(bytes) if bytes.len() == 32 => {
                let name = path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
                Ok(Self { name, bytes: bytes.to_vec() })
            }
            _ => Err(no_key("it is of another kind".to_owned())),
        }
    }
}
