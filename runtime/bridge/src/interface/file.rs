//! Definitions of one's own, from files: `…/PACKAGE/msg/NAME.msg`, with those beside it that it has inside.

use std::path::Path;

use super::{Interface, Whole, parse, standard};

/// The longest definition, bytes.
const LONGEST: u64 = 1 << 20;

/// Reads the definition of a file with all that are inside of it.
///
/// # Errors
/// What is wrong with it, in words.
pub fn read(path: &Path) -> Result<Whole, String> {
    let folder = path.parent().unwrap_or(Path::new("."));
    let top = one(path)?;
    let beside = |name: &str| {
        let (package, last) = name.split_once("/msg/")?;
        let is_same = top.name.starts_with(&format!("{package}/msg/"));
        is_same.then(|| one(&folder.join(format!("{last}.msg"))).ok()).flatten().or_else(|| standard::get(name))
    };
    Whole::new(top.clone(), &beside).map_err(|error| format!("{}: {error}", path.display()))
}

fn one(path: &Path) -> Result<Interface, String> {
    let wrong = |reason: String| format!("{}: {reason}", path.display());
    let whole = std::fs::canonicalize(path).map_err(|error| wrong(error.to_string()))?;
    let parts: Vec<_> = whole.iter().rev().take(3).map(|part| part.to_string_lossy()).collect();
    let name = match &parts[..] {
        [file, kind, package] if *kind == "msg" => {
            file.strip_suffix(".msg").map(|last| format!("{package}/msg/{last}"))
        }
        _ => None,
    };
    let name =
        name.ok_or_else(|| wrong("a definition is a file PACKAGE/msg/NAME.msg, which gives it its name".into()))?;
    if std::fs::metadata(&whole).is_ok_and(|data| data.len() > LONGEST) {
        return Err(wrong("it is too long for a definition".into()));
    }
    let text = std::fs::read_to_string(&whole).map_err(|error| wrong(error.to_string()))?;
    parse(&crate::names::message(&name).map_err(|error| wrong(error.to_string()))?, &text)
        .map_err(|error| wrong(error.to_string()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_is_read_with_those_beside_it_and_standard_ones() {
        let scratch = tempfile::tempdir().unwrap();
        let folder = scratch.path().join("my_robot/msg");
        std::fs::create_dir_all(&folder).unwrap();
        std::fs::write(folder.join("Arm.msg"), "std_msgs/Header header\nJoint[] joints\nuint8 IDLE=0\n").unwrap();
        std::fs::write(folder.join("Joint.msg"), "string name\nfloat64 angle # rad\n").unwrap();
        let whole = read(&folder.join("Arm.msg")).unwrap();
        assert_eq!(whole.top.name, "my_robot/msg/Arm");
        assert!(whole.get("my_robot/msg/Joint").is_some() && whole.get("std_msgs/msg/Header").is_some());
        std::fs::write(scratch.path().join("Arm.msg"), "").unwrap();
        assert!(read(&scratch.path().join("Arm.msg")).unwrap_err().contains("PACKAGE/msg/NAME.msg"));
        std::fs::write(folder.join("Leg.msg"), "Foot foot\n").unwrap();
        assert!(read(&folder.join("Leg.msg")).unwrap_err().contains("my_robot/msg/Foot"));
    }
}
