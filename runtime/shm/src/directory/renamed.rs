//! Topics that a program finds under another name than the one it was written with.
//!
//! `HORUS_RENAME=odom=wheels.odom,cmd=base.cmd` has a program that opens `odom` open `wheels.odom`. The variable is read once a process, at
//! the first topic. A name is renamed once: with `a=b,b=a` two topics change places. A [`TopicName`] is the real name.
//!
//! No name of a topic has an `=` or a comma, so nothing has to be quoted.

use std::sync::OnceLock;

use super::{NameError, TopicName};

/// Environment variable with the topics that a program finds under another name: `odom=wheels.odom,cmd=base.cmd`.
pub const RENAME_VARIABLE: &str = "HORUS_RENAME";

/// The pairs, or the word that is none.
type Pairs = Result<Vec<(TopicName, TopicName)>, String>;

/// What a program that says `name` means.
pub(super) fn renamed(name: TopicName) -> Result<TopicName, NameError> {
    static PAIRS: OnceLock<Pairs> = OnceLock::new();
    let pairs = PAIRS.get_or_init(|| parse(&std::env::var_os(RENAME_VARIABLE).unwrap_or_default().to_string_lossy()));
    look_up(pairs, name)
}

fn look_up(pairs: &Pairs, name: TopicName) -> Result<TopicName, NameError> {
    let pairs = pairs.as_ref().map_err(|word| NameError::Rename(word.clone()))?;
    let found = pairs.iter().find(|(from, _)| *from == name);
    Ok(found.map_or(name, |(_, to)| to.clone()))
}

fn parse(text: &str) -> Pairs {
    let mut pairs: Vec<(TopicName, TopicName)> = Vec::new();
    for word in text.split(',').filter(|word| !word.is_empty()) {
        let pair = word.split_once('=').and_then(|(from, to)| Some((from.parse().ok()?, to.parse().ok()?)));
        let (from, to) = pair.ok_or_else(|| word.to_owned())?;
        if pairs.iter().any(|(known, _)| *known == from) {
            return Err(word.to_owned());
        }
        pairs.push((from, to));
    }
    Ok(pairs)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(variable: &str, name: &str) -> Result<String, NameError> {
        look_up(&parse(variable), name.parse().unwrap()).map(|name| name.to_string())
    }

    #[test]
    fn a_name_is_renamed_once_and_others_stay() {
        for (variable, name, real) in [
            ("", "odom", "odom"),
            ("odom=wheels.odom", "odom", "wheels.odom"),
            ("odom=wheels.odom", "imu", "imu"),
            ("a=b,b=a", "a", "b"),
            ("a=b,b=a", "b", "a"),
            ("a=b,b=c,", "a", "b"),
        ] {
            assert_eq!(found(variable, name).unwrap(), real, "{variable}");
        }
    }

    #[test]
    fn what_is_no_pair_is_refused_with_what_to_do() {
        for (variable, word) in
            [("odom", "odom"), ("a=b,c/d=e", "c/d=e"), ("a=", "a="), ("a=b,a=c", "a=c"), ("a=b=c", "a=b=c")]
        {
            let error = found(variable, "imu").unwrap_err().to_string();
            assert!(error.contains(&format!("{word:?}")) && error.contains("odom=wheels.odom"), "{error}");
        }
    }
}
