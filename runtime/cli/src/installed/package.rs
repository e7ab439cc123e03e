//! What is installed: a program and its `node.toml`, from a folder or from a tar archive on standard input.

use std::fs::{self, File, Permissions};
use std::io::{self, Read};
use std::os::unix::fs::PermissionsExt;
use std::path::{Component, Path, PathBuf};

use horus::app::Installation;
use rustix::fs::{Mode, OFlags};
use rustix::io::Errno;

use super::store::{SETTINGS, cannot_write};

/// The largest program that is taken.
pub const MAX_PROGRAM_BYTES: u64 = 256 << 20;
/// The largest `node.toml` that is taken.
pub const MAX_SETTINGS_BYTES: u64 = 1 << 20;

/// The most files of an archive that are looked at: of a few too many, the message names one.
const MAX_ENTRIES: usize = 8;

/// What was received.
#[derive(Debug)]
pub struct Package {
    /// The name of the program, and of the node that it becomes.
    pub name: String,
    /// All else that its `node.toml` says of how it is installed.
    pub installation: Installation,
}

impl Package {
    /// How people call it: name and version.
    pub fn title(&self) -> String {
        title(&self.name, Some(&self.installation))
    }
}

/// Name and version.
pub fn title(name: &str, installation: Option<&Installation>) -> String {
    match installation.and_then(|installation| installation.version.as_ref()) {
        Some(version) => format!("{name} {version}"),
        None => name.to_owned(),
    }
}

/// The longest first line that names an interpreter.
const MAX_FIRST_LINE_BYTES: u64 = 256;

/// Refuses a program whose interpreter is not below `root`, the machine's files: the kernel would only say that there is no such file.
pub fn ensure_interpreter(program: &Path, root: &Path) -> Result<(), String> {
    let mut line = Vec::new();
    let read = File::open(program).and_then(|file| file.take(MAX_FIRST_LINE_BYTES).read_to_end(&mut line));
    read.map_err(|error| format!("cannot read {}: {error}", program.display()))?;
    let Some(interpreter) = interpreter(&line) else { return Ok(()) };
    // Not the file that a link leads to: below another root it leads elsewhere.
    if root.join(interpreter.strip_prefix("/").unwrap_or(&interpreter)).symlink_metadata().is_ok() {
        return Ok(());
    }
    let name = program.file_name().unwrap_or_default().display();
    let (shown, file) = (interpreter.display(), interpreter.file_name().unwrap_or_default().to_string_lossy());
    Err(match file.starts_with("python") {
        true => format!(
            "{name} is written in Python, and this image has no {shown}: build the image with the option `python`. Nothing was changed"
        ),
        false => format!("{name} is a script for {shown}, which this image does not have. Nothing was changed"),
    })
}

/// Whom a program's first line names to run it.
fn interpreter(beginning: &[u8]) -> Option<PathBuf> {
    let line = beginning.strip_prefix(b"#!")?.split(|byte| *byte == b'\n').next()?;
    let word = std::str::from_utf8(line).ok()?.split_whitespace().next()?;
    Some(PathBuf::from(word))
}

/// Copies program and `node.toml` from folder `source` to the empty folder `place`.
pub fn from_folder(source: &Path, place: &Path) -> Result<Package, String> {
    let settings = source.join(SETTINGS);
    if settings.symlink_metadata().is_ok_and(|found| !found.is_file()) {
        return Err(format!("{} is no file, or a link: put the file itself into the folder", settings.display()));
    }
    let package = read(&settings)?;
    let program = source.join(&package.name);
    for (from, limit, mode) in [(settings, MAX_SETTINGS_BYTES, 0o644), (program, MAX_PROGRAM_BYTES, 0o755)] {
        let failed = |error: io::Error| format!("cannot read {}: {error}", from.display());
        // A link may lead to what the package's author cannot read, and root can. To open a pipe would wait.
        let flags = OFlags::RDONLY | OFlags::CLOEXEC | OFlags::NOFOLLOW | OFlags::NONBLOCK;
        let file = match rustix::fs::open(&from, flags, Mode::empty()) {
            Err(Errno::LOOP) => {
                return Err(format!("{} is a link: put the file itself into the folder", from.display()));
            }
            opened => File::from(opened.map_err(|error| failed(error.into()))?),
        };
        let found = file.metadata().map_err(failed)?;
        if !found.is_file() {
            return Err(format!("{} is no file", from.display()));
        }
        let bytes = found.len();
        let name = from.file_name().expect("it was joined from a name");
        write(file, bytes, limit, &place.join(name), mode)?;
    }
    Ok(package)
}

