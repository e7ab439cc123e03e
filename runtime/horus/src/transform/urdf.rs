//! The fixed joints of a URDF file: how the parts of a robot are mounted on each other.
//!
//! URDF is the format in which robots of ROS are described (<https://wiki.ros.org/urdf/XML/joint>). Joints that move are left to who measures them.

use std::path::{Path, PathBuf};

use roxmltree::{Document, Node};
use thiserror::Error;

use super::pose::Transform;
use crate::messages::{Quaternion, Vector3};

/// A part that is fixed on another.
#[derive(Clone, Debug, PartialEq)]
pub struct FixedJoint {
    /// The frame that it is mounted on.
    pub parent: String,
    /// The frame of the part.
    pub child: String,
    /// The part in the frame that it is mounted on.
    pub transform: Transform,
}

/// Why a file gives no joints.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum UrdfError {
    /// It cannot be read.
    #[error("cannot read {}: {source}", path.display())]
    Io {
        /// The file.
        path: PathBuf,
        /// Why.
        source: std::io::Error,
    },
    /// It is no XML.
    #[error("it is no XML: {0}")]
    Xml(#[from] roxmltree::Error),
    /// It describes no robot.
    #[error("it describes no robot: its first element is <{found}> in place of <robot>")]
    NoRobot {
        /// The element that was found.
        found: String,
    },
    /// It is a template.
    #[error("line {line}: it is a template of xacro: make a URDF file of it first (xacro FILE > robot.urdf)")]
    Xacro {
        /// Where the template's first element is.
        line: u32,
    },
    /// A joint does not say what a joint has to say.
    #[error("line {line}: the joint {joint} {what}")]
    Joint {
        /// The line of the joint.
        line: u32,
        /// Its name.
        joint: String,
        /// What is wrong with it.
        what: String,
    },
}

/// The fixed joints of the URDF file `path`, in its order.
///
/// # Errors
/// [`UrdfError`] says what is wrong, with its line.
pub fn read(path: &Path) -> Result<Vec<FixedJoint>, UrdfError> {
    let io = |source| UrdfError::Io { path: path.to_owned(), source };
    fixed_joints(&std::fs::read_to_string(path).map_err(io)?)
}

/// The same of a text.
///
/// # Errors
/// As there.
pub fn fixed_joints(text: &str) -> Result<Vec<FixedJoint>, UrdfError> {
    let document = Document::parse(text)?;
    let robot = document.root_element();
    if robot.tag_name().name() != "robot" {
        return Err(UrdfError::NoRobot { found: robot.tag_name().name().to_owned() });
    }
    if let Some(template) = robot.descendants().find(|node| node.tag_name().namespace().is_some_and(is_xacro)) {
        return Err(UrdfError::Xacro { line: line(&template) });
    }
    let is_fixed = |node: &Node<'_, '_>| node.has_tag_name("joint") && node.attribute("type") == Some("fixed");
    robot.children().filter(is_fixed).map(|joint| fixed_joint(&joint)).collect()
}

fn is_xacro(namespace: &str) -> bool {
    namespace.ends_with("xacro")
}

fn line(node: &Node<'_, '_>) -> u32 {
    node.document().text_pos_at(node.range().start).row
}

fn fixed_joint(joint: &Node<'_, '_>) -> Result<FixedJoint, UrdfError> {
    let wrong = |what: String| {
        let name = joint.attribute("name").unwrap_or("without a name").to_owned();
        UrdfError::Joint { line: line(joint), joint: name, what }
    };
    let child = |name: &str| joint.children().find(|node| node.has_tag_name(name));
    let link = |name: &str| {
        let link = child(name).and_then(|node| node.attribute("link"));
        link.map(str::to_owned).ok_or_else(|| wrong(format!("has no <{name} link=\"…\"/>")))
    };
    // Without an origin, and without a part of it, URDF means zero.
    let numbers = |attribute: &str| match child("origin").and_then(|origin| origin.attribute(attribute)) {
        None => Ok([0.0; 3]),
        Some(text) => {
            three(text).ok_or_else(|| wrong(format!("has {attribute}=\"{text}\", which is not three numbers")))
        }
    };
    let ([x, y, z], [roll, pitch, yaw]) = (numbers("xyz")?, numbers("rpy")?);
    let transform = Transform { translation: Vector3 { x, y, z }, rotation: turned(roll, pitch, yaw) };
    Ok(FixedJoint { parent: link("parent")?, child: link("child")?, transform })
}

