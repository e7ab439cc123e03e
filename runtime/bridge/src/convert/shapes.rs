//! Messages that come in many sizes: images and point clouds, known by their fields and not by their names.

use horus::message::layout::{Layout, MadeOf};

/// Fields of an image, as `image_message!` makes them, but for its bytes.
const IMAGE: [(&str, &str); 7] = [
    ("stamp_ns", "u64"),
    ("width", "u32"),
    ("height", "u32"),
    ("stride", "u32"),
    ("encoding_code", "u32"),
    ("length", "u32"),
    ("camera", "u32"),
];
/// Fields of a point cloud, as `point_cloud_message!` makes them, but for its points.
const CLOUD: [(&str, &str); 3] = [("stamp_ns", "u64"), ("sensor", "u32"), ("count", "u32")];

/// Whether a message is an image of any size.
pub fn is_image(layout: &Layout) -> bool {
    let is_data = |made_of: &MadeOf| matches!(made_of, MadeOf::Array(element, _) if is_number(element, "u8"));
    begins_with(layout, &IMAGE, "data", is_data)
}

/// Whether a message is a point cloud of any size.
pub fn is_cloud(layout: &Layout) -> bool {
    let is_point = |made_of: &MadeOf| {
        let MadeOf::Array(element, _) = made_of else { return false };
        let MadeOf::Nested(point) = &**element else { return false };
        point.fields().len() == 3 && point.fields().iter().all(|field| is_number(field.made_of(), "f32"))
    };
    begins_with(layout, &CLOUD, "point", is_point)
}

fn begins_with(layout: &Layout, fields: &[(&str, &str)], last: &str, is_last: impl Fn(&MadeOf) -> bool) -> bool {
    let [first @ .., end] = layout.fields() else { return false };
    first.len() == fields.len()
        && first
            .iter()
            .zip(fields)
            .all(|(field, (name, number))| field.name() == *name && is_number(field.made_of(), number))
        && end.name() == last
        && is_last(end.made_of())
}

fn is_number(made_of: &MadeOf, wanted: &str) -> bool {
    matches!(made_of, MadeOf::Number(name, _) if *name == wanted)
}

#[cfg(test)]
mod tests {
    use horus::messages::{ImageHd, ImageVga, Imu, PointCloud1k, PointCloud100};

    use super::*;

    #[test]
    fn images_and_clouds_of_any_size_are_known() {
        assert!(is_image(&Layout::of::<ImageVga>()) && is_image(&Layout::of::<ImageHd>()));
        assert!(is_cloud(&Layout::of::<PointCloud100>()) && is_cloud(&Layout::of::<PointCloud1k>()));
        assert!(!is_image(&Layout::of::<Imu>()) && !is_cloud(&Layout::of::<Imu>()));
        assert!(!is_cloud(&Layout::of::<ImageVga>()) && !is_image(&Layout::of::<PointCloud100>()));
    }
}
