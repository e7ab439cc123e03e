//! Structs of C and C++ for messages, with proofs that the compiler puts every field where the layout has it.
//!
//! ```
//! use horus::message::layout::{Layout, generate};
//! let layout: Layout = "message example/WheelSpeed\n left f64\n right f64".parse().unwrap();
//! let header = generate::c(&[layout], "WHEELS_H", &[]).unwrap();
//! assert!(header.contains("double left;") && header.contains("} example_wheel_speed;"));
//! ```

mod csharp;
mod python;
mod ros2;

use std::fmt::Write;

pub use csharp::csharp;
pub use python::python;
pub use ros2::{Definition, ros2};

use super::{Layout, MadeOf};

/// Why there is no struct for a layout.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
pub enum GenerateError {
    /// The language has no such name.
    #[error(
        "`{0}` is no name in C, C++, C# or Python, whichever was asked for: use letters, digits and _, a letter first, and no word of the language"
    )]
    Name(String),
    /// ROS 2 has no such name.
    #[error(
        "`{0}` is no name in ROS 2: packages and fields have small letters, digits and single underscores, messages are called `package/CamelCase`"
    )]
    Ros(String),
    /// Standard C has no such number, and neither have .NET Standard and ROS 2.
    #[error(
        "the field `{0}` has 128 bits, and neither standard C nor .NET Standard nor ROS 2 has such a number: use two of u64"
    )]
    Wide(String),
    /// Which of both would a field mean?
    #[error("two messages are named `{0}`, and their fields differ: give one of them another name")]
    Twice(String),
    /// The macro of C++ counts no further.
    #[error(
        "the message `{0}` has {1} fields, and in C++ it may have {MOST_FIELDS}: put some of them into a message of their own"
    )]
    Long(String, usize),
}

/// The words of C23 and C++20, of which none is a name.
const WORDS: [&str; 95] = [
    "alignas",
    "alignof",
    "and",
    "and_eq",
    "asm",
    "auto",
    "bitand",
    "bitor",
    "bool",
    "break",
    "case",
    "catch",
    "char",
    "char16_t",
    "char32_t",
    "char8_t",
    "class",
    "co_await",
    "co_return",
    "co_yield",
    "compl",
    "concept",
    "const",
    "const_cast",
    "consteval",
    "constexpr",
    "constinit",
    "continue",
    "decltype",
    "default",
    "delete",
    "do",
    "double",
    "dynamic_cast",
    "else",
    "enum",
    "explicit",
    "export",
    "extern",
    "false",
    "float",
    "for",
    "friend",
    "goto",
    "if",
    "inline",
    "int",
    "long",
    "mutable",
    "namespace",
    "new",
    "noexcept",
    "not",
    "not_eq",
    "nullptr",
    "operator",
    "or",
    "or_eq",
    "private",
    "protected",
    "public",
    "register",
    "reinterpret_cast",
    "requires",
    "restrict",
    "return",
    "short",
    "signed",
    "sizeof",
    "static",
    "static_assert",
    "static_cast",
    "struct",
    "switch",
    "template",
    "this",
    "thread_local",
    "throw",
    "true",
    "try",
    "typedef",
    "typeid",
    "typename",
    "typeof",
    "typeof_unqual",
    "union",
    "unsigned",
    "using",
    "virtual",
    "void",
    "volatile",
    "wchar_t",
    "while",
    "xor",
    "xor_eq",
];

/// Fields that `HORUS_MESSAGE` takes (`horus/cpp/message.hpp`).
const MOST_FIELDS: usize = 24;

