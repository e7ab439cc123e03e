//! `horus greeting`: what the console greets with, at most 80 columns wide: which machine this is, how it does, what to type.

use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use horus_audit::boot::Boot;
use horus_evidence::measure::machine;
use horus_evidence::record::destination::{DEFAULT_DIRECTORY, RAM_DIRECTORY};
use horus_evidence::record::schema::Report;
use horus_evidence::report::newest::{Run, newest};
use horus_evidence::view::text;
use nix::ifaddrs::{InterfaceAddress, getifaddrs};
use nix::net::if_::InterfaceFlags;

/// Columns of a console that was not made wider.
const WIDTH: usize = 80;

/// What to type, and what for.
const COMMANDS: [(&str, &str); 3] = [
    ("journalctl -u horus-determinism", "what was measured in this boot"),
    ("horus doctor", "what is wrong here, and what to do about it"),
    ("horus report", "the newest report on one screen"),
];

/// Where a machine's name stands: firmware of a PC, device tree of a board.
const MODELS: [&str; 2] = ["sys/class/dmi/id/product_name", "proc/device-tree/model"];

/// Command line of `horus greeting`.
#[derive(clap::Args)]
pub struct Args {
    /// Read everything but the network below this directory
    #[arg(long, value_name = "DIR", default_value = "/", hide = true)]
    root: PathBuf,
}

/// What the greeting is made of.
struct Facts {
    model: String,
    image: String,
    kernel: String,
    addresses: Vec<String>,
    /// The machine's name and the fingerprint of its host key, where a user may log in.
    ssh: Option<(String, String)>,
    boot: Boot,
    /// This boot's report, or how its run stands.
    report: Result<Box<Report>, Run>,
}

/// Runs the command.
pub fn run(args: &Args) -> ExitCode {
    // A reader that closes the pipe early has what it wanted.
    let _ = std::io::stdout().write_all(Facts::read(&args.root).text().as_bytes());
    ExitCode::SUCCESS
}

impl Facts {
    fn read(root: &Path) -> Self {
        let file = |name: &str| std::fs::read_to_string(root.join(name)).unwrap_or_default();
        let model = MODELS.iter().map(|name| plain(&file(name))).find(|model| !model.is_empty());
        let directories = [RAM_DIRECTORY, DEFAULT_DIRECTORY].map(|path| root.join(path.trim_start_matches('/')));
        let newest = newest(&[&directories[0], &directories[1]], &machine::boot_id(root));
        let report = match newest {
            Ok(found) if found.is_of_this_boot => Ok(Box::new(found.report)),
            _ => Err(Run::of_this_boot()),
        };
        let fingerprint = plain(&file("run/horus/ssh/fingerprint"));
        let ssh = (!fingerprint.is_empty()).then(|| (plain(&file("proc/sys/kernel/hostname")), fingerprint));
        Self {
            model: model.unwrap_or_else(|| "an unknown machine".to_owned()),
            image: machine::image_of(root),
            kernel: plain(&file("proc/sys/kernel/osrelease")),
            addresses: addresses(getifaddrs().into_iter().flatten()),
            ssh,
            boot: Boot::read(root),
            report,
        }
    }

    fn text(&self) -> String {
        let mut lines = vec![format!("{} on {}", plain(&self.image), self.model)];
        let mut add = |label: &str, text: &str| lines.push(format!(" {label:<10} {text}"));
        add("kernel", &self.kernel);
        let network = if self.addresses.is_empty() { "no network".to_owned() } else { self.addresses.join(", ") };
        add("network", &network);
        if let Some((name, fingerprint)) = &self.ssh {
            add("log in", &format!("ssh root@{name}.local"));
            add("host key", fingerprint);
        }
        for (label, sentence) in self
            .boot
            .lines()
            .iter()
            .filter(|(label, _)| matches!(*label, "data" | "disks" | "panic" | "settings" | "update"))
        {
            add(label, sentence);
        }
        match &self.report {
            Ok(report) => {
                let audit = &report.audit;
                add("verdict", &text::verdict_sentence(report));
                add("audit", &format!("{}/100: {} fatal, {} high", audit.score, audit.fatal, audit.high));
            }
            Err(Run::NotYet) => add("verdict", "not measured yet"),
            Err(Run::Measuring) => add("verdict", "not measured yet: the run is under way"),
            Err(Run::Failed(result)) => add("verdict", &format!("not measured: the run failed ({result})")),
        }
        lines.extend(COMMANDS.map(|(command, purpose)| format!(" {command:<32} {purpose}")));
        lines.iter().map(|line| fitted(line) + "\n").collect()
    }
}

