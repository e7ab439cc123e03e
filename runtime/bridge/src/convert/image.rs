//! `sensor_msgs/msg/Image` and `CompressedImage`, of images of any size.

use horus::messages::{Encoding, FrameError, FrameShape, plan};
use horus::zerocopy::FromBytes;

use super::{Context, header};
use crate::cdr::{Malformed, Reader, Writer};

horus::message! {
    /// What stands before the bytes of a picture, in all images.
    struct Head = "horus/ImageHead" {
        stamp_ns: u64,
        width: u32,
        height: u32,
        stride: u32,
        encoding_code: u32,
        length: u32,
        camera: u32,
    }
}

/// What both sides call an encoding. `16UC1` and `32FC1` are how ROS writes depth (REP 118).
const NAMES: [(&str, Encoding); 11] = [
    ("mono8", Encoding::Mono8),
    ("mono16", Encoding::Mono16),
    ("rgb8", Encoding::Rgb8),
    ("bgr8", Encoding::Bgr8),
    ("rgba8", Encoding::Rgba8),
    ("bgra8", Encoding::Bgra8),
    ("16UC1", Encoding::Depth16),
    ("32FC1", Encoding::Depth32),
    ("yuv422_yuy2", Encoding::Yuyv),
    ("nv12", Encoding::Nv12),
    ("8UC1", Encoding::Mono8), // what OpenCV calls it
];

fn parts(ours: &[u8]) -> Result<(Head, &[u8]), Malformed> {
    let (head, data) = Head::read_from_prefix(ours).map_err(|_| Malformed::Short)?;
    let length = (head.length as usize).min(data.len()); // a count is not believed
    Ok((head, &data[..length]))
}

pub fn write(ours: &[u8], writer: &mut Writer<'_>, context: &Context) -> Result<(), Malformed> {
    let (head, picture) = parts(ours)?;
    let encoding = Encoding::from_code(head.encoding_code);
    let name = NAMES.iter().find(|(_, known)| Some(*known) == encoding);
    let (name, _) = name.ok_or(Malformed::Unlike(
        "a sensor_msgs/Image is not compressed: bridge it as sensor_msgs/msg/CompressedImage",
    ))?;
    header::write(writer, head.stamp_ns, &context.frame, context);
    writer.u32(head.height);
    writer.u32(head.width);
    writer.text(name);
    writer.u8(0); // little-endian
    writer.u32(head.stride);
    writer.count(picture.len());
    writer.u8s(picture);
    Ok(())
}

pub fn read(reader: &mut Reader<'_>, ours: &mut [u8], context: &Context) -> Result<usize, Malformed> {
    let (stamp_ns, _frame) = header::read(reader, context)?;
    let (height, width) = (reader.u32()?, reader.u32()?);
    let name = reader.text()?;
    let (_, encoding) =
        NAMES.iter().find(|(known, _)| *known == name).ok_or(Malformed::Unlike("its encoding is none of ours"))?;
    if reader.u8()? != 0 {
        return Err(Malformed::Unlike("its numbers are big-endian"));
    }
    let shape = FrameShape::strided(width, height, *encoding, reader.u32()?);
    let count = reader.count(1)?;
    put(ours, stamp_ns, &shape, reader.u8s(count)?)
}

pub fn write_compressed(ours: &[u8], writer: &mut Writer<'_>, context: &Context) -> Result<(), Malformed> {
    let (head, picture) = parts(ours)?;
    if Encoding::from_code(head.encoding_code) != Some(Encoding::Jpeg) {
        return Err(Malformed::Unlike("the picture is not compressed: bridge it as sensor_msgs/msg/Image"));
    }
    header::write(writer, head.stamp_ns, &context.frame, context);
    writer.text("jpeg");
    writer.count(picture.len());
    writer.u8s(picture);
    Ok(())
}

pub fn read_compressed(reader: &mut Reader<'_>, ours: &mut [u8], context: &Context) -> Result<usize, Malformed> {
    let (stamp_ns, _frame) = header::read(reader, context)?;
    // Some say more: `rgb8; jpeg compressed bgr8`.
    if !reader.text()?.contains("jp") {
        return Err(Malformed::Unlike("it is no JPEG"));
    }
    let count = reader.count(1)?;
    let shape = FrameShape::compressed(0, 0, Encoding::Jpeg, count as u32);
    put(ours, stamp_ns, &shape, reader.u8s(count)?)
}

/// Describes the picture and puts its bytes behind that; what is behind them stays what it was.
fn put(ours: &mut [u8], stamp_ns: u64, shape: &FrameShape, picture: &[u8]) -> Result<usize, Malformed> {
    let all = ours.len();
    let (head, data) = Head::mut_from_prefix(ours).map_err(|_| Malformed::Short)?;
    let (stride, length) = plan(shape, data.len()).map_err(|error| match error {
        FrameError::TooLarge { .. } => Malformed::TooMany,
        _ => Malformed::Unlike("its rows overlap"),
    })?;
    if length as usize != picture.len() {
        return Err(Malformed::Unlike("it does not have as many bytes as its rows"));
    }
    let FrameShape { width, height, encoding, .. } = *shape;
    *head = Head { stamp_ns, width, height, stride, encoding_code: encoding.code(), length, camera: 0 };
    data[..picture.len()].copy_from_slice(picture);
    Ok(all)
}
