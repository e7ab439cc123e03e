//! Where the report of a run goes: to the data partition, or to RAM when that cannot take it, so that no report is lost.

use std::path::{Path, PathBuf};

use thiserror::Error;

use super::marker::Started;
use super::schema::Report;
use super::store::{self, Room, StoreError};

/// Where reports are kept unless a run is told otherwise.
pub const DEFAULT_DIRECTORY: &str = "/var/lib/horus/reports";

/// Where reports go that the data partition cannot take.
pub const RAM_DIRECTORY: &str = "/run/horus/reports";

/// The destination of one report.
pub struct Destination {
    directory: PathBuf,
    in_ram: PathBuf,
    /// Held until the report is stored.
    room: Result<Room, StoreError>,
}

/// The report could be stored nowhere.
#[derive(Debug, Error)]
#[error("{first}; and not in RAM either: {second}")]
pub struct NowhereError {
    first: StoreError,
    second: StoreError,
}

impl Destination {
    /// Takes the room of the report of the run `run_id` of the boot `boot_id` in `directory`, before the run measures. Without
    /// room the run goes on: there is [`Destination::trouble`] to tell, and `in_ram` for the report.
    pub fn reserve(directory: &Path, in_ram: &Path, boot_id: &str, run_id: &str) -> Self {
        let room = Room::reserve(directory, boot_id, run_id);
        Self { directory: directory.to_owned(), in_ram: in_ram.to_owned(), room }
    }

    /// Why the report cannot be stored where it belongs, and what to do.
    pub fn trouble(&self) -> Option<String> {
        let error = self.room.as_ref().err()?;
        let in_ram = self.in_ram.display();
        Some(format!("{error}; the run goes on, and its report goes to {in_ram}, which a restart empties"))
    }

    /// Where reports belong, and where those go that do not fit.
    pub fn directories(&self) -> [PathBuf; 2] {
        [self.directory.clone(), self.in_ram.clone()]
    }

    /// Leaves the marker of a run that begins. Without room there is none, and [`Destination::trouble`] has told why.
    ///
    /// # Errors
    /// When there was room and the marker cannot be written all the same.
    pub fn mark(&self, started: &Started) -> Result<(), StoreError> {
        if self.room.is_ok() { store::mark(&self.directory, started) } else { Ok(()) }
    }

    /// Stores `report`, which says so if it had to go to RAM. Room that came free since the start is used.
    ///
    /// # Errors
    /// When neither place takes it.
    pub fn store(self, report: &mut Report) -> Result<PathBuf, NowhereError> {
        let first = match store::store(&self.directory, report) {
            Ok(path) => return Ok(path),
            Err(error) => error,
        };
        report.stored_in_ram = Some(first.to_string());
        let stored = Room::reserve(&self.in_ram, &report.boot_id, &report.run_id)
            .and_then(|_room| store::store(&self.in_ram, report));
        stored.map_err(|second| NowhereError { first, second })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::record::sample;

    #[test]
    fn a_report_that_the_data_partition_cannot_take_is_in_ram_and_says_why() {
        let scene = tempfile::tempdir().unwrap();
        let (directory, in_ram) = (scene.path().join("reports"), scene.path().join("ram"));
        std::fs::write(&directory, "a file where the directory should be").unwrap();
        let destination = Destination::reserve(&directory, &in_ram, "b0", "run-of-b0");
        let trouble = destination.trouble().unwrap();
        assert!(trouble.contains("the run goes on") && trouble.contains("--output"), "{trouble}");
        let mut report = sample::report("b0");
        let path = destination.store(&mut report).unwrap();
        assert_eq!(path, in_ram.join("00000001-b0-run-of-b0.json"));
        let why = crate::record::load::load(&path).unwrap().stored_in_ram.unwrap();
        assert!(why.contains("cannot store the report in"), "{why}");

        // A later run finds room.
        std::fs::remove_file(&directory).unwrap();
        let destination = Destination::reserve(&directory, &in_ram, "b0", "run-of-b0");
        assert_eq!(destination.trouble(), None);
        assert_eq!(destination.store(&mut sample::report("b0")).unwrap(), directory.join("00000001-b0-run-of-b0.json"));
    }

    #[test]
    fn a_report_that_fits_nowhere_is_an_error_that_names_both_places() {
        let scene = tempfile::tempdir().unwrap();
        let (directory, in_ram) = (scene.path().join("reports"), scene.path().join("ram"));
        [&directory, &in_ram].into_iter().for_each(|path| std::fs::write(path, "").unwrap());
        let error = Destination::reserve(&directory, &in_ram, "b0", "run-of-b0")
            .store(&mut sample::report("b0"))
            .unwrap_err()
            .to_string();
        assert!(error.contains("/reports") && error.contains("/ram"), "{error}");
    }
}
