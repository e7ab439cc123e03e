//! Topics of bytes as `std_msgs/msg/String` and `std_msgs/msg/UInt8MultiArray`.

use super::Context;
use crate::cdr::{Malformed, Reader, Writer};

/// The bytes as text, if they are.
pub fn as_text(bytes: &[u8]) -> Result<&str, Malformed> {
    std::str::from_utf8(bytes).map_err(|_| Malformed::Unlike("the bytes are no UTF-8"))
}

pub fn write(ours: &[u8], writer: &mut Writer<'_>, _: &Context) -> Result<(), Malformed> {
    writer.text(as_text(ours)?);
    Ok(())
}

pub fn read(reader: &mut Reader<'_>, into: &mut [u8], _: &Context) -> Result<usize, Malformed> {
    put(reader.text()?.as_bytes(), into)
}

pub fn write_numbers(ours: &[u8], writer: &mut Writer<'_>, _: &Context) -> Result<(), Malformed> {
    writer.count(0); // dimensions
    writer.u32(0);
    writer.count(ours.len());
    writer.u8s(ours);
    Ok(())
}

pub fn read_numbers(reader: &mut Reader<'_>, into: &mut [u8], _: &Context) -> Result<usize, Malformed> {
    for _ in 0..reader.count(13)? {
        reader.text()?;
        reader.u32()?;
        reader.u32()?;
    }
    reader.u32()?;
    let count = reader.count(1)?;
    put(reader.u8s(count)?, into)
}

fn put(bytes: &[u8], into: &mut [u8]) -> Result<usize, Malformed> {
    into.get_mut(..bytes.len()).ok_or(Malformed::TooMany)?.copy_from_slice(bytes);
    Ok(bytes.len())
}
