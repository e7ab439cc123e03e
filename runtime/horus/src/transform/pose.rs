//! A rigid transform: how a frame is turned and moved in its parent.

use std::ops::Mul;

use crate::messages::{Quaternion, Vector3};

crate::message! {
    /// How a frame is moved and turned in another one, 56 bytes: it takes coordinates in the child frame to those in the parent frame.
    #[derive(Default)]
    pub struct Transform = "horus/Transform" {
        /// From the parent's origin to the child's, metres along the parent's axes.
        translation: Vector3,
        /// How the child is turned in the parent, a unit quaternion.
        rotation: Quaternion,
    }
}
const _: () = assert!(size_of::<Transform>() == 56);

/// The square of the distance of two unit quaternions up to which their weights are a series. It is cut behind the fourth power of the angle: what is
/// left out is less than 3e-15.
const NEAR: f64 = 1e-4;

impl Transform {
    /// Neither moved nor turned.
    pub const IDENTITY: Self = Self { translation: Vector3 { x: 0.0, y: 0.0, z: 0.0 }, rotation: Quaternion::IDENTITY };

    /// Moved by `x` and `y` metres on the ground, and turned by `yaw` radians counter-clockwise.
    pub fn planar(x: f64, y: f64, yaw: f64) -> Self {
        Self { translation: Vector3 { x, y, z: 0.0 }, rotation: Quaternion::from_yaw(yaw) }
    }

    /// The other way round: the parent in the child.
    pub fn inverse(&self) -> Self {
        let Quaternion { x, y, z, w } = self.rotation;
        let rotation = Quaternion { x: -x, y: -y, z: -z, w };
        let Vector3 { x, y, z } = turn(&rotation, &self.translation);
        Self { translation: Vector3 { x: -x, y: -y, z: -z }, rotation }
    }

    /// The coordinates in the parent of a point that has these in the child.
    pub fn apply(&self, point: &Vector3) -> Vector3 {
        let turned = turn(&self.rotation, point);
        let Vector3 { x, y, z } = self.translation;
        Vector3 { x: turned.x + x, y: turned.y + y, z: turned.z + z }
    }

    /// What is between this one and `other`: `share` 0 is this one, 1 is the other. The translation goes in a straight line, the rotation
    /// at one speed the shorter way (slerp; Shoemake, "Animating rotation with quaternion curves", 1985).
    pub fn interpolate(&self, other: &Self, share: f64) -> Self {
        let mix = |from: f64, to: f64| from + (to - from) * share;
        let (from, to) = (&self.translation, &other.translation);
        let translation = Vector3 { x: mix(from.x, to.x), y: mix(from.y, to.y), z: mix(from.z, to.z) };
        Self { translation, rotation: slerp(&self.rotation, &other.rotation, share) }
    }

    /// How far the origins of two frames are apart that are both in the same parent, metres.
    pub fn distance(&self, other: &Self) -> f64 {
        let (one, other) = (&self.translation, &other.translation);
        ((one.x - other.x).powi(2) + (one.y - other.y).powi(2) + (one.z - other.z).powi(2)).sqrt()
    }

    /// The same with a rotation of unit length; `None` when it has none to speak of, or a number is not finite.
    pub(super) fn normalized(&self) -> Option<Self> {
        let Quaternion { x, y, z, w } = self.rotation;
        let norm = (x * x + y * y + z * z + w * w).sqrt();
        let Vector3 { x: a, y: b, z: c } = self.translation;
        let is_sound = (norm - 1.0).abs() <= UNIT_WITHIN && [a, b, c].iter().all(|number| number.is_finite());
        is_sound.then(|| Self {
            translation: self.translation,
            rotation: Quaternion { x: x / norm, y: y / norm, z: z / norm, w: w / norm },
        })
    }
}

/// How far from 1 a quaternion's length may be: what `f32` and a long chain of products leave, and no mistake.
const UNIT_WITHIN: f64 = 1e-3;

impl Mul for Transform {
    type Output = Self;

    /// `a_in_map * b_in_a` is `b` in `map`.
    #[inline]
    fn mul(self, inner: Self) -> Self {
        let (p, q) = (&self.rotation, &inner.rotation);
        let rotation = Quaternion {
            x: p.w * q.x + p.x * q.w + p.y * q.z - p.z * q.y,
            y: p.w * q.y - p.x * q.z + p.y * q.w + p.z * q.x,
            z: p.w * q.z + p.x * q.y - p.y * q.x + p.z * q.w,
            w: p.w * q.w - p.x * q.x - p.y * q.y - p.z * q.z,
        };
        Self { translation: self.apply(&inner.translation), rotation }
    }
}

/// A vector, turned: `v + 2 w (q × v) + 2 q × (q × v)`.
#[inline]
fn turn(rotation: &Quaternion, vector: &Vector3) -> Vector3 {
    let Quaternion { x, y, z, w } = *rotation;
    let cross = |v: &Vector3| Vector3 { x: y * v.z - z * v.y, y: z * v.x - x * v.z, z: x * v.y - y * v.x };
    let once = cross(vector);
    let twice = cross(&once);
    Vector3 {
        x: vector.x + 2.0 * (w * once.x + twice.x),
        y: vector.y + 2.0 * (w * once.y + twice.y),
        z: vector.z + 2.0 * (w * once.z + twice.z),
    }
}

#[inline]
fn slerp(from: &Quaternion, to: &Quaternion, share: f64) -> Quaternion {
    let dot = from.x * to.x + from.y * to.y + from.z * to.z + from.w * to.w;
    // Both `q` and `-q` are the same rotation: the nearer one is the shorter way.
    let sign = if dot < 0.0 { -1.0 } else { 1.0 };
    let to = Quaternion { x: sign * to.x, y: sign * to.y, z: sign * to.z, w: sign * to.w };
    let square = |x: f64, y: f64, z: f64, w: f64| x * x + y * y + z * z + w * w;
    let apart = square(to.x - from.x, to.y - from.y, to.z - from.z, to.w - from.w);
    // The weights are sin((1 - s) t) / sin(t) and sin(s t) / sin(t), with the angle t between both quaternions, of which `apart` is (2 sin(t / 2))^2.
    let (a, b) = if apart < NEAR {
        // As nearly always between two transforms of a robot: without a call of sine.
        // Products in place of divisions, which take longer.
        const SIXTH: f64 = 1.0 / 6.0;
        const TWELFTH: f64 = 1.0 / 12.0;
        const NINETIETH: f64 = 1.0 / 90.0;
        const OF_360: f64 = 1.0 / 360.0;
        let squared = apart * (1.0 + apart * (TWELFTH + apart * NINETIETH));
        let weight = |share: f64| {
            let k = share * share;
            share * (1.0 + squared * ((1.0 - k) * SIXTH + squared * (7.0 - k * (10.0 - 3.0 * k)) * OF_360))
        };
        (weight(1.0 - share), weight(share))
    } else {
        let along = square(to.x + from.x, to.y + from.y, to.z + from.z, to.w + from.w);
        // The arc cosine of the product would lose half of the digits where both are nearly the same.
        let angle = 2.0 * apart.sqrt().atan2(along.sqrt());
        (((1.0 - share) * angle).sin() / angle.sin(), (share * angle).sin() / angle.sin())
    };
    Quaternion {
        x: a * from.x + b * to.x,
        y: a * from.y + b * to.y,
        z: a * from.z + b * to.z,
        w: a * from.w + b * to.w,
    }
}