/// A header of C, guarded by `guard`: for each message a struct, and its layout's text. Messages inside of others come first, and each
/// once; those of `known` are in `horus/messages.h`.
///
/// # Errors
/// When a message has what C has no word for.
pub fn c(layouts: &[Layout], guard: &str, known: &[Layout]) -> Result<String, GenerateError> {
    let include = if known.is_empty() { "" } else { "#include <horus/messages.h>\n" };
    let mut header = C_BEGIN.replace("GUARD", field_name(guard)?).replace("INCLUDE", include);
    for layout in unknown(layouts, known)? {
        let name = c_name(layout.type_name())?;
        let _ = write!(header, "\n/* {} */\ntypedef struct {{\n", layout.type_name());
        for field in &layout.fields {
            let (of, lengths) = c_type(&field.made_of, field_name(&field.name)?)?;
            let _ = writeln!(header, "  {of} {}{lengths};", field.name);
        }
        let _ = writeln!(header, "}} {name};\n#define {}_LAYOUT \\", name.to_uppercase());
        let _ = writeln!(header, "{}", c_text(layout)?.join(" \\\n"));
        for field in &layout.fields {
            let _ = writeln!(header, "HORUS_PROVE(offsetof({name}, {}) == {});", field.name, field.offset);
        }
        let _ = writeln!(header, "HORUS_PROVE(sizeof({name}) == {});", layout.payload().bytes);
    }
    header.push_str("\n#endif\n");
    Ok(header)
}

/// A header of C++17, guarded by `guard`: for each message a struct in the namespace of its package; those of `known` are in
/// `horus/messages.hpp`.
///
/// # Errors
/// When a message has what C++ has no word for.
pub fn cpp(layouts: &[Layout], guard: &str, known: &[Layout]) -> Result<String, GenerateError> {
    let include = if known.is_empty() { "#include <horus/cpp/message.hpp>\n" } else { "#include <horus/horus.hpp>\n" };
    let mut header = CPP_BEGIN.replace("GUARD", field_name(guard)?).replace("INCLUDE", include);
    for layout in unknown(layouts, known)? {
        let (package, name) = cpp_names(layout.type_name())?;
        if layout.fields.len() > MOST_FIELDS {
            return Err(GenerateError::Long(layout.type_name.clone(), layout.fields.len()));
        }
        let _ = writeln!(header, "\nnamespace {package} {{\nstruct {name} {{");
        for field in &layout.fields {
            let _ = writeln!(header, "  {} {};", cpp_type(&field.made_of, field_name(&field.name)?)?, field.name);
        }
        let _ = writeln!(header, "}};\n}}  // namespace {package}");
        let names: Vec<_> = layout.fields.iter().map(|field| field.name.as_str()).collect();
        let _ = writeln!(header, "HORUS_MESSAGE({package}::{name}, \"{}\", {});", layout.type_name(), names.join(", "));
        // HORUS_MESSAGE proves that each field begins where the one before it ends.
        let _ = writeln!(header, "static_assert(sizeof({package}::{name}) == {}, \"{name}\");", layout.payload().bytes);
    }
    header.push_str("\n#endif\n");
    Ok(header)
}

const C_BEGIN: &str =
    "/* Messages as structs; made from their layouts by `horus message generate --lang c`: change those. */
#ifndef GUARD
#define GUARD

#include <stddef.h>
#include <stdint.h>
INCLUDE
/* A struct that the compiler lays out otherwise does not compile. */
#define HORUS_PROVE_AT(condition, line) typedef char horus_proof_##line[(condition) ? 1 : -1]
#define HORUS_PROVE_HERE(condition, line) HORUS_PROVE_AT(condition, line)
#define HORUS_PROVE(condition) HORUS_PROVE_HERE(condition, __COUNTER__)
";

const CPP_BEGIN: &str =
    "// Messages as structs; made from their layouts by `horus message generate --lang cpp`: change those.
#ifndef GUARD
#define GUARD

INCLUDE";

/// The layout's text in the lines of a macro. Messages inside of it stand there by their own macros, unless they have others inside of
/// them: two of these may share one, which the text describes once.
fn c_text(layout: &Layout) -> Result<Vec<String>, GenerateError> {
    let mut lines = Vec::new();
    for message in in_order([layout])?.into_iter().rev() {
        if message != layout && message.fields.iter().all(|field| nested(&field.made_of).is_none()) {
            lines.push(format!("  {}_LAYOUT", c_name(message.type_name())?.to_uppercase()));
        } else {
            lines.extend(section(message).into_iter().map(|line| format!("  \"{line}\\n\"")));
        }
    }
    Ok(lines)
}

