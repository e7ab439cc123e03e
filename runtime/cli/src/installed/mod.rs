//! What is installed on the machine: the nodes that users bring, their files, and what systemd is told of them. It is no subcommand: `horus node`
//! and `horus robot` install by it.

pub mod generator;
pub mod package;
pub mod store;
pub mod systemd;
pub mod user;
