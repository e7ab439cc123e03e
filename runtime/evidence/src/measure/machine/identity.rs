//! Reads the identity of a run: which build of the image, which rules, which board.
//!
//! **The build.** A version is no identity: two images of one version can differ. With dm-verity the root hash on the kernel's
//! command line is the identity of every byte. A `BUILD_ID` in os-release is what its builder calls the build. Without both, the
//! build is a hash over what identifies the parts: os-release, the kernel's own build identifier, this program, and path, size,
//! mode and date of every file below `/usr`, which on an image are part of it. On a Linux that is no image of ours packages come and go, and
//! only os-release, kernel and this program count.

use std::collections::BTreeSet;
use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use horus::cpus;
use sha2::{Digest, Sha256};

use crate::config::Config;
use crate::config::phases::{describe, of_boot};
use crate::record::identity::{Configuration, Identity};

/// More files below `/usr` are counted and not looked at; an image has a tenth of that.
const MOST_FILES: usize = 200_000;

/// Reads the identity of the machine at `root`, for a run with `config` and the audit rules in the directory `rules`.
pub fn read(root: &Path, rules: &Path, config: &Config) -> Identity {
    let cmdline = text(root, "proc/cmdline");
    let (build_id, build_id_from) = build_id(root, &cmdline);
    let (isolated, housekeeping) = (cpus::isolated(root), cpus::housekeeping(root));
    let online: cpus::CpuList = isolated.iter().chain(housekeeping.iter()).collect();
    Identity {
        build_id,
        build_id_from: build_id_from.to_owned(),
        rules_hash: rules_hash(rules),
        board: board(root),
        machine: machine(root),
        configuration: Configuration {
            kernel_release: text(root, "proc/sys/kernel/osrelease"),
            cmdline,
            cpus: online.to_string(),
            isolated: isolated.to_string(),
            period_ns: config.timing.period_nanos(),
            deadline_ns: config.timing.deadline_nanos(),
            priority: config.priority,
            load: loads(config),
            phases: if config.phases == of_boot() { String::new() } else { describe(&config.phases) },
        },
    }
}

/// The loads that the phases need, with their placeholders: what the machine fills in stands elsewhere in the identity.
fn loads(config: &Config) -> String {
    let commands: Vec<String> = config.used_loads().into_iter().map(|(_, load)| load.command.join(" ")).collect();
    commands.join("; ")
}

/// A file of the tree without the white space around it; empty where it cannot be read.
fn text(root: &Path, name: &str) -> String {
    let bytes = fs::read(root.join(name)).unwrap_or_default();
    String::from_utf8_lossy(&bytes).trim_matches(|c: char| c.is_whitespace() || c == '\0').to_owned()
}

/// The build of the image, and what that is.
fn build_id(root: &Path, cmdline: &str) -> (String, &'static str) {
    let verity =
        ["roothash=", "usrhash="].iter().find_map(|key| cmdline.split(' ').find_map(|word| word.strip_prefix(key)));
    if let Some(hash) = verity {
        return (hash.to_owned(), "roothash");
    }
    let release = ["etc/os-release", "usr/lib/os-release"].map(|name| text(root, name)).join("\n");
    let value =
        |key: &str| release.lines().find_map(|line| Some(line.strip_prefix(key)?.trim_matches(['"', '\'']).to_owned()));
    if let Some(id) = value("BUILD_ID=").filter(|id| !id.is_empty()) {
        return (id, "os-release");
    }
    let mut hash = Sha256::new();
    part(&mut hash, "os-release", release.as_bytes());
    part(&mut hash, "kernel", &fs::read(root.join("sys/kernel/notes")).unwrap_or_default());
    part(&mut hash, "program", &fs::read("/proc/self/exe").unwrap_or_default());
    if value("IMAGE_ID=").is_none() {
        return (hex(hash), "program");
    }
    files(&mut hash, &root.join("usr"));
    (hex(hash), "content")
}

/// Adds path, size, mode and date of every file below `directory`, in the order of their paths.
fn files(hash: &mut Sha256, directory: &Path) {
    let mut waiting = BTreeSet::from([directory.to_owned()]);
    let mut count = 0;
    while let Some(path) = waiting.pop_first() {
        count += 1;
        let Ok(about) = fs::symlink_metadata(&path) else { continue };
        if count > MOST_FILES {
            break;
        }
        let name = path.strip_prefix(directory).unwrap_or(&path).as_os_str().as_encoded_bytes();
        part(hash, "file", name);
        for number in [about.size() * u64::from(!about.is_dir()), about.mode().into(), about.mtime() as u64] {
            hash.update(number.to_le_bytes());
        }
        if about.is_dir() {
            waiting.extend(fs::read_dir(&path).into_iter().flatten().flatten().map(|entry| entry.path()));
        }
    }
}

/// Adds a part, with name and length, so that no two sequences of parts give the same bytes.
fn part(hash: &mut Sha256, name: &str, content: &[u8]) {
    for bytes in [name.as_bytes(), content] {
        hash.update((bytes.len() as u64).to_le_bytes());
        hash.update(bytes);
    }
}

