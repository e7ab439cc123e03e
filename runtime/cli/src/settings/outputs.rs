//! Which files below /run settings become: those of systemd-networkd, systemd-resolved, systemd-timesyncd, sshd and wpa_supplicant.
//!
//! Nothing else is changed, so that without a settings file the machine is as the image made it.

use std::fmt::Write;

use super::file::Settings;
use super::value::{Network, Wifi};

/// A file to write: path below the root, mode, text.
#[derive(Debug, PartialEq, Eq)]
pub struct Output {
    /// Where, without a slash at the start.
    pub path: &'static str,
    /// Who may read it.
    pub mode: u32,
    /// What is in it.
    pub text: String,
}

/// Stands at the start of every file.
const ORIGIN: &str =
    "# Made at boot by horus-settings.service of horus.toml on the boot partition; what is changed here is lost.\n";

/// Who may log in; without it nothing listens (horus-ssh.socket).
const KEYS: &str = "run/horus/ssh/authorized_keys";
/// Before the image's own file (80-horus-wired.network).
const WIRED: &str = "run/systemd/network/70-horus-settings.network";
const WIRED_DROP_IN: &str = "run/systemd/network/80-horus-wired.network.d/60-horus-settings.conf";
const WIRELESS: &str = "run/systemd/network/75-horus-wifi.network";
const RESOLVED: &str = "run/systemd/resolved.conf.d/70-horus-settings.conf";
/// The clock follows no server without it (systemd-timesyncd.service.d).
const TIME: &str = "run/systemd/timesyncd.conf.d/60-horus-settings.conf";
const SUPPLICANT: &str = "run/horus/wifi/wpa_supplicant.conf";

/// Where they are, all that there can be.
pub const PATHS: [&str; 7] = [KEYS, WIRED, WIRED_DROP_IN, WIRELESS, RESOLVED, TIME, SUPPLICANT];

/// All that settings ask for.
pub fn outputs(settings: &Settings) -> Vec<Output> {
    let mut outputs = Vec::new();
    let mut add = |path, mode, text: String| outputs.push(Output { path, mode, text: format!("{ORIGIN}{text}") });
    let link = link_settings(settings);
    if !settings.ssh_keys.is_empty() {
        add(KEYS, 0o600, settings.ssh_keys.iter().map(|key| format!("{}\n", key.line())).collect());
    }
    if let Some(network) = &settings.network {
        add(WIRED, 0o644, wired(network, &link));
    }
    if !link.is_empty() {
        add(WIRED_DROP_IN, 0o644, link.clone());
    }
    if is_to_be_found(settings) {
        add(RESOLVED, 0o644, "[Resolve]\nMulticastDNS=yes\n".to_owned());
    }
    if let Some(wifi) = &settings.wifi {
        add(SUPPLICANT, 0o600, supplicant(wifi));
        add(WIRELESS, 0o644, wireless(&link));
    }
    if !settings.time_servers.is_empty() {
        let servers: Vec<&str> = settings.time_servers.iter().map(|server| server.0.as_str()).collect();
        add(TIME, 0o644, format!("[Time]\nNTP={}\nFallbackNTP=\n", servers.join(" ")));
    }
    outputs
}

/// Whether the machine answers to its name: when a user gave it one, or is to log in.
fn is_to_be_found(settings: &Settings) -> bool {
    settings.hostname.is_some() || !settings.ssh_keys.is_empty()
}

/// What holds for every link.
fn link_settings(settings: &Settings) -> String {
    let mut text = String::new();
    if is_to_be_found(settings) {
        text += "[Network]\nMulticastDNS=yes\n";
    }
    if settings.hostname.is_some() {
        // The name that was chosen wins over one that a DHCP server knows.
        text += "[DHCPv4]\nUseHostname=no\n[DHCPv6]\nUseHostname=no\n";
    }
    text
}

fn wired(network: &Network, link: &str) -> String {
    let mut text = match &network.interface {
        Some(name) => format!("[Match]\nName={}\n", name.0),
        None => "[Match]\nType=ether\nKind=!*\n".to_owned(),
    };
    text += "[Link]\nRequiredForOnline=no\n[Network]\n";
    let _ = match network.address {
        Some(own) => writeln!(text, "Address={}/{}", own.ip, own.prefix),
        None => writeln!(text, "DHCP=yes"),
    };
    if let Some(gateway) = &network.gateway {
        let _ = writeln!(text, "Gateway={}", gateway.get_ref());
    }
    for server in &network.dns {
        let _ = writeln!(text, "DNS={server}");
    }
    text + link
}

fn wireless(link: &str) -> String {
    // A radio loses its network for a moment now and then; the address stays for that long.
    format!("[Match]\nType=wlan\n[Link]\nRequiredForOnline=no\n[Network]\nDHCP=yes\nIgnoreCarrierLoss=3s\n{link}")
}

