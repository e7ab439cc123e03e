//! A camera's frame: a description of 32 bytes, then the bytes of the picture.

use thiserror::Error;

/// Defines an image: `pub struct Name = "package/Name" { up to 640 * 480 * 3 bytes }`.
///
/// The message has 32 bytes and those of the picture, whose number is a multiple of 8, so that nothing is padded. Its
/// methods are those of [`ImageVga`](crate::messages::ImageVga).
///
/// ```
/// use horus::messages::{Encoding, FrameShape};
/// horus::image_message! {
///     /// What our thermal camera sees.
///     pub struct Thermal = "example/Thermal" { up to 32 * 24 * 2 bytes }
/// }
/// let mut image = Thermal::zeroed();
/// image.begin(FrameShape::packed(32, 24, Encoding::Mono16)).unwrap().fill(7);
/// assert_eq!(image.row(23), Some(&[7; 64][..]));
/// assert_eq!(image.row(24), None);
/// ```
#[macro_export]
macro_rules! image_message {
    (
        $(#[$about:meta])*
        $visibility:vis struct $name:ident = $type_name:literal { up to $first:literal $(* $factor:literal)* bytes }
    ) => {
        $crate::message! {
            $(#[$about])*
            $visibility struct $name = $type_name {
                /// When the exposure began, nanoseconds on CLOCK_MONOTONIC; 0 when not known.
                stamp_ns: u64,
                /// Pixels in a row.
                width: u32,
                /// Rows.
                height: u32,
                /// Bytes from the start of one row to that of the next.
                stride: u32,
                /// Code of an [`Encoding`](horus::messages::Encoding): read [`encoding`](Self::encoding).
                encoding_code: u32,
                /// How many bytes of `data` are the picture: read [`picture`](Self::picture).
                length: u32,
                /// Number of the camera, for topics that carry several; 0 otherwise.
                camera: u32,
                /// The picture, then bytes without meaning.
                data: [u8; $first $(* $factor)*],
            }
        }

        impl $name {
            /// Most bytes that a picture may have.
            pub const CAPACITY: usize = $first $(* $factor)*;

            /// How the bytes stand for pixels; `None` for a code that means nothing.
            pub fn encoding(&self) -> Option<$crate::messages::Encoding> {
                $crate::messages::Encoding::from_code(self.encoding_code)
            }

            /// All bytes of the picture; at most [`CAPACITY`](Self::CAPACITY), whatever the length says.
            pub fn picture(&self) -> &[u8] {
                $crate::messages::counted(&self.data, self.length)
            }

            /// The pixels of row `row`, counted from the top, without what lies between rows; of NV12 the brightness only.
            /// `None` when the picture has no such row, whatever its description says, or no rows at all (JPEG).
            pub fn row(&self, row: u32) -> Option<&[u8]> {
                let bytes = self.encoding()?.row_bytes(self.width)?;
                let start = u64::from(row) * u64::from(self.stride);
                let end = usize::try_from(start.checked_add(bytes)?).ok()?;
                let start = usize::try_from(start).ok()?;
                self.picture().get(start..end).filter(|_| row < self.height)
            }

            /// Describes a new picture and lends its bytes to be written, in place of the old one.
            pub fn begin(
                &mut self,
                shape: $crate::messages::FrameShape,
            ) -> Result<&mut [u8], $crate::messages::FrameError> {
                let $crate::messages::FrameShape { width, height, encoding, .. } = shape;
                let (stride, length) = $crate::messages::plan(&shape, self.data.len())?;
                (self.width, self.height, self.stride, self.length) = (width, height, stride, length);
                self.encoding_code = encoding.code();
                Ok(&mut self.data[..length as usize])
            }
        }
    };
}

/// How the bytes of a picture stand for pixels. Numbers of more than one byte are in the order of the machine.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Encoding {
    /// One byte of brightness a pixel.
    Mono8,
    /// Two bytes of brightness a pixel.
    Mono16,
    /// Red, green and blue, a byte each.
    Rgb8,
    /// Blue, green and red, a byte each.
    Bgr8,
    /// Red, green, blue and opacity, a byte each.
    Rgba8,
    /// Blue, green, red and opacity, a byte each.
    Bgra8,
    /// Two bytes of depth a pixel, millimetres; 0 where nothing was seen (REP 118, <https://ros.org/reps/rep-0118.html>).
    Depth16,
    /// An `f32` of depth a pixel, metres; NaN where nothing was seen (REP 118).
    Depth32,
    /// Two pixels in four bytes: brightness, blueness, brightness, redness (V4L2's YUYV).
    Yuyv,
    /// A plane of brightness, one byte a pixel, then one of blueness and redness at half the rows (V4L2's NV12).
    Nv12,
    /// A JPEG file of any length.
    Jpeg,
}

impl Encoding {
    const ALL: [Self; 11] = [
        Self::Mono8,
        Self::Mono16,
        Self::Rgb8,
        Self::Bgr8,
        Self::Rgba8,
        Self::Bgra8,
        Self::Depth16,
        Self::Depth32,
        Self::Yuyv,
        Self::Nv12,
        Self::Jpeg,
    ];

    /// The number that stands in a message for this encoding: 1 to 11 in the order of the variants. Zero stands for none,
    /// so that empty bytes are no picture.
    pub const fn code(self) -> u32 {
        self as u32 + 1
    }

    /// The encoding that a message's number stands for.
    pub fn from_code(code: u32) -> Option<Self> {
        Self::ALL.get(usize::try_from(code).ok()?.checked_sub(1)?).copied()
    }

    /// Bytes of a row of `width` pixels, of NV12 in its first plane; `None` for JPEG, which has no rows.
    pub const fn row_bytes(self, width: u32) -> Option<u64> {
        let width = width as u64;
        match self {
            Self::Mono8 | Self::Nv12 => Some(width),
            Self::Mono16 | Self::Depth16 => Some(2 * width),
            Self::Rgb8 | Self::Bgr8 => Some(3 * width),
            Self::Rgba8 | Self::Bgra8 | Self::Depth32 => Some(4 * width),
            Self::Yuyv => Some(4 * width.div_ceil(2)),
            Self::Jpeg => None,
        }
    }
}

/// What a picture is like, before its bytes are written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FrameShape {
    /// Pixels in a row.
    pub width: u32,
    /// Rows.
    pub height: u32,
    /// How the bytes stand for pixels.
    pub encoding: Encoding,
    extent: Extent,
}

