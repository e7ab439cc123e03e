//! What the boot of an appliance left to tell, in `/run/horus`: whether the data partition is what it was, whether another disk
//! is mixed in, and how earlier boots ended.
//!
//! The units that look after the disk write these files, before anything else runs. They are plain text, so that a shell
//! writes and a person reads them. A file that is missing says that there is nothing to tell, or that this machine is no
//! appliance; the audit tells the two apart (rules D1 and D2).

use std::path::Path;

use serde::{Deserialize, Serialize};

use crate::tree::Tree;

/// State of the data partition: lines `state=`, `reason=`, `device=`, `kept=`.
pub const DATA: &str = "/run/horus/data";

/// Partitions of other disks that carry our labels: lines such as `/dev/sdb2 horus_0.1.0`.
pub(crate) const OTHER_DISKS: &str = "/run/horus/other-disks";

/// The boots before this one, in a row, that ended without a shutdown: one boot identifier a line.
const CUT_BOOTS: &str = "/run/horus/cut-boots";

/// How the kernel of the boot before this one ended, if by a panic: one sentence.
const LAST_WORDS: &str = "/run/horus/last-words";

/// How often emergency mode was entered in the boots before this one: a number.
const EMERGENCIES: &str = "/run/horus/emergencies";

/// What of the boot partition's settings was not used, and why: one sentence a line (`horus settings apply`).
pub const SETTINGS: &str = "/run/horus/settings-problems";

/// How an update of the system stands, or what became of the last one: one sentence (`horus update`).
pub const UPDATE: &str = "/run/horus/update";

/// No file of these is longer, in lines.
const MAX_LINES: usize = 1_000;

/// How many disks or boots are named before the rest is only counted.
const NAMED: usize = 4;

/// Everything that this boot has to tell.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Boot {
    /// State of the data partition; `null` where it was not looked at.
    pub data: Option<Data>,
    /// Partitions of other disks with our labels.
    pub other_disks: Vec<String>,
    /// Earlier boots that ended without a shutdown.
    pub cut_boots: Vec<String>,
    /// How the kernel of the boot before this one ended, where it left last words.
    pub last_words: Option<String>,
    /// How often emergency mode was entered in the boots before this one.
    pub emergencies: u64,
    /// What of the boot partition's settings was not used.
    pub settings: Vec<String>,
    /// How an update of the system stands, where one is on trial or its trial ended in this boot.
    pub update: Option<String>,
}

/// The data partition, as it was found at boot.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Data {
    /// `clean`, `repaired`, `emptied` or `ram`.
    pub state: String,
    /// Why it is not clean: one sentence, or nothing.
    pub reason: String,
    /// The partition's device.
    pub device: String,
    /// Where an image of what was emptied is kept.
    pub kept: Option<String>,
}

impl Boot {
    /// Reads the files of the machine at `root`, a directory or a recording.
    pub fn read(root: &Path) -> Self {
        let Ok(tree) = Tree::open(root) else { return Self::default() };
        let lines = |path: &str| -> Vec<String> {
            let text = tree.text(path).unwrap_or_default();
            text.lines().map(plain).filter(|line| !line.is_empty()).take(MAX_LINES).collect()
        };
        Self {
            data: Data::parse(&lines(DATA)),
            other_disks: lines(OTHER_DISKS),
            cut_boots: lines(CUT_BOOTS),
            last_words: lines(LAST_WORDS).into_iter().next(),
            emergencies: lines(EMERGENCIES).first().and_then(|number| number.parse().ok()).unwrap_or(0),
            settings: lines(SETTINGS),
            update: lines(UPDATE).into_iter().next(),
        }
    }

    /// What is worth telling: a label and a sentence each; nothing after an ordinary boot.
    pub fn lines(&self) -> Vec<(&'static str, String)> {
        let mut lines = Vec::new();
        lines.extend(self.data.as_ref().and_then(Data::sentence).map(|sentence| ("data", sentence)));
        if !self.other_disks.is_empty() {
            let named = named(&self.other_disks);
            let text =
                format!("another disk carries HORUS partitions too: {named}; none of them is used: remove that disk");
            lines.push(("disks", text));
        }
        if !self.cut_boots.is_empty() {
            let (count, named) = (self.cut_boots.len(), named(&self.cut_boots));
            let text = format!("{count} earlier boot(s) ended without a shutdown, by a power cut or a crash: {named}");
            lines.push(("cut boots", text));
        }
        lines.extend(self.last_words.iter().map(|sentence| ("panic", sentence.clone())));
        if self.emergencies > 0 {
            let text = format!(
                "emergency mode was entered {} time(s) in the boots before this one: journalctl --list-boots",
                self.emergencies
            );
            lines.push(("emergency", text));
        }
        lines.extend(self.settings.iter().take(NAMED).map(|problem| ("settings", problem.clone())));
        lines.extend(self.update.iter().map(|sentence| ("update", sentence.clone())));
        lines
    }
}

impl Data {
    fn parse(lines: &[String]) -> Option<Self> {
        let value = |key: &str| {
            let of_line = |line: &String| Some(line.strip_prefix(key)?.strip_prefix('=')?.to_owned());
            lines.iter().find_map(of_line).filter(|value| !value.is_empty())
        };
        Some(Self {
            state: value("state")?,
            reason: value("reason").unwrap_or_default(),
            device: value("device").unwrap_or_default(),
            kept: value("kept"),
        })
    }

