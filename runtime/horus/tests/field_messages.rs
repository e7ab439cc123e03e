//! Every message of the field crosses a topic as it was: small ones by copy, large ones in place.

use horus::message::Message;
use horus::messages::*;
use horus::topic::{Options, Publisher, Subscriber};

/// Sends bytes of which no two neighbours are equal as a message `M`, and expects them back.
fn crosses_by_copy<M: Message>() {
    let files = tempfile::tempdir_in("/dev/shm").unwrap();
    let options = Options::reliable(2).directory(files.path());
    let name = M::TYPE_NAME.replace('/', ".");
    let mut publisher = Publisher::<M>::open(&name, &options).unwrap();
    let mut subscriber = Subscriber::<M>::open(&name, &options).unwrap();
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

#[test]
fn a_picture_larger_than_the_stack_is_written_and_read_where_it_is() {
    let files = tempfile::tempdir_in("/dev/shm").unwrap();
    let options = Options::latest(2).directory(files.path());
    let name = "camera";
    let mut publisher = Publisher::<ImageFullHd>::open(name, &options).unwrap();
    let mut subscriber = Subscriber::<ImageFullHd>::open(name, &options).unwrap();
    for picture in 1..=3_u8 {
        let mut loan = publisher.loan().unwrap();
        let bytes = loan.begin(FrameShape::packed(1920, 1080, Encoding::Rgb8)).unwrap();
        bytes.fill(picture);
        bytes[1919 * 3] = 200;
        loan.publish();
        let sample = subscriber.borrow().unwrap();
        assert_eq!((sample.width, sample.height, sample.encoding()), (1920, 1080, Some(Encoding::Rgb8)));
        assert_eq!((sample.row(0).unwrap()[1919 * 3], sample.row(1079).unwrap()[0]), (200, picture));
        assert_eq!((sample.row(1079).unwrap().len(), sample.row(1080)), (5760, None));
    }
}
