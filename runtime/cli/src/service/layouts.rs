//! The layout of a topic's messages, from the description that stands in its header.

use horus::message::layout::Layout;
use horus_shm::directory::{Directory, TopicName};
use horus_shm::ends::inspect::inspect;

/// What the messages of a topic are.
pub struct Messages {
    /// For the ends.
    pub layout: Layout,
    /// Of the fields.
    pub description: String,
    /// Of a message.
    pub bytes: usize,
}

/// Of topic `name`; `None` when there is none.
pub fn messages(directory: &Directory, name: &str) -> Result<Option<Messages>, String> {
    let name: TopicName = name.parse().map_err(|error| format!("{error}"))?;
    let Some(found) = inspect(&directory.file(&name)).map_err(|error| error.to_string())? else { return Ok(None) };
    let header = found.header;
    let of_a_program =
        || format!("{name} carries {}, whose fields are not described: call it from a program", header.type_name);
    if header.is_of_bytes() {
        return Err(of_a_program());
    }
    let layout: Layout = text(&header.type_name, &header.description).parse().map_err(|_| of_a_program())?;
    if layout.hash() != header.layout_hash {
        return Err(of_a_program());
    }
    Ok(Some(Messages { layout, bytes: header.shape.payload_bytes(), description: header.description }))
}

/// Whether the service of this name is one that servers share.
pub fn is_shared(directory: &Directory, service: &TopicName) -> bool {
    let found = inspect(&directory.file(service)).ok().flatten();
    found.is_some_and(|found| found.header.type_name == "horus/SharedService")
}

/// The description as the text of a layout: without places, which follow from the types.
fn text(type_name: &str, description: &str) -> String {
    let mut text = format!("message {type_name}\n");
    for line in description.lines().map(str::trim) {
        match line.strip_prefix("type ") {
            Some(inner) => text += &format!("message {inner}\n"),
            None => text += &format!(" {}\n", line.splitn(3, ' ').nth(2).unwrap_or_default()),
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use horus::messages::ALL;

    #[test]
    fn the_layout_of_every_message_of_horus_is_read_from_its_description() {
        for message in ALL {
            let layout: Layout = text(message.type_name, &(message.description)()).parse().unwrap();
            assert_eq!(layout.hash(), message.layout_hash, "{}", message.type_name);
        }
    }
}
