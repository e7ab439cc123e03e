//! Names of users and groups, for people; numbers where there is none.
//!
//! Reads `/etc/passwd` and `/etc/group` only: accounts of a directory service stay numbers.

use std::path::Path;

/// The name of user `id`.
pub fn user(id: u32) -> String {
    name(Path::new("/etc/passwd"), id)
}

/// The name of group `id`.
pub fn group(id: u32) -> String {
    name(Path::new("/etc/group"), id)
}

/// Both files have a name, something, and the number, between colons.
fn name(file: &Path, id: u32) -> String {
    let number = id.to_string();
    let lines = std::fs::read_to_string(file).unwrap_or_default();
    let of_this_id = |line: &&str| line.split(':').nth(2) == Some(&number);
    let found = lines.lines().find(of_this_id).and_then(|line| line.split(':').next()).map(str::to_owned);
    found.unwrap_or(number)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_account_has_its_name_or_else_its_number() {
        let file = tempfile::NamedTempFile::new().unwrap();
        std::fs::write(file.path(), "root:x:0:0:root:/root:/bin/sh\nbroken\nhorus:x:990:\n").unwrap();
        assert_eq!(name(file.path(), 0), "root");
        assert_eq!(name(file.path(), 990), "horus");
        assert_eq!(name(file.path(), 99), "99");
        assert_eq!(name(Path::new("/nowhere"), 0), "0");
    }
}
