//! How a program is asked what its nodes are, before it is installed: as whom, and for how long.

use std::time::Duration;

use nix::unistd::{User, geteuid};

/// How long a program that is being installed may take to describe its nodes.
pub const DESCRIPTION_LIMIT: Duration = Duration::from_secs(30);
/// Their user, of conf/horus/rootfs/usr/lib/sysusers.d/horus.conf.
const USER_OF_NODES: &str = "horus";

/// Whom nodes run as on the appliance, and their group; `None` where this process may not become that, or there is no such user.
pub fn user_of_nodes() -> Option<(u32, u32)> {
    let user = User::from_name(USER_OF_NODES).ok().flatten().filter(|_| geteuid().is_root())?;
    Some((user.uid.as_raw(), user.gid.as_raw()))
}
