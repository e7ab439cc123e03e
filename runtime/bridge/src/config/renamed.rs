//! Keys of settings that have another name now: a file with an old key is refused, and the new one is named.

use toml::{Table, Value};

use super::ConfigError;

/// The old key and the new one.
const RENAMED: [(&str, &str); 1] = [("policy", "delivery_policy")];

/// Refuses old keys. What is no file of settings at all, its reader tells with the line.
pub fn refuse(text: &str) -> Result<(), ConfigError> {
    match toml::from_str::<Table>(text).ok().and_then(|table| first(&table)) {
        Some((old, new)) => Err(ConfigError::Renamed(format!("`{old}` is called `{new}`: rename it"))),
        None => Ok(()),
    }
}

/// The first old key in a table, or in one of its tables. A table itself may have the name: it is a topic's.
fn first(table: &Table) -> Option<(&'static str, &'static str)> {
    table.iter().find_map(|(key, value)| match value {
        Value::Table(inner) => first(inner),
        _ => RENAMED.into_iter().find(|(old, _)| key == old),
    })
}

#[cfg(test)]
mod tests {
    use super::super::Config;
    use super::super::fleet::Fleet;
    use super::*;

    #[test]
    fn each_old_key_is_refused_and_the_new_one_is_named() {
        let scratch = tempfile::tempdir().unwrap();
        let file = scratch.path().join("settings.toml");
        for text in
            ["[from_ros.imu]\ntopic = \"/imu\"\npolicy = \"latest\"\n", "name = \"robot1\"\npolicy = \"latest\"\n"]
        {
            std::fs::write(&file, text).unwrap();
            for error in [Config::read(&file).unwrap_err(), Fleet::read(&file).unwrap_err()] {
                assert!(error.to_string().contains("`policy` is called `delivery_policy`"), "{error}");
            }
        }
    }

    #[test]
    fn a_topic_may_have_the_name_of_an_old_key() {
        assert!(refuse("[from_ros.policy]\ntopic = \"/policy\"\ndelivery_policy = \"latest\"\n").is_ok());
    }
}
