//! The program of the base.
#![forbid(unsafe_code)]

horus::main!(robot_base::base);
