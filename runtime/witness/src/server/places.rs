//! Who has a place at the witness, and how often ends are told: no user takes the places of others, or fills the journal.

use std::time::{Duration, Instant};

use crate::notice::Notice;

/// The most programs at once. Others wait at the door.
pub const MOST: usize = 128;
/// The most of one user.
pub const MOST_OF_A_USER: usize = 64;
/// How long a program may have a place without saying which threads it has: programs say so at once.
pub const PATIENCE: Duration = Duration::from_secs(5);
/// The shortest time between two ends that are told.
const DISTANCE: Duration = Duration::from_secs(1);
/// The most characters of a reason: part of it may be the program's own words.
const SHOWN: usize = 200;

/// Whether a further program of `user` gets a place beside those of these users.
pub fn has_room(user: u32, others: impl IntoIterator<Item = u32>) -> bool {
    others.into_iter().filter(|other| *other == user).count() < MOST_OF_A_USER
}

/// Ends of connections, as far as they are told.
#[derive(Debug, Default)]
pub struct Ends {
    told: Option<Instant>,
    untold: u64,
}

impl Ends {
    /// A connection was ended. What is to be told of it, if it is time.
    pub fn tell(&mut self, process: u32, reason: &str, now: Instant) -> Option<Notice> {
        if self.told.is_some_and(|told| now.saturating_duration_since(told) < DISTANCE) {
            self.untold += 1;
            return None;
        }
        self.told = Some(now);
        let mut reason = horus::outside::shown(reason, SHOWN);
        match std::mem::take(&mut self.untold) {
            0 => {}
            untold => reason += &format!(" (and {untold} others since the last such line)"),
        }
        Some(Notice::Ended { process, reason })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_user_takes_no_more_than_a_users_places() {
        let mut users = vec![1; MOST_OF_A_USER];
        assert!(!has_room(1, users.iter().copied()) && has_room(2, users.iter().copied()));
        users.pop();
        assert!(has_room(1, users));
    }

    #[test]
    fn a_flood_of_ends_is_a_line_a_second_that_says_how_many_there_were() {
        let (mut ends, start) = (Ends::default(), Instant::now());
        let mut lines = Vec::new();
        for millis in 0..2_500 {
            let now = start + Duration::from_millis(millis);
            lines.extend(ends.tell(7, "it said\nsomething", now).map(|notice| notice.to_string()));
        }
        assert_eq!(lines.len(), 3, "{lines:?}");
        assert!(lines[1].ends_with("(and 999 others since the last such line)"), "{lines:?}");
        assert!(lines.iter().all(|line| !line.contains('\n')));
        let Some(Notice::Ended { reason, .. }) = ends.tell(7, &"x".repeat(5_000), start + Duration::from_secs(9))
        else {
            panic!("it is time")
        };
        assert!(reason.len() < 300, "{reason}");
    }
}
