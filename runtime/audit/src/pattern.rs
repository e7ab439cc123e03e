//! Text patterns with `*` and `?`, for file paths and values: all that rules need, without an expression language.

/// Whether all of `text` matches `pattern`: `*` stands for any run of characters, `?` for one.
///
/// Linear in the text for each star, whatever the pattern.
pub fn matches(pattern: &str, text: &str) -> bool {
    let (pattern, text): (Vec<char>, Vec<char>) = (pattern.chars().collect(), text.chars().collect());
    let (mut at, mut read) = (0, 0);
    // Where to go back to when a guess about the last star was wrong: the pattern after it, and the text it spans.
    let mut retry: Option<(usize, usize)> = None;
    while read < text.len() {
        match (pattern.get(at), retry) {
            (Some('*'), _) => {
                retry = Some((at + 1, read));
                at += 1;
            }
            (Some(wanted), _) if *wanted == '?' || *wanted == text[read] => {
                at += 1;
                read += 1;
            }
            (_, Some((after_star, spanned))) => {
                retry = Some((after_star, spanned + 1));
                (at, read) = (after_star, spanned + 1);
            }
            (_, None) => return false,
        }
    }
    pattern[at..].iter().all(|rest| *rest == '*')
}

/// Whether `text` holds a character that [`matches()`] treats specially.
pub fn is_pattern(text: &str) -> bool {
    text.contains(['*', '?'])
}

/// Sorts names as people do: `cpu2` before `cpu10`.
pub fn natural_order(left: &str, right: &str) -> std::cmp::Ordering {
    let key = |text: &str| -> Vec<(u64, String)> {
        let mut parts = vec![(0u64, String::new())];
        for character in text.chars() {
            let last = parts.len() - 1;
            match character.to_digit(10) {
                Some(digit) if parts[last].1.is_empty() => {
                    parts[last].0 = parts[last].0.saturating_mul(10).saturating_add(digit.into());
                }
                Some(digit) => parts.push((digit.into(), String::new())),
                None => parts[last].1.push(character),
            }
        }
        parts
    };
    key(left).cmp(&key(right)).then_with(|| left.cmp(right))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stars_span_any_run_and_question_marks_one_character() {
        for (pattern, text) in
            [("", ""), ("*", ""), ("a*c", "abbc"), ("*RT*", "SMP PREEMPT_RT x"), ("a?", "ab"), ("*ab", "aab")]
        {
            assert!(matches(pattern, text), "{pattern} {text}");
        }
        for (pattern, text) in
            [("", "a"), ("a*c", "abcd"), ("?", ""), ("*RT*", "SMP PREEMPT_DYNAMIC"), ("migration/*", "xmigration/1")]
        {
            assert!(!matches(pattern, text), "{pattern} {text}");
        }
    }

    #[test]
    fn numbers_sort_by_value() {
        let mut names = vec!["cpu10", "cpu2", "cpu", "a"];
        names.sort_by(|left, right| natural_order(left, right));
        assert_eq!(names, ["a", "cpu", "cpu2", "cpu10"]);
    }
}
