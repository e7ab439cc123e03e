//! The clock of messages here (CLOCK_MONOTONIC) and that of ROS 2's stamps (CLOCK_REALTIME): what lies between them.

use rustix::time::{ClockId, clock_gettime};

/// What has to be added to a monotonic time to have the time of day, nanoseconds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Offset(pub i64);

/// A stamp of ROS: seconds since 1970, and nanoseconds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Time {
    /// Seconds.
    pub sec: i32,
    /// Nanoseconds of the second.
    pub nanosec: u32,
}

const SECOND: i64 = 1_000_000_000;

impl Offset {
    /// As it is now. The time of day may be set at any moment, so ask again now and then.
    pub fn now() -> Self {
        let ns = |clock| {
            let now = clock_gettime(clock);
            now.tv_sec * SECOND + now.tv_nsec
        };
        let (before, day, after) = (ns(ClockId::Monotonic), ns(ClockId::Realtime), ns(ClockId::Monotonic));
        Self(day - (before + (after - before) / 2))
    }

    /// The stamp of ROS for a monotonic time; zero, which both take for not known, for zero.
    pub fn to_ros(self, monotonic_ns: u64) -> Time {
        if monotonic_ns == 0 {
            return Time::default();
        }
        let day = i64::try_from(monotonic_ns).unwrap_or(i64::MAX).saturating_add(self.0);
        let sec = i32::try_from(day.div_euclid(SECOND));
        sec.map_or(Time::default(), |sec| Time { sec, nanosec: day.rem_euclid(SECOND) as u32 })
    }

    /// The monotonic time for a stamp of ROS; zero for one before this machine was started.
    pub fn from_ros(self, time: Time) -> u64 {
        if time == Time::default() {
            return 0;
        }
        let day = i64::from(time.sec) * SECOND + i64::from(time.nanosec);
        u64::try_from(day.saturating_sub(self.0)).unwrap_or(0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_stamp_goes_to_ros_and_back_to_the_nanosecond() {
        for offset in [Offset(0), Offset(1_700_000_000_123_456_789), Offset(-5), Offset::now()] {
            for stamp in [0, 6, 999_999_999, 1_000_000_000, 86_400_000_000_007] {
                assert_eq!(offset.from_ros(offset.to_ros(stamp)), stamp, "{offset:?}");
            }
        }
        assert_eq!(Offset(SECOND).to_ros(1), Time { sec: 1, nanosec: 1 });
        assert_eq!(Offset(SECOND).from_ros(Time { sec: 0, nanosec: 7 }), 0, "before the machine was started");
        assert_eq!(Offset(0).to_ros(u64::MAX), Time::default(), "after the year 2038");
    }
}
