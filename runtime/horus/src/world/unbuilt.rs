//! The nodes of a world while they are declared.

use std::path::Path;

use horus_shm::directory::Scope;

use super::{Scratch, VirtualWorld};
use crate::app::{App, Settings};

/// The nodes of a world that are still being declared, for who cannot do so in one function.
pub struct Unbuilt {
    pub(super) app: App,
    // Dropped last: the topics are in it.
    pub(super) directory: Scratch,
}

impl Unbuilt {
    /// No nodes yet; with the settings of a `node.toml`, if there is one.
    ///
    /// # Errors
    /// What is wrong with the file.
    pub fn new(settings: Option<&Path>) -> crate::Result<Self> {
        Self::with(settings.map_or_else(|| Ok(Settings::default()), Settings::read)?)
    }

    pub(super) fn with(settings: Settings) -> crate::Result<Self> {
        let directory = Scratch::new()?;
        Ok(Self { app: App::in_virtual_time(directory.path().to_owned(), settings), directory })
    }

    /// What declares them.
    pub fn app(&mut self) -> &mut App {
        &mut self.app
    }

    /// Until it is dropped, the topics that this thread opens are the world's: for as long as nodes are declared.
    pub fn inside(&self) -> Scope {
        Scope::enter(self.directory.path())
    }

    /// The world with these nodes.
    ///
    /// # Errors
    /// Those of the program: what is wrong with its graph.
    pub fn build(self) -> crate::Result<VirtualWorld> {
        VirtualWorld::of(self)
    }
}
