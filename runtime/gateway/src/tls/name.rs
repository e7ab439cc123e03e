//! The name in a certificate, for the journal: the common name (CN) of its subject.
//!
//! The authority that signed the certificate wrote the name, and rustls has checked that before. It is read by the four rules of
//! DER that are needed for that (X.690): an element is a tag, a length and its content.

const SEQUENCE: u8 = 0x30;
const SET: u8 = 0x31;
const OBJECT: u8 = 0x06;
/// The version, which certificates of version 1 have not.
const VERSION: u8 = 0xa0;
/// `id-at-commonName`, 2.5.4.3 (RFC 5280, appendix A).
const COMMON_NAME: [u8; 3] = [0x55, 0x04, 0x03];
/// UTF8String, PrintableString, IA5String: what certificates write names in today.
const TEXTS: [u8; 3] = [0x0c, 0x13, 0x16];
/// The longest common name of RFC 5280.
const LONGEST: usize = 64;

/// What stands at the beginning: a tag and its content; and what is left.
fn element(bytes: &[u8]) -> Option<(u8, &[u8], &[u8])> {
    let (&[tag, first], rest) = bytes.split_first_chunk()?;
    let (length, rest) = if first < 0x80 {
        (usize::from(first), rest)
    } else {
        // A length of more than four bytes is none of a certificate; one without end is not in DER.
        let digits = usize::from(first & 0x7f);
        let (length, rest) = rest.split_at_checked(digits).filter(|_| (1..=4).contains(&digits))?;
        (length.iter().fold(0, |length, &byte| length << 8 | usize::from(byte)), rest)
    };
    let (content, rest) = rest.split_at_checked(length)?;
    Some((tag, content, rest))
}

/// The content of an element of this tag, and what is left.
fn expect(tag: u8, bytes: &[u8]) -> Option<(&[u8], &[u8])> {
    element(bytes).filter(|&(found, ..)| found == tag).map(|(_, content, rest)| (content, rest))
}

/// The common name of a certificate's subject; of what a journal's line must not have, each character is a `?`.
pub fn common_name(certificate: &[u8]) -> Option<String> {
    let (certificate, _) = expect(SEQUENCE, certificate)?;
    let (mut fields, _) = expect(SEQUENCE, certificate)?;
    if let Some((_version, rest)) = expect(VERSION, fields) {
        fields = rest;
    }
    // Serial number, algorithm, issuer, validity.
    for _ in 0..4 {
        (_, _, fields) = element(fields)?;
    }
    let (mut subject, _) = expect(SEQUENCE, fields)?;
    while let Some((set, rest)) = expect(SET, subject) {
        subject = rest;
        let (attribute, _) = expect(SEQUENCE, set)?;
        let (kind, value) = expect(OBJECT, attribute)?;
        if kind == COMMON_NAME {
            let (tag, text, _) = element(value)?;
            let text = std::str::from_utf8(text).ok().filter(|_| TEXTS.contains(&tag))?;
            let is_plain = |letter: &char| letter.is_alphanumeric() || " ._-@:".contains(*letter);
            return Some(
                text.chars().take(LONGEST).map(|letter| if is_plain(&letter) { letter } else { '?' }).collect(),
            );
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;
    use rcgen::{CertificateParams, DnType, KeyPair};

    fn certificate(names: &[(DnType, &str)]) -> Vec<u8> {
        let mut params = CertificateParams::new(["robot.local".to_owned()]).unwrap();
        params.distinguished_name = rcgen::DistinguishedName::new();
        for (kind, name) in names {
            params.distinguished_name.push(kind.clone(), *name);
        }
        params.self_signed(&KeyPair::generate().unwrap()).unwrap().der().to_vec()
    }

    #[test]
    fn the_name_of_the_subject_is_found_among_others_and_has_nothing_that_a_line_must_not_have() {
        let organisation = (DnType::OrganizationName, "ours");
        for (name, said) in [("laptop", "laptop"), ("a,b=c\n(d)", "a?b?c??d?"), ("Ülkü 2", "Ülkü 2")] {
            let found = common_name(&certificate(&[organisation.clone(), (DnType::CommonName, name)]));
            assert_eq!(found.as_deref(), Some(said));
        }
        let long = "x".repeat(200);
        assert_eq!(common_name(&certificate(&[(DnType::CommonName, &long)])), Some("x".repeat(64)));
        assert_eq!(common_name(&certificate(&[organisation])), None);
    }

    #[test]
    fn what_is_no_certificate_has_no_name_and_harms_nobody() {
        let good = certificate(&[(DnType::CommonName, "laptop")]);
        for length in 0..good.len() {
            let _ = common_name(&good[..length]);
            let mut changed = good.clone();
            changed[length] ^= 0xff;
            let _ = common_name(&changed);
        }
        assert_eq!(common_name(&[SEQUENCE, 0x85, 1, 1, 1, 1, 1]), None);
        assert_eq!(common_name(&[]), None);
    }
}
