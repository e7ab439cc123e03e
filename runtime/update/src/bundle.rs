//! A bundle: one version of the system as one signed file.
//!
//! It is a tar archive of four files in this order, and of nothing else:
//!
//! ```text
//! SHA256SUMS                           the digests of the two large files, as `sha256sum` writes them
//! SHA256SUMS.sig                       64 bytes: Ed25519 over the file before it
//! horus_BOARD_VERSION.efi              the kernel image
//! horus_BOARD_VERSION.root.xz          the root file system, for a slot
//! ```
//!
//! Board and version are part of the names, and so of what is signed. A bundle of a foreign key, for another board or of an older version is refused
//! before its large files are read. [`verify`] reads them once more before they are written into a slot: a disk may have damaged them.
//!
//! # What it does not do
//! It writes no slot and changes nothing that starts: it fills one folder. `scripts/horus_appliance/image/bundle.py` makes bundles.

use std::fs::{self, File};
use std::io::{self, Read, Write as _};
use std::path::{Path, PathBuf};

use horus::outside::printable;
use sha2::{Digest as _, Sha256};
use tar::{Archive, EntryType};
use thiserror::Error;

use crate::key::Keys;
use crate::loader::compare;

/// The list of digests.
const LIST: &str = "SHA256SUMS";
/// Its signature.
const SIGNATURE: &str = "SHA256SUMS.sig";
/// The ends of the names of the large files, in their order.
const ENDS: [&str; 2] = [".efi", ".root.xz"];
/// What their names begin with.
const START: &str = "horus_";
/// Neither list nor signature is longer.
const MAX_SMALL: u64 = 4_096;
/// A partition's label has 36 characters, of which `horus_` are six.
const MAX_VERSION: usize = 30;
/// Bytes that are read at once.
const CHUNK: usize = 1 << 16;

/// Which bundles a machine takes.
#[derive(Debug)]
pub struct Rules<'a> {
    /// The board that it is.
    pub board: &'a str,
    /// The version that runs.
    pub running: &'a str,
    /// The keys that may have signed.
    pub keys: &'a Keys,
}

/// A bundle that was verified.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Bundle {
    /// Its version.
    pub version: String,
    /// The key that signed it.
    pub signer: String,
    /// The bytes of its files.
    pub bytes: u64,
}

/// Why a bundle was not taken.
#[derive(Debug, Error)]
pub enum BundleError {
    /// It is something else.
    #[error("this is no update: {0}. `scripts/update-bundle` makes one of an image")]
    NoBundle(String),
    /// It ended early, or its source failed.
    #[error("the update was cut off: {0}; send it again")]
    CutOff(io::Error),
    /// No key of this machine signed it.
    #[error(
        "no key of this machine has signed this update: it has {0}. Sign it with one of these (scripts/update-bundle --key)"
    )]
    ForeignKey(String),
    /// It is for other machines.
    #[error("this update is for {bundle}, and this machine is {machine}: get the one for {machine}")]
    OtherBoard {
        /// The board that it is for.
        bundle: String,
        /// This machine's.
        machine: String,
    },
    /// It is what runs.
    #[error("version {0} runs already: there is nothing to install")]
    Same(String),
    /// It is older than what runs.
    #[error(
        "version {bundle} is older than {running}, which runs, and the boot loader starts the newest: give the older system a newer version, flash it, or take the other slot's by `horus update rollback`"
    )]
    Older {
        /// Its version.
        bundle: String,
        /// What runs.
        running: String,
    },
    /// A file is not what was signed.
    #[error("{0} is damaged: it is not what was signed. Send the update again, and if it happens again, get it anew")]
    Damaged(String),
    /// There is no room.
    #[error(
        "the update needs {needed} MB in {path}, where {free} MB are free: `journalctl --vacuum-size=50M` makes room, and `du -xh /var | sort -h` shows what is large"
    )]
    NoRoom {
        /// The folder.
        path: PathBuf,
        /// What it takes, in millions of bytes.
        needed: u64,
        /// What there is.
        free: u64,
    },
    /// A file cannot be written or read back.
    #[error("cannot keep {path}: {cause}")]
    Unkept {
        /// The file.
        path: PathBuf,
        /// What the system said.
        cause: io::Error,
    },
}

