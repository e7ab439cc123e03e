//! `sensor_msgs/msg/LaserScan`.

use horus::messages::LaserScan;

use super::{Context, header};
use crate::cdr::{Malformed, Reader, Writer};

pub fn write(ours: &LaserScan, writer: &mut Writer<'_>, context: &Context) -> Result<(), Malformed> {
    header::write(writer, ours.stamp_ns, &context.frame, context);
    let last = ours.ranges().len().saturating_sub(1);
    writer.f32s(&[ours.angle_start, ours.angle(last), ours.angle_step, ours.beam_interval, ours.scan_interval]);
    writer.f32s(&[ours.range_min, ours.range_max]);
    writer.count(ours.ranges().len());
    writer.f32s(ours.ranges());
    writer.count(0); // intensities
    Ok(())
}

pub fn read(reader: &mut Reader<'_>, ours: &mut LaserScan, context: &Context) -> Result<(), Malformed> {
    (ours.stamp_ns, _) = header::read(reader, context)?;
    ours.angle_start = reader.f32()?;
    reader.f32()?; // the last angle follows from the others
    ours.angle_step = reader.f32()?;
    ours.beam_interval = reader.f32()?;
    ours.scan_interval = reader.f32()?;
    ours.range_min = reader.f32()?;
    ours.range_max = reader.f32()?;
    let count = reader.count(4)?;
    reader.f32s(ours.range.get_mut(..count).ok_or(Malformed::TooMany)?)?;
    ours.range[count..].fill(0.0);
    (ours.count, ours.sensor) = (count as u32, 0); // at most 360
    let intensities = reader.count(4)?;
    reader.pass(intensities, 4)
}