/// The name in hexadecimal, because any byte may stand in it; the passphrase has none that ends a quotation: the last quotation mark does.
fn supplicant(wifi: &Wifi) -> String {
    let mut text = String::new();
    if let Some(country) = &wifi.country {
        let _ = writeln!(text, "country={}", country.0);
    }
    let name: String = wifi.ssid.0.bytes().map(|byte| format!("{byte:02x}")).collect();
    let _ = writeln!(text, "network={{\n\tssid={name}");
    text += &match &wifi.password {
        None => "\tkey_mgmt=NONE\n".to_owned(),
        Some(password) if password.is_key() => format!("\tkey_mgmt=WPA-PSK WPA-PSK-SHA256\n\tpsk={}\n", password.0),
        // WPA2 and WPA3, and protected management frames where the other side has them.
        Some(password) => {
            format!("\tkey_mgmt=WPA-PSK WPA-PSK-SHA256 SAE\n\tieee80211w=1\n\tpsk=\"{}\"\n", password.0)
        }
    };
    text + "}\n"
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::settings::file::read;
    use crate::settings::key::tests::KEY;

    fn made(text: &str) -> Vec<Output> {
        let (settings, problems) = read(text);
        assert_eq!(problems, []);
        let outputs = outputs(&settings);
        assert!(outputs.iter().all(|output| PATHS.contains(&output.path)), "{outputs:?}");
        outputs
    }

    fn text_of<'a>(outputs: &'a [Output], path: &str) -> &'a str {
        &outputs.iter().find(|output| output.path == path).unwrap_or_else(|| panic!("no {path} in {outputs:?}")).text
    }

    #[test]
    fn without_settings_nothing_is_written() {
        assert_eq!(made(""), []);
    }

    #[test]
    fn a_key_opens_the_door_and_answers_to_the_name_and_only_its_owner_reads_it() {
        let outputs = made(&format!("ssh_keys = [\"{KEY}\"]"));
        assert_eq!(outputs.iter().map(|output| output.path).collect::<Vec<_>>(), [KEYS, WIRED_DROP_IN, RESOLVED]);
        assert!(text_of(&outputs, KEYS).ends_with(&format!("\n{KEY}\n")) && outputs[0].mode == 0o600);
        assert!(text_of(&outputs, WIRED_DROP_IN).ends_with("\n[Network]\nMulticastDNS=yes\n"));
    }

    #[test]
    fn a_network_alone_lets_nothing_listen() {
        let outputs = made(
            "time_servers = [\"10.0.0.1\", \"b\"]\n[network]\naddress = \"10.0.0.2/8\"\ngateway = \"10.0.0.1\"\ndns = [\"10.0.0.3\"]",
        );
        assert_eq!(outputs.len(), 2);
        let wired = text_of(&outputs, WIRED);
        assert!(
            wired.ends_with(
                "Kind=!*\n[Link]\nRequiredForOnline=no\n[Network]\nAddress=10.0.0.2/8\nGateway=10.0.0.1\nDNS=10.0.0.3\n"
            ),
            "{wired}"
        );
        assert!(text_of(&outputs, TIME).ends_with("[Time]\nNTP=10.0.0.1 b\nFallbackNTP=\n"));
    }

    #[test]
    fn a_named_port_and_a_chosen_name() {
        let outputs = made("hostname = \"a\"\n[network]\ninterface = \"eth1\"");
        let wired = text_of(&outputs, WIRED);
        for part in ["Name=eth1\n", "DHCP=yes\n", "MulticastDNS=yes\n", "UseHostname=no\n"] {
            assert!(wired.contains(part), "{part} is missing in {wired}");
        }
    }

    #[test]
    fn a_wifi_takes_any_name_and_any_passphrase() {
        let outputs = made("[wifi]\nssid = \"Café \\\"x\\\"\"\npassword = '12\"34\"}78'\ncountry = \"DE\"");
        let text = text_of(&outputs, SUPPLICANT);
        assert!(text.contains("\ncountry=DE\nnetwork={\n\tssid=436166c3a920227822\n"), "{text}");
        assert!(text.contains("\tpsk=\"12\"34\"}78\"\n}"), "{text}");
        assert_eq!(outputs[0].mode, 0o600);
        assert!(text_of(&made("[wifi]\nssid = \"a\""), SUPPLICANT).contains("key_mgmt=NONE"));
        let key = "0123456789abcdef".repeat(4);
        let text = format!("[wifi]\nssid = \"a\"\npassword = \"{key}\"");
        assert!(text_of(&made(&text), SUPPLICANT).contains(&format!("\tpsk={key}\n")));
    }
}