/// What a list says: who signed it, of which board and version it is, and the digest of each large file with its name.
struct List {
    signer: String,
    version: String,
    files: [(String, String); 2],
}

impl List {
    /// Reads a list whose signature is right, and refuses what the machine does not take.
    fn read(bytes: &[u8], signature: &[u8], rules: &Rules<'_>) -> Result<Self, BundleError> {
        let signer =
            rules.keys.signer(bytes, signature).ok_or_else(|| BundleError::ForeignKey(rules.keys.describe()))?;
        let text = str::from_utf8(bytes).map_err(|_| no_bundle("its list of digests is no text"))?;
        let lines: Vec<_> = text.lines().filter_map(|line| line.split_once("  ")).collect();
        let [(one, efi), (other, root)] = lines[..] else {
            return Err(no_bundle("its list of digests does not have two files"));
        };
        let stem = |name: &str, end: &str| Some(name.strip_prefix(START)?.strip_suffix(end)?.to_owned());
        let stem = stem(efi, ENDS[0]).filter(|efi| stem(root, ENDS[1]).as_ref() == Some(efi));
        let stem = stem.ok_or_else(|| no_bundle("its files do not belong together"))?;
        let (board, version) = stem.split_once('_').ok_or_else(|| no_bundle("its files have no version"))?;
        if !is_plain(board) || !is_plain(version) || version.len() > MAX_VERSION {
            return Err(no_bundle("its board or version has characters that no name has"));
        }
        if board != rules.board {
            return Err(BundleError::OtherBoard { bundle: board.to_owned(), machine: rules.board.to_owned() });
        }
        let order = compare(version, rules.running);
        if order.is_eq() {
            return Err(BundleError::Same(version.to_owned()));
        }
        if order.is_lt() {
            return Err(BundleError::Older { bundle: version.to_owned(), running: rules.running.to_owned() });
        }
        let files = [(one.to_owned(), efi.to_owned()), (other.to_owned(), root.to_owned())];
        Ok(Self { signer: signer.to_owned(), version: version.to_owned(), files })
    }

    fn bundle(self, bytes: u64) -> Bundle {
        Bundle { version: self.version, signer: self.signer, bytes }
    }
}

/// The reader of the archive takes an early end for the end of a file.
fn ends(place: &str) -> BundleError {
    BundleError::CutOff(io::Error::new(io::ErrorKind::UnexpectedEof, format!("it ends {place}")))
}

fn no_bundle(reason: &str) -> BundleError {
    BundleError::NoBundle(reason.to_owned())
}

/// Whether a part of a name is safe in paths, labels and patterns.
fn is_plain(part: &str) -> bool {
    let is_safe = |byte: u8| byte.is_ascii_alphanumeric() || b".-".contains(&byte);
    part.starts_with(|first: char| first.is_ascii_alphanumeric()) && part.bytes().all(is_safe)
}

