//! A layout for a message of ROS: what a program here has its struct made of, so that the bridge carries it.
//!
//! The rule is that of [`crate::convert`]'s `fields`. Texts and lists get a size, because a message here has one.

use std::collections::BTreeMap;

use horus::message::layout::Layout;
use horus::message::layout::generate;

use super::{Base, Extent, Field, Interface, Whole, services};

/// How long texts and lists are.
#[derive(Clone, Debug)]
pub struct Sizes {
    /// Bytes of a text.
    pub texts: usize,
    /// Elements of a list.
    pub lists: usize,
    /// Those of fields of these names, of both kinds.
    pub fields: BTreeMap<String, usize>,
}

/// The text of the layout.
///
/// # Errors
/// Why there is none, in words.
pub fn layout(whole: &Whole, sizes: &Sizes) -> Result<String, String> {
    let mut sections = Vec::new();
    // A part of an action stands behind a head that begins at a multiple of eight bytes, and ends at one.
    let ends_at = if whole.top.name.contains("/action/") { 8 } else { 1 };
    message(&whole.top, whole, sizes, ends_at, &mut sections)?;
    let text = sections.join("\n");
    let layout: Layout = text.parse().map_err(|error| format!("{}: {error}", whole.top.name))?;
    generate::text(&layout).map_err(|error| error.to_string())
}

/// Adds the message's section in front of those inside of it; gives the message's bytes and alignment.
fn message(
    interface: &Interface,
    whole: &Whole,
    sizes: &Sizes,
    ends_at: usize,
    sections: &mut Vec<String>,
) -> Result<(usize, usize), String> {
    let mut fields = Vec::new();
    for field in &interface.fields {
        add(field, interface, whole, sizes, sections, &mut fields)?;
    }
    if fields.is_empty() {
        // A message here has one field at least.
        fields.push(Line { name: "pad".to_owned(), kind: "u8".to_owned(), bytes: 1, align: 1 });
    }
    // The largest alignment first: so no byte is left between two of them.
    fields.sort_by_key(|field| std::cmp::Reverse(field.align));
    let align = fields.first().map_or(1, |field| field.align);
    let bytes: usize = fields.iter().map(|field| field.bytes).sum();
    let mut lines: Vec<_> = fields.iter().map(|field| format!(" {} {}", field.name, field.kind)).collect();
    let left = bytes.wrapping_neg() & (align.max(ends_at) - 1);
    if left > 0 {
        lines.push(format!(" pad [u8; {left}]"));
    }
    let section = format!("message {}\n{}", ours(&interface.name), lines.join("\n"));
    if !sections.contains(&section) {
        sections.insert(0, section);
    }
    Ok((bytes + left, align))
}

struct Line {
    name: String,
    kind: String,
    bytes: usize,
    align: usize,
}

fn add(
    field: &Field,
    interface: &Interface,
    whole: &Whole,
    sizes: &Sizes,
    sections: &mut Vec<String>,
    lines: &mut Vec<Line>,
) -> Result<(), String> {
    let name = field.name.clone();
    let size = sizes.fields.get(&name).copied();
    let (kind, bytes, align) = match &field.base {
        Base::Number(number) => (number.in_layouts().to_owned(), number.bytes(), number.bytes()),
        Base::Text(bound) => {
            // A list of texts of this name has its own length; then its texts have the usual one.
            let said = size.filter(|_| field.extent == Extent::One);
            let room = said.unwrap_or(if *bound > 0 { *bound as usize } else { sizes.texts });
            (format!("[u8; {room}]"), room, 1)
        }
        Base::Message(inner) if is_time(inner) && field.extent == Extent::One => {
            let kind = if interface.name == "std_msgs/msg/Header" { "u64" } else { "i64" };
            lines.push(Line { name: format!("{name}_ns"), kind: kind.to_owned(), bytes: 8, align: 8 });
            return Ok(());
        }
        Base::Message(inner) => {
            let found = whole.get(inner).ok_or_else(|| format!("{inner} is not known"))?;
            let (bytes, align) = message(found, whole, sizes, 1, sections)?;
            (ours(inner), bytes, align)
        }
    };
    let count = match field.extent {
        Extent::One => {
            lines.push(Line { name, kind, bytes, align });
            return Ok(());
        }
        Extent::Array(count) => count as usize,
        Extent::Bounded(count) => size.unwrap_or(count as usize),
        Extent::Sequence => size.unwrap_or(sizes.lists),
    };
    if !matches!(field.extent, Extent::Array(_)) {
        lines.push(Line { name: format!("{name}_count"), kind: "u32".to_owned(), bytes: 4, align: 4 });
    }
    let bytes = bytes.checked_mul(count).ok_or_else(|| format!("{name} is too long"))?;
    lines.push(Line { name, kind: format!("[{kind}; {count}]"), bytes, align });
    Ok(())
}