/// Takes program and `node.toml` out of the archive that `source` carries, into the empty folder `place`. An archive that breaks
/// off is refused.
pub fn from_archive(source: impl Read, place: &Path) -> Result<Package, String> {
    let cut_off = |error: io::Error| format!("the archive cannot be read: {error}. Nothing was changed; send it again");
    let mut archive = tar::Archive::new(source);
    for (number, entry) in archive.entries().map_err(cut_off)?.enumerate() {
        let entry = entry.map_err(cut_off)?;
        if number >= MAX_ENTRIES {
            return Err(format!(
                "the archive has more than {MAX_ENTRIES} files: that of a node holds node.toml and the program"
            ));
        }
        let path = entry.path().map_err(cut_off)?.into_owned();
        let mut parts = path.components();
        let (Some(Component::Normal(name)), None) = (parts.next(), parts.next()) else {
            return Err(format!(
                "{} does not belong into an archive of a node: it holds node.toml and the program, without folders",
                path.display()
            ));
        };
        if !entry.header().entry_type().is_file() {
            return Err(format!("{} is no file: an archive of a node holds node.toml and the program", path.display()));
        }
        let (limit, mode) = if name == SETTINGS { (MAX_SETTINGS_BYTES, 0o644) } else { (MAX_PROGRAM_BYTES, 0o755) };
        let bytes = entry.size();
        write(entry, bytes, limit, &place.join(name), mode)?;
    }
    let package = read(&place.join(SETTINGS))?;
    let mut files: Vec<_> = fs::read_dir(place).map_err(cut_off)?.flatten().map(|file| file.file_name()).collect();
    files.retain(|name| name != SETTINGS && *name != *package.name);
    match (place.join(&package.name).is_file(), files.first()) {
        (true, None) => Ok(package),
        (false, _) => {
            Err(format!("the archive ends before the program {}. Nothing was changed; send it again", package.name))
        }
        (true, Some(file)) => Err(format!("{} is neither node.toml nor the program {}", file.display(), package.name)),
    }
}

/// What a `node.toml` says.
fn read(settings: &Path) -> Result<Package, String> {
    let installation = Installation::read(settings).map_err(|error| error.to_string())?;
    match installation.program.clone() {
        Some(name) => Ok(Package { name, installation }),
        None => Err(format!("{} names no program: add the line program = \"NAME\"", settings.display())),
    }
}

/// Writes what is received into a file: all of it, or the reason why not.
pub fn write(mut source: impl Read, bytes: u64, limit: u64, path: &Path, mode: u32) -> Result<(), String> {
    if bytes > limit {
        return Err(format!("{} has {bytes} bytes; {limit} is the most that is taken", path.display()));
    }
    let mut file = File::create(path).map_err(|error| cannot_write(path, error))?;
    let written = io::copy(&mut source, &mut file).map_err(|error| cannot_write(path, error))?;
    if written != bytes {
        return Err(format!(
            "{} breaks off after {written} of {bytes} bytes. Nothing was changed; send it again",
            path.display()
        ));
    }
    fs::set_permissions(path, Permissions::from_mode(mode)).map_err(|error| cannot_write(path, error))
}

#[cfg(test)]
mod tests {
    use super::*;

    const TOML: &[u8] = b"program = \"arm\"\nversion = \"1.2.3\"\n";

    fn archive(files: &[(&str, &[u8])]) -> Vec<u8> {
        let mut builder = tar::Builder::new(Vec::new());
        for (name, bytes) in files {
            let mut header = tar::Header::new_gnu();
            header.set_size(bytes.len() as u64);
            header.set_mode(0o600);
            header.as_gnu_mut().unwrap().name[..name.len()].copy_from_slice(name.as_bytes());
            header.set_cksum();
            builder.append(&header, *bytes).unwrap();
        }
        builder.into_inner().unwrap()
    }

    fn received(bytes: &[u8]) -> Result<Package, String> {
        let place = tempfile::tempdir().unwrap();
        from_archive(bytes, place.path()).inspect(|package| {
            let program = place.path().join(&package.name);
            assert_eq!(fs::metadata(program).unwrap().permissions().mode() & 0o777, 0o755);
        })
    }

    #[test]
    fn a_whole_archive_is_taken_and_every_shorter_one_refused() {
        let whole = archive(&[("node.toml", TOML), ("arm", &[7; 3_000])]);
        assert_eq!(received(&whole).unwrap().title(), "arm 1.2.3");
        // What follows the program's last byte is padding and the end of the archive.
        let last = whole.len() - 1024 - (512 - 3_000 % 512);
        for length in (0..last).step_by(7).chain([last - 1]) {
            received(&whole[..length]).expect_err(&format!("{length} bytes of {last} are not all"));
        }
    }

    #[test]
    fn a_script_without_its_interpreter_is_refused_and_python_names_the_image_that_has_it() {
        let root = tempfile::tempdir().unwrap();
        let program = root.path().join("arm");
        let asked = |text: &[u8]| {
            fs::write(&program, text).unwrap();
            ensure_interpreter(&program, root.path())
        };
        let python = b"#!/usr/bin/python3\nPK\x03\x04";
        let refused = asked(python).unwrap_err();
        assert!(refused.contains("no /usr/bin/python3: build the image with the option `python`"), "{refused}");
        assert!(asked(b"#! /bin/lua -v\n").unwrap_err().contains("a script for /bin/lua, which"));
        for program in [&b"\x7fELF"[..], b"", b"#!", b"#!\n", b"#!\xff\n"] {
            asked(program).unwrap();
        }
        fs::create_dir_all(root.path().join("usr/bin")).unwrap();
        std::os::unix::fs::symlink("python3.13", root.path().join("usr/bin/python3")).unwrap();
        asked(python).unwrap();
    }

    #[test]
    fn what_does_not_belong_is_refused_by_name() {
        for (files, words) in [
            (&[("node.toml", TOML), ("arm", b"x"), ("notes", b"x")][..], "notes is neither"),
            (&[("node.toml", TOML), ("../arm", b"x")], "without folders"),
            (&[("/etc/passwd", b"x")], "without folders"),
            (&[("arm", b"x")], "node.toml"),
            (&[("node.toml", b"version = \"1\"")], "names no program"),
            (&[("node.toml", b"program = \"arm\"\nrate = 3")], "rate"),
        ] {
            let error = received(&archive(files)).unwrap_err();
            assert!(error.contains(words), "{error}");
        }
    }
}
