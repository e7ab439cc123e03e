//! Axes of a chart: from values to places, and where the marks stand.

use horus_measure::units;
use std::time::Duration;

/// The drawing area of all charts, in units of the SVG; it scales with the page.
pub const WIDTH: f64 = 720.0;
/// Its height.
pub const HEIGHT: f64 = 300.0;
/// Where the area of the data begins on the left.
pub const LEFT: f64 = 64.0;
/// Where it ends on the right.
pub const RIGHT: f64 = WIDTH - 28.0;
/// Where it begins above.
pub const TOP: f64 = 16.0;
/// Where it ends below.
pub const BOTTOM: f64 = HEIGHT - 44.0;

/// A logarithmic scale over whole decades.
#[derive(Clone, Copy, Debug)]
pub struct Log {
    low: f64,
    high: f64,
    from: f64,
    to: f64,
}

impl Log {
    /// From the decade below `least` to the one above `most`, drawn from `from` to `to`.
    pub fn new(least: f64, most: f64, from: f64, to: f64) -> Self {
        let low = least.max(0.1).log10().floor();
        let high = most.max(1.0).log10().ceil().max(low + 1.0);
        Self { low, high, from, to }
    }

    /// The place of a value.
    pub fn at(&self, value: f64) -> f64 {
        let share = (value.max(1e-9).log10() - self.low) / (self.high - self.low);
        self.from + (self.to - self.from) * share.clamp(0.0, 1.0)
    }

    /// The decades.
    pub fn marks(&self) -> Vec<f64> {
        (self.low as i32..=self.high as i32).map(|decade| 10_f64.powi(decade)).collect()
    }
}

/// Whole seconds on a linear scale: at most eight marks at round distances.
pub fn seconds(most: f64) -> Vec<f64> {
    let steps =
        [1.0, 2.0, 5.0, 10.0, 20.0, 30.0, 60.0, 120.0, 300.0, 600.0, 1_800.0, 3_600.0, 7_200.0, 21_600.0, 86_400.0];
    let step = steps.into_iter().find(|step| most / step <= 8.0).unwrap_or(most / 8.0);
    (0..).map(|number| f64::from(number) * step).take_while(|second| *second <= most).collect()
}

/// A time with its unit, as the rest of the program writes it.
pub fn time(ns: f64) -> String {
    units::time(Duration::from_nanos(ns.round() as u64)).replace("us", "µs")
}

/// A line of the grid across the chart with its label on the left.
pub fn horizontal(y: f64, label: &str) -> String {
    format!(
        "<line class=\"grid\" x1=\"{LEFT}\" x2=\"{RIGHT}\" y1=\"{y:.1}\" y2=\"{y:.1}\"/>\
         <text class=\"mark\" x=\"{:.1}\" y=\"{:.1}\" text-anchor=\"end\">{label}</text>",
        LEFT - 6.0,
        y + 4.0
    )
}

/// A line of the grid down the chart with its label below.
pub fn vertical(x: f64, label: &str) -> String {
    format!(
        "<line class=\"grid\" x1=\"{x:.1}\" x2=\"{x:.1}\" y1=\"{TOP}\" y2=\"{BOTTOM}\"/>\
         <text class=\"mark\" x=\"{x:.1}\" y=\"{:.1}\" text-anchor=\"middle\">{label}</text>",
        BOTTOM + 17.0
    )
}

/// The words below the chart.
pub fn caption_below(text: &str) -> String {
    format!(
        "<text class=\"mark\" x=\"{:.1}\" y=\"{:.1}\" text-anchor=\"middle\">{text}</text>",
        (LEFT + RIGHT) / 2.0,
        HEIGHT - 8.0
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_log_scale_covers_whole_decades_and_stays_within_the_chart() {
        let scale = Log::new(2_100.0, 31_000.0, 0.0, 200.0);
        assert_eq!(scale.marks(), [1e3, 1e4, 1e5]);
        assert_eq!(
            [scale.at(1e3), scale.at(1e4), scale.at(1e5), scale.at(0.0), scale.at(1e9)],
            [0.0, 100.0, 200.0, 0.0, 200.0]
        );
        assert_eq!(Log::new(0.0, 0.0, 0.0, 1.0).marks().len(), 2);
    }

    #[test]
    fn seconds_have_few_round_marks() {
        assert_eq!(seconds(16.0), [0.0, 2.0, 4.0, 6.0, 8.0, 10.0, 12.0, 14.0, 16.0]);
        assert!(seconds(7.0 * 86_400.0).len() <= 9 && seconds(0.0) == [0.0]);
        assert_eq!([time(1e3), time(1e6), time(1e9)], ["1 µs", "1 ms", "1 s"]);
    }
}
