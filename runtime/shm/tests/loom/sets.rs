//! Two sets of words of which one holds, written and copied at the same time.

use horus_shm::sets::Sets;
use loom::sync::Arc;
use loom::sync::atomic::AtomicU64;
use loom::thread;

use super::model;

/// The number, and two sets of two words.
struct Words([AtomicU64; 5]);

impl Words {
    fn sets(&self) -> Sets<'_> {
        Sets { number: &self.0[0], even: &self.0[1..3], odd: &self.0[3..5] }
    }
}

#[test]
fn copy_of_words_of_two_sets() {
    model(3, || {
        let words = Arc::new(Words(std::array::from_fn(|_| AtomicU64::new(0))));
        let written = Arc::clone(&words);
        let writer = thread::spawn(move || (1..=3).for_each(|value| written.sets().put(&[value, value])));
        let sets = words.sets();
        let mut last = 0;
        for _ in 0..2 {
            let number = sets.number();
            let mut copied = [0; 2];
            if sets.copy(number, 0, &mut copied) {
                assert_eq!(copied, [number; 2], "words of two sets, or of another one than it says");
                assert!(number >= last, "an older set after a newer one");
                last = number;
            }
        }
        writer.join().unwrap();
        let mut copied = [0; 2];
        assert!(sets.copy(sets.number(), 0, &mut copied) && copied == [3, 3], "the last set is lost");
    });
}
