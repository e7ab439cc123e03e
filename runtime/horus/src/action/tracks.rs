//! The feedbacks of a client's goals that it has not looked at yet: at most so many of a goal, in places that are made once. A new one takes the
//! place of the oldest, as in a `latest` topic.

use std::collections::VecDeque;
use std::sync::Arc;

use super::GoalId;

/// Whose feedbacks they are.
#[derive(Debug)]
pub(super) struct Track {
    place: usize,
    _held: Arc<()>,
}

struct Place<T> {
    /// One more than this one while the goal's handle lives.
    held: Arc<()>,
    id: GoalId,
    feedbacks: VecDeque<T>,
}

impl<T> Place<T> {
    fn is_held(&self) -> bool {
        // As that of a call: a count that is old by a moment keeps a place for a moment longer.
        Arc::strong_count(&self.held) > 1
    }
}

/// All places of a client.
pub(super) struct Tracks<T> {
    places: Box<[Place<T>]>,
    room: usize,
    missed: u64,
}

impl<T> Tracks<T> {
    pub fn new(goals: usize, feedbacks: usize) -> Self {
        let place = |_| Place { held: Arc::new(()), id: GoalId::ZERO, feedbacks: VecDeque::with_capacity(feedbacks) };
        Self { places: (0..goals).map(place).collect(), room: feedbacks, missed: 0 }
    }

    /// A place for the feedbacks of a goal.
    pub fn begin(&mut self, id: GoalId) -> Option<Track> {
        let index = self.places.iter().position(|place| !place.is_held())?;
        let place = &mut self.places[index];
        place.feedbacks.clear();
        place.id = id;
        Some(Track { place: index, _held: Arc::clone(&place.held) })
    }

    /// The place for this goal's feedbacks, if anybody wants them.
    pub fn place_of(&self, id: GoalId) -> Option<usize> {
        self.places.iter().position(|place| place.id == id && place.is_held())
    }

    pub fn enter(&mut self, place: usize, feedback: T) {
        let feedbacks = &mut self.places[place].feedbacks;
        if feedbacks.len() == self.room {
            feedbacks.pop_front();
            self.missed += 1;
        }
        feedbacks.push_back(feedback);
    }

    pub fn next(&mut self, track: &Track) -> Option<T> {
        self.places.get_mut(track.place)?.feedbacks.pop_front()
    }

    pub fn missed(&self) -> u64 {
        self.missed
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_newest_feedbacks_of_each_goal_are_kept_in_order_and_the_others_counted() {
        let mut tracks = Tracks::new(2, 3);
        let [first, second] = [1, 2].map(|number| tracks.begin(GoalId([number; 16])).unwrap());
        assert!(tracks.begin(GoalId([3; 16])).is_none());
        for feedback in 0..5 {
            let place = tracks.place_of(GoalId([1; 16])).unwrap();
            tracks.enter(place, feedback);
        }
        assert_eq!([0; 4].map(|_| tracks.next(&first)), [Some(2), Some(3), Some(4), None]);
        assert_eq!((tracks.next(&second), tracks.missed()), (None, 2));
        drop(first);
        assert_eq!(tracks.place_of(GoalId([1; 16])), None);
        assert!(tracks.begin(GoalId([3; 16])).is_some());
    }
}
