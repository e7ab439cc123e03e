//! The headers in `include/` are made of this crate and of the messages of the field. `HORUS_WRITE_HEADER=1 cargo test -p horus-c --test
//! header` makes them anew.

use std::fs;
use std::path::Path;

use horus::message::layout::{Layout, generate};
use horus::messages::ALL;

/// Compares a committed file with how it is made now.
fn check(name: &str, made: &str) {
    let place = Path::new(env!("CARGO_MANIFEST_DIR")).join(name);
    if std::env::var_os("HORUS_WRITE_HEADER").is_some() {
        fs::create_dir_all(place.parent().unwrap()).unwrap();
        fs::write(&place, made).unwrap();
    }
    let committed = fs::read_to_string(&place).unwrap_or_default();
    assert!(committed == made, "{name} is not current: HORUS_WRITE_HEADER=1 cargo test -p horus-c --test header");
}

#[test]
fn the_header_is_current() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut made = Vec::new();
    let config = cbindgen::Config::from_file(root.join("cbindgen.toml")).unwrap();
    cbindgen::generate_with_config(root, config).unwrap().write(&mut made);
    check("include/horus/horus.h", &String::from_utf8(made).unwrap());
}

#[test]
fn the_structs_of_messages_are_current() {
    let layouts: Vec<Layout> = ALL.iter().map(|definition| (definition.layout)()).collect();
    check("include/horus/messages.h", &generate::c(&layouts, "HORUS_MESSAGES_H", &[]).unwrap());
    check("include/horus/messages.hpp", &generate::cpp(&layouts, "HORUS_MESSAGES_HPP", &[]).unwrap());
    check("../csharp/src/Messages/Messages.cs", &generate::csharp(&layouts, &[]).unwrap());
}