/// Those of [`in_order`] that are not known.
fn unknown<'a>(layouts: &'a [Layout], known: &'a [Layout]) -> Result<Vec<&'a Layout>, GenerateError> {
    let all = in_order(known.iter().chain(layouts))?;
    Ok(all.into_iter().filter(|layout| !known.contains(layout)).collect())
}

/// All messages, those inside of others before them, each once.
fn in_order<'a>(layouts: impl IntoIterator<Item = &'a Layout>) -> Result<Vec<&'a Layout>, GenerateError> {
    fn add<'a>(layout: &'a Layout, all: &mut Vec<&'a Layout>) -> Result<(), GenerateError> {
        for field in &layout.fields {
            if let Some(inner) = nested(&field.made_of) {
                add(inner, all)?;
            }
        }
        match all.iter().find(|known| known.type_name == layout.type_name) {
            Some(known) if *known != layout => return Err(GenerateError::Twice(layout.type_name.clone())),
            Some(_) => {}
            None => all.push(layout),
        }
        Ok(())
    }
    let mut all = Vec::new();
    layouts.into_iter().try_for_each(|layout| add(layout, &mut all))?;
    Ok(all)
}

fn nested(made_of: &MadeOf) -> Option<&Layout> {
    match made_of {
        MadeOf::Number(..) => None,
        MadeOf::Array(element, _) => nested(element),
        MadeOf::Nested(layout) => Some(layout),
    }
}

/// The text that the layout is parsed from, in the form of docs/layout-hash.md.
///
/// # Errors
/// When it has two messages of one name inside.
pub fn text(layout: &Layout) -> Result<String, GenerateError> {
    // The message itself is the first.
    Ok(in_order([layout])?.into_iter().rev().flat_map(section).collect::<Vec<_>>().join("\n"))
}

fn section(message: &Layout) -> Vec<String> {
    let fields = message.fields.iter().map(|field| format!(" {} {}", field.name, type_text(&field.made_of)));
    std::iter::once(format!("message {}", message.type_name())).chain(fields).collect()
}

fn type_text(made_of: &MadeOf) -> String {
    match made_of {
        MadeOf::Number(name, _) => (*name).to_owned(),
        MadeOf::Array(element, length) => format!("[{}; {length}]", type_text(element)),
        MadeOf::Nested(layout) => layout.type_name.clone(),
    }
}

/// A number's type in C, for which C++ has the same word.
fn number(name: &str, field: &str) -> Result<&'static str, GenerateError> {
    Ok(match name {
        "u8" => "uint8_t",
        "i8" => "int8_t",
        "u16" => "uint16_t",
        "i16" => "int16_t",
        "u32" => "uint32_t",
        "i32" => "int32_t",
        "u64" => "uint64_t",
        "i64" => "int64_t",
        "f32" => "float",
        "f64" => "double",
        _ => return Err(GenerateError::Wide(field.to_owned())),
    })
}

/// What stands before a field's name in C, and behind it.
fn c_type(made_of: &MadeOf, field: &str) -> Result<(String, String), GenerateError> {
    Ok(match made_of {
        MadeOf::Number(name, _) => (number(name, field)?.to_owned(), String::new()),
        MadeOf::Nested(layout) => (c_name(layout.type_name())?, String::new()),
        MadeOf::Array(element, length) => {
            let (of, lengths) = c_type(element, field)?;
            (of, format!("[{length}]{lengths}"))
        }
    })
}

fn cpp_type(made_of: &MadeOf, field: &str) -> Result<String, GenerateError> {
    Ok(match made_of {
        MadeOf::Number(name, _) => {
            let name = number(name, field)?;
            if name.ends_with("_t") { format!("std::{name}") } else { name.to_owned() }
        }
        MadeOf::Nested(layout) => {
            let (package, name) = cpp_names(layout.type_name())?;
            format!("::{package}::{name}")
        }
        MadeOf::Array(element, length) => format!("std::array<{}, {length}>", cpp_type(element, field)?),
    })
}

fn field_name(name: &str) -> Result<&str, GenerateError> {
    let is_good = name.starts_with(|first: char| first.is_ascii_alphabetic())
        && name.chars().all(|letter| letter.is_ascii_alphanumeric() || letter == '_')
        && !WORDS.contains(&name);
    if is_good { Ok(name) } else { Err(GenerateError::Name(name.to_owned())) }
}

