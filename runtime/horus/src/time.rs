//! Points on the kernel's monotonic clock, and the only way that real-time code waits: sleeping until such a point.
//!
//! Relative sleeps are absent on purpose. A loop that sleeps "for one period" adds its own running time and every
//! wake-up delay to the grid; a loop that sleeps *until* `r_0 + k T` does not drift, however late it was once. [`pause`] is for commands and
//! services, which wait for another program and have no grid.

use std::cell::Cell;
use std::fmt;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use rustix::io::Errno;
use rustix::thread::clock_nanosleep_absolute;
use rustix::time::{ClockId, Timespec, clock_gettime};
use thiserror::Error;

const NANOS_PER_SECOND: u64 = 1_000_000_000;

/// Nanoseconds on `CLOCK_MONOTONIC`: never set back, the same in every process of one boot, stopped during suspend.
///
/// The range ends 292 years after boot, where a [`Timespec`] of 64-bit nanoseconds would; arithmetic saturates there.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct MonotonicTime(u64);

impl MonotonicTime {
    /// The last representable point: `i64::MAX` nanoseconds, so that differences fit into signed arithmetic too.
    pub const MAX: Self = Self(i64::MAX as u64);

    /// The point `nanos` nanoseconds after the clock's zero (on Linux: boot).
    pub const fn from_nanos(nanos: u64) -> Self {
        if nanos > Self::MAX.0 { Self::MAX } else { Self(nanos) }
    }

    /// Nanoseconds since the clock's zero.
    pub const fn as_nanos(self) -> u64 {
        self.0
    }

    /// What the clock says now. Does not enter the kernel where the vDSO serves the clock (x86-64 with TSC, arm64).
    pub fn now() -> Self {
        let now = clock_gettime(ClockId::Monotonic);
        // The monotonic clock starts at zero and counts up: neither field is ever negative.
        Self::from_nanos(now.tv_sec as u64 * NANOS_PER_SECOND + now.tv_nsec as u64)
    }

    /// How far the clock of the day is ahead of this one, in nanoseconds. It changes when a user sets the clock of the day.
    pub fn offset_of_day() -> i64 {
        let before = Self::now();
        let day = clock_gettime(ClockId::Realtime);
        let after = Self::now();
        let day = day.tv_sec.saturating_mul(NANOS_PER_SECOND as i64).saturating_add(day.tv_nsec);
        // In the middle of both looks; neither exceeds `MAX`.
        day.saturating_sub((before.0 + (after.0 - before.0) / 2) as i64)
    }

    /// How far this clock is ahead of the machine's, in nanoseconds: what the time namespace of this process adds. Zero where the kernel
    /// does not tell.
    pub fn offset_of_namespace() -> i64 {
        horus_sys::clock::ahead_of_machine_ns()
    }

    /// The time that passed since `earlier`; zero when `earlier` is in fact later.
    pub const fn since(self, earlier: Self) -> Duration {
        Duration::from_nanos(self.0.saturating_sub(earlier.0))
    }

    /// The same in nanoseconds.
    pub const fn nanos_since(self, earlier: Self) -> u64 {
        self.0.saturating_sub(earlier.0)
    }

    /// The point `nanos` nanoseconds later.
    pub const fn plus_nanos(self, nanos: u64) -> Self {
        Self::from_nanos(self.0.saturating_add(nanos))
    }

    /// The point `span` later.
    pub fn plus(self, span: Duration) -> Self {
        self.plus_nanos(u64::try_from(span.as_nanos()).unwrap_or(u64::MAX))
    }
}

impl fmt::Display for MonotonicTime {
    /// Seconds since boot with nine decimals, the way the kernel log prints them.
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "{}.{:09}", self.0 / NANOS_PER_SECOND, self.0 % NANOS_PER_SECOND)
    }
}

/// Why a text is not a length of time.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
#[error(
    "'{text}' is not a length of time: write a whole number and a unit (ns, us, ms, s, min), such as 800us or 10ms"
)]
pub struct DurationError {
    text: String,
}

