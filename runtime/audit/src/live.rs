//! Values of the running kernel, in files of `/proc/sys` and `/sys`.

use std::fs::{self, OpenOptions};
use std::io::{self, ErrorKind, Write};
use std::path::PathBuf;

use serde::{Deserialize, Serialize};

use crate::root::Root;

/// Values that are one setting in two units: writing one makes the kernel zero the other, and zero itself is refused. So the
/// way back to "bytes are 0, the ratio counts" is to write the ratio (`Documentation/admin-guide/sysctl/vm.rst`).
const COUNTERPARTS: [(&str, &str); 2] = [
    ("/proc/sys/vm/dirty_bytes", "/proc/sys/vm/dirty_ratio"),
    ("/proc/sys/vm/dirty_background_bytes", "/proc/sys/vm/dirty_background_ratio"),
];

/// A value of the running kernel and what it was.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct KeptValue {
    /// For people.
    pub name: String,
    /// Its file.
    pub path: String,
    /// Its whole text.
    pub before: String,
    /// The value that the kernel changes along with it: its file and text.
    pub counterpart: Option<(String, String)>,
}

/// What a value was before it is changed.
pub fn keep(root: &Root, name: &str, path: &str) -> io::Result<KeptValue> {
    let other = COUNTERPARTS.iter().find(|(one, _)| *one == path).map(|(_, other)| (*other).to_owned());
    let counterpart = other.and_then(|other| read(root, &other).ok().map(|text| (other, text)));
    Ok(KeptValue { name: name.to_owned(), path: path.to_owned(), before: read(root, path)?, counterpart })
}

/// The whole text of a value.
pub fn read(root: &Root, path: &str) -> io::Result<String> {
    Ok(String::from_utf8_lossy(&fs::read(place(root, path)?)?).into_owned())
}

/// Whether a text read from the kernel says `value`: as a whole, or in brackets among the others to choose from.
pub fn says(text: &str, value: &str) -> bool {
    text.trim() == value || selected(text) == Some(value)
}

/// Writes a value in one call, as the kernel wants it.
pub fn write(root: &Root, path: &str, text: &str) -> io::Result<()> {
    OpenOptions::new().write(true).truncate(true).open(place(root, path)?)?.write_all(text.as_bytes())
}

/// Puts a value back.
///
/// # Errors
/// When it is another one afterwards; what the kernel said.
pub fn restore(root: &Root, kept: &KeptValue) -> io::Result<()> {
    let mut refused = None;
    if read(root, &kept.path)? != kept.before {
        let word = selected(&kept.before).unwrap_or(kept.before.trim());
        refused = write(root, &kept.path, &kept.before).or_else(|_| write(root, &kept.path, word)).err();
    }
    if let Some((other, before)) = &kept.counterpart
        && read(root, other)? != *before
    {
        write(root, other, before)?;
    }
    match (read(root, &kept.path)? == kept.before, refused) {
        (true, _) => Ok(()),
        (false, Some(error)) => Err(error),
        (false, None) => Err(io::Error::other("the kernel took it and shows another")),
    }
}

/// The word in brackets.
fn selected(text: &str) -> Option<&str> {
    text.split_once('[')?.1.split_once(']').map(|(word, _)| word)
}

/// The file of a value, which exists and is inside of the root.
fn place(root: &Root, path: &str) -> io::Result<PathBuf> {
    let real =
        root.followed(path).ok_or_else(|| io::Error::new(ErrorKind::NotFound, "this kernel does not have it"))?;
    Ok(root.top().join(real.trim_start_matches('/')))
}