fn three(text: &str) -> Option<[f64; 3]> {
    let numbers: Option<Vec<f64>> = text.split_whitespace().map(|word| word.parse().ok()).collect();
    numbers?.try_into().ok().filter(|numbers: &[f64; 3]| numbers.iter().all(|number| number.is_finite()))
}

/// Turned about the fixed axes x, y and z in this order, in radians. Diebel, "Representing Attitude" (2006), section 8.
fn turned(roll: f64, pitch: f64, yaw: f64) -> Quaternion {
    let (sr, cr) = (roll / 2.0).sin_cos();
    let (sp, cp) = (pitch / 2.0).sin_cos();
    let (sy, cy) = (yaw / 2.0).sin_cos();
    Quaternion {
        x: sr * cp * cy - cr * sp * sy,
        y: cr * sp * cy + sr * cp * sy,
        z: cr * cp * sy - sr * sp * cy,
        w: cr * cp * cy + sr * sp * sy,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(joint: &str) -> Result<Vec<FixedJoint>, UrdfError> {
        fixed_joints(&format!("<?xml version=\"1.0\"?>\n<robot name=\"r\">\n{joint}\n</robot>"))
    }

    #[test]
    fn fixed_joints_are_read_and_others_are_left_out() {
        let joints = of(r#"<link name="base"/>
            <joint name="a" type="fixed"><parent link="base"/><child link="lidar"/><origin xyz="0.1 -0.2 3e-1" rpy="0 0 1.5"/></joint>
            <joint name="b" type="continuous"><parent link="base"/><child link="wheel"/></joint>
            <joint name="c" type="fixed"><parent link="base"/><child link="plate"/></joint>"#)
        .unwrap();
        let names: Vec<_> = joints.iter().map(|joint| (joint.parent.as_str(), joint.child.as_str())).collect();
        assert_eq!(names, [("base", "lidar"), ("base", "plate")]);
        assert_eq!(joints[0].transform.translation, Vector3 { x: 0.1, y: -0.2, z: 0.3 });
        assert!((joints[0].transform.rotation.yaw() - 1.5).abs() < 1e-12);
        assert_eq!(joints[1].transform, Transform::IDENTITY);
    }

    #[test]
    fn roll_pitch_and_yaw_are_about_fixed_axes_in_this_order() {
        let half = std::f64::consts::FRAC_PI_2;
        // A point on z: roll takes it to -y, yaw takes that to x.
        let turned = Transform { rotation: turned(half, 0.0, half), ..Transform::IDENTITY };
        let point = turned.apply(&Vector3 { x: 0.0, y: 0.0, z: 1.0 });
        assert!((point.x - 1.0).abs() < 1e-12 && point.y.abs() < 1e-12 && point.z.abs() < 1e-12, "{point:?}");
        // A point on x: pitch takes it to -z.
        let turned = Transform { rotation: super::turned(0.0, half, 0.0), ..Transform::IDENTITY };
        let point = turned.apply(&Vector3 { x: 1.0, y: 0.0, z: 0.0 });
        assert!((point.z + 1.0).abs() < 1e-12, "{point:?}");
    }

    #[test]
    fn what_is_wrong_is_told_with_its_line() {
        for (joint, words) in [
            (
                r#"<joint name="a" type="fixed"><child link="lidar"/></joint>"#,
                "line 3: the joint a has no <parent link=\"…\"/>",
            ),
            (
                r#"<joint name="a" type="fixed"><parent link="b"/><child link="l"/><origin xyz="1 2"/></joint>"#,
                "line 3: the joint a has xyz=\"1 2\", which is not three numbers",
            ),
            (r#"<xacro:if xmlns:xacro="http://www.ros.org/wiki/xacro"/>"#, "line 3: it is a template of xacro"),
            ("<joint", "it is no XML"),
        ] {
            let told = of(joint).unwrap_err().to_string();
            assert!(told.starts_with(words), "{told}");
        }
        assert!(fixed_joints("<sdf/>").unwrap_err().to_string().contains("<sdf> in place of <robot>"));
        // Entities of a document type, which grow without end, are not expanded.
        assert!(fixed_joints("<!DOCTYPE r [<!ENTITY a \"b\">]><robot>&a;</robot>").is_err());
        assert!(read(Path::new("/nowhere.urdf")).unwrap_err().to_string().contains("/nowhere.urdf"));
    }
}