/// Parses a whole number with a unit: `500ns`, `800us`, `1ms`, `60s`, `2min`. A number without a unit is an error, not
/// a guess.
///
/// ```
/// assert_eq!(horus::time::parse_duration("800us").unwrap().as_nanos(), 800_000);
/// assert!(horus::time::parse_duration("800").is_err());
/// ```
///
/// # Errors
/// When the text has another form or the time does not fit into 64-bit nanoseconds (584 years).
pub fn parse_duration(text: &str) -> Result<Duration, DurationError> {
    let error = || DurationError { text: text.to_owned() };
    let text_trimmed = text.trim();
    let digits = text_trimmed.bytes().take_while(u8::is_ascii_digit).count();
    let (number, unit) = text_trimmed.split_at(digits);
    let nanos_per_unit: u64 = match unit.trim() {
        "ns" => 1,
        "us" | "µs" => 1_000,
        "ms" => 1_000_000,
        "s" => NANOS_PER_SECOND,
        "min" => 60 * NANOS_PER_SECOND,
        _ => return Err(error()),
    };
    let number: u64 = number.parse().map_err(|_| error())?;
    number.checked_mul(nanos_per_unit).map(Duration::from_nanos).ok_or_else(error)
}

/// So many seconds.
pub const fn secs(seconds: u64) -> Duration {
    Duration::from_secs(seconds)
}

/// So many milliseconds.
pub const fn ms(milliseconds: u64) -> Duration {
    Duration::from_millis(milliseconds)
}

/// So many microseconds.
pub const fn us(microseconds: u64) -> Duration {
    Duration::from_micros(microseconds)
}

/// Sleeps until `span` after the calling thread's last such sleep was to end, so that a loop of it does not drift; from now on
/// where that has passed.
///
/// ```
/// use horus::time::{MonotonicTime, ms, sleep};
/// let started = MonotonicTime::now();
/// (0..3).for_each(|_| sleep(ms(2)));
/// assert!(MonotonicTime::now().since(started) >= ms(6));
/// ```
pub fn sleep(span: Duration) {
    thread_local! {
        static LAST: Cell<MonotonicTime> = const { Cell::new(MonotonicTime(0)) };
    }
    let now = MonotonicTime::now();
    let next = LAST.get().plus(span);
    let until = if next > now { next } else { now.plus(span) };
    LAST.set(until);
    SystemClock.sleep_until(until);
}

/// Waits for `span` from now, and only the clock ends it. A loop of it drifts: that is for [`sleep`].
pub fn pause(span: Duration) {
    SystemClock.sleep_until(MonotonicTime::now().plus(span));
}

/// The clock of the day as RFC 3339 in UTC with whole seconds: `2026-11-20T12:00:00Z`.
pub fn utc_now() -> String {
    utc(SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_secs()))
}

