//! Messages whose bytes are CDR already: those of fixed-size numbers, which have no padding and stand where CDR wants them.

use horus::message::layout::{Layout, MadeOf, generate};

use crate::interface::{Interface, Number, Whole, parse, push};

/// Standard messages that ours equal bit for bit: what these become when the user does not say.
pub const SUITS: [(&str, &str); 3] = [
    ("horus/Vector3", "geometry_msgs/msg/Vector3"),
    ("horus/Quaternion", "geometry_msgs/msg/Quaternion"),
    ("horus/Point", "geometry_msgs/msg/Point32"),
];

/// The message of ROS that a message of ours is by itself: `horus/Stamp` is `horus/msg/Stamp`.
///
/// # Errors
/// Why ROS has no such message, in words.
pub fn own(layout: &Layout) -> Result<Whole, String> {
    let files = generate::ros2(layout).map_err(|error| error.to_string())?;
    let read = |name: &str| -> Option<Interface> {
        let file = files.iter().find(|file| file.name == name)?;
        parse(name, &file.text).ok()
    };
    let top = files.first().and_then(|file| read(&file.name)).ok_or("its message has no definition")?;
    Whole::new(top, &read).map_err(|error| error.to_string())
}

/// All numbers of a message in the order of their bytes; `None` when ROS lacks one.
pub fn numbers(layout: &Layout) -> Option<Vec<(Number, u64)>> {
    let mut all = Vec::new();
    gather(layout, &mut all)?;
    Some(all)
}

fn gather(layout: &Layout, all: &mut Vec<(Number, u64)>) -> Option<()> {
    layout.fields().iter().try_for_each(|field| element(field.made_of(), all))
}

fn element(made_of: &MadeOf, all: &mut Vec<(Number, u64)>) -> Option<()> {
    match made_of {
        MadeOf::Number(name, _) => push(all, number(name)?, 1),
        MadeOf::Nested(layout) => gather(layout, all)?,
        MadeOf::Array(inner, count) => {
            let mut one = Vec::new();
            element(inner, &mut one)?;
            match one[..] {
                [(number, each)] => push(all, number, each.checked_mul(*count as u64)?),
                _ if *count > 4096 => return None,
                _ => (0..*count).for_each(|_| one.iter().for_each(|&(number, each)| push(all, number, each))),
            }
        }
    }
    Some(())
}

fn number(name: &str) -> Option<Number> {
    Some(match name {
        "u8" => Number::U8,
        "i8" => Number::I8,
        "u16" => Number::U16,
        "i16" => Number::I16,
        "u32" => Number::U32,
        "i32" => Number::I32,
        "f32" => Number::F32,
        "u64" => Number::U64,
        "i64" => Number::I64,
        "f64" => Number::F64,
        _ => return None,
    })
}

/// Whether the bytes of both are the same. A byte is a byte: `bool` and `byte` of ROS are our `u8`.
pub fn are_same(ours: &[(Number, u64)], ros: Option<&[(Number, u64)]>) -> bool {
    let mut bytes = Vec::new();
    for &(number, count) in ros.unwrap_or_default() {
        let number = if matches!(number, Number::Bool | Number::Byte) { Number::U8 } else { number };
        push(&mut bytes, number, count);
    }
    !ours.is_empty() && ours == bytes
}

/// Whether a message is that of ROS: the same bytes, under the same names.
pub fn is(layout: &Layout, ros: &Whole) -> bool {
    let names = layout.fields().iter().map(|field| field.name());
    names.eq(ros.top.fields.iter().map(|field| field.name.as_str()))
        && numbers(layout).is_some_and(|ours| are_same(&ours, ros.numbers().as_deref()))
}

/// The layout of a topic's message from the text of its header.
pub fn from_description(type_name: &str, description: &str) -> Option<Layout> {
    let mut text = format!("message {type_name}\n");
    for line in description.lines() {
        match line.strip_prefix("type ") {
            Some(name) => text += &format!("message {name}\n"),
            None => text += &format!("{}\n", line.trim_start().splitn(3, ' ').nth(2)?),
        }
    }
    text.parse().ok()
}

#[cfg(test)]
mod tests {
    use horus::messages::{ALL, Pose3D, Vector3};

    use super::*;
    use crate::interface::standard;

    #[test]
    fn a_vector_is_that_of_ros_and_a_stamped_pose_is_not() {
        let same =
            |ours: &Layout, ros| are_same(&numbers(ours).unwrap(), standard::whole(ros).unwrap().numbers().as_deref());
        assert!(same(&Layout::of::<Vector3>(), "geometry_msgs/msg/Vector3"));
        assert!(same(&Layout::of::<Vector3>(), "geometry_msgs/msg/Point"));
        assert!(!same(&Layout::of::<Vector3>(), "geometry_msgs/msg/Quaternion"));
        assert!(!same(&Layout::of::<Pose3D>(), "geometry_msgs/msg/PoseStamped"), "it has a text");
        let flag: Layout = "message a/Flag\n data u8".parse().unwrap();
        assert!(same(&flag, "std_msgs/msg/Bool") && same(&flag, "std_msgs/msg/Byte"));
        assert!(!same(&flag, "std_msgs/msg/Int8"), "another number");
    }

    #[test]
    fn every_message_of_the_field_has_a_message_of_its_own_in_ros() {
        for definition in ALL {
            let layout = (definition.layout)();
            let own = own(&layout).unwrap();
            assert_eq!(own.top.name, definition.type_name.replace('/', "/msg/"));
            assert!(are_same(&numbers(&layout).unwrap(), own.numbers().as_deref()), "{}", own.top.name);
        }
    }

    #[test]
    fn a_layout_comes_back_from_the_text_of_a_topics_header() {
        for definition in ALL {
            let found =
                super::super::layout_of(definition.type_name, definition.layout_hash, &(definition.description)());
            assert_eq!(found, Some((definition.layout)()), "{}", definition.type_name);
        }
    }
}
