//! What `node.toml` says to the one that installs the program.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use serde::Deserialize;

use super::{Settings, SettingsError, TopicSettings};
use crate::outside::Word;

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

/// The groups that an installed program may be in: those of devices, and those that are for topics. Any other would be a way to what
/// is not the program's: `disk` to the disk, `shadow` to passwords, `docker` to everything.
pub const GROUPS: [&str; 11] =
    ["audio", "dialout", "gpio", "horus", "i2c", "input", "plugdev", "render", "robots", "spi", "video"];

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
    pub version: Option<Word>,
    /// When it is started again.
    pub restart: Restart,
    /// Whether it reaches the network; else it has none.
    pub network: bool,
    /// The device files that it may open.
    pub devices: Vec<PathBuf>,
    /// The groups that its topics are shared with, and the one that sets its parameters; only [`GROUPS`].
    pub groups: BTreeSet<Word>,
}

impl Installation {
    /// Reads all of a `node.toml` and returns this part of it.
    ///
    /// # Errors
    /// It cannot be read, or something in it makes no sense, in this part or any other; or a group is none of [`GROUPS`].
    pub fn read(path: &Path) -> Result<Self, SettingsError> {
        let file = Settings::read(path)?.file;
        let groups = file.topics.iter().flatten().filter_map(|(_, topic)| match topic {
            TopicSettings::Table(table) => table.group.clone(),
            TopicSettings::Word(_) => None,
        });
        let groups: BTreeSet<_> = groups.chain(file.params.group).collect();
        if let Some(group) = groups.iter().find(|group| !GROUPS.contains(&group.as_str())) {
            return Err(SettingsError::Group { path: path.to_owned(), group: group.to_string() });
        }
        Ok(Self {
            groups,
            program: file.program,
            version: file.version,
            restart: file.restart,
            network: file.network,
            devices: file.devices,
        })
    }
}
