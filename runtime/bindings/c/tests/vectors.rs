//! The test vectors of docs/layout-hash.md, which the tests of every language read. `HORUS_WRITE_VECTORS=1 cargo test -p horus-c --test
//! vectors` adds what is new; a hash that is there never changes, because programs that were built with it run.

use std::fmt::Write;
use std::path::Path;

use horus::message::layout::Layout;
use horus::messages::ALL;

/// What the messages of the field have no example of.
const MORE: [&str; 4] = [
    "message test/EveryNumber\n a f64\n b u64\n c i64\n d f32\n e u32\n f i32\n g u16\n h i16\n i u8\n j i8\n k [u8; 6]",
    "message test/Path\n count u64\n matrix [[f32; 3]; 2]\n steps [test/Step; 2]\nmessage test/Step\n from test/Place\n to test/Place\nmessage test/Place\n x f64\n y f64",
    "message test/Note\n message [u8; 8]\n number u64",
    "message test/Wide\n a u128\n b i128",
];

/// The text of a message, from the description that its Rust definition makes.
fn text_of(name: &str, description: &str) -> String {
    let lines = description.lines().map(|line| match line.strip_prefix("type ") {
        Some(name) => format!("message {name}"),
        None => format!(" {}", line.split_whitespace().skip(2).collect::<Vec<_>>().join(" ")),
    });
    std::iter::once(format!("message {name}")).chain(lines).collect::<Vec<_>>().join("\n")
}

fn vector(text: &str) -> String {
    let layout: Layout = text.parse().unwrap();
    let payload = layout.payload();
    format!("hash {:016x} bytes {} align {}\n{text}\n", layout.hash(), payload.bytes, payload.align)
}

#[test]
fn the_vectors_are_what_the_layouts_come_to() {
    let texts = ALL.iter().map(|definition| text_of(definition.type_name, &(definition.description)()));
    let mut made = String::from("# Layouts with their hashes: docs/layout-hash.md\n");
    for text in texts.chain(MORE.map(str::to_owned)) {
        write!(made, "\n{}", vector(&text)).unwrap();
    }
    let place = Path::new(env!("CARGO_MANIFEST_DIR")).with_file_name("layout-vectors.txt");
    if std::env::var_os("HORUS_WRITE_VECTORS").is_some() {
        std::fs::write(&place, &made).unwrap();
    }
    let committed = std::fs::read_to_string(&place).unwrap_or_default();
    assert!(
        committed == made,
        "layout-vectors.txt is not current: HORUS_WRITE_VECTORS=1 cargo test -p horus-c --test vectors"
    );
}

#[test]
fn rust_definitions_have_the_hashes_of_their_texts() {
    for definition in &ALL {
        let layout: Layout = text_of(definition.type_name, &(definition.description)()).parse().unwrap();
        assert_eq!(layout.hash(), definition.layout_hash, "{}", definition.type_name);
    }
}
