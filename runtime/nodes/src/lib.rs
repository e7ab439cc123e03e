//! The nodes that the image brings, written as a user would write them, and what they count.
//!
//! `ping` and `pong` are in `src/bin`; start there. When they run and where stands in `ping.toml` and `pong.toml` of
//! `conf/horus/rootfs/usr/lib/horus/nodes`. Without these files they run by [`PERIOD`] and [`DEADLINE`].
#![forbid(unsafe_code)]

mod account;

use std::time::Duration;

pub use account::Account;
use horus::time::ms;

/// How far apart the releases of `ping` are, and those of `pong`, where no settings say so; the image's settings say the same.
pub const PERIOD: Duration = ms(10);

/// How long after its release each of them has to be done.
pub const DEADLINE: Duration = ms(8);

/// Messages that a topic holds: more than either side sends while the other is a few periods late.
pub const CAPACITY: usize = 64;

#[cfg(test)]
mod tests {
    use horus::time::parse_duration;

    use super::*;

    #[test]
    fn the_images_settings_promise_what_the_programs_promise_without_settings() {
        let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../../conf/horus/rootfs/usr/lib/horus/nodes");
        for node in ["ping", "pong"] {
            let settings = std::fs::read_to_string(format!("{folder}/{node}.toml")).unwrap();
            let value = |key: &str| {
                let mut lines = settings.lines().filter_map(|line| line.strip_prefix(&format!("{key} = ")));
                parse_duration(lines.next().expect(key).trim_matches('"')).unwrap()
            };
            assert_eq!((value("period"), value("deadline")), (PERIOD, DEADLINE), "{node}.toml");
        }
    }
}
