use horus::zerocopy;

#[derive(Clone, Copy, Debug, PartialEq)]
#[derive(zerocopy::FromBytes, zerocopy::IntoBytes, zerocopy::Immutable, zerocopy::KnownLayout)]
#[zerocopy(crate = "horus::zerocopy")]
#[repr(C)]
pub struct Point {
    x: f64,
    y: f64,
}

horus::message! {
    /// The fields of `Point` could not be compared.
    pub struct Place = "example/Place" {
        /// Plain data, but no message.
        point: Point,
    }
}

fn main() {}
