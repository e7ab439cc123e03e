//! A line of an SSH public key file: `ssh-ed25519 AAAA… name`. A key that was cut when it was copied locks its owner out, so it is looked into.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use serde::Deserialize;

/// The kinds of keys that sshd takes, by the names in their own first field (RFC 4253 6.6, RFC 5656, RFC 8709, and OpenSSH's PROTOCOL.u2f).
const KINDS: [&str; 7] = [
    "ssh-ed25519",
    "ssh-rsa",
    "ecdsa-sha2-nistp256",
    "ecdsa-sha2-nistp384",
    "ecdsa-sha2-nistp521",
    "sk-ssh-ed25519@openssh.com",
    "sk-ecdsa-sha2-nistp256@openssh.com",
];

/// A public key, as a line of an `authorized_keys` file.
#[derive(Clone, Debug, Deserialize, PartialEq, Eq)]
#[serde(try_from = "String")]
pub struct SshKey {
    line: String,
}

impl SshKey {
    /// The line itself.
    pub fn line(&self) -> &str {
        &self.line
    }

    /// Its kind and its owner's name for it.
    pub fn name(&self) -> String {
        let mut words = self.line.splitn(3, ' ');
        let kind = words.next().unwrap_or_default();
        words.nth(1).map_or_else(|| kind.to_owned(), |name| format!("{kind} {name}"))
    }
}

impl TryFrom<String> for SshKey {
    type Error = String;

    fn try_from(text: String) -> Result<Self, String> {
        let line = text.trim();
        if line.contains("PRIVATE KEY") {
            return Err(
                "this is a private key, which no other person may have: make a new pair (ssh-keygen -t ed25519), and write the public one, of the file that ends in .pub"
                    .to_owned(),
            );
        }
        if line.chars().any(char::is_control) {
            return Err("a key is one line: write each key as a text of its own".to_owned());
        }
        let mut words = line.split(' ').filter(|word| !word.is_empty());
        let kind = words.next().unwrap_or_default();
        if !KINDS.contains(&kind) {
            return Err(format!(
                "a key begins with its kind, such as ssh-ed25519, and not with '{}': copy the whole line of the file that ends in .pub",
                kind.chars().take(40).collect::<String>()
            ));
        }
        let body = words.next().and_then(|word| STANDARD.decode(word).ok()).unwrap_or_default();
        if fields(&body).is_none_or(|fields| fields.len() < 2 || fields[0] != kind.as_bytes()) {
            return Err(format!(
                "this {kind} key is cut or changed: copy the whole line of the file that ends in .pub again"
            ));
        }
        Ok(Self { line: line.to_owned() })
    }
}

/// The fields of a key, each of which has its length before it (RFC 4251, 5); nothing unless they end where the key does.
fn fields(mut body: &[u8]) -> Option<Vec<&[u8]>> {
    let mut fields = Vec::new();
    while !body.is_empty() {
        let (length, rest) = body.split_first_chunk::<4>()?;
        let (field, rest) = rest.split_at_checked(usize::try_from(u32::from_be_bytes(*length)).ok()?)?;
        fields.push(field);
        body = rest;
    }
    Some(fields)
}

#[cfg(test)]
pub mod tests {
    use super::*;

    /// A key that was made for this test; its other half is gone.
    pub const KEY: &str = "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAII31cyfnz/Qi4MTQ6s4ES8YmxDx4WtsxL7GAnI4n88/x me@laptop";

    fn refused(text: &str) -> String {
        SshKey::try_from(text.to_owned()).unwrap_err()
    }

    #[test]
    fn a_public_key_is_taken_with_and_without_its_name() {
        let key = SshKey::try_from(format!(" {KEY}\n")).unwrap();
        assert_eq!((key.line(), key.name().as_str()), (KEY, "ssh-ed25519 me@laptop"));
        let bare = KEY.trim_end_matches(" me@laptop");
        assert_eq!(SshKey::try_from(bare.to_owned()).unwrap().name(), "ssh-ed25519");
    }

    #[test]
    fn a_key_that_would_lock_its_owner_out_is_refused_with_the_remedy() {
        let body = KEY.split(' ').nth(1).unwrap();
        for text in [
            &KEY[..70],
            &KEY.replace("NTE5AAAAI", "NTE5AAAAJ"),
            &format!("ssh-rsa {body}"),
            "ssh-ed25519",
            "ssh-ed25519 AAAA",
        ] {
            assert!(refused(text).contains("cut or changed"), "{text}");
        }
        assert!(refused("-----BEGIN OPENSSH PRIVATE KEY-----").contains("make a new pair"));
        assert!(refused("me@laptop").contains("ends in .pub"));
        assert!(refused(&format!("command=\"x\" {KEY}")).contains("ends in .pub"));
        assert!(refused(&format!("{KEY}\n{KEY}")).contains("one line"));
    }
}
