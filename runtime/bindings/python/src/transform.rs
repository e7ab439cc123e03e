//! Frames: sent, looked up, and what a transform is in Python.

use std::path::PathBuf;

use horus::messages::{Quaternion, Vector3};
use horus::time::MonotonicTime;
use horus::topic::Options;
use horus::transform::{
    Broadcaster as RustBroadcaster, Frames as RustFrames, StaticBroadcaster as RustStaticBroadcaster,
    Transform as RustTransform,
};
use pyo3::prelude::*;

use crate::error::{failed, refused};
use crate::exclusive::Exclusive;
use crate::topic::options::duration;

/// The classes of this file.
pub fn add_to(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_class::<Transform>()?;
    module.add_class::<Broadcaster>()?;
    module.add_class::<StaticBroadcaster>()?;
    module.add_class::<Frames>()
}

/// How a frame is moved and turned in another one: it takes coordinates in the child to those in the parent. The translation is x, y, z in metres, the
/// rotation a unit quaternion x, y, z, w.
#[pyclass(frozen, module = "horus")]
#[derive(Clone, Copy)]
pub struct Transform(RustTransform);

type Three = (f64, f64, f64);
type Four = (f64, f64, f64, f64);

#[pymethods]
impl Transform {
    #[new]
    #[pyo3(signature = (translation = (0.0, 0.0, 0.0), rotation = (0.0, 0.0, 0.0, 1.0)))]
    fn new(translation: Three, rotation: Four) -> Self {
        let ((x, y, z), (i, j, k, w)) = (translation, rotation);
        Self(RustTransform { translation: Vector3 { x, y, z }, rotation: Quaternion { x: i, y: j, z: k, w } })
    }

    /// Moved by x and y metres on the ground, and turned by `yaw` radians counter-clockwise.
    #[staticmethod]
    #[pyo3(signature = (x, y, yaw = 0.0))]
    fn planar(x: f64, y: f64, yaw: f64) -> Self {
        Self(RustTransform::planar(x, y, yaw))
    }

    /// From the parent's origin to the child's, metres along the parent's axes.
    #[getter]
    fn translation(&self) -> Three {
        let Vector3 { x, y, z } = self.0.translation;
        (x, y, z)
    }

    /// How the child is turned in the parent: a unit quaternion x, y, z, w.
    #[getter]
    fn rotation(&self) -> Four {
        let Quaternion { x, y, z, w } = self.0.rotation;
        (x, y, z, w)
    }

    /// How far it is turned about the z axis, radians from -pi to pi.
    #[getter]
    fn yaw(&self) -> f64 {
        self.0.rotation.yaw()
    }

    /// The other way round: the parent in the child.
    fn inverse(&self) -> Self {
        Self(self.0.inverse())
    }

    /// The coordinates in the parent of a point that has these in the child.
    fn apply(&self, point: Three) -> Three {
        let (x, y, z) = point;
        let Vector3 { x, y, z } = self.0.apply(&Vector3 { x, y, z });
        (x, y, z)
    }

    /// How far the origins of two frames are apart that are both in the same parent, metres.
    fn distance(&self, other: &Self) -> f64 {
        self.0.distance(&other.0)
    }

    /// `a_in_map * b_in_a` is b in map.
    fn __mul__(&self, inner: &Self) -> Self {
        Self(self.0 * inner.0)
    }

    fn __repr__(&self) -> String {
        format!("Transform({:?}, {:?})", self.translation(), self.rotation())
    }
}

/// Sends where a moving frame is in its parent. The frame goes with `close`, with the end of a `with` block, and with this object. Raises HorusError when
/// another program sends the frame, or the tree would have a loop.
#[pyclass(frozen, module = "horus")]
pub struct Broadcaster(Exclusive<Option<RustBroadcaster>>);

const CLOSED: &str = "this broadcaster was closed: open another one";

#[pymethods]
impl Broadcaster {
    #[new]
    #[pyo3(signature = (parent, child, *, directory = None))]
    fn new(parent: &str, child: &str, directory: Option<PathBuf>) -> PyResult<Self> {
        let broadcaster = RustBroadcaster::open(parent, child, &options(directory)).map_err(failed)?;
        Ok(Self(Exclusive::new("broadcaster", Some(broadcaster))))
    }

    /// Sends where the frame was at `time_ns`, nanoseconds of CLOCK_MONOTONIC (`time.monotonic_ns()`), which is after that of the transform before.
    fn send(&self, py: Python<'_>, time_ns: u64, transform: &Transform) -> PyResult<()> {
        let mut broadcaster = self.0.lend(py)?;
        let broadcaster = broadcaster.as_mut().ok_or_else(|| refused(CLOSED))?;
        broadcaster.send(MonotonicTime::from_nanos(time_ns), &transform.0).map_err(failed)
    }

    /// Withdraws the frame. Once more is nothing.
    fn close(&self, py: Python<'_>) -> PyResult<()> {
        self.0.lend(py)?.take();
        Ok(())
    }

