//! Lines of what a program writes, as they come; none is longer than a bound, whatever the program does.

/// A longer line is broken here.
const MOST_BYTES: usize = 4096;

/// The part of a line that has no end yet.
#[derive(Debug, Default)]
pub struct Lines(Vec<u8>);

impl Lines {
    /// Adds bytes, and gives each line that is whole to `each`.
    pub fn add(&mut self, bytes: &[u8], mut each: impl FnMut(&str)) {
        for byte in bytes {
            if *byte != b'\n' {
                self.0.push(*byte);
            }
            if *byte == b'\n' || self.0.len() == MOST_BYTES {
                each(&self.take());
            }
        }
    }

    /// Gives the line that has no end, if there is one.
    pub fn end(&mut self, mut each: impl FnMut(&str)) {
        if !self.0.is_empty() {
            each(&self.take());
        }
    }

    fn take(&mut self) -> String {
        let line = String::from_utf8_lossy(&self.0).trim_end_matches('\r').replace('\t', " ");
        self.0.clear();
        line
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_whole_however_their_bytes_come_and_a_long_one_is_broken() {
        let (mut lines, mut found) = (Lines::default(), Vec::new());
        for part in ["one\ntw", "o\r\n\nthr", "ee"] {
            lines.add(part.as_bytes(), |line| found.push(line.to_owned()));
        }
        lines.end(|line| found.push(line.to_owned()));
        assert_eq!(found, ["one", "two", "", "three"]);
        let mut count = 0;
        lines.add(&vec![b'x'; 3 * MOST_BYTES], |line| {
            assert_eq!(line.len(), MOST_BYTES);
            count += 1;
        });
        assert_eq!(count, 3);
    }
}
