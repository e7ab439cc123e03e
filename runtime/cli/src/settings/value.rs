//! What may stand in a settings file: names, addresses and the credentials of a Wi-Fi. Whatever is accepted here goes into files of other
//! programs, so no value holds what would end a line or a quotation there.

use std::net::IpAddr;

use serde::Deserialize;
use toml::Spanned;

/// The longest name of a network interface (linux/if.h, `IFNAMSIZ` without its end).
const MAX_INTERFACE: usize = 15;

/// One label of a host name; the machine is found as NAME.local.
#[derive(Clone, Debug, Deserialize, PartialEq, Eq)]
#[serde(try_from = "String")]
pub struct HostName(pub String);

impl TryFrom<String> for HostName {
    type Error = String;

    fn try_from(name: String) -> Result<Self, String> {
        let allowed = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'-';
        if (1..=63).contains(&name.len()) && name.bytes().all(allowed) && !name.starts_with('-') && !name.ends_with('-')
        {
            return Ok(Self(name));
        }
        Err("a host name is 1 to 63 letters, digits and hyphens, with no hyphen at either end and no dot, such as \"arm3\""
            .to_owned())
    }
}

/// A server by its name or address.
#[derive(Clone, Debug, Deserialize, PartialEq, Eq)]
#[serde(try_from = "String")]
pub struct Server(pub String);

impl TryFrom<String> for Server {
    type Error = String;

    fn try_from(name: String) -> Result<Self, String> {
        let allowed = |byte: u8| byte.is_ascii_alphanumeric() || b"-.:".contains(&byte);
        if (1..=253).contains(&name.len()) && name.bytes().all(allowed) {
            return Ok(Self(name));
        }
        Err("a time server is an address or a name, such as \"192.168.1.1\" or \"pool.ntp.org\"".to_owned())
    }
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

/// The name of a network interface.
#[derive(Clone, Debug, Deserialize, PartialEq, Eq)]
#[serde(try_from = "String")]
pub struct Interface(pub String);

impl TryFrom<String> for Interface {
    type Error = String;

    fn try_from(name: String) -> Result<Self, String> {
        let allowed = |byte: u8| byte.is_ascii_alphanumeric() || b"-_.".contains(&byte);
        if (1..=MAX_INTERFACE).contains(&name.len()) && name.bytes().all(allowed) {
            return Ok(Self(name));
        }
        Err("an interface has a name such as \"eth0\" or \"enp1s0\"; 'horus greeting' shows those of the machine"
            .to_owned())
    }
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

/// The name of a Wi-Fi.
#[derive(Clone, Debug, Deserialize, PartialEq, Eq)]
#[serde(try_from = "String")]
pub struct Ssid(pub String);

impl TryFrom<String> for Ssid {
    type Error = String;

    fn try_from(name: String) -> Result<Self, String> {
        if (1..=32).contains(&name.len()) {
            return Ok(Self(name));
        }
        Err("the name of a Wi-Fi (ssid) has 1 to 32 bytes".to_owned())
    }
}

/// A passphrase, or the 64 hexadecimal digits of a key made of it. Never shown.
#[derive(Clone, Deserialize, PartialEq, Eq)]
#[serde(try_from = "String")]
pub struct Password(pub String);

impl Password {
    /// Whether it is the key itself.
    pub fn is_key(&self) -> bool {
        self.0.len() == 64
    }
}

impl TryFrom<String> for Password {
    type Error = String;

    fn try_from(text: String) -> Result<Self, String> {
        let is_phrase = (8..=63).contains(&text.len()) && text.bytes().all(|byte| (b' '..=b'~').contains(&byte));
        let is_key = text.len() == 64 && text.bytes().all(|byte| byte.is_ascii_hexdigit());
        if is_phrase || is_key {
            return Ok(Self(text));
        }
        Err("the password of a Wi-Fi has 8 to 63 characters of ASCII, or is a key of 64 hexadecimal digits".to_owned())
    }
}

/// A country by its two letters.
#[derive(Clone, Debug, Deserialize, PartialEq, Eq)]
#[serde(try_from = "String")]
pub struct Country(pub String);

impl TryFrom<String> for Country {
    type Error = String;

    fn try_from(code: String) -> Result<Self, String> {
        if code.len() == 2 && code.bytes().all(|byte| byte.is_ascii_uppercase()) {
            return Ok(Self(code));
        }
        Err("a country is two capital letters of ISO 3166, such as \"DE\"".to_owned())
    }
}
