//! CDR, the bytes of ROS 2's messages: little-endian, version 1, each number at a multiple of its size.
//!
//! ```text
//! 00 01 00 00 │ sec(4) nanosec(4) │ length(4) "imu" 00 │ …        places count from after the first four bytes
//! ```
//!
//! Nothing here allocates once its buffer has grown. What comes from outside is checked against its end at every step.

mod reader;
mod writer;

pub use reader::{Malformed, Reader};
pub use writer::Writer;

/// What stands before the bytes: CDR of version 1, little-endian, no options.
pub const ENCAPSULATION: [u8; 4] = [0, 1, 0, 0];

/// How many bytes are missing at `place` to a multiple of `align`, which is a power of two.
fn gap(place: usize, align: usize) -> usize {
    place.wrapping_neg() & (align - 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_written_is_read_again() {
        let mut bytes = Vec::new();
        let mut writer = Writer::new(&mut bytes);
        writer.u8(7);
        writer.f64(-2.5);
        writer.text("odom");
        writer.u32(9);
        writer.f64s(&[1.0, 2.0]);
        assert_eq!(bytes[..4], ENCAPSULATION);
        assert_eq!(bytes[4..20], [7, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 4, 0xc0]);
        assert_eq!(bytes[20..29], *b"\x05\0\0\0odom\0");
        let mut reader = Reader::new(&bytes[4..]);
        assert_eq!((reader.u8(), reader.f64(), reader.text()), (Ok(7), Ok(-2.5), Ok("odom")));
        let (mut two, mut none) = ([0.0; 2], [0.0; 1]);
        assert_eq!((reader.u32(), reader.f64s(&mut two)), (Ok(9), Ok(())));
        assert_eq!(two, [1.0, 2.0]);
        assert_eq!(reader.f64s(&mut none), Err(Malformed::Short));
    }

    /// So many bytes at a multiple of `align`, as one would count them by hand.
    fn by_hand<'a>(bytes: &'a [u8], place: &mut usize, align: usize, count: usize) -> Option<&'a [u8]> {
        let start = place.div_ceil(align) * align;
        let found = bytes.get(start..start + count)?;
        *place = start + count;
        Some(found)
    }

    proptest::proptest! {
        #[test]
        fn of_whatever_comes_is_read_what_stands_there_and_nothing_beyond_its_end(
            bytes in proptest::collection::vec(0_u8..6, 0..200),
            steps in proptest::collection::vec((0_u8..7, 1_usize..40), 0..40),
        ) {
            let (mut reader, mut place) = (Reader::new(&bytes), 0);
            for (step, count) in steps {
                let mut hand = |align, count| by_hand(&bytes, &mut place, align, count).map(<[u8]>::to_vec);
                let (read, expected) = match step {
                    0 => (reader.u8().map(|byte| vec![byte]), hand(1, 1)),
                    1 => (reader.u16().map(|number| number.to_le_bytes().to_vec()), hand(2, 2)),
                    2 => (reader.f32().map(|number| number.to_le_bytes().to_vec()), hand(4, 4)),
                    3 => {
                        let mut numbers = [0.0; 40];
                        let read = reader.f64s(&mut numbers[..count]);
                        let all = numbers[..count].iter().flat_map(|number| number.to_le_bytes()).collect();
                        (read.map(|()| all), hand(8, 8 * count))
                    }
                    4 => (reader.u8s(count).map(<[u8]>::to_vec), hand(1, count)),
                    5 => (reader.pass(count, 4).map(|()| Vec::new()), hand(4, 4 * count).map(|_| Vec::new())),
                    _ => {
                        let length = hand(4, 4).map_or(0, |four| u32::from_le_bytes(four.try_into().unwrap()) as usize);
                        let text = hand(1, length).and_then(|text| Some(text.strip_suffix(&[0])?.to_vec()));
                        // A length of nothing is an empty text, where it is there at all.
                        let text = if length == 0 && reader.clone().u32().is_ok() { Some(Vec::new()) } else { text };
                        (reader.text().map(|text| text.as_bytes().to_vec()), text)
                    }
                };
                proptest::prop_assert_eq!(read.clone().ok(), expected);
                if read.is_err() {
                    break; // no converter reads on
                }
            }
        }
    }

    #[test]
    fn texts_that_lie_are_refused() {
        assert_eq!(Reader::new(b"\xff\xff\xff\xffab").text(), Err(Malformed::Short));
        assert_eq!(Reader::new(b"\x03\0\0\0abc").text(), Err(Malformed::Text), "no zero byte at its end");
        assert_eq!(Reader::new(b"\x03\0\0\0a\xff\0").text(), Err(Malformed::Text), "no UTF-8");
        assert_eq!(Reader::new(b"\0\0\0\0").text(), Ok(""), "as some write an empty one");
    }
}
