//! What peers of another build rely on, and what a hostile one may write.

use super::*;

/// Name and layout hash of every message as released. A changed hash is a message that programs built before do not
/// understand: give it a new name instead, or release it as an incompatible change. The hashes were computed from the
/// description at `message::layout_hash` by another program.
const RELEASED: [(&str, u64); 19] = [
    ("horus/Vector3", 0x913b_295e_019a_70ac),
    ("horus/Quaternion", 0x9bf4_41ce_8d45_d591),
    ("horus/Pose2D", 0xa441_7fd9_f85a_50a4),
    ("horus/Pose3D", 0x2925_3855_d568_6460),
    ("horus/Twist", 0x26d1_7c62_4cd7_6ad7),
    ("horus/CmdVel", 0x59b9_8107_394d_1d9c),
    ("horus/BatteryState", 0x0521_3306_33ef_3abd),
    ("horus/Imu", 0x2031_9563_81ed_670a),
    ("horus/Odometry", 0x869d_ff1e_eb73_b8ce),
    ("horus/JointState", 0x62c2_15a6_97ee_b7c7),
    ("horus/JointCommand", 0x8b73_9941_71b7_dcd6),
    ("horus/LaserScan", 0x6133_f766_db91_580a),
    ("horus/Point", 0xad58_8e1d_ef76_8150),
    ("horus/PointCloud100", 0x756f_2a2f_87aa_5a5d),
    ("horus/PointCloud1k", 0x00c2_ef17_cadc_6d53),
    ("horus/PointCloud10k", 0xc65b_7595_04c5_dc47),
    ("horus/ImageVga", 0x62ea_5d0e_e44b_ec93),
    ("horus/ImageHd", 0x3ae3_03a6_c5f8_31a9),
    ("horus/ImageFullHd", 0xae75_1319_3445_6056),
];

macro_rules! every_message {
    ($each:ident) => {
        [
            $each::<Vector3>(),
            $each::<Quaternion>(),
            $each::<Pose2D>(),
            $each::<Pose3D>(),
            $each::<Twist>(),
            $each::<CmdVel>(),
            $each::<BatteryState>(),
            $each::<Imu>(),
            $each::<Odometry>(),
            $each::<JointState>(),
            $each::<JointCommand>(),
            $each::<LaserScan>(),
            $each::<Point>(),
            $each::<PointCloud100>(),
            $each::<PointCloud1k>(),
            $each::<PointCloud10k>(),
            $each::<ImageVga>(),
            $each::<ImageHd>(),
            $each::<ImageFullHd>(),
        ]
    };
}

#[test]
fn the_layout_of_every_message_stays_what_was_released() {
    fn found<M: Message>() -> (&'static str, u64) {
        (M::TYPE_NAME, M::LAYOUT_HASH)
    }
    for ((name, hash), (released_name, released_hash)) in every_message!(found).into_iter().zip(RELEASED) {
        assert_eq!((name, format!("{hash:#018x}")), (released_name, format!("{released_hash:#018x}")));
    }
}

#[test]
fn all_messages_are_in_the_table_of_all() {
    let table: Vec<_> = ALL.iter().map(|message| (message.type_name, message.layout_hash)).collect();
    assert_eq!(table[..RELEASED.len()], RELEASED);
    assert_eq!(table[RELEASED.len()..], [("horus/Stamp", crate::message::Stamp::LAYOUT_HASH)]);
    // What is cut off at a header's end cannot be decoded.
    let longest = ALL.iter().map(|message| (message.description)().len()).max().unwrap();
    assert!(longest < horus_shm::segment::layout::DESCRIPTION_BYTES, "{longest}");
}

#[test]
fn the_fields_of_every_message_follow_each_other_without_gap_to_its_end() {
    fn end<M: Message>() -> (usize, usize) {
        let end = M::FIELDS.iter().fold(0, |end, field| {
            assert_eq!(field.offset, end, "{} of {}", field.name, M::TYPE_NAME);
            end + field.bytes
        });
        (end, size_of::<M>())
    }
    for (end, bytes) in every_message!(end) {
        assert_eq!(end, bytes);
    }
}

#[test]
fn a_count_of_a_hostile_peer_shows_what_the_message_holds_and_no_more() {
    let mut scan = LaserScan::zeroed();
    let mut battery = BatteryState::unknown();
    let mut joints = JointCommand::new(&["hip", "knee"]).unwrap();
    let mut cloud = PointCloud100::zeroed();
    for (count, clamp) in [(0, 0), (3, 3), (16, 16), (u32::MAX, usize::MAX)] {
        (scan.count, battery.cell_count, joints.count, cloud.count) = (count, count, count, count);
        assert_eq!(scan.ranges().len(), clamp.min(LaserScan::CAPACITY));
        assert_eq!(battery.cells().len(), clamp.min(BatteryState::CELLS));
        assert_eq!(joints.names().count(), clamp.min(JointCommand::JOINTS));
        assert_eq!(joints.positions().len(), clamp.min(JointCommand::JOINTS));
        assert_eq!(cloud.points().len(), clamp.min(PointCloud100::CAPACITY));
    }
}

