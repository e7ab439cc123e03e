//! Definitions of one's own, from files: `…/PACKAGE/msg/NAME.msg`, `…/PACKAGE/srv/NAME.srv`, and `…/PACKAGE/action/NAME.action`, with those messages beside it that it has
//! inside.

use std::path::{Path, PathBuf};

use super::{Interface, Whole, parse, services, standard};
use crate::names;

/// The longest definition, bytes.
const LONGEST: u64 = 1 << 20;

/// Reads the definitions of a file with all that are inside of them: of a message one, of a service those of its request and its
/// response, of an action those of goal, result and feedback.
///
/// # Errors
/// What is wrong with it, in words.
pub fn read(path: &Path) -> Result<Vec<Whole>, String> {
    let Named { folder, package, parts } = named(path)?;
    let beside = |name: &str| {
        let (of, last) = name.split_once("/msg/")?;
        let own = || named(&folder.join(format!("msg/{last}.msg"))).ok()?.parts.into_iter().next();
        (of == package).then(own).flatten().or_else(|| standard::get(name))
    };
    let whole = |top: Interface| Whole::new(top, &beside).map_err(|error| format!("{}: {error}", path.display()));
    parts.into_iter().map(whole).collect()
}

/// A file of definitions, without what is inside of these.
struct Named {
    /// The package's folder.
    folder: PathBuf,
    package: String,
    parts: Vec<Interface>,
}

fn named(path: &Path) -> Result<Named, String> {
    let wrong = |reason: String| format!("{}: {reason}", path.display());
    let whole = std::fs::canonicalize(path).map_err(|error| wrong(error.to_string()))?;
    let words: Vec<_> = whole.iter().rev().take(3).map(|part| part.to_string_lossy()).collect();
    let name = match &words[..] {
        [file, kind, package] => file.strip_suffix(&format!(".{kind}")).map(|last| (&**package, &**kind, last)),
        _ => None,
    };
    let known = name.and_then(|(package, kind, last)| {
        let name = format!("{package}/{kind}/{last}");
        let (name, parts): (_, &[&str]) = match kind {
            "msg" => (names::message(&name), &[]),
            "srv" => (names::service_type(&name), &services::PARTS),
            "action" => (names::action_type(&name), &services::OF_ACTIONS),
            _ => return None,
        };
        Some((package.to_owned(), name, parts))
    });
    let (package, name, parts) = known.ok_or_else(|| {
        wrong(
            "a definition is a file PACKAGE/msg/NAME.msg, PACKAGE/srv/NAME.srv or PACKAGE/action/NAME.action, which gives it its name"
                .into(),
        )
    })?;
    let name = name.map_err(|error| wrong(error.to_string()))?;
    if std::fs::metadata(&whole).is_ok_and(|data| data.len() > LONGEST) {
        return Err(wrong("it is too long for a definition".into()));
    }
    let text = std::fs::read_to_string(&whole).map_err(|error| wrong(error.to_string()))?;
    let texts = pieces(&text);
    if texts.len() != parts.len().max(1) {
        let lines = parts.len().saturating_sub(1);
        return Err(wrong(format!("it has {} lines `---` between its parts, and {lines} are wanted", texts.len() - 1)));
    }
    let names: Vec<_> = match parts {
        [] => vec![name],
        parts => parts.iter().map(|part| format!("{name}_{part}")).collect(),
    };
    let parts =
        names.iter().zip(texts).map(|(name, text)| parse(name, &text).map_err(|error| wrong(error.to_string())));
    let folder = whole.parent().and_then(Path::parent).unwrap_or(Path::new(".")).to_owned();
    Ok(Named { folder, package, parts: parts.collect::<Result<_, _>>()? })
}

/// What stands between the lines of three dashes.
fn pieces(text: &str) -> Vec<String> {
    let mut pieces = vec![String::new()];
    for line in text.lines() {
        match (line.trim(), pieces.last_mut()) {
            ("---", _) => pieces.push(String::new()),
            (line, Some(piece)) => *piece += &format!("{line}\n"),
            (_, None) => {}
        }
    }
    pieces
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
        let whole = read(&folder.join("Arm.msg")).unwrap().remove(0);
        assert_eq!(whole.top.name, "my_robot/msg/Arm");
        assert!(whole.get("my_robot/msg/Joint").is_some() && whole.get("std_msgs/msg/Header").is_some());
        std::fs::write(scratch.path().join("Arm.msg"), "").unwrap();
        assert!(read(&scratch.path().join("Arm.msg")).unwrap_err().contains("PACKAGE/msg/NAME.msg"));
        std::fs::write(folder.join("Leg.msg"), "Foot foot\n").unwrap();
        assert!(read(&folder.join("Leg.msg")).unwrap_err().contains("my_robot/msg/Foot"));
    }

    #[test]
    fn a_file_of_a_service_has_two_parts_and_one_of_an_action_has_three() {
        let scratch = tempfile::tempdir().unwrap();
        let [messages, folder] = ["msg", "srv"].map(|kind| scratch.path().join("my_robot").join(kind));
        std::fs::create_dir_all(&folder).unwrap();
        std::fs::create_dir_all(&messages).unwrap();
        std::fs::write(messages.join("Joint.msg"), "float64 angle\n").unwrap();
        std::fs::write(folder.join("Move.srv"), "Joint[] joints\n---\nbool success # done\n").unwrap();
        let parts = read(&folder.join("Move.srv")).unwrap();
        let names: Vec<_> = parts.iter().map(|part| part.top.name.as_str()).collect();
        assert_eq!(names, ["my_robot/srv/Move_Request", "my_robot/srv/Move_Response"]);
        assert!(parts[0].get("my_robot/msg/Joint").is_some() && parts[1].top.fields.len() == 1);
        let actions = scratch.path().join("my_robot/action");
        std::fs::create_dir_all(&actions).unwrap();
        std::fs::write(actions.join("Go.action"), "Joint to\n---\n---\nfloat64 left\n").unwrap();
        let parts = read(&actions.join("Go.action")).unwrap();
        let names: Vec<_> = parts.iter().map(|part| part.top.name.as_str()).collect();
        assert_eq!(names, ["my_robot/action/Go_Goal", "my_robot/action/Go_Result", "my_robot/action/Go_Feedback"]);
        std::fs::write(folder.join("Stop.srv"), "bool now\n").unwrap();
        assert!(read(&folder.join("Stop.srv")).unwrap_err().contains("---"));
    }
}
