//! The result files of one run of all benchmarks, read back.

use std::fs;
use std::path::Path;

use crate::cell::Cell;
use crate::files::read_histograms;
use crate::report::{Report, SCHEMA};
use crate::samples::{TWO_PLACEMENTS, spread};
use crate::transport::Failure;

/// Reads every `<benchmark>.json` of a directory, in the order of their names.
///
/// Cells whose histogram shows two placements of the CPUs are marked as unsteady, whatever their floors said.
pub fn read(directory: &Path) -> Result<Vec<Report>, Failure> {
    let mut paths: Vec<_> = fs::read_dir(directory)
        .map_err(|error| format!("cannot read {}: {error}; name a directory that --out wrote", directory.display()))?
        .filter_map(|entry| Some(entry.ok()?.path()))
        .filter(|path| path.extension().is_some_and(|extension| extension == "json"))
        .collect();
    paths.sort();
    let reports: Vec<_> = paths.iter().map(|path| report(path)).collect::<Result<_, _>>()?;
    if reports.is_empty() {
        return Err(format!("no results in {}; run benchmarks/research/run_all.sh", directory.display()).into());
    }
    Ok(reports)
}

fn report(path: &Path) -> Result<Report, Failure> {
    let wrong = |error: &dyn std::fmt::Display| format!("{}: {error}", path.display());
    let mut report: Report = serde_json::from_str(&fs::read_to_string(path)?).map_err(|error| wrong(&error))?;
    if report.schema != SCHEMA {
        return Err(wrong(&format!("schema {}, expected {SCHEMA}", report.schema)).into());
    }
    let histograms = read_histograms(&fs::read(path.with_extension("hlog"))?).map_err(|error| wrong(&error))?;
    let mut timed: Vec<&mut Cell> = report.cells.iter_mut().filter(|cell| cell.samples > 0).collect();
    if timed.len() != histograms.len() {
        return Err(wrong(&format!("{} timed cells and {} histograms", timed.len(), histograms.len())).into());
    }
    for (cell, histogram) in timed.iter_mut().zip(&histograms) {
        cell.steady &= !cell.heading.is_busy_crossing() || spread(histogram) <= TWO_PLACEMENTS;
    }
    Ok(report)
}
