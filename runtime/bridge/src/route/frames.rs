//! The frames: all of this namespace as `/tf` and `/tf_static`, and those of ROS as frames here.
//!
//! | here | in ROS |
//! |---|---|
//! | a moving frame | `/tf` |
//! | a static frame | `/tf_static`, latched: all of them in each message |
//!
//! A frame that came from ROS does not go there again, and one that went to ROS does not come back.

mod come;
mod go;

pub use come::FramesIn;
pub use go::FramesOut;

use std::cell::RefCell;
use std::collections::BTreeSet;
use std::rc::Rc;

use horus::transform::TOPIC;
use horus_shm::directory::{Directory, TopicName};

use super::{Delivery, Endpoint};
use crate::interface::{hash, standard};

/// The message of both topics.
const MESSAGE: &str = "tf2_msgs/msg/TFMessage";
/// What a message takes at most, by and large: so many are kept as 64 MB hold.
const BYTES: usize = 16 << 10;
/// Messages of `/tf` that are kept, as tf2 keeps them.
const DEPTH: usize = 100;

/// The frames here that came from ROS: they do not go there again.
pub type OfRos = Rc<RefCell<BTreeSet<String>>>;

fn topic() -> TopicName {
    TOPIC.parse().expect("it is a name")
}

/// `/tf` or `/tf_static`.
fn endpoint(directory: &Directory, is_static: bool) -> Result<Endpoint, String> {
    let whole = standard::whole(MESSAGE).map_err(|error| error.to_string())?;
    let delivery = Delivery {
        is_reliable: true,
        is_transient_local: is_static,
        depth: if is_static { 1 } else { DEPTH },
        is_said: true,
        may_wait: false,
        is_latched: is_static,
    };
    Ok(Endpoint {
        topic: if is_static { "/tf_static" } else { "/tf" }.to_owned(),
        type_name: MESSAGE.to_owned(),
        hash: hash::rihs01(&whole),
        delivery,
        bytes: BYTES,
        layout: String::new(),
        file: directory.file(&topic()).to_string_lossy().into_owned(),
    })
}
