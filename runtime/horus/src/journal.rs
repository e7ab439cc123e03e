//! Native journald entries: every number is a field of its own, so no reader ever has to parse a printed line.
//!
//! For threads without a deadline only: building an entry allocates and sending one is a system call that may wait for
//! journald.

use std::borrow::Cow;
use std::sync::atomic::{AtomicBool, Ordering};

use thiserror::Error;

/// Fixed message identifiers: `journalctl MESSAGE_ID=…` finds every entry of a kind, `journalctl -x` explains it.
pub mod id {
    /// A node missed deadlines (at most one entry a second and node).
    pub const DEADLINE_MISS: &str = "19e7a9409bb5455ea013202477e582e7";
    /// A node started: which guarantees it asked for, which the system granted.
    pub const NODE_START: &str = "c03d50f076e64cb3957657c7d2286439";
    /// A node's own account of the time since its last one; not sent more than once a minute.
    pub const NODE_SUMMARY: &str = "92918af04f4e4acd9c9b769c5ff35cbe";
    /// A node reacts to its misses: its safe state, a lower rate, its end.
    pub const NODE_REACTION: &str = "58d0d9fa721b497aa745d1c68ca468f1";
    /// A person had a node run its steps again that was in its safe state, and the reason.
    pub const NODE_REARMED: &str = "6b0f4c1e9d3a4f72a5c8e7d2901b36fa";
    /// A node's cycle took more CPU time than its budget (at most one entry a second and node).
    pub const OVER_BUDGET: &str = "1b26904784944679baabdb07bf7f9628";
    /// A node was installed, replaced, rolled back or removed.
    pub const NODE_INSTALLED: &str = "3d1c7b52e8a94f6f9c0f1b7e5a2d4c86";
    /// A version of all programs of a robot was installed, replaced, rolled back or removed.
    pub const ROBOT_INSTALLED: &str = "70c4e2d95b1f4aa8b36c81f20e9d57ab";
    /// An update was installed beside the version that runs, or was not, and why.
    pub const UPDATE_INSTALLED: &str = "b16ac835769d4c1aa2f39c248b03f5d3";
    /// A version on trial runs: how many of its boots are measured.
    pub const UPDATE_TRIAL: &str = "058615a0ab154f5b864b92f6d6a11a75";
    /// A trial has to wait: what was seen says nothing.
    pub const UPDATE_HELD: &str = "308d82a2a82d41eeaf0e4eac77501920";
    /// A version stays, and why.
    pub const UPDATE_KEPT: &str = "2a528bfe9c7f4133972a1754741892a1";
    /// A version was given up, and which one starts next.
    pub const UPDATE_BACK: &str = "fc65d5b304cb423a9431087c8a746728";
    /// A monitor published what is safe in a node's place, or took a runaway thread's scheduling policy.
    pub const MONITOR: &str = "08c5311325a640d59c8ef26c328c1467";
    /// A node's input is stale: nothing came on it for a while.
    pub const INPUT_STALE: &str = "6716fc6c30754ca6a30df0fc4b623aca";
    /// A node's input is fresh again.
    pub const INPUT_FRESH: &str = "4a41d022eb904594a8795973a9e7950c";
    /// A node's output did not publish messages that its steps set (at most one entry a second and output).
    pub const OUTPUT_LOST: &str = "714d8758778d97490e027d73778d3a50";
    /// Messages were overwritten before a node's input read them (at most one entry a second and input).
    pub const INPUT_MISSED: &str = "f34b2f1021df196c48a8ee2f25263af7";
    /// A step of a node says something.
    pub const NODE_LOG: &str = "4be1c9dd07a24f0c9f4be2a1c35f7d18";
    /// Lines of a node's log found no room (at most one entry a second and node).
    pub const NODE_LOG_LOST: &str = "a7d05f3c62bb4c0f8d0f1e95b9c2d640";
    /// A topic's file was removed while a program uses it.
    pub const TOPIC_VANISHED: &str = "b2a0f6f3c5d84f0e8f6d3a9b7c1e4d52";
    /// The clock of the day was set.
    pub const CLOCK_STEP: &str = "c1f5d0a27b3e4a9f8d6455b0e3a17c92";
    /// The witness started, and which CPUs it traces.
    pub const WITNESS_STARTED: &str = "5a0f0e0c6f0b4d0f9d1c27b3a9e84c61";
    /// The culprit of a miss cannot be named, or not everything can be seen: what is missing, and what to do about it.
    pub const WITNESS_MISSING: &str = "e1b6c3a8d2f44b7c8a90f5d7316e2b04";
    /// One audit rule did not pass.
    pub const AUDIT_RULE: &str = "7fb7dac24c3e4b1fb22ff23e59809b1c";
    /// An audit ended.
    pub const AUDIT_SUMMARY: &str = "355da1b594b24be1aead53b05bb57ddb";
    /// An audit rule that passed does not any more: a user or a program changed a setting.
    pub const DRIFT: &str = "859afeaa516240b38b29f57775f7c18e";
    /// An audit rule that failed passes again.
    pub const DRIFT_OVER: &str = "bbabdd332c7647379870ffa112d2fd55";
    /// One phase of a determinism run ended.
    pub const DETERMINISM_PHASE: &str = "c9ba981b7eef48a08601df9b223f09e5";
    /// A determinism run ended.
    pub const DETERMINISM_SUMMARY: &str = "e4edd6234f044ff29f4b0d58e6d704b8";
    /// The report of a determinism run cannot be stored where it belongs.
    pub const REPORT_ELSEWHERE: &str = "b5e5f6bfe50f4c56b76b915ae27a74b1";
    /// The watch missed deadlines.
    pub const WATCH_MISSED: &str = "5ccb4b024b1d4f3593f89d01d47f82a3";
    /// The watch cannot keep its record.
    pub const WATCH_NOT_KEPT: &str = "18635c5c5f104a699d5634f8366307f9";
    /// A determinism run was refused or could not start.
    pub const DETERMINISM_REFUSED: &str = "dfb754983ab54b49b7fa3239202358f3";
}

