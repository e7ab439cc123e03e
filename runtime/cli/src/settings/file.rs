//! From the text of a settings file to settings. Each section stands alone: one that is wrong is told with its line and left out, and the
//! others count. A machine that cannot be reached for want of a quotation mark elsewhere would have to be fetched.

use std::collections::BTreeSet;
use std::fmt;
use std::ops::Range;
use std::path::Path;

use serde::de::DeserializeOwned;
use toml::Spanned;
use toml::de::{DeTable, DeValue, ValueDeserializer};

use super::key::SshKey;
use super::value::{HostName, Network, Server, Wifi};

/// No settings file is longer; a few keys take a few kilobytes.
const MAX_BYTES: u64 = 64 * 1024;

/// What stands at the top of a file.
const SECTIONS: &str = "hostname, ssh_keys, time_servers, [network] and [wifi]";

/// What a file asks for; what it leaves out stays as the image has it.
#[derive(Clone, Default, PartialEq)]
pub struct Settings {
    /// The machine's name.
    pub hostname: Option<HostName>,
    /// Who may log in.
    pub ssh_keys: Vec<SshKey>,
    /// Whom the clock follows.
    pub time_servers: Vec<Server>,
    /// The wired ports.
    pub network: Option<Network>,
    /// The Wi-Fi to join.
    pub wifi: Option<Wifi>,
}

/// Something in a file that is not used.
#[derive(Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Problem {
    /// The line where it is.
    pub line: usize,
    /// What is wrong, what it costs, and what to do.
    pub message: String,
}

impl fmt::Display for Problem {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{}: {}", self.line, self.message)
    }
}

/// Reads a file.
pub fn load(path: &Path) -> Result<(Settings, Vec<Problem>), String> {
    let size = path.metadata().map_err(|error| format!("cannot be read: {error}; check the path"))?.len();
    if size > MAX_BYTES {
        return Err(format!("is longer than {MAX_BYTES} bytes: is it another file?"));
    }
    let bytes = std::fs::read(path).map_err(|error| format!("cannot be read: {error}"))?;
    let text = String::from_utf8(bytes)
        .map_err(|_| "is not UTF-8: open it in an editor and save it with that encoding".to_owned())?;
    Ok(read(text.strip_prefix('\u{feff}').unwrap_or(&text))) // which some editors put before UTF-8
}

/// Reads the text of a file.
pub fn read(text: &str) -> (Settings, Vec<Problem>) {
    let (table, errors) = DeTable::parse_recoverable(text);
    let mut reader = Reader { text, problems: Vec::new(), broken: BTreeSet::new() };
    for error in errors {
        reader.misspelled(error.span(), error.message());
    }
    let mut settings = Settings::default();
    for (name, value) in table.into_inner() {
        match name.get_ref().as_ref() {
            "hostname" => settings.hostname = reader.section("hostname", value),
            "ssh_keys" => settings.ssh_keys = reader.list("ssh_keys", value),
            "time_servers" => settings.time_servers = reader.list("time_servers", value),
            "network" => settings.network = reader.section("network", value),
            "wifi" => settings.wifi = reader.section("wifi", value),
            other => {
                let message = format!("there is no setting '{other}' here: there are {SECTIONS}");
                reader.complain(Some(name.span()), &message, "it is ignored");
            }
        }
    }
    if let Some((span, message)) = settings.network.as_ref().and_then(Network::contradiction) {
        reader.complain(Some(span), &message, "[network] is not used");
        settings.network = None;
    }
    reader.problems.sort();
    reader.problems.dedup();
    (settings, reader.problems)
}

/// What was found while a file is read.
struct Reader<'a> {
    text: &'a str,
    problems: Vec<Problem>,
    /// Sections that are no TOML, so that what was read of them may be half of it.
    broken: BTreeSet<String>,
}

