//! `nav_msgs/msg/Odometry`, and the transform that it contains.

use horus::messages::Odometry;

use super::geometry::{read_quaternion, read_vector, write_quaternion, write_vector};
use super::{Context, header};
use crate::cdr::{Malformed, Reader, Writer};

pub fn write(ours: &Odometry, writer: &mut Writer<'_>, context: &Context) -> Result<(), Malformed> {
    header::write(writer, ours.stamp_ns, ours.frame(), context);
    writer.text(ours.child_frame());
    write_vector(writer, ours.position);
    write_quaternion(writer, ours.orientation);
    writer.f64s(&ours.pose_covariance);
    write_vector(writer, ours.linear);
    write_vector(writer, ours.angular);
    writer.f64s(&ours.twist_covariance);
    Ok(())
}

pub fn read(reader: &mut Reader<'_>, ours: &mut Odometry, context: &Context) -> Result<(), Malformed> {
    let (stamp_ns, frame) = header::read(reader, context)?;
    ours.stamp_ns = stamp_ns;
    header::keep(&mut ours.frame_text, frame)?;
    header::keep(&mut ours.child_frame_text, reader.text()?)?;
    ours.position = read_vector(reader)?;
    ours.orientation = read_quaternion(reader)?;
    reader.f64s(&mut ours.pose_covariance)?;
    ours.linear = read_vector(reader)?;
    ours.angular = read_vector(reader)?;
    reader.f64s(&mut ours.twist_covariance)
}

/// `tf2_msgs/msg/TFMessage`: where the child frame is, as one transform.
pub fn write_transform(ours: &Odometry, writer: &mut Writer<'_>, context: &Context) -> Result<(), Malformed> {
    writer.count(1);
    header::write(writer, ours.stamp_ns, ours.frame(), context);
    writer.text(ours.child_frame());
    write_vector(writer, ours.position);
    write_quaternion(writer, ours.orientation);
    Ok(())
}
