//! A sparse index of one segment: a place every few kilobytes, so that a reader need not begin at the first record.
//!
//! It lives in memory, while the segment is written and as long as this process runs. The index of a whole log is its segments' headers:
//! each says which sequence number it begins with. So a reader looks through one segment at most, and nothing on the disk has to
//! agree with anything else.

/// Words between two entries.
const STRIDE_WORDS: usize = 8 << 10;

/// Where some of a segment's records are.
#[derive(Clone, Debug, Default)]
pub struct Index {
    entries: Vec<Entry>,
    latest_ns: u64,
}

#[derive(Clone, Copy, Debug)]
struct Entry {
    at: usize,
    sequence: u64,
    /// The latest stamp of all records before this one: stamps of several publishers need not be in order.
    latest_before_ns: u64,
}

impl Index {
    /// Takes note of a record at word `at`, where it is far enough from the last one that was kept.
    #[inline]
    pub fn note(&mut self, at: usize, sequence: u64, stamp_ns: u64) {
        if self.entries.last().is_none_or(|last| at - last.at >= STRIDE_WORDS) {
            self.entries.push(Entry { at, sequence, latest_before_ns: self.latest_ns });
        }
        self.latest_ns = self.latest_ns.max(stamp_ns);
    }

    /// A place at or before the first record whose number is `sequence` or higher; `None` without records.
    pub fn before_sequence(&self, sequence: u64) -> Option<usize> {
        let after = self.entries.partition_point(|entry| entry.sequence <= sequence);
        self.entries.get(after.saturating_sub(1)).map(|entry| entry.at)
    }

    /// A place at or before the first record that was sent at `stamp_ns` or later; `None` without records.
    pub fn before_stamp(&self, stamp_ns: u64) -> Option<usize> {
        let after = self.entries.partition_point(|entry| entry.latest_before_ns < stamp_ns);
        self.entries.get(after.saturating_sub(1)).map(|entry| entry.at)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_place_is_never_behind_what_is_looked_for_and_at_most_a_stride_before_it() {
        let mut index = Index::default();
        // Stamps of two publishers, the second always 50 behind the first.
        let stamp = |number: u64| if number.is_multiple_of(2) { 1_000 + number } else { 950 + number };
        let place = |number: u64| 32 + 16 * number as usize;
        (0..5_000).for_each(|number| index.note(place(number), 1 + number, stamp(number)));
        assert!(index.entries.len() > 5);
        for number in 0..5_000 {
            let found = index.before_sequence(1 + number).unwrap();
            assert!(found <= place(number) && place(number) - found <= STRIDE_WORDS);
            let wanted = stamp(number);
            let first = (0..5_000).find(|other| stamp(*other) >= wanted).unwrap();
            let found = index.before_stamp(wanted).unwrap();
            assert!(found <= place(first) && place(first) - found <= 2 * STRIDE_WORDS, "{number}");
        }
        assert_eq!(Index::default().before_sequence(1), None);
    }
}
