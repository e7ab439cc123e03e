//! The headers in `include/` are made of this crate and of the messages of the field. `HORUS_WRITE_HEADER=1 cargo test -p horus-c --test
//! header` makes them anew.

mod texts;

use std::fs;
use std::path::Path;

use horus::message::layout::{Layout, generate};
use horus::messages::ALL;

/// Compares a committed file with how it is made now.
fn check(name: &str, made: &str) {
    let place = Path::new(env!("CARGO_MANIFEST_DIR")).join(name);
    if std::env::var_os("HORUS_WRITE_HEADER").is_some() {
        fs::create_dir_all(place.parent().unwrap()).unwrap();
        fs::write(&place, made).unwrap();
    }
    let committed = fs::read_to_string(&place).unwrap_or_default();
    assert!(committed == made, "{name} is not current: HORUS_WRITE_HEADER=1 cargo test -p horus-c --test header");
}

#[test]
fn the_header_is_current() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut made = Vec::new();
    let config = cbindgen::Config::from_file(root.join("cbindgen.toml")).unwrap();
    cbindgen::generate_with_config(root, config).unwrap().write(&mut made);
    check("include/horus/horus.h", &String::from_utf8(made).unwrap());
}

#[test]
fn the_structs_of_messages_are_current() {
    let layouts: Vec<Layout> = ALL.iter().map(|definition| (definition.layout)()).collect();
    let slashes = |text: &str, indent: &str| texts::lines(text, indent, "// ");
    let c = generate::c(&layouts, "HORUS_MESSAGES_H", &[]).unwrap();
    let begins = |line: &str| Some(line.strip_prefix("/* horus/")?.strip_suffix(" */")?.to_owned());
    check("include/horus/messages.h", &texts::told(&c, begins, slashes));
    let cpp = generate::cpp(&layouts, "HORUS_MESSAGES_HPP", &[]).unwrap();
    let begins = |line: &str| Some(line.strip_prefix("struct ")?.strip_suffix(" {")?.to_owned());
    check("include/horus/messages.hpp", &texts::told(&cpp, begins, slashes));
    let csharp = generate::csharp(&layouts, &[]).unwrap();
    let begins = |line: &str| Some(line.trim().strip_prefix("[Message(\"horus/")?.split('"').next()?.to_owned());
    let summary = |text: &str, indent: &str| {
        let text = text.replace('&', "&amp;").replace('<', "&lt;");
        texts::lines(&format!("<summary>{text}</summary>"), indent, "/// ")
    };
    check("../csharp/src/Messages/Messages.cs", &texts::told(&csharp, begins, summary));
    check("../python/python/horus/_texts.py", &texts::python());
}

/// Where a line of a header stands.
#[derive(Clone, Copy, PartialEq)]
enum Scope {
    /// Declarations are for users.
    Public,
    /// As `Public`: each line is a value of an enumeration.
    Values,
    /// A part that no user names, or the body of a function.
    Hidden,
}

/// What declares something for users and has no comment before it. One comment does for overloads that follow each other.
fn undocumented(header: &str) -> Vec<String> {
    let (mut scopes, mut missing) = (vec![Scope::Public], Vec::new());
    let (mut is_told, mut told_name, mut statement, mut is_macro) = (false, String::new(), String::new(), false);
    for line in header.lines().map(str::trim) {
        let code = line.split(" //").next().unwrap().trim_end();
        let scope = *scopes.last().unwrap();
        if is_macro || code.starts_with('#') {
            is_macro = code.ends_with('\\');
            let name = code.strip_prefix("#define HORUS_").filter(|rest| !rest.contains('(') && rest.contains(' '));
            if header.contains("extern \"C\"") && name.is_some() && !is_told && !code.contains("HORUS_OPTIONS") {
                missing.push(code.to_owned());
            }
            continue;
        }
        if code.is_empty() || code.starts_with("//") || code.starts_with("/*") {
            is_told = !code.is_empty();
            told_name.clear();
            continue;
        }
        if ["public:", "private:"].contains(&code) {
            let is_inside = scopes[scopes.len() - 2] == Scope::Hidden;
            *scopes.last_mut().unwrap() = if code == "public:" && !is_inside { Scope::Public } else { Scope::Hidden };
            continue;
        }
        let is_first = statement.is_empty();
        statement += code;
        statement.push(' ');
        if code.starts_with("template <") && code.ends_with('>') {
            continue;
        }
        if scope != Scope::Hidden && (is_first || statement.starts_with("template <")) && !statement.contains("\u{1}") {
            let name = name_of(code);
            let needs_none =
                code.starts_with('}') || NEED_NONE.iter().any(|words| words.iter().all(|word| code.contains(word)));
            if !needs_none && !is_told && name != told_name {
                missing.push(code.to_owned());
            }
            told_name = name;
            statement.push('\u{1}'); // looked at
        }
        let (opened, closed) = (code.matches('{').count(), code.matches('}').count());
        for _ in closed..opened {
            let head = statement.as_str();
            scopes.push(match scope {
                Scope::Hidden => Scope::Hidden,
                _ if head.contains("namespace detail") => Scope::Hidden,
                _ if head.contains("enum ") => Scope::Values,
                _ if head.contains("class ") && !head.contains('(') => Scope::Hidden,
                _ if head.contains("namespace ")
                    || head.contains("struct ") && !head.contains('(')
                    || head.contains("extern \"C\"") =>
                {
                    Scope::Public
                }
                _ => Scope::Hidden,
            });
        }
        for _ in opened..closed {
            scopes.pop();
        }
        if code.ends_with([';', '{', '}']) || scope == Scope::Values && code.ends_with(',') {
            statement.clear();
            is_told = false;
        }
    }
    missing
}

/// The words of lines that need no text: what every class has, what is made of another handle, and scopes.
const NEED_NONE: [&[&str]; 10] = [
    &["namespace "],
    &["extern \"C\" {"],
    &["= delete;"],
    &["using ns "],
    &["&&other)"],
    &["explicit ", "horus_"],
    &["explicit ", "detail::"],
    &["explicit ", "(Input *input)"],
    &["(detail::", "Lent lent"],
    &["~", "() {"],
];

/// The name that a declaration is of, as far as overloads are told apart from others.
fn name_of(code: &str) -> String {
    let head = code.split(['(', ';', '=']).next().unwrap().trim_end();
    head.rsplit([' ', '*', '&']).next().unwrap().to_owned()
}

#[test]
fn what_the_headers_declare_for_users_has_its_text() {
    let include = Path::new(env!("CARGO_MANIFEST_DIR")).join("include/horus");
    let mut files: Vec<_> = fs::read_dir(include.join("cpp")).unwrap().map(|file| file.unwrap().path()).collect();
    files.push(include.join("horus.h"));
    for file in files {
        let text = fs::read_to_string(&file).unwrap();
        assert_eq!(
            undocumented(&text),
            [""; 0],
            "{}: a comment before each of these says what it does",
            file.display()
        );
    }
    // It finds what lacks a comment.
    let planted = "class A {\n public:\n  // Has one.\n  int f();\n  int f(int);\n  int g(\n      int);\n private:\n  int h();\n};\nvoid b();\n";
    assert_eq!(undocumented(planted), ["class A {", "int g(", "void b();"]);
    let planted = "extern \"C\" {\n// A.\ntypedef enum {\n  B = 0,\n} a;\n#define HORUS_C 1\n// D.\nvoid d(int e,\n    int f);\n\
                   typedef struct {\n  int g;\n} h;\n";
    assert_eq!(undocumented(planted), ["B = 0,", "#define HORUS_C 1", "typedef struct {", "int g;"]);
}
