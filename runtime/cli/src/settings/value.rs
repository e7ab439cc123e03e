//! What may stand in a settings file: names, addresses and the credentials of a Wi-Fi. Whatever is accepted here goes into files of other
//! programs, so no value holds what would end a line or a quotation there.

use std::net::IpAddr;

use serde::Deserialize;
use toml::Spanned;

/// The longest name of a network interface (linux/if.h, `IFNAMSIZ` without its end).
const MAX_INTERFACE: usize = 15;

/// A text that is taken where the test says so; all others are refused with the sentence, which says what to write.
macro_rules! text {
    ($(#[$about:meta])* $name:ident, $is_good:expr, $refusal:literal) => {
        $(#[$about])*
        #[derive(Clone, Deserialize, PartialEq, Eq)]
        #[serde(try_from = "String")]
        pub struct $name(pub String);

        impl TryFrom<String> for $name {
            type Error = String;

            fn try_from(text: String) -> Result<Self, String> {
                let is_good: fn(&str) -> bool = $is_good;
                if is_good(&text) { Ok(Self(text)) } else { Err($refusal.to_owned()) }
            }
        }
    };
}

/// Whether it has so many bytes, each a letter or digit of ASCII or one of `others`.
fn is_name(text: &str, most: usize, others: &[u8]) -> bool {
    (1..=most).contains(&text.len()) && text.bytes().all(|byte| byte.is_ascii_alphanumeric() || others.contains(&byte))
}

text! {
    /// One label of a host name; the machine is found as NAME.local.
    #[derive(Debug)]
    HostName,
    |name| is_name(name, 63, b"-") && !name.starts_with('-') && !name.ends_with('-'),
    "a host name is 1 to 63 letters, digits and hyphens, with no hyphen at either end and no dot, such as \"arm3\""
}

text! {
    /// A server by its name or address.
    #[derive(Debug)]
    Server,
    |name| is_name(name, 253, b"-.:"),
    "a time server is an address or a name, such as \"192.168.1.1\" or \"pool.ntp.org\""
}

/// An address with the length of its network's prefix, such as `192.168.1.20/24`.
#[derive(Clone, Copy, Debug, Deserialize, PartialEq, Eq)]
#[serde(try_from = "String")]
pub struct Address {
    /// The address itself.
    pub ip: IpAddr,
    /// How many of its bits name the network.
    pub prefix: u8,
}

impl TryFrom<String> for Address {
    type Error = String;

    fn try_from(text: String) -> Result<Self, String> {
        let parsed = text.split_once('/').and_then(|(ip, prefix)| {
            let (ip, prefix): (IpAddr, u8) = (ip.parse().ok()?, prefix.parse().ok()?);
            (1..=if ip.is_ipv4() { 32 } else { 128 }).contains(&prefix).then_some(Self { ip, prefix })
        });
        parsed.ok_or_else(|| {
            "an address has the length of its network behind a slash, such as \"192.168.1.20/24\"".to_owned()
        })
    }
}

impl Address {
    /// Whether `other` can be spoken to without a gateway.
    pub fn reaches(&self, other: IpAddr) -> bool {
        match (self.ip, other) {
            (IpAddr::V4(own), IpAddr::V4(other)) => {
                (own.to_bits() ^ other.to_bits()).leading_zeros() >= u32::from(self.prefix)
            }
            (IpAddr::V6(own), IpAddr::V6(other)) => {
                // Routers of IPv6 are usually named by an address that is valid on every link (RFC 4291, 2.5.6).
                other.is_unicast_link_local()
                    || (own.to_bits() ^ other.to_bits()).leading_zeros() >= u32::from(self.prefix)
            }
            _ => false,
        }
    }
}

text! {
    /// The name of a network interface.
    #[derive(Debug)]
    Interface,
    |name| is_name(name, MAX_INTERFACE, b"-_."),
    "an interface has a name such as \"eth0\" or \"enp1s0\"; 'horus greeting' shows those of the machine"
}

/// `[network]`: the wired ports.
#[derive(Clone, Debug, Deserialize, PartialEq, Eq)]
#[serde(deny_unknown_fields)]
pub struct Network {
    /// The port that this is about; all wired ones where none is named.
    pub interface: Option<Interface>,
    /// A fixed address; DHCP gives one where it is absent.
    pub address: Option<Address>,
    /// The way to other networks.
    pub gateway: Option<Spanned<IpAddr>>,
    /// Servers of names.
    #[serde(default)]
    pub dns: Vec<IpAddr>,
}

impl Network {
    /// What its values say against each other, and where.
    pub fn contradiction(&self) -> Option<(std::ops::Range<usize>, String)> {
        let gateway = self.gateway.as_ref()?;
        let message = match self.address {
            None => "a gateway needs an address beside it; with DHCP the server names the gateway".to_owned(),
            Some(own) if !own.reaches(*gateway.get_ref()) || own.ip == *gateway.get_ref() => format!(
                "the gateway {} is not another machine in the network of {}/{}; correct one of the two",
                gateway.get_ref(),
                own.ip,
                own.prefix
            ),
            Some(_) => return None,
        };
        Some((gateway.span(), message))
    }
}

/// `[wifi]`: the network to join.
#[derive(Clone, Deserialize, PartialEq, Eq)]
#[serde(deny_unknown_fields)]
pub struct Wifi {
    /// The name of the network.
    pub ssid: Ssid,
    /// The passphrase; a network without one is open.
    pub password: Option<Password>,
    /// By whose rules the radio sends.
    pub country: Option<Country>,
}

text! {
    /// The name of a Wi-Fi.
    #[derive(Debug)]
    Ssid,
    |name| (1..=32).contains(&name.len()),
    "the name of a Wi-Fi (ssid) has 1 to 32 bytes"
}

text! {
    /// A passphrase, or the 64 hexadecimal digits of a key made of it. Never shown.
    Password,
    |text| match text.len() {
        64 => text.bytes().all(|byte| byte.is_ascii_hexdigit()),
        bytes => (8..=63).contains(&bytes) && text.bytes().all(|byte| (b' '..=b'~').contains(&byte)),
    },
    "the password of a Wi-Fi has 8 to 63 characters of ASCII, or is a key of 64 hexadecimal digits"
}

impl Password {
    /// Whether it is the key itself.
    pub fn is_key(&self) -> bool {
        self.0.len() == 64
    }
}

text! {
    /// A country by its two letters.
    #[derive(Debug)]
    Country,
    |code| code.len() == 2 && code.bytes().all(|byte| byte.is_ascii_uppercase()),
    "a country is two capital letters of ISO 3166, such as \"DE\""
}
