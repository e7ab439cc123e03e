//! Where the figures go: `gateway.csv`, and in `machine.txt` what they were measured on, for the tables that are made of both.

use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::Command;

use horus_benchmarks::gateway::{CSV, FOLDER, MACHINE, QUICK};
use horus_benchmarks::host::Host;
use horus_benchmarks::transport::Failure;

use super::row::Row;

/// An output directory.
pub struct Out {
    directory: PathBuf,
    csv: csv::Writer<File>,
}

/// The directory of a run among all results, which are named by their machines; one for quick runs is beside it.
pub fn usual(host: &Host) -> PathBuf {
    let results = Path::new(env!("CARGO_MANIFEST_DIR")).join("../results");
    results.join(format!("{}{}", host.host, if host.quick { "-quick" } else { "" })).join(FOLDER)
}

/// What the figures were measured on, in one line; it begins with the date.
pub fn machine(host: &Host) -> String {
    let Host { kernel, cpu_model, cpus_online, commit, date, load, .. } = host;
    let kind = host.kind();
    let quick = if host.quick { QUICK } else { "" };
    let versions = [("redis-server", "redis-server"), ("rabbitmq-server", "RabbitMQ"), ("libzmq5", "ZeroMQ")];
    let versions: String =
        versions.iter().filter_map(|(package, name)| Some(format!("; {name} {}", version(package)?))).collect();
    format!(
        "{date}: {kind}, {cpu_model}, {cpus_online} CPUs, load before {load}; kernel {kernel}; commit {commit}{versions}{quick}"
    )
}

/// The version of a package of Debian's.
fn version(package: &str) -> Option<String> {
    let output = Command::new("dpkg-query").args(["-W", "-f", "${Version}", package]).output().ok()?;
    let version = String::from_utf8_lossy(&output.stdout).trim().to_owned();
    (output.status.success() && !version.is_empty()).then_some(version)
}

impl Out {
    /// Makes the directory.
    ///
    /// # Errors
    /// When it cannot be had.
    pub fn open(directory: PathBuf, host: &Host) -> Result<Self, Failure> {
        fs::create_dir_all(&directory).map_err(|error| format!("{}: {error}", directory.display()))?;
        fs::write(directory.join(MACHINE), machine(host) + "\n")?;
        Ok(Self { csv: csv::Writer::from_path(directory.join(CSV))?, directory })
    }

    /// Adds a line.
    ///
    /// # Errors
    /// When the disk does not take it.
    pub fn put(&mut self, row: &Row) -> Result<(), Failure> {
        Ok(self.csv.serialize(row)?)
    }

    /// Makes the table of all lines, which is also given back.
    ///
    /// # Errors
    /// When the disk does not take it.
    pub fn end(mut self) -> Result<String, Failure> {
        self.csv.flush()?;
        let table = horus_benchmarks::gateway::of_run(&self.directory)?;
        fs::write(self.directory.join("table.md"), &table)?;
        Ok(table)
    }
}