    /// What happened to the partition; nothing where it is clean.
    pub fn sentence(&self) -> Option<String> {
        let mut text = match self.state.as_str() {
            "clean" => return None,
            "repaired" => "the data partition was damaged and has been repaired".to_owned(),
            "emptied" => "the data partition was damaged beyond repair and is empty now".to_owned(),
            "ram" => "/var is in RAM: nothing that is stored now survives a restart".to_owned(),
            other => format!("the data partition is in the unknown state '{other}'"),
        };
        if !self.device.is_empty() {
            text += &format!(" ({})", self.device);
        }
        if !self.reason.is_empty() {
            text += &format!("; {}", self.reason.trim_end_matches('.'));
        }
        if let Some(kept) = &self.kept {
            text += &format!("; what it held is kept in {kept}");
        }
        Some(text)
    }
}

/// The first of several, and how many more there are.
fn named(all: &[String]) -> String {
    let first = all.iter().take(NAMED).map(String::as_str).collect::<Vec<_>>().join(", ");
    if all.len() > NAMED { format!("{first}, and {} more", all.len() - NAMED) } else { first }
}

/// A line without control characters: it comes from labels of disks, and goes to terminals.
fn plain(line: &str) -> String {
    line.chars().filter(|character| !character.is_control()).collect::<String>().trim().to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn boot(files: &[(&str, &str)]) -> Boot {
        let root = tempfile::tempdir().unwrap();
        std::fs::create_dir_all(root.path().join("run/horus")).unwrap();
        for (path, text) in files {
            std::fs::write(root.path().join(path.trim_start_matches('/')), text).unwrap();
        }
        Boot::read(root.path())
    }

    #[test]
    fn a_machine_without_these_files_and_a_clean_one_have_nothing_to_tell() {
        assert_eq!(boot(&[]), Boot::default());
        let clean = boot(&[(DATA, "state=clean\nreason=\ndevice=/dev/vda3\n")]);
        assert_eq!(clean.data.as_ref().unwrap().device, "/dev/vda3");
        assert!(clean.lines().is_empty(), "{clean:?}");
    }

    #[test]
    fn every_state_but_clean_is_told_with_its_reason_and_what_was_kept() {
        for (text, told) in [
            ("state=repaired\nreason=a journal was replayed.\n", "has been repaired; a journal was replayed"),
            (
                "state=emptied\nkept=/var/lib/horus/kept.img\ndevice=/dev/sda3\n",
                "empty now (/dev/sda3); what it held is kept in /var/lib/horus/kept.img",
            ),
            (
                "device=/dev/sda3\nstate=ram\nreason=no such partition\n",
                "survives a restart (/dev/sda3); no such partition",
            ),
            ("state=odd\n", "unknown state 'odd'"),
        ] {
            let lines = boot(&[(DATA, text)]).lines();
            let [("data", line)] = &lines[..] else { panic!("{lines:?}") };
            assert!(line.ends_with(told) || line.contains(told), "{line}");
        }
    }

    #[test]
    fn other_disks_cut_boots_and_emergencies_are_counted_and_named() {
        let cut: String = (0..7).map(|number| format!("boot{number}\n")).collect();
        let panic = "the last boot ended by a kernel panic: sysrq triggered crash\n";
        let boot = boot(&[
            (OTHER_DISKS, "/dev/sdb2 horus_0.1.0\n\n"),
            (CUT_BOOTS, &cut),
            (LAST_WORDS, panic),
            (EMERGENCIES, "2\n"),
            (UPDATE, "version 0.2.0 is on trial: boot 1 of 3 is not measured yet\n"),
        ]);
        let labels: Vec<_> = boot.lines().iter().map(|line| line.0).collect();
        assert_eq!(labels, ["disks", "cut boots", "panic", "emergency", "update"]);
        let text = boot.lines().into_iter().map(|line| line.1).collect::<Vec<_>>().join("\n");
        for part in ["/dev/sdb2 horus_0.1.0;", "7 earlier boot(s)", "boot3, and 3 more", panic.trim(), "2 time(s)"] {
            assert!(text.contains(part), "{part} is missing in {text}");
        }
    }

    #[test]
    fn rubbish_neither_stops_the_reader_nor_reaches_a_terminal() {
        let boot = boot(&[
            (DATA, "\u{1b}[31mstate=ram\nstate=\u{1b}[2Jram\n"),
            (EMERGENCIES, "many"),
            (OTHER_DISKS, "\u{7}\n"),
        ]);
        assert_eq!((boot.emergencies, boot.other_disks.len()), (0, 0));
        assert!(!format!("{:?}", boot.lines()).contains("\\u{1b}"));
        let many = "x\n".repeat(5_000);
        let root = tempfile::tempdir().unwrap();
        std::fs::create_dir_all(root.path().join("run/horus")).unwrap();
        std::fs::write(root.path().join("run/horus/cut-boots"), many).unwrap();
        assert_eq!(Boot::read(root.path()).cut_boots.len(), MAX_LINES);
    }
}
