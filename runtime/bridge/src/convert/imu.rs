//! `sensor_msgs/msg/Imu`.

use horus::messages::Imu;

use super::geometry::{read_quaternion, read_vector, write_quaternion, write_vector};
use super::{Context, header};
use crate::cdr::{Malformed, Reader, Writer};

pub fn write(ours: &Imu, writer: &mut Writer<'_>, context: &Context) -> Result<(), Malformed> {
    header::write(writer, ours.stamp_ns, &context.frame, context);
    write_quaternion(writer, ours.orientation);
    writer.f64s(&ours.orientation_covariance);
    write_vector(writer, ours.angular_velocity);
    writer.f64s(&ours.angular_velocity_covariance);
    write_vector(writer, ours.linear_acceleration);
    writer.f64s(&ours.linear_acceleration_covariance);
    Ok(())
}

pub fn read(reader: &mut Reader<'_>, ours: &mut Imu, context: &Context) -> Result<(), Malformed> {
    (ours.stamp_ns, _) = header::read(reader, context)?;
    ours.orientation = read_quaternion(reader)?;
    reader.f64s(&mut ours.orientation_covariance)?;
    ours.angular_velocity = read_vector(reader)?;
    reader.f64s(&mut ours.angular_velocity_covariance)?;
    ours.linear_acceleration = read_vector(reader)?;
    reader.f64s(&mut ours.linear_acceleration_covariance)
}
