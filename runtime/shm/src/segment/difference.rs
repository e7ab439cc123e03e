//! In what two definitions of a message differ, told by the descriptions of their fields ([`Header::description`]).
//!
//! [`Header::description`]: super::header::Header::description

/// Where two descriptions differ, in words; empty where one is missing.
pub fn difference(found: &str, expected: &str) -> String {
    if found.is_empty() || expected.is_empty() {
        return String::new();
    }
    let (found, expected) = (described(found), described(expected));
    let Some(at) = (0..found.len().max(expected.len())).find(|&at| found.get(at) != expected.get(at)) else {
        return ": the fields look the same, what they are made of differs".to_owned();
    };
    // Whose fields were being told: one that has more of them goes on, the other is at the next message already.
    let within = at.checked_sub(1).map_or("", |before| found[before].0);
    let inside = |of: &str| if of.is_empty() { String::new() } else { format!("in `{of}` ") };
    match (found.get(at), expected.get(at)) {
        (Some((of, found)), Some((other, expected))) if of == other => {
            format!(": {}it has {}, this program {}", inside(of), field(found), field(expected))
        }
        (Some((of, found)), other) if *of == within || other.is_none() => {
            format!(": {}it has {} more", inside(of), field(found))
        }
        (_, Some((of, expected))) => format!(": {}this program has {} more", inside(of), field(expected)),
        (_, None) => String::new(), // one of the two has a field there
    }
}

/// The fields of a description: which message inside of it each belongs to, none for its own, and the field's line.
fn described(description: &str) -> Vec<(&str, &str)> {
    let (mut of, mut fields) = ("", Vec::new());
    for line in description.lines() {
        match line.strip_prefix("type ") {
            Some(name) => of = name,
            None => fields.push((of, line.trim_start())),
        }
    }
    fields
}

/// A field's line for people.
fn field(line: &str) -> String {
    let mut parts = line.splitn(4, ' ');
    let [offset, bytes, name, kind] = std::array::from_fn(|_| parts.next().unwrap_or("?"));
    format!("`{name}` {kind} ({bytes} bytes at {offset})")
}

#[cfg(test)]
mod tests {
    use super::*;

    const PATH: &str = "0 8 count u64\n8 16 at test/Pose\ntype test/Pose\n 0 8 x f64\n 8 8 y f64";

    #[test]
    fn the_first_field_that_differs_is_named_inside_of_messages_too() {
        for (other, said) in [
            ("", ""),
            (PATH, ": the fields look the same, what they are made of differs"),
            ("0 8 count i64", ": it has `count` u64 (8 bytes at 0), this program `count` i64 (8 bytes at 0)"),
            ("0 8 count u64", ": it has `at` test/Pose (16 bytes at 8) more"),
            (&PATH.replace("type", "24 1 flag u8\ntype"), ": this program has `flag` u8 (1 bytes at 24) more"),
            (
                &PATH.replace("8 8 y", "8 8 z"),
                ": in `test/Pose` it has `y` f64 (8 bytes at 8), this program `z` f64 (8 bytes at 8)",
            ),
            (&PATH.replace("\n 8 8 y f64", ""), ": in `test/Pose` it has `y` f64 (8 bytes at 8) more"),
            (&format!("{PATH}\n 16 8 z f64"), ": in `test/Pose` this program has `z` f64 (8 bytes at 16) more"),
        ] {
            assert_eq!(difference(PATH, other), said);
        }
    }
}
