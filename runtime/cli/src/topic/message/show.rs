//! Messages for the screen, as `ros2 topic echo` prints them (YAML), and as JSON.
//!
//! The text elides what is long, the JSON never does. A field's form in JSON depends on its type alone: texts are texts, bytes
//! are numbers.

use std::fmt::Write;

use horus::outside::printable;
use serde::ser::{SerializeMap, SerializeSeq};
use serde::{Serialize, Serializer};

use super::{Field, Kind};

/// Bytes, and what they are.
#[derive(Clone, Copy, Debug)]
pub struct Shown<'a> {
    pub kind: &'a Kind,
    pub bytes: &'a [u8],
}

impl<'a> Shown<'a> {
    fn field(&self, field: &'a Field) -> Self {
        Self { kind: &field.kind, bytes: &self.bytes[field.offset..][..field.bytes] }
    }

    /// The elements, of an array.
    fn elements(&self) -> impl ExactSizeIterator<Item = Self> + use<'a> {
        let (kind, bytes) = match self.kind {
            Kind::Array { element, bytes, .. } => (element.as_ref(), *bytes),
            _ => (&Kind::Unknown, self.bytes.len().max(1)),
        };
        self.bytes.chunks_exact(bytes).map(move |bytes| Self { kind, bytes })
    }
}

/// The message as text, with a line end; of arrays, texts and unknown bytes at most `limit` elements.
pub fn text(shown: Shown<'_>, limit: usize) -> String {
    let mut text = String::new();
    match shown.kind {
        Kind::Message(_) => block(&mut text, shown, "", limit),
        Kind::Array { element, .. } if matches!(**element, Kind::Message(_)) => block(&mut text, shown, "", limit),
        _ => text = line(shown, limit) + "\n",
    }
    text
}

/// What takes several lines: messages, and arrays of them.
fn block(text: &mut String, shown: Shown<'_>, indent: &str, limit: usize) {
    let inner = format!("{indent}  ");
    if let Kind::Message(fields) = shown.kind {
        for field in fields.iter() {
            let (name, value) = (printable(&field.name), shown.field(field));
            let _ = match is_block(value.kind) {
                true => {
                    let _ = writeln!(text, "{indent}{name}:");
                    let deeper = if matches!(value.kind, Kind::Message(_)) { inner.as_str() } else { indent };
                    block(text, value, deeper, limit);
                    continue;
                }
                false => writeln!(text, "{indent}{name}: {}", line(value, limit)),
            };
        }
        return;
    }
    let elements = shown.elements();
    let length = elements.len();
    for element in elements.take(limit) {
        let from = text.len();
        block(text, element, &inner, limit);
        // The first field stands beside the dash.
        text.replace_range(from..(from + inner.len()).min(text.len()), &format!("{indent}- "));
    }
    if length > limit {
        let _ = writeln!(text, "{indent}- '...'  # {length} in all");
    }
}

fn is_block(kind: &Kind) -> bool {
    match kind {
        Kind::Message(_) => true,
        Kind::Array { element, .. } => is_block(element),
        _ => false,
    }
}

/// What stands in one line: numbers, texts, and arrays of them.
fn line(shown: Shown<'_>, limit: usize) -> String {
    match shown.kind {
        Kind::Number(number) => number.read(shown.bytes).to_string(),
        Kind::Text(_) => quoted(shown.bytes),
        Kind::Array { length, .. } => {
            let mut values: Vec<_> = shown.elements().take(limit).map(|element| line(element, limit)).collect();
            let rest = if *length > limit { format!("  # {length} in all") } else { String::new() };
            values.extend((*length > limit).then(|| "'...'".to_owned()));
            // A comment ends the line, so an array inside of another one goes without.
            format!("[{}]{rest}", values.join(", ").replace("  # ", " of "))
        }
        Kind::Message(_) => String::new(),
        Kind::Unknown => format!("'{}'", hex(shown.bytes, limit)),
    }
}

/// A text in quotes, without what a terminal would obey.
fn quoted(bytes: &[u8]) -> String {
    let text = printable(horus::messages::text(bytes));
    serde_json::to_string(&text).expect("text is always JSON")
}

