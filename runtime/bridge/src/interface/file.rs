//! Definitions of one's own, from files: `…/PACKAGE/msg/NAME.msg`, and `…/PACKAGE/srv/NAME.srv`, with those messages beside it that it has
//! inside.

use std::path::{Path, PathBuf};

use super::{Interface, Whole, parse, services, standard};
use crate::names;

/// The longest definition, bytes.
const LONGEST: u64 = 1 << 20;

/// Reads the definitions of a file with all that are inside of them: of a message one, of a service those of its request and its response.
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
        [file, kind, package] if matches!(&**kind, "msg" | "srv") => {
            file.strip_suffix(&format!(".{kind}")).map(|last| (package.to_string(), format!("{package}/{kind}/{last}")))
        }
        _ => None,
    };
    let (package, name) = name.ok_or_else(|| {
        wrong("a definition is a file PACKAGE/msg/NAME.msg or PACKAGE/srv/NAME.srv, which gives it its name".into())
    })?;
    if std::fs::metadata(&whole).is_ok_and(|data| data.len() > LONGEST) {
        return Err(wrong("it is too long for a definition".into()));
    }
    let text = std::fs::read_to_string(&whole).map_err(|error| wrong(error.to_string()))?;
    let known = match name.contains("/srv/") {
        true => names::service_type(&name),
        false => names::message(&name),
    };
    let name = known.map_err(|error| wrong(error.to_string()))?;
    let texts = match name.contains("/srv/") {
        false => vec![(name, text.as_str())],
        true => {
            let sides = sides(&text).ok_or_else(|| wrong("a service has one line `---` between its parts".into()))?;
            services::messages(&name).into_iter().zip(sides).collect()
        }
    };
    let parts = texts.into_iter().map(|(name, text)| parse(&name, text).map_err(|error| wrong(error.to_string())));
    let folder = whole.parent().and_then(Path::parent).unwrap_or(Path::new(".")).to_owned();
    Ok(Named { folder, package, parts: parts.collect::<Result<_, _>>()? })
}

/// What stands before the line of three dashes, and what behind it.
fn sides(text: &str) -> Option<[&str; 2]> {
    let mut places = text.split_inclusive('\n').scan(0, |at, line| {
        let start = *at;
        *at += line.len();
        Some((start, line))
    });
    let (start, line) = places.find(|(_, line)| line.trim() == "---")?;
    let is_one = !places.any(|(_, line)| line.trim() == "---");
    is_one.then(|| [&text[..start], &text[start + line.len()..]])
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
    fn a_file_of_a_service_has_two_parts() {
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
        std::fs::write(folder.join("Stop.srv"), "bool now\n").unwrap();
        assert!(read(&folder.join("Stop.srv")).unwrap_err().contains("---"));
    }
}