/// How many bytes a picture has, or what that follows from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Extent {
    Packed,
    Stride(u32),
    Length(u32),
}

impl FrameShape {
    /// A picture whose rows follow each other without gap.
    pub const fn packed(width: u32, height: u32, encoding: Encoding) -> Self {
        Self { width, height, encoding, extent: Extent::Packed }
    }

    /// A picture whose rows start `stride` bytes apart, as cameras and converters like it.
    pub const fn strided(width: u32, height: u32, encoding: Encoding, stride: u32) -> Self {
        Self { width, height, encoding, extent: Extent::Stride(stride) }
    }

    /// A compressed picture of `length` bytes.
    pub const fn compressed(width: u32, height: u32, encoding: Encoding, length: u32) -> Self {
        Self { width, height, encoding, extent: Extent::Length(length) }
    }
}

/// Why a picture cannot stand in a message; the message is as it was.
#[derive(Clone, Copy, Debug, Error, PartialEq, Eq)]
pub enum FrameError {
    /// It has more bytes than the message.
    #[error("a picture of {needed} bytes does not fit into a message that holds {capacity}: define a larger message")]
    TooLarge {
        /// Bytes of the picture.
        needed: u64,
        /// Bytes that the message holds.
        capacity: usize,
    },
    /// Its rows overlap.
    #[error("rows that start {stride} bytes apart cannot hold {row} bytes each: check width, encoding and stride")]
    Stride {
        /// Bytes from row to row.
        stride: u32,
        /// Bytes of a row.
        row: u64,
    },
    /// Its length does not follow from rows, or must.
    #[error("{0:?} pictures are described in another way: compressed ones by their length, all others by their rows")]
    Extent(Encoding),
}

/// Stride and length of a picture of this shape, if it fits into `capacity` bytes.
#[doc(hidden)]
pub fn plan(shape: &FrameShape, capacity: usize) -> Result<(u32, u32), FrameError> {
    let (stride, needed) = match (shape.extent, shape.encoding.row_bytes(shape.width)) {
        (Extent::Length(length), None) => (0, length.into()),
        (Extent::Length(_), Some(_)) | (_, None) => return Err(FrameError::Extent(shape.encoding)),
        (Extent::Packed, Some(row)) => (row, all_rows(shape, row)),
        (Extent::Stride(stride), Some(row)) if u64::from(stride) < row => {
            return Err(FrameError::Stride { stride, row });
        }
        (Extent::Stride(stride), Some(_)) => (stride.into(), all_rows(shape, stride.into())),
    };
    let too_large = FrameError::TooLarge { needed, capacity };
    if usize::try_from(needed).map_or(true, |needed| needed > capacity) {
        return Err(too_large);
    }
    // A stride that does not fit belongs to a picture without rows, whose length is zero.
    Ok((u32::try_from(stride).map_err(|_| too_large)?, u32::try_from(needed).map_err(|_| too_large)?))
}

/// Bytes of all rows, of NV12 with the second plane.
fn all_rows(shape: &FrameShape, stride: u64) -> u64 {
    let height = u64::from(shape.height);
    let rows = if shape.encoding == Encoding::Nv12 { height + height.div_ceil(2) } else { height };
    stride.saturating_mul(rows)
}

image_message! {
    /// A picture of up to 640 × 480 pixels of 3 bytes, 921 632 bytes.
    pub struct ImageVga = "horus/ImageVga" { up to 640 * 480 * 3 bytes }
}
const _: () = assert!(size_of::<ImageVga>() == 921_632);

image_message! {
    /// A picture of up to 1280 × 720 pixels of 3 bytes, 2 764 832 bytes. Too large for most stacks: write it where a
    /// publisher lends room.
    pub struct ImageHd = "horus/ImageHd" { up to 1280 * 720 * 3 bytes }
}
const _: () = assert!(size_of::<ImageHd>() == 2_764_832);

image_message! {
    /// A picture of up to 1920 × 1080 pixels of 3 bytes, 6 220 832 bytes. Too large for most stacks: write it where a
    /// publisher lends room.
    pub struct ImageFullHd = "horus/ImageFullHd" { up to 1920 * 1080 * 3 bytes }
}
const _: () = assert!(size_of::<ImageFullHd>() == 6_220_832);
