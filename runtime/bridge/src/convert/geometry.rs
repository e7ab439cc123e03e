//! Vectors, poses and speeds.

use horus::messages::{CmdVel, Pose2D, Pose3D, Quaternion, Twist, Vector3};

use super::{Context, header};
use crate::cdr::{Malformed, Reader, Writer};

pub fn write_vector(writer: &mut Writer<'_>, Vector3 { x, y, z }: Vector3) {
    writer.f64s(&[x, y, z]);
}

pub fn read_vector(reader: &mut Reader<'_>) -> Result<Vector3, Malformed> {
    Ok(Vector3 { x: reader.f64()?, y: reader.f64()?, z: reader.f64()? })
}

pub fn write_quaternion(writer: &mut Writer<'_>, Quaternion { x, y, z, w }: Quaternion) {
    writer.f64s(&[x, y, z, w]);
}

pub fn read_quaternion(reader: &mut Reader<'_>) -> Result<Quaternion, Malformed> {
    Ok(Quaternion { x: reader.f64()?, y: reader.f64()?, z: reader.f64()?, w: reader.f64()? })
}

/// `geometry_msgs/msg/PoseStamped` of a pose in space.
pub fn write_pose_stamped(ours: &Pose3D, writer: &mut Writer<'_>, context: &Context) -> Result<(), Malformed> {
    header::write(writer, ours.stamp_ns, &context.frame, context);
    write_pose(ours, writer, context)
}

pub fn read_pose_stamped(reader: &mut Reader<'_>, ours: &mut Pose3D, context: &Context) -> Result<(), Malformed> {
    let (stamp_ns, _frame) = header::read(reader, context)?;
    read_pose(reader, ours, context)?;
    ours.stamp_ns = stamp_ns;
    Ok(())
}

/// `geometry_msgs/msg/Pose`, which has no stamp.
pub fn write_pose(ours: &Pose3D, writer: &mut Writer<'_>, _: &Context) -> Result<(), Malformed> {
    write_vector(writer, ours.position);
    write_quaternion(writer, ours.orientation);
    Ok(())
}

pub fn read_pose(reader: &mut Reader<'_>, ours: &mut Pose3D, _: &Context) -> Result<(), Malformed> {
    *ours = Pose3D { stamp_ns: 0, position: read_vector(reader)?, orientation: read_quaternion(reader)? };
    Ok(())
}

/// `geometry_msgs/msg/Pose2D`, which has no stamp.
pub fn write_pose2d(ours: &Pose2D, writer: &mut Writer<'_>, _: &Context) -> Result<(), Malformed> {
    writer.f64s(&[ours.x, ours.y, ours.yaw]);
    Ok(())
}

pub fn read_pose2d(reader: &mut Reader<'_>, ours: &mut Pose2D, _: &Context) -> Result<(), Malformed> {
    *ours = Pose2D { stamp_ns: 0, x: reader.f64()?, y: reader.f64()?, yaw: reader.f64()? };
    Ok(())
}

/// `geometry_msgs/msg/PoseStamped` of a pose on the ground.
pub fn write_ground(ours: &Pose2D, writer: &mut Writer<'_>, context: &Context) -> Result<(), Malformed> {
    let position = Vector3 { x: ours.x, y: ours.y, z: 0.0 };
    let orientation = Quaternion::from_yaw(ours.yaw);
    write_pose_stamped(&Pose3D { stamp_ns: ours.stamp_ns, position, orientation }, writer, context)
}

pub fn read_ground(reader: &mut Reader<'_>, ours: &mut Pose2D, context: &Context) -> Result<(), Malformed> {
    let mut pose = Pose3D::default();
    read_pose_stamped(reader, &mut pose, context)?;
    let (position, yaw) = (pose.position, pose.orientation.yaw());
    *ours = Pose2D { stamp_ns: pose.stamp_ns, x: position.x, y: position.y, yaw };
    Ok(())
}

/// `geometry_msgs/msg/TwistStamped`.
pub fn write_twist_stamped(ours: &Twist, writer: &mut Writer<'_>, context: &Context) -> Result<(), Malformed> {
    header::write(writer, ours.stamp_ns, &context.frame, context);
    write_twist(ours, writer, context)
}

pub fn read_twist_stamped(reader: &mut Reader<'_>, ours: &mut Twist, context: &Context) -> Result<(), Malformed> {
    let (stamp_ns, _frame) = header::read(reader, context)?;
    read_twist(reader, ours, context)?;
    ours.stamp_ns = stamp_ns;
    Ok(())
}

/// `geometry_msgs/msg/Twist`, which has no stamp.
pub fn write_twist(ours: &Twist, writer: &mut Writer<'_>, _: &Context) -> Result<(), Malformed> {
    write_vector(writer, ours.linear);
    write_vector(writer, ours.angular);
    Ok(())
}

pub fn read_twist(reader: &mut Reader<'_>, ours: &mut Twist, _: &Context) -> Result<(), Malformed> {
    *ours = Twist { stamp_ns: 0, linear: read_vector(reader)?, angular: read_vector(reader)? };
    Ok(())
}

/// `geometry_msgs/msg/Twist` of a vehicle that drives forward and turns.
pub fn write_command(ours: &CmdVel, writer: &mut Writer<'_>, _: &Context) -> Result<(), Malformed> {
    writer.f64s(&[ours.forward, 0.0, 0.0, 0.0, 0.0, ours.turn]);
    Ok(())
}

/// A vehicle that would have to drive sideways or to tip does not obey by half: such a command is refused.
pub fn read_command(reader: &mut Reader<'_>, ours: &mut CmdVel, _: &Context) -> Result<(), Malformed> {
    let (linear, angular) = (read_vector(reader)?, read_vector(reader)?);
    let rest = [linear.y, linear.z, angular.x, angular.y];
    if rest.iter().any(|&number| number != 0.0) {
        return Err(Malformed::Unlike(
            "a horus/CmdVel drives forward and turns about z, and this speed has other parts",
        ));
    }
    *ours = CmdVel { forward: linear.x, turn: angular.z };
    Ok(())
}

/// `geometry_msgs/msg/TwistStamped` of the same; the stamp is when it was sent to ROS.
pub fn write_command_stamped(ours: &CmdVel, writer: &mut Writer<'_>, context: &Context) -> Result<(), Malformed> {
    header::write(writer, horus_sys::clock::monotonic_ns(), &context.frame, context);
    write_command(ours, writer, context)
}

pub fn read_command_stamped(reader: &mut Reader<'_>, ours: &mut CmdVel, context: &Context) -> Result<(), Malformed> {
    header::read(reader, context)?;
    read_command(reader, ours, context)
}