/// Environment variable of a program: with [`PRINT`] its entries are printed, and the journal gets none.
pub const VARIABLE: &str = "HORUS_JOURNAL";
/// The value of [`VARIABLE`].
pub const PRINT: &str = "print";

/// One journal entry under construction.
#[must_use = "an entry that is not sent is lost"]
#[derive(Clone, Debug)]
pub struct Entry {
    message: String,
    priority: Priority,
    fields: Vec<(Cow<'static, str>, String)>,
}

/// syslog severities that we use.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Priority {
    /// Failed: a person has to act.
    Error,
    /// Worth a look.
    Warning,
    /// The normal course of things.
    Info,
    /// For finding a mistake.
    Debug,
}

/// An entry did not reach the journal.
#[derive(Debug, Error)]
pub enum JournalError {
    /// journald would drop the field, so the entry is not sent without it.
    #[error(
        "'{0}' is not a field of ours: write HORUS_ and then A-Z, 0-9 and _, at most {MAX_FIELD_NAME} bytes in all"
    )]
    Field(String),
    /// journald's socket cannot be written.
    #[error("cannot write to the journal: {}; is systemd-journald running?", cause(.0))]
    Socket(#[source] libsystemd::errors::SdError),
}

/// The innermost reason: every layer of the library says its own name and all that its source says.
fn cause(error: &libsystemd::errors::SdError) -> String {
    error.to_string().replace("libsystemd error: ", "")
}

/// The longest field name that journald stores.
const MAX_FIELD_NAME: usize = 64;

/// Whether `name` is one of ours that journald stores: it silently drops names with other characters, and reserves
/// a leading underscore for what it knows itself.
fn is_valid_field(name: &str) -> bool {
    let suffix = if name == "MESSAGE_ID" { Some("ID") } else { name.strip_prefix("HORUS_") };
    suffix.is_some_and(|suffix| {
        !suffix.is_empty()
            && name.len() <= MAX_FIELD_NAME
            && suffix.bytes().all(|byte| byte.is_ascii_uppercase() || byte.is_ascii_digit() || byte == b'_')
    })
}

impl Entry {
    /// Starts an entry of kind `message_id` (32 hexadecimal digits, explained in the message catalog).
    pub fn new(message_id: &str, priority: Priority, message: impl Into<String>) -> Self {
        Self { message: message.into(), priority, fields: vec![("MESSAGE_ID".into(), message_id.to_owned())] }
    }

    /// Starts an entry of no kind: what a program has to say.
    pub fn plain(priority: Priority, message: impl Into<String>) -> Self {
        Self { message: message.into(), priority, fields: Vec::new() }
    }

    /// Adds a field; `name` is upper case and starts with `HORUS_`.
    pub fn field(mut self, name: impl Into<Cow<'static, str>>, value: impl ToString) -> Self {
        self.fields.push((name.into(), value.to_string()));
        self
    }

    /// Adds to the text.
    pub(crate) fn text(mut self, more: &str) -> Self {
        self.message += more;
        self
    }

    /// The human-readable text; may have several lines.
    pub fn message(&self) -> &str {
        &self.message
    }

    /// How serious it is.
    pub fn priority(&self) -> Priority {
        self.priority
    }

    /// The value of a field, `MESSAGE_ID` included; `None` when the entry has no such field.
    pub fn get(&self, name: &str) -> Option<&str> {
        self.fields.iter().find(|(field, _)| field == name).map(|(_, value)| value.as_str())
    }