fn hex(hash: Sha256) -> String {
    hash.finalize().iter().map(|byte| format!("{byte:02x}")).collect()
}

/// A hash over names and contents of the rule files.
fn rules_hash(rules: &Path) -> String {
    let mut files: Vec<PathBuf> =
        fs::read_dir(rules).into_iter().flatten().flatten().map(|entry| entry.path()).collect();
    files.retain(|path| path.extension().is_some_and(|extension| extension == "toml"));
    files.sort();
    let mut hash = Sha256::new();
    for file in files {
        let name = file.file_name().unwrap_or_default().to_string_lossy().into_owned();
        part(&mut hash, &name, &fs::read(&file).unwrap_or_default());
    }
    hex(hash)
}

/// Maker and model, from the firmware of a PC or from the device tree.
fn board(root: &Path) -> String {
    let dmi =
        ["sys_vendor", "product_name", "product_version"].map(|name| text(root, &format!("sys/class/dmi/id/{name}")));
    let words: Vec<_> = dmi.into_iter().filter(|word| !word.is_empty()).collect();
    let model = ["proc/device-tree/model", "sys/firmware/devicetree/base/model"].map(|name| text(root, name));
    let model = model.into_iter().find(|model| !model.is_empty());
    match (words.is_empty(), model) {
        (false, _) => words.join(" "),
        (true, Some(model)) => model,
        (true, None) => "unknown".to_owned(),
    }
}

/// The machine-id may not leave the machine (machine-id(5)); 16 digits of a hash of it may.
fn machine(root: &Path) -> String {
    let id = text(root, "etc/machine-id");
    if id.is_empty() {
        return String::new();
    }
    let mut hash = Sha256::new();
    part(&mut hash, "horus-report", id.as_bytes());
    hex(hash).chars().take(16).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tree() -> tempfile::TempDir {
        let root = tempfile::tempdir().unwrap();
        for (name, content) in [
            ("proc/cmdline", "quiet isolcpus=3\n"),
            ("etc/os-release", "IMAGE_ID=horus\nIMAGE_VERSION=0.1.0\n"),
            ("sys/kernel/notes", "GNU build"),
            ("proc/device-tree/model", "Raspberry Pi 5\0"),
            ("etc/machine-id", "0f0e0d0c0b0a09080706050403020100\n"),
            ("usr/bin/tool", "1"),
        ] {
            write(root.path(), name, content);
        }
        root
    }

    fn write(root: &Path, name: &str, content: &str) {
        let path = root.join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, content).unwrap();
    }

    fn build(root: &Path) -> (String, String) {
        let identity = read(root, &root.join("rules"), &Config::default());
        (identity.build_id, identity.build_id_from)
    }

    #[test]
    fn the_build_is_the_root_hash_or_the_build_id_or_a_hash_of_what_is_installed() {
        let root = tree();
        let (first, from) = build(root.path());
        assert_eq!((first.len(), from.as_str(), build(root.path()).0), (64, "content", first.clone()));
        write(root.path(), "usr/bin/tool", "22");
        assert_ne!(build(root.path()).0, first, "another file is another build, whatever the version says");
        write(root.path(), "etc/os-release", "IMAGE_ID=horus\nBUILD_ID=\"2026-11-20\"\n");
        assert_eq!(build(root.path()), ("2026-11-20".to_owned(), "os-release".to_owned()));
        write(root.path(), "proc/cmdline", "quiet roothash=abcd");
        assert_eq!(build(root.path()), ("abcd".to_owned(), "roothash".to_owned()));
    }

    #[test]
    fn a_linux_that_is_no_image_is_known_by_kernel_and_program_alone() {
        let root = tree();
        write(root.path(), "etc/os-release", "ID=debian\n");
        let (first, from) = build(root.path());
        assert_eq!(from, "program");
        write(root.path(), "usr/bin/tool", "a package was updated");
        assert_eq!(build(root.path()).0, first);
        write(root.path(), "sys/kernel/notes", "another kernel");
        assert_ne!(build(root.path()).0, first);
    }

    #[test]
    fn board_machine_and_rules_are_told_apart_and_the_machine_id_stays_at_home() {
        let root = tree();
        let rules = root.path().join("rules");
        write(&rules, "a.toml", "1");
        let identity = read(root.path(), &rules, &Config::default());
        assert_eq!((identity.board.as_str(), identity.machine.len()), ("Raspberry Pi 5", 16));
        assert!(!serde_json::to_string(&identity).unwrap().contains("0f0e0d0c"));
        write(&rules, "a.toml", "2");
        let other = read(root.path(), &rules, &Config::default());
        assert_eq!(identity.differences(&other), ["audit rules"]);
        write(root.path(), "sys/class/dmi/id/product_name", "NUC");
        assert_eq!(read(root.path(), &rules, &Config::default()).board, "NUC");
    }
}
