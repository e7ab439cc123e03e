//! `std_msgs/msg/Header`: when and in which frame something was measured.

use horus::messages::set_text;

use super::Context;
use crate::cdr::{Malformed, Reader, Writer};
use crate::clock::Time;

/// Writes the header of a message that was measured at `stamp_ns`.
pub fn write(writer: &mut Writer<'_>, stamp_ns: u64, frame: &str, context: &Context) {
    let Time { sec, nanosec } = context.offset.to_ros(stamp_ns);
    writer.i32(sec);
    writer.u32(nanosec);
    writer.text(frame);
}

/// Reads a header: the stamp as a monotonic time, and the frame.
pub fn read<'a>(reader: &mut Reader<'a>, context: &Context) -> Result<(u64, &'a str), Malformed> {
    let time = Time { sec: reader.i32()?, nanosec: reader.u32()? };
    Ok((context.offset.from_ros(time), reader.text()?))
}

/// Puts a name into a field of fixed size.
pub fn keep(field: &mut [u8], name: &str) -> Result<(), Malformed> {
    set_text(field, name).map_err(|_| Malformed::Unlike("a name is longer than the field that keeps it"))
}