/// Seconds since 1970 as RFC 3339 in UTC. Days to a civil date: Howard Hinnant, "chrono-compatible low-level date algorithms", `civil_from_days`.
pub fn utc(seconds: u64) -> String {
    let (days, time) = (seconds / 86_400 + 719_468, seconds % 86_400);
    let (era, day_of_era) = (days / 146_097, days % 146_097);
    let year_of_era = (day_of_era - day_of_era / 1_460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let shifted_month = (5 * day_of_year + 2) / 153; // March is 0, so that the leap day is the year's last
    let day = day_of_year - (153 * shifted_month + 2) / 5 + 1;
    let month = if shifted_month < 10 { shifted_month + 3 } else { shifted_month - 9 };
    let year = year_of_era + era * 400 + u64::from(month <= 2);
    format!("{year:04}-{month:02}-{day:02}T{:02}:{:02}:{:02}Z", time / 3_600, time / 60 % 60, time % 60)
}

/// Where a loop gets its time from, and the CPU that it runs on: the machine, or a test that decides itself how late
/// everything is.
pub trait Clock {
    /// What the clock says now.
    fn now(&self) -> MonotonicTime;

    /// Returns at `until` or later, never earlier; at once when `until` has passed.
    fn sleep_until(&self, until: MonotonicTime);

    /// The CPU that the calling thread runs on now; asked twice a cycle.
    fn cpu(&self) -> u32;

    /// The CPU time of the calling thread since it began, in nanoseconds. A system call.
    fn cpu_time(&self) -> u64;
}

/// The machine's `CLOCK_MONOTONIC`.
#[derive(Clone, Copy, Debug, Default)]
pub struct SystemClock;

impl Clock for SystemClock {
    #[inline]
    fn now(&self) -> MonotonicTime {
        MonotonicTime::now()
    }

    /// Sleeps by `clock_nanosleep(TIMER_ABSTIME)`; a signal (`EINTR`) does not end the sleep.
    fn sleep_until(&self, until: MonotonicTime) {
        let nanos = until.as_nanos();
        let request =
            Timespec { tv_sec: (nanos / NANOS_PER_SECOND) as i64, tv_nsec: (nanos % NANOS_PER_SECOND) as i64 };
        while clock_nanosleep_absolute(ClockId::Monotonic, &request) == Err(Errno::INTR) {}
        // The remaining errors are EINVAL and ENOTSUP: a denormal time or an unknown clock, and the lines above make
        // neither.
    }

    /// Does not enter the kernel with glibc; with musl it does where no vDSO knows the CPU (arm64), and waits for nothing there.
    #[inline]
    fn cpu(&self) -> u32 {
        horus_sys::scheduling::current_cpu()
    }

    fn cpu_time(&self) -> u64 {
        let time = clock_gettime(ClockId::ThreadCPUTime);
        time.tv_sec as u64 * NANOS_PER_SECOND + time.tv_nsec as u64 // never negative
    }
}

impl<C: Clock> Clock for &C {
    fn now(&self) -> MonotonicTime {
        C::now(self)
    }

    fn sleep_until(&self, until: MonotonicTime) {
        C::sleep_until(self, until);
    }

    fn cpu(&self) -> u32 {
        C::cpu(self)
    }

    fn cpu_time(&self) -> u64 {
        C::cpu_time(self)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_sleep_never_ends_early_and_never_sleeps_for_a_point_in_the_past() {
        let until = MonotonicTime::now().plus(Duration::from_millis(2));
        SystemClock.sleep_until(until);
        let woke = MonotonicTime::now();
        assert!(woke >= until);
        SystemClock.sleep_until(MonotonicTime::from_nanos(1)); // long past: returns at once
    }

    #[test]
    fn arithmetic_saturates_instead_of_wrapping() {
        assert_eq!(MonotonicTime::MAX.plus_nanos(1), MonotonicTime::MAX);
        assert_eq!(MonotonicTime::MAX.plus(Duration::MAX), MonotonicTime::MAX);
        assert_eq!(MonotonicTime::from_nanos(1).since(MonotonicTime::from_nanos(2)), Duration::ZERO);
    }

    #[test]
    fn durations_need_a_whole_number_and_a_unit() {
        for (text, nanos) in
            [("1ms", 1_000_000), ("800us", 800_000), (" 10 s ", 10_000_000_000), ("0ns", 0), ("2min", 120_000_000_000)]
        {
            assert_eq!(parse_duration(text), Ok(Duration::from_nanos(nanos)), "{text}");
        }
        for text in ["", "ms", "1", "-1ms", "1.5ms", "1 h", "99999999999999999999ns", "18446744073709551615s"] {
            let error = parse_duration(text).unwrap_err().to_string();
            assert!(error.contains(text) && error.contains("800us"), "{error}");
        }
    }

    #[test]
    fn time_prints_as_seconds_since_boot() {
        assert_eq!(MonotonicTime::from_nanos(41_206_000_001).to_string(), "41.206000001");
    }

    #[test]
    fn dates_are_those_of_the_calendar() {
        assert_eq!(utc(0), "1970-01-01T00:00:00Z");
        assert_eq!(utc(951_782_400), "2000-02-29T00:00:00Z");
        assert_eq!(utc(1_763_640_798), "2025-11-20T12:13:18Z");
        assert_eq!(utc(4_107_542_399), "2100-02-28T23:59:59Z");
    }
}
