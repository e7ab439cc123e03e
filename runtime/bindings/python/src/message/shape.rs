//! Images and clouds: messages whose data is numbers in rows and columns, as many as the message says. Nothing that it says is believed beyond the
//! room that it has.

use horus::messages::Encoding;
use pyo3::prelude::*;

use super::bytes::Bytes;
use super::grid::Grid;
use super::number::Number;
use crate::error::refused;

/// What a message is, beyond its fields.
#[derive(Clone, Copy)]
pub enum Shape {
    Image(Image),
    Cloud(Cloud),
}

/// A camera's frame: `horus::image_message!` has its fields.
#[derive(Clone, Copy)]
pub struct Image {
    capacity: usize,
}

/// Points: `horus::point_cloud_message!` has its fields.
#[derive(Clone, Copy)]
pub struct Cloud {
    capacity: usize,
}

/// The names and places of an image's fields.
pub const IMAGE: [(&str, usize); 8] = [
    ("stamp_ns", 0),
    ("width", 8),
    ("height", 12),
    ("stride", 16),
    ("encoding_code", 20),
    ("length", 24),
    ("camera", 28),
    ("data", 32),
];
/// Those of a cloud's.
pub const CLOUD: [(&str, usize); 4] = [("stamp_ns", 0), ("sensor", 8), ("count", 12), ("point", 16)];
const PICTURE: usize = 32;
const POINTS: usize = 16;
const POINT_BYTES: usize = 12;

impl Shape {
    /// An image with room for so many bytes of pixels.
    pub fn image(capacity: usize) -> Self {
        Self::Image(Image { capacity })
    }

    /// A cloud with room for so many points.
    pub fn cloud(capacity: usize) -> Self {
        Self::Cloud(Cloud { capacity })
    }
}

fn word(bytes: Bytes<'_, '_>, offset: usize) -> u32 {
    let [a, b, c, d, ..] = bytes.part(offset, 4).number(4);
    u32::from_le_bytes([a, b, c, d])
}

impl Cloud {
    /// The points that count.
    pub fn grid<'a, 'py>(self, bytes: Bytes<'a, 'py>) -> Grid<'a, 'py> {
        let count = (word(bytes, 12) as usize).min(self.capacity);
        Grid::packed(bytes.part(POINTS, count * POINT_BYTES), Number::F32, &[count as isize, 3])
    }
}

impl Image {
    /// How many bytes of pixels it has room for.
    pub fn capacity(self) -> usize {
        self.capacity
    }

    /// The pixels: rows, columns, and channels where there are several.
    pub fn grid<'a, 'py>(self, bytes: Bytes<'a, 'py>) -> PyResult<Grid<'a, 'py>> {
        let (width, height, stride) = (word(bytes, 8), word(bytes, 12), word(bytes, 16));
        let length = (word(bytes, 24) as usize).min(self.capacity);
        let Some(encoding) = Encoding::from_code(word(bytes, 20)) else {
            return Err(refused(
                "the image has no encoding: it was not begun yet, see image.begin(width, height, encoding)",
            ));
        };
        let picture = bytes.part(PICTURE, length);
        let Some(row) = encoding.row_bytes(width) else {
            return Ok(Grid::packed(picture, Number::U8, &[length as isize]));
        };
        let rows = if encoding == Encoding::Nv12 { height.div_ceil(2).saturating_add(height) } else { height };
        let end = u64::from(rows).saturating_sub(1).checked_mul(stride.into()).and_then(|last| last.checked_add(row));
        if u64::from(stride) < row || rows > 0 && end.is_none_or(|end| end > length as u64) {
            return Err(refused(format!(
                "the image says {width} x {height} pixels in rows of {stride} bytes, and has {length} bytes: its publisher described it wrongly"
            )));
        }
        let (number, channels) = match encoding {
            Encoding::Mono8 | Encoding::Nv12 | Encoding::Jpeg => (Number::U8, 1),
            Encoding::Mono16 | Encoding::Depth16 => (Number::U16, 1),
            Encoding::Depth32 => (Number::F32, 1),
            Encoding::Rgb8 | Encoding::Bgr8 => (Number::U8, 3),
            Encoding::Rgba8 | Encoding::Bgra8 => (Number::U8, 4),
            Encoding::Yuyv => (Number::U8, 2),
        };
        // Two pixels of YUYV are one group of four bytes, so its rows have an even number of them.
        let columns = if encoding == Encoding::Yuyv { width.next_multiple_of(2) } else { width };
        let dimensions = [rows as isize, columns as isize, channels];
        let mut grid = Grid::packed(picture, number, if channels == 1 { &dimensions[..2] } else { &dimensions });
        grid.is_packed = grid.strides[0] == stride as isize;
        grid.strides[0] = stride as isize;
        Ok(grid)
    }
}
