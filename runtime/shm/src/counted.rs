//! Numbers of things in sentences: "1 publisher", "3 publishers".

/// So many of what `noun` names, whose plural ends with an s.
pub(crate) fn counted(count: usize, noun: &str) -> String {
    format!("{count} {noun}{}", if count == 1 { "" } else { "s" })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_has_no_plural_and_none_has_one() {
        assert_eq!([0, 1, 2].map(|count| counted(count, "publisher")), ["0 publishers", "1 publisher", "2 publishers"]);
    }
}
