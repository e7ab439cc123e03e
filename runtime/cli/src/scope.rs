//! Which topics a command looks at, and in which form it answers: what all commands about a running robot are asked.

use horus_shm::directory::{Location, Namespace};

/// The options `--namespace` and `--json`.
#[derive(clap::Args)]
pub struct Scope {
    /// The namespace to look into [default: $HORUS_NAMESPACE, or `default`]
    #[arg(long, global = true, value_name = "NAME")]
    namespace: Option<Namespace>,
    /// Write the result as JSON to standard output instead of text; one object a line from commands that go on
    #[arg(long, global = true)]
    pub json: bool,
}

impl Scope {
    /// Where the environment and `--namespace` say that the topics are.
    pub fn location(&self) -> Result<Location, String> {
        location(self.namespace.as_ref())
    }
}

/// Where the environment says that the topics are, in this namespace if one is named.
pub fn location(namespace: Option<&Namespace>) -> Result<Location, String> {
    let mut location = Location::from_environment().map_err(|error| error.to_string())?;
    if let Some(namespace) = namespace {
        location.namespace = namespace.clone();
    }
    Ok(location)
}
