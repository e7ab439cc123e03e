//! Words of `node.toml` that have another name now: a file with an old word is refused, and the new one is named.

use super::file::{Places, line};

/// The old word, the new one, and what it is.
const RENAMED: [(&str, &str, &str); 3] = [
    ("min_gap", "min_inter_arrival", "the minimum inter-arrival time of its events"),
    ("policy", "scheduling_policy", "how the kernel chooses its thread"),
    ("silence", "stale_after", "after how long without a message an input is stale"),
];

/// The line of the first old word of a node, and what it is called now.
pub fn refusal(text: &str) -> Option<String> {
    let places: Places = toml::from_str(text).ok()?;
    places.node.values().find_map(|said| {
        RENAMED.iter().find_map(|(old, new, what)| {
            let line = line(text, said.get(*old)?)?;
            Some(format!("line {line}: `{old}` is called `{new}`: {what}"))
        })
    })
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::super::Settings;
    use super::*;

    #[test]
    fn each_old_word_is_refused_with_its_line_and_the_new_one() {
        for (old, new) in
            [("min_gap", "min_inter_arrival"), ("policy", "scheduling_policy"), ("silence", "stale_after")]
        {
            let text = format!("program = \"balance\"\n[node.control]\nperiod = \"1 ms\"\n{old} = \"1 s\"\n");
            let refused = Settings::parse(Path::new("/n/node.toml"), &text).unwrap_err().to_string();
            assert!(refused.starts_with(&format!("/n/node.toml: line 4: `{old}` is called `{new}`: ")), "{refused}");
            assert_eq!(refusal(&text.replace(old, new)), None);
        }
    }

    #[test]
    fn a_node_or_topic_of_an_old_word_is_none() {
        assert_eq!(refusal("[node.policy]\nperiod = \"1 ms\"\n[topics]\nsilence = \"publish\"\n"), None);
    }
}
