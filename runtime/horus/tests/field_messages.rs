//! Every message of the field crosses a topic as it was.

use horus::message::Message;
use horus::messages::*;
use horus::topic::{Options, Publisher, Subscriber, Wait};

/// Sends bytes of which no two neighbours are equal as a message `M`, and expects them back.
fn crosses_by_copy<M: Message>() {
    let files = tempfile::tempdir().unwrap();
    let options = Options::reliable(2).directory(files.path());
    let name = M::TYPE_NAME.replace('/', ".").parse().unwrap();
    let mut publisher = Publisher::<M>::create_or_open(&name, &options).unwrap();
    let mut subscriber = Subscriber::<M>::open(&name, &options, Wait::No).unwrap();
    let mut message: M = zeroed();
    message.as_mut_bytes().iter_mut().zip(1_u32..).for_each(|(byte, number)| *byte = (number % 251) as u8);
    assert!(publisher.try_send(message).is_ok());
    let received = subscriber.try_recv().unwrap().message;
    // As bytes: some of them are NaN, which equals nothing.
    assert!(received.as_bytes() == message.as_bytes(), "{}", M::TYPE_NAME);
}

#[test]
fn every_message_arrives_byte_by_byte() {
    crosses_by_copy::<Vector3>();
    crosses_by_copy::<Quaternion>();
    crosses_by_copy::<Pose2D>();
    crosses_by_copy::<Pose3D>();
    crosses_by_copy::<Twist>();
    crosses_by_copy::<CmdVel>();
    crosses_by_copy::<BatteryState>();
    crosses_by_copy::<Imu>();
    crosses_by_copy::<Odometry>();
    crosses_by_copy::<JointState>();
    crosses_by_copy::<JointCommand>();
    crosses_by_copy::<LaserScan>();
    crosses_by_copy::<Point>();
    crosses_by_copy::<PointCloud100>();
    crosses_by_copy::<PointCloud1k>();
    crosses_by_copy::<PointCloud10k>();
}