    /// Every field with its value, in the order of addition; `MESSAGE_ID` is the first.
    pub fn fields(&self) -> impl Iterator<Item = (&str, &str)> {
        self.fields.iter().map(|(name, value)| (&**name, value.as_str()))
    }

    /// Looks at the names of its fields.
    ///
    /// # Errors
    /// When one is not valid: the entry would not be sent.
    pub fn check(&self) -> Result<(), JournalError> {
        match self.fields.iter().find(|(name, _)| !is_valid_field(name)) {
            Some((name, _)) => Err(JournalError::Field(name.to_string())),
            None => Ok(()),
        }
    }

    /// Hands the entry to journald. Lines and values of any length and with line breaks arrive as they are.
    ///
    /// # Errors
    /// When a field name is not valid or journald's socket cannot be written.
    pub fn send(&self) -> Result<(), JournalError> {
        use libsystemd::logging::{Priority as Native, journal_send};
        let priority = match self.priority {
            Priority::Error => Native::Error,
            Priority::Warning => Native::Warning,
            Priority::Info => Native::Info,
            Priority::Debug => Native::Debug,
        };
        self.check()?;
        journal_send(priority, &self.message, self.fields()).map_err(JournalError::Socket)
    }

    /// Hands the entry to journald, or prints its message to stderr where there is no journal; the reason for that is
    /// printed once a process. Nothing is silent, and nothing fails for want of a log. With [`VARIABLE`] it is printed anyhow.
    pub fn send_or_print(&self) {
        static COMPLAINED: AtomicBool = AtomicBool::new(false);
        if std::env::var_os(VARIABLE).is_some_and(|value| value == PRINT) {
            eprintln!("{}", self.message);
            return;
        }
        if let Err(error) = self.send() {
            // Relaxed: the flag guards nothing but its own first change.
            if !COMPLAINED.swap(true, Ordering::Relaxed) {
                eprintln!("warning: {error}; entries are printed here instead");
            }
            eprintln!("{}", self.message);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_field_that_journald_would_drop_is_an_error_that_names_it() {
        for name in
            ["horus_node", "NODE", "_HORUS", "HORUS_", "HORUS_P99.9_NS", "HORUS NODE", "MESSAGE", "PRIORITY", ""]
        {
            let error = Entry::new(id::NODE_START, Priority::Info, "text").field(name, 1).send().unwrap_err();
            assert!(matches!(error, JournalError::Field(ref found) if found == name), "{name}: {error}");
        }
        assert!(!is_valid_field(&format!("HORUS_{}", "X".repeat(59))));
        for name in ["MESSAGE_ID", "HORUS_MISS_BOUND_95", "HORUS_P99_9_NS"] {
            assert!(is_valid_field(name), "{name}");
        }
    }

    #[test]
    fn message_ids_are_distinct_and_lower_case_hexadecimal() {
        let all = [
            id::DEADLINE_MISS,
            id::NODE_START,
            id::NODE_SUMMARY,
            id::NODE_REACTION,
            id::OVER_BUDGET,
            id::NODE_REARMED,
            id::NODE_INSTALLED,
            id::ROBOT_INSTALLED,
            id::UPDATE_INSTALLED,
            id::UPDATE_TRIAL,
            id::UPDATE_HELD,
            id::UPDATE_KEPT,
            id::UPDATE_BACK,
            id::MONITOR,
            id::CLOCK_STEP,
            id::INPUT_STALE,
            id::TOPIC_VANISHED,
            id::INPUT_FRESH,
            id::OUTPUT_LOST,
            id::INPUT_MISSED,
            id::NODE_LOG,
            id::NODE_LOG_LOST,
            id::WITNESS_STARTED,
            id::WITNESS_MISSING,
            id::AUDIT_RULE,
            id::AUDIT_SUMMARY,
            id::DRIFT,
            id::DRIFT_OVER,
            id::DETERMINISM_PHASE,
            id::DETERMINISM_SUMMARY,
            id::REPORT_ELSEWHERE,
            id::DETERMINISM_REFUSED,
            id::WATCH_MISSED,
            id::WATCH_NOT_KEPT,
        ];
        for (index, id) in all.iter().enumerate() {
            assert!(id.len() == 32 && id.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f')), "{id}");
            assert!(!all[..index].contains(id), "{id} is used twice");
        }
    }

    #[test]
    fn an_entry_gives_back_what_was_put_into_it() {
        let entry = Entry::new(id::NODE_START, Priority::Warning, "two\nlines").field("HORUS_NODE", "ping");
        assert_eq!((entry.message(), entry.priority()), ("two\nlines", Priority::Warning));
        assert_eq!(entry.get("MESSAGE_ID"), Some(id::NODE_START));
        assert_eq!(entry.get("HORUS_NODE"), Some("ping"));
        assert_eq!(entry.get("HORUS_CPU"), None);
        assert_eq!(entry.fields().count(), 2);
    }
}
