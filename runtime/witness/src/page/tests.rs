//! Pages of the kernel's buffer, made by hand, and any bytes.

use proptest::prelude::*;

use super::*;

const SHAPE: PageShape = PageShape { commit: 8, commit_size: 8, data: 16, size: 4096 };

fn page(ns: u64, flags: u64, words: &[u32]) -> Vec<u8> {
    let mut bytes = ns.to_ne_bytes().to_vec();
    bytes.extend(((words.len() as u64 * 4) | flags).to_ne_bytes());
    words.iter().for_each(|word| bytes.extend(word.to_ne_bytes()));
    bytes.resize(4096, 0);
    bytes
}

fn head(kind: u32, delta: u32) -> u32 {
    if cfg!(target_endian = "little") { delta << 5 | kind } else { kind << 27 | delta }
}

fn read(bytes: &[u8]) -> Result<Vec<(u64, usize)>, Corrupt> {
    Page::new(bytes, SHAPE)?.map(|raw| raw.map(|raw| (raw.ns, raw.bytes.len()))).collect()
}

#[test]
fn events_carry_the_time_since_the_one_before() {
    let bytes = page(1_000, 0, &[head(1, 5), 7, head(2, 10), 8, 9]);
    assert_eq!(read(&bytes), Ok(vec![(1_005, 4), (1_015, 8)]));
}

#[test]
fn a_long_event_says_its_length_which_counts_itself() {
    let mut words = vec![head(0, 3), 4 + 118];
    words.extend([0; 30]);
    words.extend([head(1, 1), 0]);
    assert_eq!(read(&page(0, 0, &words)), Ok(vec![(3, 118), (4, 4)]));
}

#[test]
fn long_pauses_and_whole_times_are_understood() {
    let extended = page(100, 0, &[head(TIME_EXTEND, 1), 2, head(1, 4), 0]);
    assert_eq!(read(&extended), Ok(vec![(100 + (2 << 27) + 1 + 4, 4)]));
    let stamped = page(5 << 59, 0, &[head(TIME_STAMP, 9), 3, head(1, 4), 0]);
    assert_eq!(read(&stamped), Ok(vec![((5 << 59) + (3 << 27) + 9 + 4, 4)]));
}

#[test]
fn events_taken_back_and_the_empty_rest_are_passed_over() {
    let bytes = page(0, 0, &[head(PADDING, 1), 8, 0, head(1, 2), 0, head(PADDING, 0), 77, 77]);
    assert_eq!(read(&bytes), Ok(vec![(2, 4)]));
}

#[test]
fn a_gap_before_the_page_is_told() {
    assert!(Page::new(&page(0, LOST | 1 << 30, &[]), SHAPE).unwrap().follows_a_gap);
    assert!(!Page::new(&page(0, 0, &[]), SHAPE).unwrap().follows_a_gap);
}

#[test]
fn a_damaged_page_is_an_error_and_the_end() {
    assert_eq!(Page::new(&[0; 7], SHAPE).unwrap_err(), Corrupt(0));
    assert_eq!(Page::new(&[0; 12], SHAPE).unwrap_err(), Corrupt(8));
    assert_eq!(read(&page(0, 9_000, &[])), Err(Corrupt(8)), "more data than the page has");
    assert_eq!(read(&page(0, 0, &[head(28, 0), 1])), Err(Corrupt(20)), "an event longer than the data");
    assert_eq!(read(&page(0, 0, &[head(0, 0), 3])), Err(Corrupt(20)), "a length that does not count itself");
    assert_eq!(read(&page(0, 0, &[head(TIME_EXTEND, 0)])), Err(Corrupt(20)));
    let damaged = page(0, 0, &[head(0, 0), u32::MAX]);
    assert_eq!(Page::new(&damaged, SHAPE).unwrap().count(), 1);
}

proptest! {
    #[test]
    fn any_bytes_end_after_as_many_steps_as_they_have_words(words in prop::collection::vec(any::<u32>(), 0..1024), flags in 0_u64..4) {
        let mut bytes = page(1, flags << 30, &words);
        prop_assert!(Page::new(&bytes, SHAPE).map_or(0, |page| page.count()) <= words.len() + 1);
        bytes.truncate(words.len());
        prop_assert!(Page::new(&bytes, SHAPE).map_or(0, |page| page.count()) <= words.len() + 1);
    }
}
