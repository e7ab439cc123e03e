//! Our messages as ROS 2's and back: by copy where the bytes are the same, by a converter where they are not.
//!
//! Nothing here allocates for a message: converters write into a buffer that is used again, and read into the place of the next
//! message of the topic. What a message of ROS says more than ours is left out, and what it says less is zero or NaN.

pub mod action;
mod battery;
mod cloud;
pub mod fields;
mod geometry;
mod header;
mod image;
mod imu;
mod joints;
mod odometry;
pub mod parameters;
pub mod plain;
#[doc(hidden)]
pub mod samples;
mod scan;
pub mod shapes;
mod table;
#[cfg(test)]
mod tests;
mod text;
pub mod transforms;

use std::collections::BTreeMap;
use std::sync::Arc;

use horus::message::layout::Layout;
use thiserror::Error;

use crate::cdr::{Malformed, Reader, Writer};
use crate::clock::Offset;
use crate::interface::{Interface, Whole, Wrong, standard};

pub use table::{ENTRIES, Entry, Ours};
pub use text::as_text;

/// What a conversion needs to know beside the message.
#[derive(Clone, Debug, Default)]
pub struct Context {
    /// How the day's clock stands to the monotonic one.
    pub offset: Offset,
    /// The frame that the header of a ROS message names, where ours has none.
    pub frame: String,
}

/// How a message becomes the other one.
#[derive(Clone, Debug)]
pub enum Conversion {
    /// The bytes are the same, but for the four in front of them.
    Copy,
    /// Field by field.
    Made(&'static Entry),
    /// Field by field, by a rule.
    Fields(Arc<[fields::Step]>),
    /// A topic of bytes, as text or as numbers.
    Bytes(&'static Entry),
    /// Bytes of any length as they are, to another appliance.
    Same,
}

/// Why a topic is not bridged.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum Mismatch {
    /// There is no converter.
    #[error(
        "{ours} and {ros} are different messages, and there is no converter: name one of {others}, or define a message of the same \
         numbers in the same order"
    )]
    Different {
        /// Our message.
        ours: String,
        /// That of ROS.
        ros: String,
        /// What ours can become.
        others: String,
    },
    /// The other way there is one.
    #[error("{ros} does not become {ours}: the converter goes to ROS only")]
    OneWay {
        /// Our message.
        ours: String,
        /// That of ROS.
        ros: String,
    },
    /// It has the name of a message of ROS 2 and is another one.
    #[error(
        "{name} is a message of ROS 2, and the topic's is another one ({reason}): who receives it would misread it. Take the layout that \
         `horus bridge import {name}` prints, or give yours another name, such as my_robot/{last}",
        last = .name.rsplit('/').next().unwrap_or_default()
    )]
    Impostor {
        /// The name.
        name: String,
        /// Which field is another one.
        reason: String,
    },
    /// The message of ROS is not known.
    #[error(transparent)]
    Wrong(#[from] Wrong),
    /// The topic has no message of ROS's of its own.
    #[error("{0}")]
    NoName(String),
}

/// What one direction of a topic is bridged by.
#[derive(Clone, Debug)]
pub struct Pairing {
    /// The message of ROS.
    pub ros: Whole,
    /// Its hash.
    pub hash: String,
    /// How one becomes the other.
    pub conversion: Conversion,
}

impl Pairing {
    /// Pairs a topic's message with the message `ros` of ROS 2, or with the one that suits it best.
    ///
    /// # Errors
    /// When there is no way from one to the other.
    pub fn new(ours: &Ours, ros: Option<&str>, is_to_ros: bool) -> Result<Self, Mismatch> {
        let entry = ENTRIES
            .iter()
            .find(|entry| entry.ours.is(ours) && ros.map_or(is_to_ros || entry.read.is_some(), |ros| entry.ros == ros));
        if let Some(entry) = entry {
            if !is_to_ros && entry.read.is_none() {
                return Err(Mismatch::OneWay { ours: ours.name().to_owned(), ros: entry.ros.to_owned() });
            }
            let whole = standard::whole(entry.ros)?;
            let is_bytes = matches!(ours, Ours::Bytes(_));
            let conversion = if is_bytes { Conversion::Bytes(entry) } else { Conversion::Made(entry) };
            return Ok(Self::of(whole, conversion));
        }
        let Ours::Layout(layout) = ours else { return Err(different(ours, ros.unwrap_or("a message of ROS"))) };
        let own = plain::own(layout);
        if let Some(theirs) = own.as_ref().ok().and_then(|own| standard::whole(&own.top.name).ok())
            && ros.is_none_or(|ros| ros == theirs.top.name)
        {
            // ROS 2 has its name, so ROS 2 says what it is.
            return match plain::is(layout, &theirs) {
                true => Ok(Self::of(theirs, Conversion::Copy)),
                false => match fields::plan(layout, &theirs) {
                    Ok(steps) => Ok(Self::of(theirs, Conversion::Fields(steps.into()))),
                    Err(reason) => Err(Mismatch::Impostor { name: theirs.top.name, reason }),
                },
            };
        }
        let suits = plain::SUITS.iter().find(|(name, _)| *name == layout.type_name()).map(|(_, ros)| *ros);
        let ros = ros.or(suits);
        let whole = match (ros, own) {
            (None, own) => return own.map(|whole| Self::of(whole, Conversion::Copy)).map_err(Mismatch::NoName),
            (Some(ros), Ok(own)) if own.top.name == ros => own,
            (Some(ros), _) => standard::whole(ros)?,
        };
        if plain::numbers(layout).is_some_and(|ours| plain::are_same(&ours, whole.numbers().as_deref())) {
            return Ok(Self::of(whole, Conversion::Copy));
        }
        match fields::plan(layout, &whole) {
            Ok(steps) => Ok(Self::of(whole, Conversion::Fields(steps.into()))),
            Err(_) => Err(different(ours, &whole.top.name)),
        }
    }

