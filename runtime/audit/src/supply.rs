//! What a system is made of, who answers for it and until when: os-release, and the list of parts that the image's builder wrote.

use serde::Deserialize;

use crate::{Tree, Unread};

/// The list of parts of the appliance, in the form of CycloneDX 1.6 (<https://cyclonedx.org/docs/1.6/json/>).
pub const PARTS: &str = "/usr/share/horus/sbom.cdx.json";

/// A package, or a crate that a program was built of.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
pub struct Part {
    #[serde(rename = "type", default)]
    kind: String,
    /// Its name where it comes from.
    pub name: String,
    /// Its version there.
    #[serde(default)]
    pub version: String,
    /// Its address as a package (<https://github.com/package-url/purl-spec>), empty for our own.
    #[serde(default)]
    pub purl: String,
}

impl Part {
    /// Whether it is a crate, and no package of the distribution.
    #[must_use]
    pub fn is_crate(&self) -> bool {
        self.purl.is_empty() || self.purl.starts_with("pkg:cargo/")
    }

    /// Whether it is a part, and not the distribution that packages are of.
    fn is_in_it(&self) -> bool {
        self.kind != "operating-system"
    }

    /// Whether its name, or that of the source that it was built of, has `word` in it.
    fn is_about(&self, word: &str) -> bool {
        // `upstream=openssl%403.5.1`: its version begins behind the @.
        let upstream =
            self.purl.split_once("upstream=").map_or("", |(_, rest)| rest.split(['&', '%']).next().unwrap_or(rest));
        [&self.name, upstream].iter().any(|name| name.to_lowercase().contains(&word.to_lowercase()))
    }
}

#[derive(Deserialize)]
struct List {
    #[serde(rename = "bomFormat")]
    format: String,
    #[serde(default)]
    components: Vec<Part>,
}

/// What a system says of itself. What it does not say is empty.
#[derive(Debug)]
pub struct Supply {
    /// Name and version of the system (`IMAGE_ID`, `IMAGE_VERSION`, or `PRETTY_NAME`).
    pub system: String,
    /// What the distribution's packages are of (`PRETTY_NAME`).
    pub of: String,
    /// Who made the image (`VENDOR_NAME`).
    pub vendor: String,
    /// The last day with security updates, as 2031-12-31 (`SUPPORT_END`).
    pub support_end: String,
    /// Where vulnerabilities are reported (`HORUS_SECURITY_CONTACT`).
    pub contact: String,
    /// Its parts, or why they are not known.
    pub parts: Result<Vec<Part>, String>,
}

impl Supply {
    /// Reads it.
    ///
    /// # Errors
    /// When the system has no readable os-release.
    pub fn read(tree: &Tree) -> Result<Self, Unread> {
        let release = tree.text("/etc/os-release").or_else(|_| tree.text("/usr/lib/os-release"))?;
        let value = |key: &str| {
            let found = release.lines().find_map(|line| line.strip_prefix(key)?.strip_prefix('='));
            found.unwrap_or_default().trim_matches(['"', '\'']).to_owned()
        };
        let (id, version, of) = (value("IMAGE_ID"), value("IMAGE_VERSION"), value("PRETTY_NAME"));
        let parts = tree.text(PARTS).map_err(|Unread(reason)| reason).and_then(|text| {
            let list: List = serde_json::from_str(&text).map_err(|error| format!("{PARTS} cannot be read: {error}"))?;
            let is_one = list.format == "CycloneDX";
            is_one
                .then_some(list.components.into_iter().filter(Part::is_in_it).collect())
                .ok_or_else(|| format!("{PARTS} is no list of CycloneDX"))
        });
        Ok(Self {
            system: if id.is_empty() { of.clone() } else { format!("{id} {version}") },
            of,
            vendor: value("VENDOR_NAME"),
            support_end: value("SUPPORT_END"),
            contact: value("HORUS_SECURITY_CONTACT"),
            parts,
        })
    }

    /// Whether it is supported on the day `today`, as 2026-11-29, and says all that its user has to know.
    #[must_use]
    pub fn is_sound(&self, today: &str) -> bool {
        // Dates of this form are in the order of their texts.
        self.parts.is_ok()
            && !self.contact.is_empty()
            && is_day(&self.support_end)
            && today <= self.support_end.as_str()
    }

    /// For people: a line each.
    #[must_use]
    pub fn text(&self, today: &str) -> String {
        let or = |value: &str, absent: &str| if value.is_empty() { absent.to_owned() } else { value.to_owned() };
        let parts = match &self.parts {
            Err(reason) => format!("not known: {reason}"),
            Ok(parts) => {
                let crates = parts.iter().filter(|part| part.is_crate()).count();
                format!("{} packages of {}, {crates} crates: {PARTS} (CycloneDX 1.6)", parts.len() - crates, self.of)
            }
        };
        let support = match self.support_end.as_str() {
            end if !is_day(end) => {
                "no day is set: who builds the image sets support_until in conf/image.toml".to_owned()
            }
            end if today <= end => format!("security updates until {end}"),
            end => format!("ended on {end}: ask the vendor for a version that is supported"),
        };
        let contact = or(&self.contact, "no address is set: who builds the image sets security in conf/image.toml");
        [
            ("system", &self.system),
            ("parts", &parts),
            ("vendor", &or(&self.vendor, "none is set: who builds the image sets name in conf/image.toml")),
            ("support", &support),
            ("report a vulnerability to", &contact),
        ]
        .iter()
        .map(|(what, said)| format!("{what:26}{said}\n"))
        .collect()
    }