    fn __enter__(this: PyRef<'_, Self>) -> PyRef<'_, Self> {
        this
    }

    #[pyo3(signature = (*_raised))]
    fn __exit__(&self, py: Python<'_>, _raised: &Bound<'_, PyAny>) -> PyResult<()> {
        self.close(py)
    }
}

/// Sends static frames, each once: how a sensor is mounted. They are known at every time, until `close`, the end of a `with` block, or the end of this
/// object.
#[pyclass(frozen, module = "horus")]
pub struct StaticBroadcaster(Exclusive<Option<RustStaticBroadcaster>>);

#[pymethods]
impl StaticBroadcaster {
    #[new]
    #[pyo3(signature = (*, directory = None))]
    fn new(directory: Option<PathBuf>) -> PyResult<Self> {
        let broadcaster = RustStaticBroadcaster::open(&options(directory)).map_err(failed)?;
        Ok(Self(Exclusive::new("broadcaster", Some(broadcaster))))
    }

    /// Adds the frame `child` in `parent`.
    fn add(&self, py: Python<'_>, parent: &str, child: &str, transform: &Transform) -> PyResult<()> {
        let mut broadcaster = self.0.lend(py)?;
        let broadcaster = broadcaster.as_mut().ok_or_else(|| refused(CLOSED))?;
        broadcaster.add(parent, child, &transform.0).map_err(failed)
    }

    /// Adds the fixed joints of a URDF file, and says how many there are. All of them or none.
    fn add_urdf(&self, py: Python<'_>, path: PathBuf) -> PyResult<usize> {
        let mut broadcaster = self.0.lend(py)?;
        broadcaster.as_mut().ok_or_else(|| refused(CLOSED))?.add_urdf(path).map_err(failed)
    }

    /// Withdraws the frames. Once more is nothing.
    fn close(&self, py: Python<'_>) -> PyResult<()> {
        self.0.lend(py)?.take();
        Ok(())
    }

    fn __enter__(this: PyRef<'_, Self>) -> PyRef<'_, Self> {
        this
    }

    #[pyo3(signature = (*_raised))]
    fn __exit__(&self, py: Python<'_>, _raised: &Bound<'_, PyAny>) -> PyResult<()> {
        self.close(py)
    }
}

/// All frames of a namespace, to be looked up. One thread at a time uses it.
#[pyclass(frozen, module = "horus")]
pub struct Frames(Exclusive<RustFrames>);

#[pymethods]
impl Frames {
    #[new]
    #[pyo3(signature = (*, directory = None))]
    fn new(directory: Option<PathBuf>) -> PyResult<Self> {
        Ok(Self(Exclusive::new("set of frames", RustFrames::open(&options(directory)).map_err(failed)?)))
    }

    /// The frame `source` in the frame `target` at `time_ns`, nanoseconds of CLOCK_MONOTONIC. Raises HorusError with what is in the way: an unknown name,
    /// two trees, or by how much the time is outside of what is held.
    fn at(&self, py: Python<'_>, target: &str, source: &str, time_ns: u64) -> PyResult<Transform> {
        let frames = self.0.lend(py)?;
        frames.at(target, source, MonotonicTime::from_nanos(time_ns)).map(Transform).map_err(failed)
    }

    /// As `at`, at the latest time for which every frame between the two is known; and that time, which is None when all of them are static.
    fn newest(&self, py: Python<'_>, target: &str, source: &str) -> PyResult<(Transform, Option<u64>)> {
        let (transform, time) = self.0.lend(py)?.newest(target, source).map_err(failed)?;
        Ok((Transform(transform), time.map(MonotonicTime::as_nanos)))
    }

    /// As `at`, but waits until the transform is known, at most `timeout`: seconds, or a text such as "10 ms".
    fn wait(
        &self,
        py: Python<'_>,
        target: &str,
        source: &str,
        time_ns: u64,
        timeout: &Bound<'_, PyAny>,
    ) -> PyResult<Transform> {
        let (frames, limit, time) = (self.0.lend(py)?, duration(timeout)?, MonotonicTime::from_nanos(time_ns));
        let started = MonotonicTime::now();
        // As `Frames::wait` in Rust; between two looks Ctrl-C is heard and other threads run.
        loop {
            let left = limit.saturating_sub(MonotonicTime::now().since(started));
            match frames.at(target, source, time) {
                Ok(found) => return Ok(Transform(found)),
                Err(error) if left.is_zero() => return Err(failed(error)),
                Err(error @ horus::transform::LookupError::TooEarly { .. }) => return Err(failed(error)),
                Err(_) => py.check_signals()?,
            }
            py.detach(|| std::thread::park_timeout(left.min(std::time::Duration::from_millis(1))));
        }
    }
}

fn options(directory: Option<PathBuf>) -> Options {
    directory.map_or_else(Options::default, |directory| Options::default().directory(directory))
}
