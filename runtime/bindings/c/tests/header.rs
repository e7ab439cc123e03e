//! The header in `include/` is made of this crate. `HORUS_WRITE_HEADER=1 cargo test -p horus-c --test header` makes it anew.

use std::fs;
use std::path::Path;

#[test]
fn the_header_is_current() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut made = Vec::new();
    let config = cbindgen::Config::from_file(root.join("cbindgen.toml")).unwrap();
    cbindgen::generate_with_config(root, config).unwrap().write(&mut made);
    let made = String::from_utf8(made).unwrap();
    let place = root.join("include/horus/horus.h");
    if std::env::var_os("HORUS_WRITE_HEADER").is_some() {
        fs::create_dir_all(place.parent().unwrap()).unwrap();
        fs::write(&place, &made).unwrap();
    }
    let committed = fs::read_to_string(&place).unwrap_or_default();
    assert!(
        committed == made,
        "include/horus/horus.h is not current: HORUS_WRITE_HEADER=1 cargo test -p horus-c --test header"
    );
}
