//! What the kernel was built with and started with: its configuration file and its command line.

use std::io::Read;

use crate::tree::{Tree, Unread};

/// A decompressed kernel configuration has about 300 kB; more is not one.
const MAX_CONFIG_BYTES: u64 = 8 << 20;

/// The kernel command line as `(name, value)` pairs; a parameter without `=` has no value.
pub struct CommandLine(Vec<(String, Option<String>)>);

impl CommandLine {
    /// Splits `text` as the kernel does: at white space outside double quotes, up to `--`.
    pub fn parse(text: &str) -> Self {
        let mut quoted = false;
        let words = text.split(|character: char| {
            quoted ^= character == '"';
            character.is_whitespace() && !quoted
        });
        let words = words.filter(|word| !word.is_empty()).take_while(|word| *word != "--");
        Self(words.map(parameter).collect())
    }

    /// The value of the parameter `name`, `Some(None)` when it stands there without one.
    ///
    /// Of several, the last counts, as it does for most parameters; `-` and `_` are the same in a name.
    pub fn get(&self, name: &str) -> Option<Option<&str>> {
        let name = name.replace('-', "_");
        let found = self.0.iter().rev().find(|(key, _)| key.replace('-', "_") == name)?;
        Some(found.1.as_deref())
    }
}

fn parameter(word: &str) -> (String, Option<String>) {
    let word = word.replace('"', "");
    match word.split_once('=') {
        Some((name, value)) => (name.to_owned(), Some(value.to_owned())),
        None => (word, None),
    }
}

/// A kernel configuration: the text of a `.config`.
pub struct KernelConfig(String);

impl KernelConfig {
    /// Reads the running kernel's configuration from where kernels and distributions leave it.
    ///
    /// # Errors
    /// When none of the places can be read; the sentence names them all.
    pub fn read(tree: &Tree, release: Option<&str>) -> Result<Self, Unread> {
        let mut tried = vec!["/proc/config.gz".to_owned()];
        if let Ok(packed) = tree.bytes("/proc/config.gz") {
            let mut text = String::new();
            let mut unpacked = flate2::read::GzDecoder::new(packed.as_slice()).take(MAX_CONFIG_BYTES);
            return match unpacked.read_to_string(&mut text) {
                Ok(_) => Ok(Self(text)),
                Err(error) => Err(Unread(format!("/proc/config.gz cannot be unpacked: {error}"))),
            };
        }
        for place in ["/boot/config-{}", "/usr/lib/modules/{}/config", "/lib/modules/{}/config"] {
            let Some(release) = release else { break };
            let path = place.replace("{}", release);
            match tree.text(&path) {
                Ok(text) => return Ok(Self(text)),
                Err(_) => tried.push(path),
            }
        }
        Err(Unread(format!("no kernel configuration in {}", tried.join(", "))))
    }

    /// The value of `CONFIG_<name>` without quotes; `n` where it is not set or not known to this kernel.
    pub fn get(&self, name: &str) -> &str {
        let value = self.0.lines().find_map(|line| line.strip_prefix("CONFIG_")?.strip_prefix(name)?.strip_prefix('='));
        value.map_or("n", |value| value.trim().trim_matches('"'))
    }
}

/// Whether the kernel `release` (such as `6.12.107-rt`) is `minimum` (such as `6.12`) or newer; `None` if it is no version.
pub fn at_least(release: &str, minimum: &str) -> Option<bool> {
    Some(version(release)? >= version(minimum)?)
}

fn version(text: &str) -> Option<(u32, u32)> {
    let mut numbers = text.split(|character: char| !character.is_ascii_digit());
    Some((numbers.next()?.parse().ok()?, numbers.next()?.parse().ok()?))
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use super::*;

    #[test]
    fn the_command_line_splits_like_the_kernels() {
        let line = CommandLine::parse("quiet a.b-c=1 isolcpus=domain,1 opt=\"two words\" isolcpus=2 -- audit=0");
        assert_eq!(line.get("quiet"), Some(None));
        assert_eq!(line.get("a.b_c"), Some(Some("1")));
        assert_eq!(line.get("isolcpus"), Some(Some("2")), "the last counts");
        assert_eq!(line.get("opt"), Some(Some("two words")));
        assert_eq!(line.get("audit"), None, "what follows -- is for init");
    }

    #[test]
    fn an_option_that_is_a_prefix_of_another_is_not_mistaken_for_it() {
        let config = KernelConfig("CONFIG_HZ_250=y\nCONFIG_HZ=250\n# CONFIG_KSM is not set\nCONFIG_X=\"a\"".to_owned());
        assert_eq!(
            (config.get("HZ"), config.get("KSM"), config.get("X"), config.get("HZ_1000")),
            ("250", "n", "a", "n")
        );
    }

    #[test]
    fn a_packed_configuration_is_unpacked_and_a_broken_one_is_named() {
        let directory = tempfile::tempdir().unwrap();
        std::fs::create_dir(directory.path().join("proc")).unwrap();
        let tree = Tree::open(directory.path()).unwrap();
        let mut packed = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
        packed.write_all(b"CONFIG_PREEMPT_RT=y\n").unwrap();
        let packed = packed.finish().unwrap();
        std::fs::write(directory.path().join("proc/config.gz"), &packed).unwrap();
        assert_eq!(KernelConfig::read(&tree, None).ok().unwrap().get("PREEMPT_RT"), "y");
        std::fs::write(directory.path().join("proc/config.gz"), &packed[..packed.len() - 9]).unwrap();
        let Unread(reason) = KernelConfig::read(&tree, None).err().unwrap();
        assert!(reason.starts_with("/proc/config.gz cannot be unpacked"), "{reason}");
    }

    #[test]
    fn versions_compare_by_number() {
        assert_eq!(at_least("6.12.107+deb13-rt-amd64", "6.12"), Some(true));
        assert_eq!(at_least("6.6.31", "6.12"), Some(false));
        assert_eq!(at_least("custom", "6.12"), None);
    }
}
