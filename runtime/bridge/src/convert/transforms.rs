//! `tf2_msgs/msg/TFMessage`: where frames are in their parents.

use horus::transform::Transform;

use super::geometry::{read_quaternion, read_vector, write_quaternion, write_vector};
use super::{Context, header};
use crate::cdr::{Malformed, Reader, Writer};

/// Bytes that a transform has at least: stamp, two texts, seven numbers.
const LEAST: usize = 8 + 2 * 4 + 7 * 8;

/// Where one frame is in another.
#[derive(Clone, Debug, PartialEq)]
pub struct Placed {
    /// The parent's name.
    pub parent: String,
    /// The child's name.
    pub child: String,
    /// When, on CLOCK_MONOTONIC; zero is not known.
    pub stamp_ns: u64,
    /// The child in the parent.
    pub transform: Transform,
}

/// Writes a message of these.
pub fn write(all: &[Placed], writer: &mut Writer<'_>, context: &Context) {
    writer.count(all.len());
    for Placed { parent, child, stamp_ns, transform } in all {
        header::write(writer, *stamp_ns, parent, context);
        writer.text(child);
        write_vector(writer, transform.translation);
        write_quaternion(writer, transform.rotation);
    }
}

/// Reads a message. A name of ROS may have a slash in front, which means nothing.
///
/// # Errors
/// When the bytes are no such message.
pub fn read(bytes: &[u8], context: &Context) -> Result<Vec<Placed>, Malformed> {
    let mut reader = Reader::new(bytes);
    let count = reader.count(LEAST)?;
    let name = |text: &str| text.strip_prefix('/').unwrap_or(text).to_owned();
    let one = |_| {
        let (stamp_ns, parent) = header::read(&mut reader, context)?;
        let (parent, child) = (name(parent), name(reader.text()?));
        let (translation, rotation) = (read_vector(&mut reader)?, read_quaternion(&mut reader)?);
        Ok(Placed { parent, child, stamp_ns, transform: Transform { translation, rotation } })
    };
    (0..count).map(one).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cdr::ENCAPSULATION;
    use crate::clock::Offset;

    #[test]
    fn frames_go_to_ros_and_come_back_the_same_and_what_is_cut_is_refused() {
        let context = Context { offset: Offset(1_700_000_000_000_000_000), frame: String::new() };
        let placed = |child: &str, stamp_ns, x| Placed {
            parent: "odom".into(),
            child: child.into(),
            stamp_ns,
            transform: Transform::planar(x, -2.0, 0.5),
        };
        let all = [placed("base", 5_000_000_001, 1.0), placed("lidar", 0, 3.0)];
        let mut cdr = Vec::new();
        write(&all, &mut Writer::new(&mut cdr), &context);
        let cdr = &cdr[ENCAPSULATION.len()..];
        assert_eq!(read(cdr, &context).unwrap(), all);
        for length in 0..cdr.len() {
            assert!(read(&cdr[..length], &context).is_err(), "{length}");
        }
        assert_eq!(read(b"\xff\xff\xff\x7f", &context), Err(Malformed::Short), "a count that lies");
    }

    #[test]
    fn a_slash_in_front_of_a_name_of_ros_means_nothing() {
        let placed =
            Placed { parent: "/map".into(), child: "/odom".into(), stamp_ns: 0, transform: Transform::IDENTITY };
        let mut cdr = Vec::new();
        write(&[placed], &mut Writer::new(&mut cdr), &Context::default());
        let read = read(&cdr[ENCAPSULATION.len()..], &Context::default()).unwrap();
        assert_eq!((read[0].parent.as_str(), read[0].child.as_str()), ("map", "odom"));
    }
}
