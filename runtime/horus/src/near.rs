//! Names that were meant, perhaps: whether what a person typed is nearly the name of something.

/// Whether one name could have been meant for the other: part of it, or a typing error for every three characters away.
pub fn is_near(one: &str, other: &str) -> bool {
    let [one, other] = [one, other].map(str::to_lowercase);
    let allowed = (one.chars().count().min(other.chars().count()) / 3).max(1);
    let (shorter, longer) = if one.len() < other.len() { (&one, &other) } else { (&other, &one) };
    (shorter.len() > 2 && longer.contains(shorter.as_str())) || distance(&one, &other) <= allowed
}

/// The name that was meant, perhaps: the nearest one of those that are near.
pub fn nearest<'a>(typed: &str, names: impl Iterator<Item = &'a str>) -> Option<&'a str> {
    names.filter(|name| is_near(typed, name)).min_by_key(|name| distance(&typed.to_lowercase(), &name.to_lowercase()))
}

/// How many characters must be added, taken out, changed or swapped with the next to make one of the other (optimal string
/// alignment, Damerau 1964).
fn distance(one: &str, other: &str) -> usize {
    let [one, other] = [one, other].map(|name| name.chars().collect::<Vec<_>>());
    let mut rows = vec![vec![0; other.len() + 1]; one.len() + 1];
    for i in 0..=one.len() {
        for j in 0..=other.len() {
            rows[i][j] = match (i, j) {
                (0, _) | (_, 0) => i + j,
                _ => {
                    let changed = rows[i - 1][j - 1] + usize::from(one[i - 1] != other[j - 1]);
                    let swapped = i > 1 && j > 1 && one[i - 1] == other[j - 2] && one[i - 2] == other[j - 1];
                    let swapped = if swapped { rows[i - 2][j - 2] + 1 } else { usize::MAX };
                    changed.min(swapped).min(rows[i - 1][j] + 1).min(rows[i][j - 1] + 1)
                }
            };
        }
    }
    rows[one.len()][other.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn typing_errors_and_parts_are_near_and_other_words_are_not() {
        for (typed, meant) in
            [("arm.mui", "arm.imu"), ("imu", "arm.imu"), ("bse.cmd", "base.cmd"), ("Scan", "scan"), ("ab", "a")]
        {
            assert!(is_near(typed, meant), "{typed}");
        }
        for (typed, other) in [("scan", "imu"), ("base.cmd", "arm.imu"), ("a", "camera.front")] {
            assert!(!is_near(typed, other), "{typed}");
        }
        assert_eq!(distance("kitten", "sitting"), 3);
    }
}
