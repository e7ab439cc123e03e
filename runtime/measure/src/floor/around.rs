//! The floors around a measurement: did the CPUs stay where they were?
//!
//! A hypervisor moves its virtual CPUs between cores of the host, and the time of a cache line moves with them, up to
//! fourfold. What was measured between two floors that differ was measured on two machines, so to say.

/// Median times of one cache line, one way, in nanoseconds.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Floors {
    /// Just before the measurement.
    pub before_ns: f64,
    /// Just after it.
    pub after_ns: f64,
}

impl Floors {
    /// How many times the lower one the higher one is: 1 or more.
    pub fn apart(&self) -> f64 {
        self.before_ns.max(self.after_ns) / self.lower_ns()
    }

    /// The lower one. A disturbance only ever raises a floor.
    pub fn lower_ns(&self) -> f64 {
        self.before_ns.min(self.after_ns)
    }

    /// The mean of both.
    pub fn mean_ns(&self) -> f64 {
        f64::midpoint(self.before_ns, self.after_ns)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_order_of_both_makes_no_difference() {
        for (before_ns, after_ns) in [(60.0, 90.0), (90.0, 60.0)] {
            let floors = Floors { before_ns, after_ns };
            assert_eq!((floors.apart(), floors.lower_ns(), floors.mean_ns()), (1.5, 60.0, 75.0));
        }
    }
}
