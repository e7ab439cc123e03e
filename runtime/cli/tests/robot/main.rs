//! `horus deploy robot.toml HOST` and `horus robot`, with programs in place of ssh and of systemd.

#[path = "../fixtures/killed.rs"]
mod killed;

mod cut_off;
mod deploying;
mod hostile;
mod machine;
mod trials;
mod units;
