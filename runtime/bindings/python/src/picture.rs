//! What the package's files in Python ask of images and clouds.

use horus::messages::{Encoding, FrameShape, plan};
use pyo3::prelude::*;

use crate::error::{failed, refused};
use crate::message::known::of_type;
use crate::message::object::Message;
use crate::message::shape::Shape;

/// Describes a picture in an image.
#[pyfunction]
fn begin_image(image: &Bound<'_, PyAny>, width: u32, height: u32, encoding: u32) -> PyResult<()> {
    let Some((class, bytes)) = Message::of(image)? else { return Err(refused("this is no message")) };
    let (Some(Shape::Image(shape)), Some(encoding)) = (class.shape, Encoding::from_code(encoding)) else {
        return Err(refused("this is no image, or no encoding"));
    };
    let (stride, length) = plan(&FrameShape::packed(width, height, encoding), shape.capacity()).map_err(failed)?;
    for (offset, value) in [(8, width), (12, height), (16, stride), (20, encoding.code()), (24, length)] {
        bytes.part(offset, 4).write(&value.to_le_bytes())?;
    }
    Ok(())
}

/// Whether a class is of images, clouds or others.
#[pyfunction]
fn shape_of(of: &Bound<'_, pyo3::types::PyType>) -> PyResult<&'static str> {
    Ok(match of_type(of)?.shape {
        Some(Shape::Image(_)) => "image",
        Some(Shape::Cloud(_)) => "cloud",
        None => "",
    })
}

/// Adds what the package needs of it.
pub fn add_to(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_function(wrap_pyfunction!(begin_image, module)?)?;
    module.add_function(wrap_pyfunction!(shape_of, module)?)
}
