use super::*;
use crate::settings::key::tests::KEY;

/// A file with everything in it.
pub fn full() -> String {
    format!(
        r#"hostname = "arm3"
ssh_keys = ["{KEY}"]
time_servers = ["192.168.1.1", "ntp.example"]

[network]            # the wired one
address = "192.168.1.20/24"
gateway = "192.168.1.1"
dns = ["192.168.1.1", "fd00::1"]

[wifi]
ssid = "lab"
password = "correct horse"
country = "DE"
"#
    )
}

fn problems(text: &str) -> Vec<String> {
    read(text).1.iter().map(ToString::to_string).collect()
}

/// The only problem of a text.
fn problem(text: &str) -> String {
    let problems = problems(text);
    let [one] = &problems[..] else { panic!("{problems:?} of {text}") };
    one.clone()
}

#[test]
fn every_setting_is_read_whatever_the_lines_end_with() {
    for text in [full(), full().replace('\n', "\r\n")] {
        let (settings, problems) = read(&text);
        assert_eq!(problems, []);
        assert_eq!(settings.hostname.as_ref().unwrap().0, "arm3");
        assert_eq!((settings.ssh_keys.len(), settings.time_servers.len()), (1, 2));
        assert_eq!(settings.network.as_ref().unwrap().dns.len(), 2);
        assert_eq!(settings.describe().len(), 6);
        assert!(!settings.describe().join("\n").contains("correct horse"), "a password is never shown");
    }
    assert!(read("").0 == Settings::default() && problems("# nothing\n").is_empty());
}

#[test]
fn a_mistake_costs_its_own_section_and_is_told_with_its_line() {
    for (before, after, line, lost) in [
        ("\"arm3\"", "\"arm 3\"", "1:", "hostname"),
        ("\"arm3\"", "arm3", "1:", "hostname"),
        ("/24\"", "\"", "6:", "network"),
        ("address = \"192.168.1.20/24\"", "address = 192.168.1.20/24", "6:", "network"),
        ("gateway = \"192.168.1.1\"", "gateway = \"192.168.2.1\"", "7:", "network"),
        ("gateway = \"192.168.1.1\"", "gatway = \"192.168.1.1\"", "7:", "network"),
        ("\"correct horse\"", "\"short\"", "12:", "wifi"),
        ("\"correct horse\"", "\"correct horse", "12:", "wifi"),
        ("ssid = \"lab\"\n", "", "10:", "wifi"),
    ] {
        let text = full().replacen(before, after, 1);
        let told = problem(&text);
        assert!(told.starts_with(line) && told.contains(lost), "{told}, of {after}");
        let (settings, whole) = (read(&text).0, read(&full()).0);
        assert_eq!(settings.hostname.is_some(), lost != "hostname", "{told}");
        assert_eq!(settings.network.is_some(), lost != "network", "{told}");
        assert_eq!(settings.wifi.is_some(), lost != "wifi", "{told}");
        assert!(settings.ssh_keys == whole.ssh_keys && settings.time_servers == whole.time_servers, "{told}");
    }
}

#[test]
fn one_bad_key_costs_no_other() {
    let text = format!("ssh_keys = [\n  \"ssh-ed25519 AAAA\",\n  \"{KEY}\",\n]\n");
    assert!(problem(&text).starts_with("2: this ssh-ed25519 key is cut"), "{}", problem(&text));
    assert_eq!(read(&text).0.ssh_keys.len(), 1);
    // A comma that is missing is no reason to lock anybody out.
    let text = format!("ssh_keys = [\n  \"{KEY}\"\n  \"{KEY}\"\n]\nhostname = \"a\"\n");
    let (settings, problems) = read(&text);
    assert!(problems.len() == 1 && settings.hostname.is_some(), "{problems:?}");
}

#[test]
fn a_key_that_is_no_list_and_an_unknown_setting_are_told() {
    assert!(problem(&format!("ssh_keys = \"{KEY}\"")).contains("ssh_keys = [\"…\"]"));
    assert!(problem("host = \"arm3\"\n").starts_with("1: there is no setting 'host' here"));
    assert!(problem("\n[wlan]\nssid = \"a\"\n").starts_with("2: there is no setting 'wlan' here"));
}

#[test]
fn what_would_end_a_line_in_another_programs_file_is_refused() {
    for text in [
        "hostname = \"a\\nb\"",
        "time_servers = [\"a\\nb\"]",
        "[network]\ninterface = \"a\\nb\"",
        "[wifi]\nssid = \"a\"\npassword = \"12345678\\n\"",
        "[wifi]\nssid = \"a\"\ncountry = \"D\\n\"",
    ] {
        let (settings, problems) = read(text);
        assert!(settings == Settings::default() && problems.len() == 1, "{text}: {problems:?}");
    }
}

#[test]
fn rubbish_is_told_and_nothing_of_it_is_used() {
    for text in [
        "[",
        "[[network]]\n",
        "network = 1\n",
        "= 3",
        "\u{0}",
        "ssh_keys = [",
        "[wifi",
        "a.b.c = 1\nhostname = 3\n",
        "wifi = []",
    ] {
        let (settings, problems) = read(text);
        assert!(settings == Settings::default() && !problems.is_empty(), "{text}: {problems:?}");
    }
}

#[test]
fn other_encodings_and_other_files_are_told() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("horus.toml");
    std::fs::write(&path, format!("\u{feff}{}", full())).unwrap();
    assert_eq!(load(&path).ok().unwrap().1, []);
    let utf16: Vec<u8> = full().encode_utf16().flat_map(u16::to_le_bytes).collect();
    for (bytes, told) in [(utf16, "not written as TOML"), (vec![0xff, 0xfe], "UTF-8"), (vec![b'#'; 70_000], "longer")] {
        std::fs::write(&path, bytes).unwrap();
        let said = load(&path).map_or_else(|reason| reason, |(_, problems)| format!("{problems:?}"));
        assert!(said.contains(told), "{said}");
    }
}