    /// Pairs a message of ours with that of the same fields which ROS calls `name`: the part of a service of one's own.
    ///
    /// # Errors
    /// Why ROS has no such message, in words.
    pub fn own(layout: &Layout, name: &str) -> Result<Self, String> {
        let mut whole = plain::own(layout)?;
        name.clone_into(&mut whole.top.name);
        Ok(Self::of(whole, Conversion::Copy))
    }

    /// Pairs a topic's message with itself, for another appliance.
    pub fn same(ours: &Ours) -> Self {
        let (hash, conversion) = match ours {
            Ours::Layout(layout) => (format!("{:016x}", layout.hash()), Conversion::Copy),
            Ours::Bytes(_) => ("bytes".to_owned(), Conversion::Same),
        };
        let top = Interface { name: ours.name().to_owned(), fields: Vec::new() };
        Self { ros: Whole { top, inner: BTreeMap::new() }, hash, conversion }
    }

    fn of(ros: Whole, conversion: Conversion) -> Self {
        let hash = crate::interface::hash::rihs01(&ros);
        Self { ros, hash, conversion }
    }

    /// Writes our message, `message`, as that of ROS.
    ///
    /// # Errors
    /// When it says what ROS's cannot say.
    pub fn write(&self, message: &[u8], writer: &mut Writer<'_>, context: &Context) -> Result<(), Malformed> {
        match &self.conversion {
            Conversion::Copy | Conversion::Same => {
                writer.u8s(message);
                Ok(())
            }
            Conversion::Fields(steps) => fields::write(steps, message, writer, context),
            Conversion::Made(entry) | Conversion::Bytes(entry) => (entry.write)(message, writer, context),
        }
    }

    /// Reads a message of ROS into the place of ours, all of whose bytes it sets; how many of them count, where that varies.
    ///
    /// # Errors
    /// When the bytes are no such message, or say what ours cannot say; then what is in `into` is nothing.
    pub fn read(&self, bytes: &[u8], into: &mut [u8], context: &Context) -> Result<usize, Malformed> {
        match &self.conversion {
            Conversion::Fields(steps) => {
                into.fill(0);
                fields::read(steps, &mut Reader::new(bytes), into, context).map(|()| into.len())
            }
            Conversion::Copy => {
                into.copy_from_slice(bytes.get(..into.len()).ok_or(Malformed::Short)?);
                Ok(into.len())
            }
            Conversion::Same => {
                into.get_mut(..bytes.len()).ok_or(Malformed::TooMany)?.copy_from_slice(bytes);
                Ok(bytes.len())
            }
            Conversion::Made(entry) | Conversion::Bytes(entry) => {
                let read = entry.read.ok_or(Malformed::Unlike("the converter goes to ROS only"))?;
                read(&mut Reader::new(bytes), into, context)
            }
        }
    }
}

fn different(ours: &Ours, ros: &str) -> Mismatch {
    let others: Vec<_> = ENTRIES.iter().filter(|entry| entry.ours.is(ours)).map(|entry| entry.ros).collect();
    let others = match (ours, others.is_empty()) {
        (Ours::Layout(layout), true) => match plain::own(layout) {
            Ok(own) => format!("its own, {}", own.top.name),
            Err(_) => "none".to_owned(),
        },
        _ => others.join(", "),
    };
    Mismatch::Different { ours: ours.name().to_owned(), ros: ros.to_owned(), others }
}

/// The layout of a message by its name, or that of a topic's header.
pub fn layout_of(type_name: &str, hash: u64, description: &str) -> Option<Layout> {
    plain::from_description(type_name, description).filter(|layout| layout.hash() == hash)
}