/// `horus/CmdVel` is `horus_cmd_vel`.
fn c_name(type_name: &str) -> Result<String, GenerateError> {
    let mut name = String::new();
    let mut before = '/';
    for letter in type_name.chars() {
        if letter.is_ascii_uppercase() && before.is_ascii_lowercase() {
            name.push('_');
        }
        name.push(if letter == '/' { '_' } else { letter.to_ascii_lowercase() });
        before = letter;
    }
    field_name(&name)?;
    Ok(name)
}

/// `horus/CmdVel` is `horus::CmdVel`; a name without a package is in `messages`.
fn cpp_names(type_name: &str) -> Result<(String, &str), GenerateError> {
    let (package, name) = type_name.rsplit_once('/').unwrap_or(("messages", type_name));
    let package = package.split('/').map(field_name).collect::<Result<Vec<_>, _>>()?.join("::");
    Ok((package, field_name(name)?))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn layout(text: &str) -> Layout {
        text.parse().unwrap()
    }

    #[test]
    fn what_would_not_compile_is_an_error() {
        for word in ["switch", "template", "xor"] {
            let message = layout(&format!("message a/B\n {word} u8"));
            assert_eq!(c(std::slice::from_ref(&message), "A_H", &[]), Err(GenerateError::Name(word.to_owned())));
            assert_eq!(cpp(&[message], "A_H", &[]), Err(GenerateError::Name(word.to_owned())));
        }
        let fields = |count: usize| (0..count).map(|field| format!("\n f{field} u8")).collect::<String>();
        let long = |count| layout(&format!("message a/B{}", fields(count)));
        assert!(cpp(&[long(MOST_FIELDS)], "A_H", &[]).is_ok() && c(&[long(25)], "A_H", &[]).is_ok());
        assert_eq!(cpp(&[long(25)], "A_H", &[]), Err(GenerateError::Long("a/B".to_owned(), 25)));
    }

    #[test]
    fn the_text_in_a_header_is_the_layout_again() {
        let path = layout(
            "message a/Path\n count u64\n steps [a/Step; 2]\nmessage a/Step\n from a/Place\nmessage a/Place\n x f64\n y f64",
        );
        assert_eq!(layout(&text(&path).unwrap()).hash(), path.hash());
    }

    #[test]
    fn two_messages_of_one_name_are_one_only_if_their_fields_are_the_same() {
        let one = layout("message a/One\n in a/Inner\nmessage a/Inner\n x f64");
        let other = layout("message a/Two\n in a/Inner\nmessage a/Inner\n y f64");
        let same = layout("message a/Three\n in a/Inner\nmessage a/Inner\n x f64");
        let twice = Err(GenerateError::Twice("a/Inner".to_owned()));
        assert_eq!(c(&[one.clone(), other.clone()], "H", &[]), twice);
        assert_eq!(cpp(std::slice::from_ref(&other), "H", std::slice::from_ref(&one)), twice);
        assert_eq!(c(&[one, same], "H", &[]).unwrap().matches("} a_inner;").count(), 1);
        let field = |layout: Layout| (layout.type_name.clone(), MadeOf::Nested(layout));
        let parts = |names: [&str; 2]| names.map(|name| layout(&format!("message a/Inner\n {name} f64")));
        assert_eq!(text(&Layout::new("a/Both", parts(["x", "y"]).map(field).to_vec()).unwrap()), twice);
    }

    #[test]
    fn names_are_those_of_the_language() {
        assert_eq!(c_name("horus/CmdVel").unwrap(), "horus_cmd_vel");
        assert_eq!(c_name("horus/Pose2D").unwrap(), "horus_pose2d");
        assert_eq!(cpp_names("a/b/Thing").unwrap(), ("a::b".to_owned(), "Thing"));
        assert_eq!(c(&[layout("message a/B\n class u8")], "H", &[]), Err(GenerateError::Name("class".to_owned())));
        assert_eq!(cpp(&[layout("message a/B\n n u128")], "H", &[]), Err(GenerateError::Wide("n".to_owned())));
        assert!(c(&[layout("message a-b/C\n x f64")], "H", &[]).is_err());
    }
}