#[test]
fn what_does_not_fit_is_refused_and_changes_nothing() {
    let mut scan = LaserScan::zeroed();
    scan.set_ranges(&[1.0; 360]).unwrap();
    assert_eq!(scan.set_ranges(&[2.0; 361]), Err(TooMany { given: 361, capacity: 360 }));
    assert_eq!((scan.ranges().len(), scan.ranges()[359]), (360, 1.0));
    assert_eq!(JointState::new(&["joint"; 17]), Err(TooMany { given: 17, capacity: 16 }.into()));
    let long = "x".repeat(33);
    let refused = TextError::TooLong { bytes: 33, capacity: 32 };
    assert_eq!(JointState::new(&[&long]).unwrap_err(), refused.into());
    let mut field = *b"odom\0\0";
    assert_eq!(set_text(&mut field, "a\0b"), Err(TextError::ZeroByte));
    assert_eq!(set_text(&mut field, "base_link"), Err(TextError::TooLong { bytes: 9, capacity: 6 }));
    assert_eq!(text(&field), "odom");
    set_text(&mut field, "map").unwrap();
    assert_eq!(&field, b"map\0\0\0", "nothing of the longer text is left");
}

#[test]
fn codes_that_mean_nothing_are_none_and_all_others_come_back() {
    for code in 0..=255 {
        let supply = Supply::from_code(code);
        assert_eq!(supply.map(Supply::code), (code <= 4).then_some(code));
        let code = code as u8;
        assert_eq!(JointMode::from_code(code).map(JointMode::code), (code <= 3).then_some(code));
        let code = u32::from(code);
        assert_eq!(Encoding::from_code(code).map(Encoding::code), (1..=11).contains(&code).then_some(code));
    }
    let mut command = JointCommand::new(&["hip"]).unwrap();
    assert_eq!((command.mode(0), command.mode(1)), (Some(JointMode::Untouched), None));
    command.mode_codes[0] = 9;
    assert_eq!(command.mode(0), None);
    assert_eq!(Encoding::from_code(u32::MAX), None);
}

crate::image_message! {
    /// Room for 4 × 4 pixels of 3 bytes.
    struct Small = "test/Small" { up to 4 * 4 * 3 bytes }
}

#[test]
fn a_picture_is_read_back_row_by_row() {
    let mut image = Small::zeroed();
    let bytes = image.begin(FrameShape::strided(2, 3, Encoding::Rgb8, 8)).unwrap();
    bytes.iter_mut().zip(0..).for_each(|(byte, number)| *byte = number);
    assert_eq!(image.picture().len(), 24);
    assert_eq!(image.row(2), Some(&[16, 17, 18, 19, 20, 21][..]));
    assert_eq!(image.row(3), None);
    assert_eq!(image.begin(FrameShape::packed(4, 2, Encoding::Nv12)).unwrap().len(), 12);
    assert_eq!((image.row(1).map(<[u8]>::len), image.row(2)), (Some(4), None));
    assert_eq!(image.begin(FrameShape::packed(3, 1, Encoding::Yuyv)).unwrap().len(), 8);
    image.begin(FrameShape::compressed(2000, 2000, Encoding::Jpeg, 48)).unwrap().fill(1);
    assert_eq!((image.picture(), image.row(0)), (&[1; 48][..], None));
}

#[test]
fn a_picture_that_does_not_fit_or_contradicts_itself_is_refused() {
    let mut image = Small::zeroed();
    let too_large = |needed| Err(FrameError::TooLarge { needed, capacity: 48 });
    assert_eq!(image.begin(FrameShape::packed(5, 4, Encoding::Rgb8)), too_large(60));
    assert_eq!(image.begin(FrameShape::compressed(4, 4, Encoding::Jpeg, 49)), too_large(49));
    assert_eq!(image.begin(FrameShape::packed(u32::MAX, u32::MAX, Encoding::Depth32)), too_large(u64::MAX));
    assert!(image.begin(FrameShape::packed(u32::MAX, 0, Encoding::Depth32)).is_err(), "no such stride");
    let overlapping = Err(FrameError::Stride { stride: 11, row: 12 });
    assert_eq!(image.begin(FrameShape::strided(4, 2, Encoding::Rgb8, 11)), overlapping);
    for shape in [FrameShape::packed(4, 4, Encoding::Jpeg), FrameShape::compressed(4, 4, Encoding::Rgb8, 48)] {
        assert_eq!(image.begin(shape), Err(FrameError::Extent(shape.encoding)));
    }
    assert_eq!((image.width, image.encoding()), (0, None), "the message is as it was");
}

#[test]
fn a_description_of_a_hostile_peer_shows_no_byte_outside_of_the_picture() {
    let mut image = Small::zeroed();
    let numbers = [0, 1, 4, 47, 48, 49, 1 << 31, u32::MAX];
    for encoding in 0..=12 {
        for width in numbers {
            for (stride, length) in numbers.into_iter().flat_map(|stride| numbers.map(|length| (stride, length))) {
                image.encoding_code = encoding;
                (image.width, image.height, image.stride, image.length) = (width, u32::MAX, stride, length);
                assert!(image.picture().len() <= Small::CAPACITY);
                for row in numbers {
                    let read = image.row(row).map(|row| row.len() as u64);
                    assert!(read.is_none_or(|read| Some(read) == image.encoding().unwrap().row_bytes(width)));
                }
            }
        }
    }
}

#[test]
fn yaw_comes_back_from_a_quaternion() {
    for yaw in [-3.0, -0.5, 0.0, 1.0, 3.0_f64] {
        assert!((Quaternion::from_yaw(yaw).yaw() - yaw).abs() < 1e-12, "{yaw}");
    }
    assert_eq!(Quaternion::IDENTITY, Quaternion::from_yaw(0.0));
}
