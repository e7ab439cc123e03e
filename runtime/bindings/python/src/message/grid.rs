//! Numbers in rows and columns, over bytes of a message: what NumPy and DLPack are told of.

use arrayvec::ArrayVec;

use super::bytes::Bytes;
use super::number::Number;

/// Lengths or strides, from the outside to the inside. NumPy has 64 dimensions, and a message hardly more than a few.
pub type Extents = ArrayVec<isize, MOST>;
/// The most dimensions of an array.
pub const MOST: usize = 8;

/// Numbers in rows and columns, over bytes of a message.
pub struct Grid<'a, 'py> {
    pub bytes: Bytes<'a, 'py>,
    pub number: Number,
    pub dimensions: Extents,
    /// Bytes from one element of each dimension to the next.
    pub strides: Extents,
    /// Whether the elements follow each other without gap.
    pub is_packed: bool,
}

impl<'a, 'py> Grid<'a, 'py> {
    /// Elements that follow each other without gap.
    pub fn packed(bytes: Bytes<'a, 'py>, number: Number, dimensions: &[isize]) -> Self {
        let dimensions: Extents = dimensions.iter().copied().collect();
        let mut stride = number.bytes() as isize;
        let mut strides = dimensions.clone();
        for (place, length) in strides.iter_mut().zip(&dimensions).rev() {
            *place = stride;
            stride *= length;
        }
        Self { bytes, number, dimensions, strides, is_packed: true }
    }
}
