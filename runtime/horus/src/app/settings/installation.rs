//! What `node.toml` says to whoever installs the program.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use serde::Deserialize;

use super::{Settings, SettingsError, TopicSettings};

/// When the service manager starts a program again that has ended.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Restart {
    /// When it failed, was killed, or its watchdog was not fed.
    #[default]
    OnFailure,
    /// However it ended.
    Always,
    /// Not before the next boot.
    No,
}

/// How a program is installed: all of a `node.toml` that is not for the program itself.
///
/// ```
/// # let scratch = tempfile::tempdir()?;
/// # let file = scratch.path().join("node.toml");
/// # std::fs::write(&file, "program = \"balance\"\ndevices = [\"/dev/ttyACM0\"]\n[node.control]\nperiod = \"1 ms\"\n")?;
/// let installation = horus::app::Installation::read(&file)?;
/// assert_eq!(installation.program.as_deref(), Some("balance"));
/// assert!(!installation.network);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Installation {
    /// The program: its name, and that of its file beside `node.toml`.
    pub program: Option<String>,
    /// Which version of it this is, for people.
    pub version: Option<String>,
    /// When it is started again.
    pub restart: Restart,
    /// Whether it reaches the network; else it has none.
    pub network: bool,
    /// The device files that it may open.
    pub devices: Vec<PathBuf>,
    /// The groups that its topics are shared with.
    pub groups: BTreeSet<String>,
}

impl Installation {
    /// Reads all of a `node.toml` and returns this part of it.
    ///
    /// # Errors
    /// It cannot be read, or something in it makes no sense, in this part or any other.
    pub fn read(path: &Path) -> Result<Self, SettingsError> {
        let file = Settings::read(path)?.file;
        let groups = file.topics.iter().flatten().filter_map(|(_, topic)| match topic {
            TopicSettings::Table(table) => table.group.clone(),
            TopicSettings::Word(_) => None,
        });
        Ok(Self {
            groups: groups.collect(),
            program: file.program,
            version: file.version,
            restart: file.restart,
            network: file.network,
            devices: file.devices,
        })
    }
}
