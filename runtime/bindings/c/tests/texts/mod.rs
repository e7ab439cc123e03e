//! What the messages of the field say of themselves in Rust, for the structs of other languages: units, frames, and what stands for "not known".

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

/// The texts of a message: by its fields, and its own under "".
pub type Texts = BTreeMap<String, String>;

/// The longest line of a comment.
const WIDTH: usize = 150;

/// The texts of all messages, by the name of their struct in Rust: the first paragraph of each comment.
pub fn of_messages() -> BTreeMap<String, Texts> {
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../horus/src");
    let mut files: Vec<_> = fs::read_dir(source.join("messages")).unwrap().map(|file| file.unwrap().path()).collect();
    files.push(source.join("message.rs"));
    // What tests define is no message of the field.
    let shipped = |text: &str| text.split("#[cfg(test)]\nmod tests {").next().unwrap_or_default().to_owned();
    files.iter().flat_map(|file| of_file(&shipped(&fs::read_to_string(file).unwrap()))).collect()
}

/// Those that a file defines. One that a macro gives its fields has those of the macro.
fn of_file(text: &str) -> BTreeMap<String, Texts> {
    let (mut found, mut of_macro, mut sized) = (BTreeMap::<String, Texts>::new(), Texts::new(), Vec::new());
    let (mut comment, mut is_over, mut current) = (String::new(), false, None::<String>);
    for line in text.lines().map(str::trim) {
        if let Some(words) = line.strip_prefix("///") {
            is_over |= words.trim().is_empty();
            if !is_over {
                comment += words;
            }
            continue;
        }
        let said = plain(&comment);
        if let Some(rest) = line.strip_prefix("pub struct ").filter(|rest| rest.contains(" = \"")) {
            let name = rest.split(' ').next().unwrap().to_owned();
            found.entry(name.clone()).or_default().insert(String::new(), said);
            if rest.contains(" up to ") {
                sized.push(name);
            } else {
                current = Some(name);
            }
        } else if line.ends_with("struct $name = $type_name {") {
            current = Some("$name".to_owned());
        } else if line.starts_with('}') {
            current = None;
        } else if let (Some(message), Some((field, _))) = (&current, line.split_once(": ")) {
            let texts = if message == "$name" { &mut of_macro } else { found.get_mut(message).unwrap() };
            texts.insert(field.to_owned(), said);
        }
        if !line.starts_with("#[") {
            comment.clear();
            is_over = false;
        }
    }
    for name in sized {
        found.get_mut(&name).unwrap().extend(of_macro.clone());
    }
    found
}

/// A comment without what is of Rust alone: links, and accessors.
fn plain(comment: &str) -> String {
    let mut text = comment.split(": read [").next().unwrap().trim().to_owned();
    while let Some((before, rest)) = text.split_once("](") {
        let behind = rest.split_once(')').unwrap().1;
        text = format!("{}{behind}", before.replacen("[`", "`", 1));
    }
    text = text.replace("[`", "`").replace("`]", "`");
    if !text.is_empty() && !text.ends_with('.') {
        text.push('.');
    }
    text
}

/// A comment of short lines, each of which begins with `mark`.
pub fn lines(text: &str, indent: &str, mark: &str) -> String {
    let mut made = String::new();
    let mut line = String::new();
    for word in text.split_whitespace() {
        if indent.len() + line.len() + word.len() > WIDTH {
            made += &format!("{indent}{mark}{line}\n");
            line.clear();
        }
        line = if line.is_empty() { word.to_owned() } else { format!("{line} {word}") };
    }
    made + &format!("{indent}{mark}{line}\n")
}

/// A generated file with a comment before each struct of a message and each of its fields. `struct_of` says of which message a line begins the
/// struct, and `comment` makes a comment of a text and an indent. What has no text is a failure.
pub fn told(file: &str, struct_of: impl Fn(&str) -> Option<String>, comment: impl Fn(&str, &str) -> String) -> String {
    let all = of_messages();
    let (mut made, mut current, mut has_begun) = (String::new(), None, false);
    for line in file.lines() {
        let indent = &line[..line.len() - line.trim_start().len()];
        if let Some(name) = struct_of(line) {
            let texts = &all[&name];
            made += &comment(&texts[""], indent);
            (current, has_begun) = (Some((name, texts)), line.contains('{'));
        } else if let Some((name, texts)) = current.as_ref().filter(|_| !line.contains("typedef")) {
            let code = line.trim();
            if code.starts_with('}') || code.is_empty() && has_begun {
                current = None;
            } else if code.ends_with(';') && !code.contains('(') {
                has_begun = true;
                let field = code.trim_end_matches(';').split('[').next().unwrap().rsplit(' ').next().unwrap();
                let same = |known: &&String| known.replace('_', "") == field.replace('_', "").to_lowercase();
                let known =
                    texts.keys().find(same).unwrap_or_else(|| panic!("the field {field} of {name} has no text"));
                made += &comment(&texts[known], indent);
            }
        }
        made += line;
        made.push('\n');
    }
    made
}

/// A file of Python with all texts.
pub fn python() -> String {
    let mut made = "\"\"\"What the messages of the field and their fields are, for `help()` and the stubs.\n\n\
                    Made of the messages' comments in Rust; HORUS_WRITE_HEADER=1 cargo test -p horus-c --test header makes it anew.\n\"\"\"\n\n\
                    # fmt: off\nTEXTS = {\n"
        .to_owned();
    for (name, texts) in of_messages() {
        made += &format!("    \"{name}\": (\n        {},\n        {{\n", quoted(&texts[""], 8));
        for (field, text) in texts.iter().filter(|(field, _)| !field.is_empty()) {
            made += &format!("            \"{field}\": {},\n", quoted(text, 12));
        }
        made += "        },\n    ),\n";
    }
    made + "}\n"
}

/// A text of Python, of several lines where it is long.
fn quoted(text: &str, indent: usize) -> String {
    let escaped = text.replace('\\', "\\\\").replace('"', "\\\"");
    let pieces = lines(&escaped, "", "");
    let pieces: Vec<_> = pieces.lines().collect();
    let last = pieces.len() - 1;
    let strings: Vec<_> = pieces
        .iter()
        .enumerate()
        .map(|(at, piece)| format!("\"{piece}{}\"", if at < last { " " } else { "" }))
        .collect();
    if last == 0 {
        return strings[0].clone();
    }
    let space = " ".repeat(indent);
    format!("(\n{space}    {}\n{space})", strings.join(&format!("\n{space}    ")))
}