/// The first `limit` bytes in hexadecimal, and whether there are more.
pub fn hex(bytes: &[u8], limit: usize) -> String {
    let mut text = String::with_capacity(3 * bytes.len().min(limit));
    for (at, byte) in bytes.iter().take(limit).enumerate() {
        let _ = write!(text, "{}{byte:02x}", if at == 0 { "" } else { " " });
    }
    if bytes.len() > limit { text + " ..." } else { text }
}

impl Serialize for Shown<'_> {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        match self.kind {
            Kind::Number(number) => number.read(self.bytes).serialize(to),
            Kind::Text(_) => horus::messages::text(self.bytes).serialize(to),
            Kind::Unknown => hex(self.bytes, usize::MAX).replace(' ', "").serialize(to),
            Kind::Array { length, .. } => {
                let mut list = to.serialize_seq(Some(*length))?;
                self.elements().try_for_each(|element| list.serialize_element(&element))?;
                list.end()
            }
            Kind::Message(fields) => {
                let mut map = to.serialize_map(Some(fields.len()))?;
                fields.iter().try_for_each(|field| map.serialize_entry(&field.name, &self.field(field)))?;
                map.end()
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use horus::message::{Message, description};
    use horus::messages::{JointState, Point, PointCloud100, Pose3D, Quaternion};

    use super::*;
    use crate::topic::message::kind;

    fn shown<M: Message>(message: &M, limit: usize) -> (String, String) {
        let kind = kind(&description::<M>(), size_of::<M>());
        let shown = Shown { kind: &kind, bytes: message.as_bytes() };
        (text(shown, limit), serde_json::to_string(&shown).unwrap())
    }

    #[test]
    fn a_message_inside_a_message_is_indented() {
        let pose = Pose3D { stamp_ns: 7, orientation: Quaternion::IDENTITY, ..Pose3D::default() };
        let (text, json) = shown(&pose, 9);
        let lines = "stamp_ns: 7\nposition:\n  x: 0.0\n  y: 0.0\n  z: 0.0\norientation:\n  x: 0.0\n  y: 0.0\n  z: 0.0\n  w: 1.0\n";
        assert_eq!(text, lines);
        let same =
            r#"{"stamp_ns":7,"position":{"x":0.0,"y":0.0,"z":0.0},"orientation":{"x":0.0,"y":0.0,"z":0.0,"w":1.0}}"#;
        assert_eq!(json, same);
    }

    #[test]
    fn an_array_of_messages_is_a_list_and_long_ones_are_cut_in_text_only() {
        let mut cloud = PointCloud100::zeroed();
        cloud.set_points(&[Point { x: 1.0, y: f32::NAN, z: 0.5 }]).unwrap();
        let (text, json) = shown(&cloud, 2);
        let lines = "point:\n- x: 1.0\n  y: .nan\n  z: 0.5\n- x: 0.0\n  y: 0.0\n  z: 0.0\n- '...'  # 100 in all\n";
        assert_eq!(text, format!("stamp_ns: 0\nsensor: 0\ncount: 1\n{lines}"));
        assert!(json.contains(r#""point":[{"x":1.0,"y":"nan","z":0.5},{"#), "{json}");
        assert_eq!(json.matches("\"x\"").count(), 100);
    }

    #[test]
    fn texts_are_texts_and_a_terminal_obeys_none() {
        let mut joints = JointState::new(&["hip", "kn\x1b[2Jee"]).unwrap();
        joints.position[0] = -0.5;
        let (text, json) = shown(&joints, 3);
        assert!(text.contains("position: [-0.5, 0.0, 0.0, '...']  # 16 in all\n"), "{text}");
        assert!(text.contains("name_texts: [\"hip\", \"kn\u{fffd}[2Jee\", \"\", '...']  # 16 in all\n"), "{text}");
        assert!(json.contains(r#""name_texts":["hip","kn\u001b[2Jee","","#), "{json}");
    }

    #[test]
    fn bytes_that_nobody_described_are_shown_as_bytes() {
        let kind = kind("", 4);
        let shown = Shown { kind: &kind, bytes: &[0, 255, 16, 1] };
        assert_eq!((text(shown, 9), text(shown, 2)), ("'00 ff 10 01'\n".into(), "'00 ff ...'\n".into()));
        assert_eq!(serde_json::to_string(&shown).unwrap(), "\"00ff1001\"");
    }
}
