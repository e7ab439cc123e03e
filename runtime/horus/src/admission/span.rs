//! How this module prints a length of time: `913 us`, `1.25 ms`.

use std::fmt;
use std::time::Duration;

/// A length of time in the largest unit that it fills, with up to three decimals, rounded up: a bound must not look
/// smaller than it is.
pub(crate) struct Span(pub(crate) Duration);

impl fmt::Display for Span {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let nanos = self.0.as_nanos();
        let (unit, name) = match nanos {
            0..1_000 => return write!(out, "{nanos} ns"),
            1_000..1_000_000 => (1_000, "us"),
            1_000_000..1_000_000_000 => (1_000_000, "ms"),
            _ => (1_000_000_000, "s"),
        };
        let thousandths = nanos.div_ceil(unit / 1_000);
        let decimals = format!("{:03}", thousandths % 1_000);
        match decimals.trim_end_matches('0') {
            "" => write!(out, "{} {name}", thousandths / 1_000),
            decimals => write!(out, "{}.{decimals} {name}", thousandths / 1_000),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_time_is_printed_in_its_unit_and_never_smaller_than_it_is() {
        for (nanos, text) in [
            (0, "0 ns"),
            (999, "999 ns"),
            (1_000, "1 us"),
            (913_000, "913 us"),
            (912_345, "912.345 us"),
            (1_250_000, "1.25 ms"),
            (1_000_001, "1.001 ms"),
            (10_000_000, "10 ms"),
            (60_000_000_000, "60 s"),
        ] {
            assert_eq!(Span(Duration::from_nanos(nanos)).to_string(), text);
        }
    }
}
