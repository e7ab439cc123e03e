//! How a session of Zenoh is opened: where it listens and whom it connects to, and nothing that is not said.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::time::{Duration, Instant};

use serde::Deserialize;
use zenoh::{Config, Wait};

/// Where a session goes.
#[derive(Clone, Debug, Default, Deserialize, PartialEq, Eq)]
pub struct Links {
    /// Whom it connects to, such as `tcp/192.168.7.2:7447`.
    #[serde(default)]
    pub connect: Vec<String>,
    /// Where it listens, such as `tcp/0.0.0.0:7447`.
    #[serde(default)]
    pub listen: Vec<String>,
    /// Whether all goes by the router that it connects to. Equals speak with each other, if they reach each other; a router passes
    /// nothing on between two of them.
    #[serde(default)]
    pub is_client: bool,
}

/// The router of rmw_zenoh on this machine.
const ROUTER: &str = "tcp/localhost:7447";

/// How often it is looked whether to end, and for how long it does not tell that it waits.
const LOOK: Duration = Duration::from_millis(100);
const PATIENCE: Duration = Duration::from_secs(1);

impl Links {
    /// For ROS 2: where nothing is said, to the router on this machine, as rmw_zenoh does. Nodes may listen on their own machine only, so
    /// who listens nowhere lets the router pass on all.
    #[must_use]
    pub fn to_ros(mut self) -> Self {
        if self.connect.is_empty() && self.listen.is_empty() {
            self.connect.push(ROUTER.to_owned());
        }
        self.is_client = self.listen.is_empty();
        self
    }
}

/// Opens a session. It finds no peer by multicast; a link that is cut is made again, and one that cannot be made yet is
/// tried for as long as it takes.
///
/// # Errors
/// Why not, in words.
pub fn open(links: &Links) -> Result<zenoh::Session, String> {
    let mut config = Config::default();
    let list = |places: &[String]| {
        format!("[{}]", places.iter().map(|place| format!("{place:?}")).collect::<Vec<_>>().join(","))
    };
    let settings = [
        ("mode", if links.is_client { "\"client\"" } else { "\"peer\"" }.to_owned()),
        ("scouting/multicast/enabled", "false".to_owned()),
        ("connect/endpoints", list(&links.connect)),
        ("connect/timeout_ms", "-1".to_owned()),
        ("connect/exit_on_failure", "false".to_owned()),
        ("listen/endpoints", list(&links.listen)),
    ];
    for (key, value) in settings {
        config.insert_json5(key, &value).map_err(|error| format!("{key} = {value}: {error}"))?;
    }
    zenoh::open(config).wait().map_err(|error| format!("cannot open a session of Zenoh: {error}"))
}

/// The same, for who may have to wait for its router, as a client does: `waits` is told so once. None when `stop` is set before.
///
/// # Errors
/// Why not, in words.
pub fn open_until(links: Links, stop: &AtomicBool, waits: impl FnOnce(&str)) -> Result<Option<zenoh::Session>, String> {
    let (sender, opened) = channel();
    let text = format!("waits for {}, where no program answers yet", links.connect.join(" or "));
    // It cannot be taken back, so it is left behind with the process.
    std::thread::spawn(move || sender.send(open(&links)));
    let mut waits = Some(waits);
    let begun = Instant::now();
    // Relaxed: the flag stands for itself.
    while !stop.load(Ordering::Relaxed) {
        match opened.recv_timeout(LOOK) {
            Ok(session) => return session.map(Some),
            Err(RecvTimeoutError::Timeout) if begun.elapsed() > PATIENCE => {
                if let Some(waits) = waits.take() {
                    waits(&text);
                }
            }
            Err(RecvTimeoutError::Timeout) => {}
            Err(RecvTimeoutError::Disconnected) => return Err("Zenoh ended while it opened a session".to_owned()),
        }
    }
    Ok(None)
}
