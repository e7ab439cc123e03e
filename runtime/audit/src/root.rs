//! Files below the directory that stands for `/`: read as they are, written so that each is the old one or the new one.
//!
//! A file is made beside its place, synced, given owner and mode, and renamed. What a killed process leaves is a name that
//! ends in `UNFINISHED`, which no reader of a `.d` directory takes; the next run removes it. Below another root than `/`
//! no path leaves that root through a link.

use std::cell::Cell;
use std::ffi::OsStr;
use std::fs::{self, File, OpenOptions};
use std::io::{self, ErrorKind, Read, Write};
use std::os::unix::fs::{MetadataExt, OpenOptionsExt, PermissionsExt, fchown, symlink};
use std::path::{Component, Path, PathBuf};

/// The end of a name that no program reads.
const UNFINISHED: &str = ".horus-tune";
/// The end of the name under which a file that was changed is kept.
const KEPT: &str = ".horus-kept";
/// More than any configuration file has.
const MAX_BYTES: u64 = 8 << 20;
/// Files kept beside one path.
const MAX_KEPT: u32 = 100;

/// What stands at a path.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Thing {
    /// Nothing.
    Absent,
    /// A symbolic link and where it points.
    Link(String),
    /// A file.
    File(Bytes),
}

/// A file's contents and rights.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Bytes {
    /// What it holds.
    pub bytes: Vec<u8>,
    /// Permission bits.
    pub mode: u32,
    /// User and group.
    pub owner: (u32, u32),
}

impl Thing {
    /// Whether both hold the same, whatever their rights.
    pub(crate) fn holds_same(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::File(one), Self::File(two)) => one.bytes == two.bytes,
            _ => self == other,
        }
    }

    /// In a few words.
    pub(crate) fn words(&self) -> String {
        match self {
            Self::Absent => "absent".to_owned(),
            Self::Link(target) => format!("link to {target}"),
            Self::File(file) => format!("{} bytes", file.bytes.len()),
        }
    }
}

/// The directory that stands for `/`.
pub struct Root {
    top: PathBuf,
}

impl Root {
    /// The directory `path`.
    ///
    /// # Errors
    /// When it is none.
    pub fn open(path: &Path) -> Result<Self, String> {
        let top = path.canonicalize().map_err(|error| format!("{}: {error}", path.display()))?;
        if top.is_dir() {
            Ok(Self { top })
        } else {
            Err(format!("{} is no directory; a recording cannot be tuned", path.display()))
        }
    }

    /// What stands for `/`.
    pub(crate) fn top(&self) -> &Path {
        &self.top
    }

    /// Whether this is the running machine.
    pub(crate) fn is_live(&self) -> bool {
        self.top == Path::new("/")
    }

    /// The real place of the absolute path `path`: links of the directories above it are followed, that of its last name is not.
    ///
    /// # Errors
    /// When it lies outside of the root.
    pub(crate) fn place(&self, path: &str) -> io::Result<PathBuf> {
        let below = Path::new(path.trim_start_matches('/'));
        let outside = || io::Error::other(format!("{path} leaves {}", self.top.display()));
        if !below.components().all(|part| matches!(part, Component::Normal(_))) {
            return Err(outside());
        }
        let joined = self.top.join(below);
        let mut above = joined.parent().unwrap_or(&self.top);
        while fs::symlink_metadata(above).is_err() {
            above = above.parent().unwrap_or(&self.top);
        }
        let real = above.canonicalize()?;
        if !real.starts_with(&self.top) {
            return Err(outside());
        }
        Ok(real.join(joined.strip_prefix(above).expect("it is above")))
    }

