//! The program of navigation.
#![forbid(unsafe_code)]

horus::main!(robot_nav::navigation);
