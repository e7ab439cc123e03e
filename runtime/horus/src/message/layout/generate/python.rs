//! Classes of Python for messages, as their authors write them: fields with annotations, from which the package makes the same layout.

use std::fmt::Write;

use super::{GenerateError, nested, unknown};
use crate::message::layout::{Layout, MadeOf};

/// A module of Python 3.11: for each message a class; those of `known` are in `horus.messages`.
///
/// ```
/// use horus::message::layout::{Layout, generate};
/// let layout: Layout = "message example/WheelSpeed\n left f64\n right f64".parse().unwrap();
/// let source = generate::python(&[layout], &[]).unwrap();
/// assert!(source.contains("class WheelSpeed(horus.Message):\n    left: horus.f64 = 0.0\n"));
/// ```
///
/// # Errors
/// When a message has what Python has no word for.
pub fn python(layouts: &[Layout], known: &[Layout]) -> Result<String, GenerateError> {
    let (mut classes, mut names) = (String::new(), Vec::new());
    for layout in unknown(layouts, known)? {
        let name = class_name(layout.type_name())?;
        if names.contains(&name) {
            return Err(GenerateError::Twice(name.to_owned()));
        }
        names.push(name);
        let _ = write!(classes, "\n\n@horus.message(\"{}\")\nclass {name}(horus.Message):\n", layout.type_name());
        for field in layout.fields() {
            let (name, of) = (word(field.name())?, field.made_of());
            // What a field is called means that field to the lines below it.
            if ["horus", "messages"].contains(&name) || names.contains(&name) {
                return Err(GenerateError::Name(name.to_owned()));
            }
            let _ = writeln!(classes, "    {name}: {} = {}", annotation(of, known)?, default(of, known)?);
        }
    }
    let uses_known = layouts.iter().any(|layout| has_known(layout, known));
    let import = if uses_known { "from horus import messages\n" } else { "" };
    Ok(format!("{BEGIN}import horus\n{import}{classes}"))
}

const BEGIN: &str = "\"\"\"Messages as classes; made from their layouts by `horus message generate --lang python`: change those.\"\"\"\n\n";

/// The words of Python 3.14, of which none is a name; and what a class of messages uses by itself.
const WORDS: [&str; 36] = [
    "False",
    "None",
    "True",
    "and",
    "as",
    "assert",
    "async",
    "await",
    "break",
    "class",
    "continue",
    "def",
    "del",
    "elif",
    "else",
    "except",
    "finally",
    "for",
    "from",
    "global",
    "if",
    "import",
    "in",
    "is",
    "lambda",
    "nonlocal",
    "not",
    "or",
    "pass",
    "raise",
    "return",
    "try",
    "while",
    "with",
    "yield",
    "__debug__",
];

fn word(name: &str) -> Result<&str, GenerateError> {
    let is_good = name.starts_with(|first: char| first.is_ascii_alphabetic())
        && name.chars().all(|letter| letter.is_ascii_alphanumeric() || letter == '_')
        && !WORDS.contains(&name);
    if is_good { Ok(name) } else { Err(GenerateError::Name(name.to_owned())) }
}

/// `example/WheelSpeed` is `WheelSpeed`.
fn class_name(type_name: &str) -> Result<&str, GenerateError> {
    word(type_name.rsplit('/').next().unwrap_or(type_name))
}

/// What type checkers know a field as.
fn annotation(made_of: &MadeOf, known: &[Layout]) -> Result<String, GenerateError> {
    Ok(match made_of {
        MadeOf::Array(element, _) => format!("horus.Array[{}]", plain(element, known)?),
        MadeOf::Number(..) | MadeOf::Nested(_) => written(made_of, known)?,
    })
}

/// What an element of an array is read as.
fn plain(element: &MadeOf, known: &[Layout]) -> Result<String, GenerateError> {
    match element {
        MadeOf::Number(name, _) => Ok(if name.starts_with('f') { "float" } else { "int" }.to_owned()),
        _ => annotation(element, known),
    }
}

/// What a field begins with: a type checker demands what has no default. An array says here what its elements are, and how many.
fn default(made_of: &MadeOf, known: &[Layout]) -> Result<String, GenerateError> {
    Ok(match made_of {
        MadeOf::Number(name, _) => if name.starts_with('f') { "0.0" } else { "0" }.to_owned(),
        MadeOf::Array(..) => written(made_of, known)?,
        MadeOf::Nested(_) => format!("{}()", written(made_of, known)?),
    })
}

fn written(made_of: &MadeOf, known: &[Layout]) -> Result<String, GenerateError> {
    Ok(match made_of {
        MadeOf::Number(name, _) => format!("horus.{name}"),
        MadeOf::Array(element, length) => format!("horus.array({}, {length})", written(element, known)?),
        MadeOf::Nested(layout) if known.contains(layout) => format!("messages.{}", class_name(layout.type_name())?),
        MadeOf::Nested(layout) => class_name(layout.type_name())?.to_owned(),
    })
}

fn has_known(layout: &Layout, known: &[Layout]) -> bool {
    let mut inner = layout.fields().iter().filter_map(|field| nested(field.made_of()));
    inner.any(|layout| known.contains(layout) || has_known(layout, known))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_class_has_the_fields_of_its_layout_and_takes_known_ones_from_the_package() {
        let known: Layout = "message horus/Stamp\n sequence u64\n sent_ns u64".parse().unwrap();
        let text = "message a/Path\n number u128\n at [horus/Stamp; 2]\n steps [[a/Step; 3]; 2]\nmessage a/Step\n x f64\n y f64\n\
            message horus/Stamp\n sequence u64\n sent_ns u64";
        let source = python(&[text.parse().unwrap()], &[known]).unwrap();
        for line in [
            "from horus import messages\n",
            "class Step(horus.Message):\n    x: horus.f64 = 0.0\n",
            "    number: horus.u128 = 0\n    at: horus.Array[messages.Stamp] = horus.array(messages.Stamp, 2)\n",
            "    steps: horus.Array[horus.Array[Step]] = horus.array(horus.array(Step, 3), 2)\n",
        ] {
            assert!(source.contains(line), "{source}");
        }
        assert!(!source.contains("class Stamp"), "{source}");
    }

    #[test]
    fn what_python_has_no_word_for_is_an_error() {
        let fields = |name: &str| format!("message a/B\n {name} u8").parse::<Layout>().unwrap();
        assert_eq!(python(&[fields("lambda")], &[]), Err(GenerateError::Name("lambda".to_owned())));
        assert_eq!(python(&[fields("horus")], &[]), Err(GenerateError::Name("horus".to_owned())), "the module's name");
        let two = ["message a/B\n x u8", "message c/B\n y u8"].map(|text| text.parse().unwrap());
        assert_eq!(python(&two, &[]), Err(GenerateError::Twice("B".to_owned())), "a module has one class of a name");
    }
}
