//! The macros that make a line. They check its text when it is compiled.

/// A line for finding a mistake: `cycle.log(debug!("{} cells left", cells))`; see [`log`](mod@crate::log).
#[macro_export]
macro_rules! debug {
    ($($line:tt)+) => { $crate::log_line!(Debug, $($line)+) };
}

/// A line about the normal course of things: `cycle.log(info!("goal {} is reached", goal))`; see [`log`](mod@crate::log).
#[macro_export]
macro_rules! info {
    ($($line:tt)+) => { $crate::log_line!(Info, $($line)+) };
}

/// A line that is worth a look: `cycle.log(warn!("wheel {} slips", wheel))`; see [`log`](mod@crate::log).
#[macro_export]
macro_rules! warn {
    ($($line:tt)+) => { $crate::log_line!(Warn, $($line)+) };
}

/// A line about a failure, for which a person has to act: `cycle.log(error!("motor {} is hot", motor))`; see [`log`](mod@crate::log).
#[macro_export]
macro_rules! error {
    ($($line:tt)+) => { $crate::log_line!(Error, $($line)+) };
}

/// What the four macros are made of.
#[doc(hidden)]
#[macro_export]
macro_rules! log_line {
    ($level:ident, $text:literal $(, $value:expr)* $(,)?) => {
        $crate::log::Line::new(
            $crate::log::Level::$level,
            const { $crate::log::Text::checked($text, <[&str]>::len(&[$(stringify!($value)),*])) },
            &[$($crate::log::Loggable::value(&$value)),*],
        )
    };
}