/// Takes the files of a bundle out of `stream` into `folder`, which is empty, and verifies them on the way. They are on the disk when this returns.
///
/// `free` is what the folder has room for, in bytes. `told` hears how many bytes of large files came so far.
///
/// # Errors
/// When the bundle is not taken. What is in the folder then is of no use.
pub fn unpack(
    stream: impl Read,
    folder: &Path,
    rules: &Rules<'_>,
    free: u64,
    told: &mut dyn FnMut(u64),
) -> Result<Bundle, BundleError> {
    let mut archive = Archive::new(stream);
    // Raw: what tar says of long names has no limit, is read whole, and is in no bundle.
    let mut entries = archive.entries().map_err(foreign)?.raw(true);
    let mut next = |expected: &str| {
        let entry = entries.next().ok_or_else(|| ends(&format!("before {expected}")))?.map_err(foreign)?;
        let name = String::from_utf8_lossy(&entry.path_bytes()).into_owned();
        match entry.header().entry_type() {
            EntryType::Regular if name == expected => Ok(entry),
            _ => Err(no_bundle(&format!("it has {} where {expected} is to be", printable(&name)))),
        }
    };
    let mut small = |name: &str| {
        let entry = next(name)?;
        let (mut bytes, whole) = (Vec::new(), entry.size().min(MAX_SMALL));
        entry.take(MAX_SMALL).read_to_end(&mut bytes).map_err(BundleError::CutOff)?;
        if (bytes.len() as u64) < whole {
            return Err(ends(&format!("within {name}")));
        }
        keep(&folder.join(name), &bytes).map(|()| bytes)
    };
    let (list, signature) = (small(LIST)?, small(SIGNATURE)?);
    let list = List::read(&list, &signature, rules)?;
    let mut taken = 0_u64;
    for (digest, name) in &list.files {
        let entry = next(name)?;
        let size = entry.size();
        let end = taken.saturating_add(size);
        if end > free {
            let [needed, free] = [end, free].map(|bytes| bytes / 1_000_000);
            return Err(BundleError::NoRoom { path: folder.to_owned(), needed, free });
        }
        let path = folder.join(name);
        let mut file = File::create(&path).map_err(unkept(&path))?;
        let (length, found) = copy(entry, &mut |bytes| {
            taken += bytes.len() as u64;
            told(taken);
            file.write_all(bytes).map_err(unkept(&path))
        })?;
        file.sync_all().map_err(unkept(&path))?;
        if length < size {
            return Err(ends(&format!("within {name}")));
        }
        if found != *digest {
            return Err(BundleError::Damaged(name.clone()));
        }
    }
    if entries.next().is_some() {
        return Err(no_bundle("it has more files than an update"));
    }
    File::open(folder).and_then(|folder| folder.sync_all()).map_err(unkept(folder))?;
    Ok(list.bundle(taken))
}

/// Verifies the files in `folder` that [`unpack`] left there.
///
/// # Errors
/// When they are not what was signed, or not what the machine takes now.
pub fn verify(folder: &Path, rules: &Rules<'_>) -> Result<Bundle, BundleError> {
    let open = |name: &str| {
        let path = folder.join(name);
        File::open(&path).map_err(unkept(&path))
    };
    let small = |name: &str| {
        let mut bytes = Vec::new();
        let read = open(name)?.take(MAX_SMALL).read_to_end(&mut bytes);
        read.map_err(unkept(&folder.join(name))).map(|_| bytes)
    };
    let list = List::read(&small(LIST)?, &small(SIGNATURE)?, rules)?;
    let mut all = 0;
    for (digest, name) in &list.files {
        let (bytes, found) = copy(open(name)?, &mut |_| Ok(()))?;
        if found != *digest {
            return Err(BundleError::Damaged(name.clone()));
        }
        all += bytes;
    }
    Ok(list.bundle(all))
}

/// Hands on what is read, and gives its length and its digest.
fn copy(
    mut source: impl Read,
    take: &mut dyn FnMut(&[u8]) -> Result<(), BundleError>,
) -> Result<(u64, String), BundleError> {
    let (mut digest, mut bytes, mut chunk) = (Sha256::new(), 0, vec![0; CHUNK]);
    loop {
        match source.read(&mut chunk) {
            Ok(0) => return Ok((bytes, format!("{:x}", digest.finalize()))),
            Ok(length) => {
                digest.update(&chunk[..length]);
                take(&chunk[..length])?;
                bytes += length as u64;
            }
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(BundleError::CutOff(error)),
        }
    }
}

fn keep(path: &Path, bytes: &[u8]) -> Result<(), BundleError> {
    let kept = fs::write(path, bytes).and_then(|()| File::open(path)?.sync_all());
    kept.map_err(unkept(path))
}

fn unkept(path: &Path) -> impl FnOnce(io::Error) -> BundleError {
    move |cause| BundleError::Unkept { path: path.to_owned(), cause }
}

/// What the reader of the archive says: that of the stream below it, or that this is no archive.
fn foreign(error: io::Error) -> BundleError {
    match error.kind() {
        io::ErrorKind::Other | io::ErrorKind::InvalidData | io::ErrorKind::InvalidInput => {
            no_bundle(&format!("it is no archive ({})", printable(&error.to_string())))
        }
        _ => BundleError::CutOff(error),
    }
}

#[cfg(test)]
mod tests;
