//! The two kinds of payload behind one handle of C: messages of a layout, and bytes of any length. A layout says which.
//!
//! Every function of a topic's ends takes both. What differs is how many bytes a message has: those of a layout have as many as it says, and
//! bytes have a length of their own, up to a maximum.

/// What one of the kinds has.
pub(crate) enum Of<M, B> {
    /// Messages of a layout.
    Messages(M),
    /// Bytes of any length up to a maximum.
    Bytes(B),
}

/// Calls what both kinds have, by the same name.
macro_rules! of_either {
    ($of:expr, $it:ident => $call:expr) => {
        match $of {
            $crate::payload::Of::Messages($it) => $call,
            $crate::payload::Of::Bytes($it) => $call,
        }
    };
}

pub(crate) use of_either;