    /// The parts whose name, or that of their source, has `word` in it, a line each.
    ///
    /// # Errors
    /// When the parts are not known, in words.
    pub fn search(&self, word: &str) -> Result<Vec<String>, String> {
        let parts = self.parts.as_ref().map_err(Clone::clone)?;
        let line = |part: &Part| {
            let what = if part.purl.is_empty() { "of this image's builder" } else { part.purl.as_str() };
            format!("{} {}  {what}", part.name, part.version)
        };
        Ok(parts.iter().filter(|part| part.is_about(word)).map(line).collect())
    }
}

/// Whether it is written as 2031-12-31.
fn is_day(text: &str) -> bool {
    let is_right = |(at, byte): (usize, u8)| if at == 4 || at == 7 { byte == b'-' } else { byte.is_ascii_digit() };
    text.len() == 10 && text.bytes().enumerate().all(is_right)
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    const RELEASE: &str = "PRETTY_NAME=\"Debian 13\"\nIMAGE_ID=horus\nIMAGE_VERSION=\"0.2.0\"\nVENDOR_NAME='Robots'\nSUPPORT_END=2031-12-31\n\
                           HORUS_SECURITY_CONTACT=security@example.com\n";
    const LIST: &str = r#"{"bomFormat": "CycloneDX", "components": [{"type": "operating-system", "name": "debian", "version": "13"},
        {"name": "libssl3t64", "version": "3.5.1-1", "purl": "pkg:deb/debian/libssl3t64@3.5.1-1?arch=amd64&upstream=openssl%403.5.1-1"},
        {"name": "ring", "version": "0.17.14", "purl": "pkg:cargo/ring@0.17.14"}, {"name": "horus-cli", "version": "0.1.0"}]}"#;

    fn supply(release: &str, list: Option<&str>) -> Supply {
        let root = tempfile::tempdir().unwrap();
        fs::create_dir_all(root.path().join("usr/share/horus")).unwrap();
        fs::create_dir_all(root.path().join("usr/lib")).unwrap();
        fs::write(root.path().join("usr/lib/os-release"), release).unwrap();
        if let Some(list) = list {
            fs::write(root.path().join(&PARTS[1..]), list).unwrap();
        }
        Supply::read(&Tree::open(root.path()).unwrap()).unwrap()
    }

    #[test]
    fn a_system_says_what_it_is_made_of_and_until_when_it_is_supported() {
        let supply = supply(RELEASE, Some(LIST));
        let text = supply.text("2026-11-29");
        for line in
            ["horus 0.2.0", "1 packages of Debian 13, 2 crates", "Robots", "until 2031-12-31", "security@example.com"]
        {
            assert!(text.contains(line), "{line}: {text}");
        }
        assert!(supply.is_sound("2031-12-31"));
        assert!(!supply.is_sound("2032-01-01"));
        assert!(supply.text("2032-01-01").contains("ended on 2031-12-31"));
    }

    #[test]
    fn what_is_not_said_is_no_sound_supply_and_says_who_sets_it() {
        for (release, list, part) in [
            (RELEASE.replace("SUPPORT_END", "OTHER"), Some(LIST), "no day is set"),
            (RELEASE.replace("2031-12-31", "20311231"), Some(LIST), "no day is set"),
            (RELEASE.replace("HORUS_SECURITY", "OTHER"), Some(LIST), "no address is set"),
            (RELEASE.to_owned(), None, "sbom.cdx.json does not exist"),
            (RELEASE.to_owned(), Some("[]"), "cannot be read"),
            (RELEASE.to_owned(), Some("{\"bomFormat\": \"other\"}"), "is no list"),
        ] {
            let supply = supply(&release, list);
            assert!(supply.text("2026-11-29").contains(part), "{part}: {}", supply.text("2026-11-29"));
            assert!(!supply.is_sound("2026-11-29"), "{part}");
        }
    }

    #[test]
    fn a_part_is_found_by_its_name_and_by_its_source() {
        let supply = supply(RELEASE, Some(LIST));
        assert_eq!(supply.search("OpenSSL").unwrap().len(), 1);
        assert_eq!(supply.search("ring").unwrap(), ["ring 0.17.14  pkg:cargo/ring@0.17.14"]);
        assert_eq!(supply.search("horus-cli").unwrap(), ["horus-cli 0.1.0  of this image's builder"]);
        for absent in ["log4j", "3.5", "40", "debian"] {
            assert!(supply.search(absent).unwrap().is_empty(), "{absent}");
        }
    }
}
