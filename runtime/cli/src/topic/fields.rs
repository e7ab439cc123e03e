//! The fields of a message, from the description that its publisher put into the topic.

use serde::Serialize;

/// A field, as the publisher describes it. Nothing but this display depends on it.
#[derive(Debug, PartialEq, Eq, Serialize)]
pub struct Field {
    /// Its name.
    pub name: String,
    /// Its type as it was written.
    #[serde(rename = "type")]
    pub type_name: String,
    /// Its first byte.
    pub offset: u64,
    /// How many bytes it has.
    pub bytes: u64,
}

/// The fields of a description with one line a field, `offset bytes name type`. Lines of another form are left out.
pub fn parse(description: &str) -> Vec<Field> {
    description.lines().filter_map(field).collect()
}

fn field(line: &str) -> Option<Field> {
    let mut parts = line.splitn(4, ' ');
    let (offset, bytes) = (parts.next()?.parse().ok()?, parts.next()?.parse().ok()?);
    Some(Field { offset, bytes, name: parts.next()?.to_owned(), type_name: parts.next()?.to_owned() })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_description_is_read_line_by_line_and_nonsense_is_left_out() {
        let fields = parse("0 8 stamp_ns u64\nnonsense\n8 48 point [horus::messages::Point; 4]\n\n9 -1 x u8\n");
        let (last, first) = (&fields[1], &fields[0]);
        assert_eq!(fields.len(), 2);
        assert_eq!((first.name.as_str(), first.offset, first.bytes), ("stamp_ns", 0, 8));
        assert_eq!((last.name.as_str(), last.type_name.as_str()), ("point", "[horus::messages::Point; 4]"));
    }

    #[test]
    fn what_horus_writes_is_what_is_read_and_the_messages_inside_are_left_out() {
        use horus::message::{Message, description};
        use horus::messages::Odometry;
        let read = parse(&description::<Odometry>());
        assert_eq!(read.len(), Odometry::FIELDS.len());
        for (read, field) in read.iter().zip(Odometry::FIELDS) {
            assert_eq!((read.name.as_str(), read.type_name.rsplit('/').next()), (field.name, Some(field.type_name)));
            assert_eq!((read.offset, read.bytes), (field.offset as u64, field.bytes as u64));
        }
    }
}
