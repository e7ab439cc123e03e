//! `sensor_msgs/msg/PointCloud2`, of point clouds of any size.

use horus::zerocopy::FromBytes;

use super::{Context, header};
use crate::cdr::{Malformed, Reader, Writer};

horus::message! {
    /// What stands before the points, in all clouds.
    struct Head = "horus/PointCloudHead" { stamp_ns: u64, sensor: u32, count: u32 }
}

/// Bytes of a point: x, y and z.
const POINT: usize = 12;
/// The number that stands for `float32` in a point's field.
const FLOAT32: u8 = 7;
/// Fields of a point, at most so many.
const MOST_FIELDS: usize = 64;

pub fn write(ours: &[u8], writer: &mut Writer<'_>, context: &Context) -> Result<(), Malformed> {
    let (head, points) = Head::read_from_prefix(ours).map_err(|_| Malformed::Short)?;
    let count = (head.count as usize).min(points.len() / POINT); // a count is not believed
    let points = &points[..count * POINT];
    header::write(writer, head.stamp_ns, &context.frame, context);
    writer.u32(1);
    writer.count(count);
    writer.count(3);
    for (name, offset) in [("x", 0), ("y", 4), ("z", 8)] {
        writer.text(name);
        writer.u32(offset);
        writer.u8(FLOAT32);
        writer.u32(1);
    }
    writer.u8(0); // little-endian
    writer.u32(POINT as u32);
    writer.count(points.len());
    writer.count(points.len());
    writer.u8s(points);
    writer.u8(0); // not dense: a point may be NaN
    Ok(())
}

pub fn read(reader: &mut Reader<'_>, ours: &mut [u8], context: &Context) -> Result<usize, Malformed> {
    let (stamp_ns, _frame) = header::read(reader, context)?;
    let (height, width) = (reader.u32()? as usize, reader.u32()? as usize);
    let mut places = [None; 3];
    let fields = reader.count(14)?;
    if fields > MOST_FIELDS {
        return Err(Malformed::Unlike("its points have too many fields"));
    }
    for _ in 0..fields {
        let (name, offset, number, count) = (reader.text()?, reader.u32()? as usize, reader.u8()?, reader.u32()?);
        let axis = ["x", "y", "z"].iter().position(|axis| *axis == name);
        if let Some(axis) = axis.filter(|_| number == FLOAT32 && count == 1) {
            places[axis] = Some(offset);
        }
    }
    if reader.u8()? != 0 {
        return Err(Malformed::Unlike("its numbers are big-endian"));
    }
    let (step, row) = (reader.u32()? as usize, reader.u32()? as usize);
    let bytes = reader.count(1)?;
    let from = reader.u8s(bytes)?;
    let [Some(x), Some(y), Some(z)] = places else {
        return Err(Malformed::Unlike("its points lack x, y or z as float32"));
    };
    let count = height.checked_mul(width).ok_or(Malformed::TooMany)?;
    let all = ours.len();
    let (head, points) = Head::mut_from_prefix(ours).map_err(|_| Malformed::Short)?;
    let (kept, rest) = points.split_at_mut_checked(count.saturating_mul(POINT)).ok_or(Malformed::TooMany)?;
    let mut kept = kept.as_chunks_mut::<POINT>().0.iter_mut();
    for line in 0..height {
        for column in 0..width {
            let start = line * row + column * step;
            let point = kept.next().ok_or(Malformed::TooMany)?;
            for (axis, place) in [x, y, z].into_iter().enumerate() {
                let place = start.checked_add(place).ok_or(Malformed::Short)?;
                let number = from.get(place..).and_then(|rest| rest.first_chunk::<4>()).ok_or(Malformed::Short)?;
                point[axis * 4..][..4].copy_from_slice(number);
            }
        }
    }
    rest.fill(0);
    *head = Head { stamp_ns, sensor: 0, count: count as u32 };
    Ok(all)
}