/// Each interface that is up with its addresses, but for those that only the machine itself or the cable can use.
fn addresses(interfaces: impl Iterator<Item = InterfaceAddress>) -> Vec<String> {
    let usable =
        |flags: InterfaceFlags| flags.contains(InterfaceFlags::IFF_UP) && !flags.contains(InterfaceFlags::IFF_LOOPBACK);
    let address = |interface: InterfaceAddress| {
        let address = interface.address?;
        let v4 = address.as_sockaddr_in().map(|v4| v4.ip().to_string());
        let v6 = || address.as_sockaddr_in6().map(|v6| v6.ip()).filter(|ip| !ip.is_unicast_link_local());
        let ip = v4.or_else(|| v6().map(|ip| ip.to_string()))?;
        Some(format!("{} {ip}", interface.interface_name))
    };
    interfaces.filter(|interface| usable(interface.flags)).filter_map(address).collect()
}

/// Text of firmware on one line, without what would steer a terminal.
fn plain(text: &str) -> String {
    let line = text.trim_matches(|end: char| end.is_control() || end.is_whitespace());
    line.chars().map(|character| if character.is_control() { ' ' } else { character }).collect()
}

/// A line that fits the console.
fn fitted(line: &str) -> String {
    match line.char_indices().nth(WIDTH) {
        Some(_) => line.chars().take(WIDTH - 1).collect::<String>() + "…",
        None => line.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use horus_audit::boot::Data;
    use horus_evidence::record::{sample, store};

    fn facts() -> Facts {
        Facts {
            model: "Raspberry Pi 5 Model B Rev 1.0".to_owned(),
            image: "horus 0.1.0".to_owned(),
            kernel: "6.12.48-rt-amd64".to_owned(),
            addresses: Vec::new(),
            ssh: None,
            boot: Boot::default(),
            report: Err(Run::NotYet),
        }
    }

    #[test]
    fn the_greeting_before_the_first_measurement() {
        let expected = "\
horus 0.1.0 on Raspberry Pi 5 Model B Rev 1.0
 kernel     6.12.48-rt-amd64
 network    no network
 verdict    not measured yet
 journalctl -u horus-determinism  what was measured in this boot
 horus doctor                     what is wrong here, and what to do about it
 horus report                     the newest report on one screen
";
        assert_eq!(facts().text(), expected);
    }

    #[test]
    fn a_measured_machine_with_a_bad_disk_and_long_names_fits_on_the_console() {
        let data = Data { state: "ram".to_owned(), reason: "no such partition".repeat(9), ..Data::default() };
        let panic = "the last boot ended by a kernel panic: sysrq triggered crash. Its last words: /var/lib/horus/last-words/b0";
        let facts = Facts {
            model: "Ä".repeat(200),
            addresses: (0..9).map(|number| format!("eth{number} 192.168.100.{number}")).collect(),
            boot: Boot { data: Some(data), last_words: Some(panic.to_owned()), ..Boot::default() },
            report: Ok(Box::new(sample::report("b0"))),
            ..facts()
        };
        let text = facts.text();
        assert!(text.lines().count() <= 10, "{text}");
        assert!(text.lines().all(|line| line.chars().count() <= WIDTH), "{text}");
        for part in [
            " network    eth0 192.168.100.0, ",
            " data       /var is in RAM",
            " panic      the last boot ended by a kernel panic: sysrq triggered",
            " verdict    PASS: no deadline was missed\n",
            " audit      90/100: 0 fatal, 1 high\n",
        ] {
            assert!(text.contains(part), "{part} is missing in {text}");
        }
    }

    #[test]
    fn everything_is_read_from_the_machine_and_a_report_of_another_boot_is_none() {
        let root = tempfile::tempdir().unwrap();
        let write = |name: &str, text: &str| {
            let path = root.path().join(name);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, text).unwrap();
        };
        write("proc/device-tree/model", "Raspberry\u{1b}[2J Pi 5\0");
        write("proc/sys/kernel/osrelease", "6.12.9-rt\n");
        write("proc/sys/kernel/random/boot_id", "b0\n");
        write("etc/os-release", "IMAGE_ID=horus\nIMAGE_VERSION=0.1.0\n");
        write("run/horus/data", "state=emptied\n");
        write("run/horus/ssh/fingerprint", "SHA256:abc\n");
        write("proc/sys/kernel/hostname", "arm3\n");
        write("run/horus/settings-problems", "horus.toml:3: no\n");
        let reports = root.path().join("var/lib/horus/reports");
        std::fs::create_dir_all(&reports).unwrap();
        store::store(&reports, &sample::report("b9")).unwrap();
        let text = Facts::read(root.path()).text();
        assert!(text.starts_with("horus 0.1.0 on Raspberry [2J Pi 5\n kernel     6.12.9-rt\n network    "), "{text}");
        for line in [" log in     ssh root@arm3.local\n", " host key   SHA256:abc\n", " settings   horus.toml:3: no\n"]
        {
            assert!(text.contains(line), "{line} is missing in {text}");
        }
        assert!(text.contains("is empty now") && text.contains("not measured"), "{text}");
        store::store(&reports, &sample::report("b0")).unwrap();
        let text = Facts::read(root.path()).text();
        assert!(text.contains(" verdict    PASS"), "{text}");
    }
}