fn is_time(name: &str) -> bool {
    matches!(name, "builtin_interfaces/msg/Time" | "builtin_interfaces/msg/Duration")
}

/// `sensor_msgs/Imu` for `sensor_msgs/msg/Imu`, and `std_srvs/SetBoolRequest` for `std_srvs/srv/SetBool_Request`.
pub fn ours(name: &str) -> String {
    match name.rsplit_once('_') {
        Some((service, part)) if services::PARTS.contains(&part) => {
            format!("{}{part}", service.replace("/srv/", "/"))
        }
        Some((action, part)) if services::OF_ACTIONS.contains(&part) => {
            format!("{}{part}", action.replace("/action/", "/"))
        }
        _ => name.replace("/msg/", "/"),
    }
}

#[cfg(test)]
mod tests {
    use super::super::standard;
    use super::*;

    #[test]
    fn a_message_of_ros_has_a_layout_without_a_byte_between_its_fields() {
        let sizes = Sizes { texts: 16, lists: 4, fields: BTreeMap::from([("position_covariance".to_owned(), 9)]) };
        let text = layout(&standard::whole("sensor_msgs/msg/NavSatFix").unwrap(), &sizes).unwrap();
        assert!(text.starts_with("message sensor_msgs/NavSatFix\n header std_msgs/Header\n"), "{text}");
        assert!(
            text.contains("\n status i8\n pad [u8; 1]") && text.contains("stamp_ns u64\n frame_id [u8; 16]"),
            "{text}"
        );
    }

    #[test]
    fn a_part_of_a_service_without_fields_is_a_byte() {
        let sizes = Sizes { texts: 16, lists: 4, fields: BTreeMap::new() };
        let text = layout(&standard::whole("std_srvs/srv/Trigger_Request").unwrap(), &sizes).unwrap();
        assert!(text.starts_with("message std_srvs/TriggerRequest\n pad u8"), "{text}");
    }

    #[test]
    fn a_part_of_an_action_ends_at_a_multiple_of_eight_bytes() {
        let top = super::super::parse("a/action/Count_Result", "int32[] sequence").unwrap();
        let whole = Whole::new(top, &|_| None).unwrap();
        for lists in 1..5 {
            let text = layout(&whole, &Sizes { texts: 16, lists, fields: BTreeMap::new() }).unwrap();
            let layout: Layout = text.parse().unwrap();
            assert_eq!((layout.payload().bytes % 8, layout.type_name()), (0, "a/CountResult"), "{text}");
            crate::convert::fields::plan(&layout, &whole).unwrap();
        }
    }

    #[test]
    fn every_standard_message_has_a_layout_that_the_bridge_carries_and_so_has_every_part_of_a_service() {
        let sizes = Sizes { texts: 16, lists: 3, fields: BTreeMap::new() };
        let parts = services::all().flat_map(|service| services::messages(&service));
        for name in standard::names().chain(parts) {
            let whole = standard::whole(&name).unwrap();
            let Ok(text) = layout(&whole, &sizes) else { panic!("{name}") };
            if matches!(name.as_str(), "builtin_interfaces/msg/Time" | "builtin_interfaces/msg/Duration") {
                continue; // two numbers, copied
            }
            let layout: Layout = text.parse().unwrap();
            crate::convert::fields::plan(&layout, &whole).unwrap_or_else(|reason| panic!("{reason}: {text}"));
        }
    }
}
