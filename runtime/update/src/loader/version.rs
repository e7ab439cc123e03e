//! The order of versions, as the boot loader has it: that of the UAPI group's version format specification
//! (<https://uapi-group.org/specifications/specs/version_format_specification/>), which systemd-boot, systemd-sysupdate and
//! `systemd-analyze compare-versions` share.

use std::cmp::Ordering;

/// A part of a version. The order of the variants is the specification's: `1~rc1` is older than `1`, and that is older than `1-1`, `1^fix` and `1.1`.
#[derive(PartialEq, Eq, PartialOrd, Ord)]
enum Part<'a> {
    Tilde,
    End,
    Dash,
    Caret,
    Dot,
    Letters(&'a str),
    /// How many digits, without leading zeros, and which: of more digits is larger.
    Number(usize, &'a str),
}

/// Compares two versions: the older one is less. Other versions may be equal than those that are spelled alike, such as `1.02` and `1.2`.
pub fn compare(one: &str, other: &str) -> Ordering {
    parts(one).cmp(parts(other))
}

fn parts(mut rest: &str) -> impl Iterator<Item = Part<'_>> {
    let mut is_over = false;
    std::iter::from_fn(move || {
        // What is no part of a version only separates.
        rest = rest.trim_start_matches(|c: char| !c.is_ascii_alphanumeric() && !matches!(c, '~' | '-' | '^' | '.'));
        let Some(first) = rest.chars().next() else {
            return (!std::mem::replace(&mut is_over, true)).then_some(Part::End);
        };
        let is_alike = |c: char| match first {
            '0'..='9' => c.is_ascii_digit(),
            _ => c.is_ascii_alphabetic(),
        };
        let length = rest.find(|c| !is_alike(c)).unwrap_or(rest.len()).max(1);
        let (part, after) = rest.split_at(length);
        rest = after;
        Some(match first {
            '~' => Part::Tilde,
            '-' => Part::Dash,
            '^' => Part::Caret,
            '.' => Part::Dot,
            '0'..='9' => {
                let number = part.trim_start_matches('0');
                Part::Number(number.len(), number)
            }
            _ => Part::Letters(part),
        })
    })
}

#[cfg(test)]
mod tests {
    use std::process::Command;

    use proptest::prelude::*;

    use super::*;

    #[test]
    fn the_order_is_that_of_the_specifications_examples() {
        let ascending = [
            "122.1",
            "123~rc1-1",
            "123",
            "123-a",
            "123-a.1",
            "123-1",
            "123-1.1",
            "123^post1",
            "123.a-1",
            "123.1-1",
            "123a-1",
            "124-1",
        ];
        for (at, one) in ascending.iter().enumerate() {
            for (then, other) in ascending.iter().enumerate() {
                assert_eq!(compare(one, other), at.cmp(&then), "{one} and {other}");
            }
        }
        for (one, other) in [("1.02", "1.2"), ("1_2", "1 2"), ("", "_")] {
            assert_eq!(compare(one, other), Ordering::Equal, "{one} and {other}");
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig { cases: 150, ..ProptestConfig::default() })]

        #[test]
        fn systemd_has_the_same_order(one in "[0-9][0-9a-c.~^_-]{0,6}", other in "[0-9][0-9a-c.~^_-]{0,6}") {
            let said = Command::new("systemd-analyze").args(["compare-versions", &one, &other]).output();
            let said = said.expect("systemd-analyze runs: install the package systemd");
            let said = String::from_utf8(said.stdout).unwrap();
            let sign = match compare(&one, &other) {
                Ordering::Less => '<',
                Ordering::Equal => '=',
                Ordering::Greater => '>',
            };
            prop_assert!(said.contains(sign), "{one} {sign} {other}, and systemd says {said}");
        }
    }
}