impl Reader<'_> {
    /// A section that counts as a whole or not at all.
    fn section<T: DeserializeOwned>(&mut self, name: &str, value: Spanned<DeValue<'_>>) -> Option<T> {
        if self.broken.contains(name) {
            return None;
        }
        let span = value.span();
        T::deserialize(ValueDeserializer::from(value))
            .map_err(|error| {
                let at = error.span().unwrap_or(span);
                self.complain(Some(at), &one_line(error.message()), &format!("{} is not used", shown(name)));
            })
            .ok()
    }

    /// A list of which each element counts by itself.
    fn list<T: DeserializeOwned>(&mut self, name: &str, value: Spanned<DeValue<'_>>) -> Vec<T> {
        let span = value.span();
        let DeValue::Array(elements) = value.into_inner() else {
            if !self.broken.contains(name) {
                let message = format!("{name} is a list, also of one: {name} = [\"…\"]");
                self.complain(Some(span), &message, "it is not used");
            }
            return Vec::new();
        };
        let mut read = Vec::new();
        for element in elements.into_iter() {
            let span = element.span();
            match T::deserialize(ValueDeserializer::from(element)) {
                Ok(one) => read.push(one),
                // Of what is no TOML the mistake was told already.
                Err(_) if self.broken.contains(name) => {}
                Err(error) => {
                    let message = one_line(error.message());
                    self.complain(Some(error.span().unwrap_or(span)), &message, "this one is not used");
                }
            }
        }
        read
    }

    /// A mistake in the writing itself, which costs the section that it is in.
    fn misspelled(&mut self, span: Option<Range<usize>>, message: &str) {
        let section = section_at(self.text, span.as_ref().map_or(0, |span| span.start));
        let consequence = if section.is_empty() {
            "the line is ignored".to_owned()
        } else {
            format!("{} is not used", shown(&section))
        };
        // One mistake is often several to a parser; the first one says it.
        if self.broken.insert(section) {
            self.complain(span, &format!("this is not written as TOML: {}", one_line(message)), &consequence);
        }
    }

    fn complain(&mut self, span: Option<Range<usize>>, message: &str, consequence: &str) {
        let before = span.map_or(0, |span| span.start.min(self.text.len()));
        let line = self.text.as_bytes()[..before].iter().filter(|byte| **byte == b'\n').count() + 1;
        self.problems.push(Problem { line, message: format!("{message}; {consequence}") });
    }
}

/// The section that a place in the text is in, by the lines before it: the parser does not say so for what it cannot read.
fn section_at(text: &str, place: usize) -> String {
    let (mut table, mut key) = (None, String::new());
    let mut start = 0;
    for line in text.split_inclusive('\n') {
        if start > place {
            break;
        }
        start += line.len();
        let line = line.trim_start();
        if let Some(header) = line.strip_prefix('[') {
            table = Some(header.split(']').next().unwrap_or_default().trim().to_owned());
        } else if let Some((name, _)) = line.split_once('=') {
            let name = name.trim();
            if !name.is_empty() && name.chars().all(|letter| letter.is_ascii_alphanumeric() || letter == '_') {
                key = name.to_owned();
            }
        }
    }
    table.unwrap_or(key)
}

/// A section's name as the file writes it.
fn shown(name: &str) -> String {
    if matches!(name, "network" | "wifi") { format!("[{name}]") } else { name.to_owned() }
}

fn one_line(message: &str) -> String {
    message.replace('\n', ", ")
}

impl Settings {
    /// What they ask for, a line each, without what is secret.
    pub fn describe(&self) -> Vec<String> {
        let mut lines = Vec::new();
        lines.extend(self.hostname.as_ref().map(|name| format!("host name {0}, found as {0}.local", name.0)));
        lines.extend(self.ssh_keys.iter().map(|key| format!("SSH as root with the key {}", key.name())));
        lines.extend(self.time_servers.iter().map(|server| format!("time from {}", server.0)));
        if let Some(network) = &self.network {
            let port = network.interface.as_ref().map_or("wired network", |name| &name.0);
            let address =
                network.address.map_or("an address by DHCP".to_owned(), |own| format!("{}/{}", own.ip, own.prefix));
            lines.push(format!("{port}: {address}"));
        }
        lines.extend(self.wifi.as_ref().map(|wifi| format!("Wi-Fi {}", wifi.ssid.0)));
        lines
    }
}

#[cfg(test)]
mod tests;
