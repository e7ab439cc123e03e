//! Which report is shown when none is named, and what has to be said about it: one of another boot must never pass for this
//! boot's.

use std::path::{Path, PathBuf};

use crate::measure::machine::events::systemd_runs;
use crate::measure::machine::units;
use crate::record::schema::Report;
use crate::record::store::LATEST;

use crate::record::load::{LoadError, load};

/// The unit that measures once a boot.
const UNIT: &str = "horus-determinism.service";

/// The newest report of a machine.
#[derive(Debug)]
pub struct Newest {
    /// The report.
    pub report: Report,
    /// Its file.
    pub path: PathBuf,
    /// Whether it is of this boot; `true` as well where the boot has no identifier to tell by.
    pub is_of_this_boot: bool,
}

/// Finds the newest report in `directories`: the last one of the boot `boot_id` if there is one, else the first that is there.
///
/// # Errors
/// When no directory has one, the error of the last, which is where reports belong.
pub fn newest(directories: &[&Path], boot_id: &str) -> Result<Newest, LoadError> {
    let mut best: Result<Newest, Option<LoadError>> = Err(None);
    for directory in directories {
        let path = directory.join(LATEST);
        best = match (best, load(&path)) {
            (Err(_), Err(error)) => Err(Some(error)),
            (Ok(best), Err(_)) => Ok(best),
            (best, Ok(report)) => {
                let is_of_this_boot = boot_id.is_empty() || report.boot_id == boot_id;
                let found = Newest { report, path, is_of_this_boot };
                Ok(best.ok().filter(|best| !found.replaces(best)).unwrap_or(found))
            }
        };
    }
    best.map_err(|error| error.expect("there is a directory to look into"))
}

impl Newest {
    /// Whether this is the one to show: another boot's clock says nothing, and that of this boot goes on.
    fn replaces(&self, best: &Self) -> bool {
        self.is_of_this_boot && (!best.is_of_this_boot || self.report.time > best.report.time)
    }

    /// What stands above a report of another boot.
    pub fn notice(&self, run: &Run) -> Option<String> {
        let Report { boot_id, time, .. } = &self.report;
        let text = || format!("This is the report of an earlier boot ({boot_id}, {time}); {}.", run.sentence());
        (!self.is_of_this_boot).then(text)
    }
}

/// How this boot's run stands, where it has left no report.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Run {
    /// It has not begun, or that cannot be told.
    NotYet,
    /// It measures.
    Measuring,
    /// It ended badly, with this result.
    Failed(String),
}

impl Run {
    /// Asks systemd.
    pub fn of_this_boot() -> Self {
        let property = |name| units::property(UNIT, name).unwrap_or_default();
        if !systemd_runs() {
            return Self::NotYet;
        }
        match property("ActiveState").as_str() {
            "failed" => Self::Failed(property("Result")),
            "activating" | "active" => Self::Measuring,
            _ => Self::NotYet,
        }
    }

    /// What a person should know.
    pub fn sentence(&self) -> String {
        match self {
            Self::NotYet => "this boot has none yet".to_owned(),
            Self::Measuring => "this boot is being measured now".to_owned(),
            Self::Failed(result) => {
                format!("this boot has none, because its run failed ({result}): journalctl -b -u {UNIT}")
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::record::{sample, store};

    #[test]
    fn this_boots_report_comes_first_wherever_it_is() {
        let scene = tempfile::tempdir().unwrap();
        let (in_ram, kept) = (scene.path().join("ram"), scene.path().join("kept"));
        let directories = [in_ram.as_path(), kept.as_path()];
        let error = newest(&directories, "b1").unwrap_err().to_string();
        assert!(error.contains("/kept/latest.json"), "{error}");

        std::fs::create_dir(&kept).unwrap();
        store::store(&kept, &sample::report("b0")).unwrap();
        let found = newest(&directories, "b1").unwrap();
        assert_eq!((found.report.boot_id.as_str(), found.is_of_this_boot), ("b0", false));

        std::fs::create_dir(&in_ram).unwrap();
        store::store(&in_ram, &sample::report("b1")).unwrap();
        let found = newest(&directories, "b1").unwrap();
        assert_eq!((found.report.boot_id.as_str(), found.notice(&Run::NotYet)), ("b1", None));
        assert!(newest(&directories, "b0").unwrap().path.starts_with(&kept));

        let later = Report { time: "2026-11-20T12:30:00Z".to_owned(), ..sample::report("b1") };
        store::store(&kept, &later).unwrap();
        assert!(newest(&directories, "b1").unwrap().path.starts_with(&kept), "the last run of this boot");
    }

    #[test]
    fn a_report_of_an_earlier_boot_is_never_shown_without_saying_so_and_how_this_boot_stands() {
        let found = Newest { report: sample::report("b0"), path: PathBuf::new(), is_of_this_boot: false };
        for (run, said) in [
            (Run::NotYet, "this boot has none yet."),
            (Run::Measuring, "being measured now."),
            (
                Run::Failed("exit-code".to_owned()),
                "its run failed (exit-code): journalctl -b -u horus-determinism.service.",
            ),
        ] {
            let notice = found.notice(&run).unwrap();
            assert!(
                notice.starts_with("This is the report of an earlier boot (b0, 2026-11-20T12:00:00Z); "),
                "{notice}"
            );
            assert!(notice.ends_with(said), "{notice}");
        }
    }
}
