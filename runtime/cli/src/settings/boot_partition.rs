//! The boot partition of the disk that this system runs from: a FAT that any PC can read and write. It is mounted for as long as it is read,
//! read-only, and nowhere that others see it (horus-settings.service has mounts of its own).

use std::fs;
use std::path::{Path, PathBuf};

use rustix::fs::{major, minor, stat};
use rustix::io::Errno;
use rustix::mount::{MountFlags, UnmountFlags, mount, unmount};

/// The partition's name in the tables of our layouts: PC and virtual boards, Raspberry Pi, NVIDIA's own.
const NAMES: [&str; 3] = ["horus-esp", "horus-boot", "esp"];

/// The kernel's table of contents of a partition or disk.
const UEVENT: &str = "uevent";

/// A mounted boot partition.
pub struct BootPartition {
    place: PathBuf,
}

impl BootPartition {
    /// Finds the partition on the disk of the root file system, as the kernel read its table, and mounts it at `place`.
    pub fn mount(place: &Path) -> Result<Self, String> {
        let root = stat("/").map_err(|error| format!("the root file system cannot be asked for its disk: {error}"))?;
        let device = format!("/sys/dev/block/{}:{}", major(root.st_dev), minor(root.st_dev));
        let device = fs::canonicalize(&device).map_err(|error| format!("{device}: {error}"))?;
        let disk = disk_of(&device);
        let name = partition(&disk)
            .ok_or_else(|| format!("{} has no partition of the name {}", disk.display(), NAMES.join(" or ")))?;
        let source = Path::new("/dev").join(&name);
        let explain = |error| format!("{} cannot be mounted: {error}", source.display());
        fs::create_dir_all(place).map_err(|error| format!("{}: {error}", place.display()))?;
        let flags = MountFlags::NOSUID | MountFlags::NODEV | MountFlags::NOEXEC;
        match mount(&source, place, "vfat", flags | MountFlags::RDONLY, None) {
            // Another process has mounted it already, to write; the kernel has one view of a disk for all.
            Err(Errno::BUSY) => mount(&source, place, "vfat", flags, None),
            done => done,
        }
        .map_err(explain)?;
        Ok(Self { place: place.to_owned() })
    }

    /// Where its files are.
    pub fn path(&self) -> &Path {
        &self.place
    }
}

impl Drop for BootPartition {
    fn drop(&mut self) {
        // What fails here ends with the unit, whose mounts are its own.
        let _ = unmount(&self.place, UnmountFlags::DETACH);
        let _ = fs::remove_dir(&self.place);
    }
}

/// The whole disk below a device of /sys; a verified root lies on a device of its own above it.
fn disk_of(device: &Path) -> PathBuf {
    let mut device = device.to_owned();
    while let Some(Ok(below)) = fs::read_dir(device.join("slaves")).ok().and_then(|mut slaves| slaves.next()) {
        let Ok(real) = fs::canonicalize(below.path()) else { break };
        device = real;
    }
    if device.join("partition").exists() {
        device.pop();
    }
    device
}

/// The kernel's name of the boot partition of a disk.
fn partition(disk: &Path) -> Option<String> {
    let of_name = |wanted: &str| {
        fs::read_dir(disk).ok()?.flatten().find_map(|entry| {
            let text = fs::read_to_string(entry.path().join(UEVENT)).ok()?;
            let found = entry.path().join("partition").exists()
                && text.lines().any(|line| line.strip_prefix("PARTNAME=") == Some(wanted));
            found.then(|| entry.file_name().to_string_lossy().into_owned())
        })
    };
    NAMES.iter().find_map(|name| of_name(name))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn write(root: &Path, name: &str, text: &str) {
        let path = root.join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }

    #[test]
    fn the_partition_is_found_below_a_plain_and_a_verified_root() {
        let root = tempfile::tempdir().unwrap();
        let disk = root.path().join("block/vda");
        for (number, name) in [(1, "horus-esp"), (2, "horus-root"), (3, "horus-data")] {
            write(&disk, &format!("vda{number}/partition"), &number.to_string());
            write(&disk, &format!("vda{number}/uevent"), &format!("DEVTYPE=partition\nPARTNAME={name}\n"));
        }
        let verified = root.path().join("block/dm-0");
        fs::create_dir_all(verified.join("slaves")).unwrap();
        std::os::unix::fs::symlink(disk.join("vda2"), verified.join("slaves/vda2")).unwrap();
        for device in [disk.join("vda2"), verified] {
            let found = disk_of(&device);
            assert_eq!(found, fs::canonicalize(&disk).unwrap());
            assert_eq!(partition(&found).as_deref(), Some("vda1"));
        }
    }

    #[test]
    fn a_disk_without_one_has_none() {
        let root = tempfile::tempdir().unwrap();
        write(root.path(), "sda1/uevent", "PARTNAME=horus-esp-of-another\n");
        write(root.path(), "sda1/partition", "1");
        assert_eq!(partition(root.path()), None);
    }
}
