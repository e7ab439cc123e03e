//! A straight line through points, by least squares.

/// Where the line meets zero, and how much it rises for each step; `None` for fewer than two different places.
pub fn line_through(points: &[(f64, f64)]) -> Option<(f64, f64)> {
    let count = points.len() as f64;
    let mean_x = points.iter().map(|(x, _)| x).sum::<f64>() / count;
    let mean_y = points.iter().map(|(_, y)| y).sum::<f64>() / count;
    let spread: f64 = points.iter().map(|(x, _)| (x - mean_x).powi(2)).sum();
    let together: f64 = points.iter().map(|(x, y)| (x - mean_x) * (y - mean_y)).sum();
    (spread > 0.0).then(|| (mean_y - together / spread * mean_x, together / spread))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn points_on_a_line_give_that_line() {
        let points: Vec<_> = [1.0, 2.0, 4.0, 32.0].map(|x| (x, 7.0 + 0.5 * x)).into();
        let (base, slope) = line_through(&points).unwrap();
        assert!((base - 7.0).abs() < 1e-9 && (slope - 0.5).abs() < 1e-9);
    }

    #[test]
    fn one_place_is_no_line() {
        assert_eq!((line_through(&[]), line_through(&[(1.0, 2.0), (1.0, 3.0)])), (None, None));
    }
}