    /// What stands at `path`.
    ///
    /// # Errors
    /// When it cannot be read, or is a directory or a device.
    pub(crate) fn read(&self, path: &str) -> io::Result<Thing> {
        let place = self.place(path)?;
        let about = match fs::symlink_metadata(&place) {
            Ok(about) => about,
            Err(error) if matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory) => {
                return Ok(Thing::Absent);
            }
            Err(error) => return Err(error),
        };
        if about.is_symlink() {
            let target = fs::read_link(&place)?.into_os_string().into_string();
            return target.map(Thing::Link).map_err(|_| io::Error::other("a link to a name that is not UTF-8"));
        }
        if !about.is_file() {
            return Err(io::Error::other("it is neither a file nor a link"));
        }
        let mut bytes = Vec::new();
        File::open(&place)?.take(MAX_BYTES + 1).read_to_end(&mut bytes)?;
        if bytes.len() as u64 > MAX_BYTES {
            return Err(io::Error::other(format!("it is larger than {MAX_BYTES} bytes")));
        }
        Ok(Thing::File(Bytes { bytes, mode: about.mode() & 0o7777, owner: (about.uid(), about.gid()) }))
    }

    /// The text of a file, links followed; none where it cannot be read.
    pub(crate) fn text(&self, path: &str) -> Option<String> {
        let real = self.place(path).ok()?.canonicalize().ok()?;
        let inside = real.starts_with(&self.top) && real.is_file();
        inside.then(|| fs::read(real).ok()).flatten().map(|bytes| String::from_utf8_lossy(&bytes).into_owned())
    }

    /// The path itself, or where its link leads to: a boot loader's file is changed where it is, not replaced beside it.
    pub(crate) fn followed(&self, path: &str) -> Option<String> {
        let real = self.place(path).ok()?.canonicalize().ok()?;
        let below = real.strip_prefix(&self.top).ok()?;
        real.is_file().then(|| below.to_str().map(|below| format!("/{below}"))).flatten()
    }

    /// Whether there is anything at `path`.
    pub(crate) fn exists(&self, path: &str) -> bool {
        self.place(path).is_ok_and(|place| place.exists())
    }

    /// The directories above `path` that are missing, the highest first.
    pub(crate) fn missing_above(&self, path: &str) -> Vec<String> {
        let above = Path::new(path).ancestors().skip(1).filter(|above| above.parent().is_some());
        let missing = above.filter_map(|above| above.to_str()).filter(|above| !self.exists(above));
        let mut missing: Vec<String> = missing.map(str::to_owned).collect();
        missing.reverse();
        missing
    }

    /// Makes one directory that everybody may read, whatever the umask is.
    pub(crate) fn make_directory(&self, path: &str) -> io::Result<()> {
        let place = self.place(path)?;
        fs::create_dir(&place)?;
        fs::set_permissions(place, fs::Permissions::from_mode(0o755))
    }

    /// Puts `thing` at `path`.
    ///
    /// # Errors
    /// What the kernel refused; `path` holds what it held.
    pub(crate) fn write(&self, path: &str, thing: &Thing, steps: &Steps) -> io::Result<()> {
        let place = self.place(path)?;
        let directory = place.parent().unwrap_or(&self.top).to_owned();
        let unfinished = beside(&place, ".", UNFINISHED);
        remove(&unfinished)?;
        match thing {
            Thing::Absent => {
                remove(&place)?;
            }
            Thing::Link(target) => {
                symlink(target, &unfinished)?;
                steps.reached();
                fs::rename(&unfinished, &place)?;
            }
            Thing::File(file) => {
                finished(&unfinished, file, steps).inspect_err(|_| drop(fs::remove_file(&unfinished)))?;
                fs::rename(&unfinished, &place)?;
            }
        }
        steps.reached();
        if directory.is_dir() { File::open(directory)?.sync_all() } else { Ok(()) }
    }

    /// Removes what a killed process left beside `path`.
    pub(crate) fn clean_up(&self, path: &str) -> io::Result<()> {
        remove(&beside(&self.place(path)?, ".", UNFINISHED))
    }

    /// Renames what stands at `path`, so that nothing is lost; the new name.
    pub(crate) fn keep_aside(&self, path: &str, steps: &Steps) -> io::Result<String> {
        let place = self.place(path)?;
        let numbered =
            (0..MAX_KEPT).map(|number| if number == 0 { KEPT.to_owned() } else { format!("{KEPT}.{number}") });
        for end in numbered {
            let kept = beside(&place, "", &end);
            if fs::symlink_metadata(&kept).is_err() {
                fs::rename(&place, &kept)?;
                steps.reached();
                return Ok(format!("{path}{end}"));
            }
        }
        Err(io::Error::other(format!("{MAX_KEPT} copies of it are kept already; look at them and remove them")))
    }
}

/// Makes a whole file under a name that no program reads.
fn finished(unfinished: &Path, file: &Bytes, steps: &Steps) -> io::Result<()> {
    let mut open = OpenOptions::new().write(true).create_new(true).mode(0o600).open(unfinished)?;
    steps.reached();
    let (first, second) = file.bytes.split_at(file.bytes.len() / 2);
    open.write_all(first)?;
    steps.reached();
    open.write_all(second)?;
    // Not asked where it is so already: FAT, which boot partitions are, has neither.
    let about = open.metadata()?;
    if (about.uid(), about.gid()) != file.owner {
        fchown(&open, Some(file.owner.0), Some(file.owner.1))?;
    }
    if open.metadata()?.mode() & 0o7777 != file.mode {
        open.set_permissions(fs::Permissions::from_mode(file.mode))?;
    }
    open.sync_all()?;
    steps.reached();
    Ok(())
}

/// Removes a file or link; what is not there needs no removal.
fn remove(path: &Path) -> io::Result<()> {
    match fs::remove_file(path) {
        Err(error) if matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory) => Ok(()),
        done => done,
    }
}

fn beside(place: &Path, start: &str, end: &str) -> PathBuf {
    let name = place.file_name().and_then(OsStr::to_str).unwrap_or_default();
    place.with_file_name(format!("{start}{name}{end}"))
}

/// Counts what was changed, and kills the process at one of them when a test wants it: nothing is unwound.
pub struct Steps {
    left: Cell<Option<u64>>,
}

impl Steps {
    /// No death, or one at the Nth step.
    pub fn new(die_at: Option<u64>) -> Self {
        Self { left: Cell::new(die_at) }
    }

    /// Something was just changed.
    pub(crate) fn reached(&self) {
        let Some(left) = self.left.get() else { return };
        if left <= 1 {
            let _ = rustix::process::kill_process(rustix::process::getpid(), rustix::process::Signal::KILL);
            unreachable!("a process does not return from killing itself");
        }
        self.left.set(Some(left - 1));
    }
}
