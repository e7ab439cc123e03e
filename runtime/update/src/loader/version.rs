//! The order of versions, as the boot loader has it: that of the UAPI group's version format specification
//! (<https://uapi-group.org/specifications/specs/version_format_specification/>), which systemd-boot, systemd-sysupdate and
//! `systemd-analyze compare-versions` share.

use std::cmp::Ordering;

/// Compares two versions: the older one is less. Versions may be equal that are not spelled alike, such as `1.02` and `1.2`.
pub fn compare(one: &str, other: &str) -> Ordering {
    let (mut one, mut other) = (one, other);
    loop {
        // What is no part of a version only separates.
        [one, other] = [one, other]
            .map(|rest| rest.trim_start_matches(|c: char| !is_letter(c) && !is_digit(c) && !"~-^.".contains(c)));
        let mut order = separator('~', &mut one, &mut other);
        if order.is_eq() && (one.is_empty() || other.is_empty()) {
            return (!one.is_empty()).cmp(&!other.is_empty());
        }
        for mark in ['-', '^', '.'] {
            order = order.then_with(|| separator(mark, &mut one, &mut other));
        }
        let is_alike = if one.starts_with(is_digit) || other.starts_with(is_digit) { is_digit } else { is_letter };
        let (first, second) = (head(&mut one, is_alike), head(&mut other, is_alike));
        let order = order.then_with(|| {
            if first.starts_with(is_digit) || second.starts_with(is_digit) {
                numbers(first, second)
            } else {
                first.cmp(second)
            }
        });
        if order.is_ne() {
            return order;
        }
    }
}

/// Where one of both has this mark next, it is the older one; where both have it, they go on behind it.
fn separator(mark: char, one: &mut &str, other: &mut &str) -> Ordering {
    match (one.strip_prefix(mark), other.strip_prefix(mark)) {
        (Some(behind), Some(behind_other)) => {
            (*one, *other) = (behind, behind_other);
            Ordering::Equal
        }
        (Some(_), None) => Ordering::Less,
        (None, Some(_)) => Ordering::Greater,
        (None, None) => Ordering::Equal,
    }
}

/// What begins a version, as long as it is alike.
fn head<'a>(rest: &mut &'a str, is_alike: fn(char) -> bool) -> &'a str {
    let (head, behind) = rest.split_at(rest.find(|c| !is_alike(c)).unwrap_or(rest.len()));
    *rest = behind;
    head
}

/// A number is newer than none, and of two that have no zeros in front the one with more digits is larger.
fn numbers(one: &str, other: &str) -> Ordering {
    let [without, other_without] = [one, other].map(|number| number.trim_start_matches('0'));
    (!one.is_empty())
        .cmp(&!other.is_empty())
        .then(without.len().cmp(&other_without.len()))
        .then(without.cmp(other_without))
}

fn is_letter(c: char) -> bool {
    c.is_ascii_alphabetic()
}

fn is_digit(c: char) -> bool {
    c.is_ascii_digit()
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
