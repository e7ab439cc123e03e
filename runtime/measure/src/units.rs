//! Numbers as people read them: three digits and a unit.

use std::time::Duration;

/// A length of time, rounded up: a time that was measured must not look shorter than it was.
pub fn time(span: Duration) -> String {
    let nanos = span.as_nanos() as f64;
    let units = [(1e9, "s"), (1e6, "ms"), (1e3, "us")];
    match units.into_iter().find(|(unit, _)| nanos >= *unit) {
        Some((unit, name)) => format!("{} {name}", three_digits(nanos / unit)),
        None => format!("{nanos} ns"),
    }
}

/// Three digits that are not below `value`; all of the digits before the point.
fn three_digits(value: f64) -> String {
    let decimals = match value {
        ..10.0 => 2,
        10.0..100.0 => 1,
        _ => 0,
    };
    let scale = 10_f64.powi(decimals);
    // Less than a rounding error of the division: 1.1 ms stays 1.1 ms.
    let rounded = (value * scale * (1.0 - 1e-12)).ceil() / scale;
    let text = format!("{rounded:.*}", decimals as usize);
    if decimals == 0 { text } else { text.trim_end_matches('0').trim_end_matches('.').to_owned() }
}

/// Messages a second.
pub fn rate(per_second: f64) -> String {
    if per_second >= 100.0 { format!("{per_second:.0} /s") } else { format!("{} /s", plain(per_second)) }
}

/// Bytes a second, in units of 1000.
pub fn bytes(per_second: f64) -> String {
    let units = [(1e9, "GB"), (1e6, "MB"), (1e3, "kB")];
    match units.into_iter().find(|(unit, _)| per_second >= *unit) {
        Some((unit, name)) if per_second / unit >= 100.0 => format!("{:.0} {name}", per_second / unit),
        Some((unit, name)) => format!("{} {name}", plain(per_second / unit)),
        None => format!("{per_second:.0} B"),
    }
}

/// One decimal, where there is one.
fn plain(value: f64) -> String {
    let text = format!("{value:.1}");
    text.strip_suffix(".0").map_or(text.clone(), str::to_owned)
}

/// A count: whole up to a million, `3.2e7` above.
pub fn count(count: u64) -> String {
    if count < 1_000_000 { count.to_string() } else { format!("{:.1e}", count as f64) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_time_has_three_digits_and_is_never_shorter_than_it_is() {
        for (nanos, text) in [
            (0, "0 ns"),
            (999, "999 ns"),
            (92_000, "92 us"),
            (91_930, "92 us"),
            (1_100_000, "1.1 ms"),
            (1_231_000, "1.24 ms"),
            (33_333_333, "33.4 ms"),
            (999_999, "1000 us"),
            (10_000_000, "10 ms"),
            (100_000_000, "100 ms"),
            (90_000_000_000, "90 s"),
        ] {
            assert_eq!(time(Duration::from_nanos(nanos)), text);
        }
    }

    #[test]
    fn rates_bytes_and_counts_read_as_on_the_screen() {
        assert_eq!([0.0, 9.96, 99.9, 1_000.4].map(rate), ["0 /s", "10 /s", "99.9 /s", "1000 /s"]);
        assert_eq!([0.0, 900.0, 304_000.0, 1_230_000.0, 5e9].map(bytes), ["0 B", "900 B", "304 kB", "1.2 MB", "5 GB"]);
        assert_eq!([0, 999_999, 32_000_000].map(count), ["0", "999999", "3.2e7"]);
    }
}
