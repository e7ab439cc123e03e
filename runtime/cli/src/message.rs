//! `horus message`: structs of other languages for messages, made of one definition.
//!
//! A definition is the text of a layout, as docs/layout-hash.md has it. So a struct of each language has the same hash.

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use horus::message::layout::{Layout, generate};
use horus::messages::ALL;

use horus::outside::printable;

/// Command line of `horus message`.
#[derive(clap::Args)]
pub struct Args {
    #[command(subcommand)]
    what: What,
}

#[derive(clap::Subcommand)]
enum What {
    /// Print structs for the messages that files describe, or write them to a file.
    Generate(Generate),
    /// Print the layout of a message of the field, for instance horus/Imu.
    Show {
        /// Its name
        name: String,
    },
}

#[derive(clap::Args)]
struct Generate {
    /// The language
    #[arg(long, value_enum)]
    lang: Language,
    /// Where to; its name guards the header [default: to stdout]
    #[arg(long, short, value_name = "FILE")]
    output: Option<PathBuf>,
    /// Files of one message each: `message package/Name`, then `field type` on a line each
    #[arg(required = true, value_name = "FILE")]
    files: Vec<PathBuf>,
}

#[derive(Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
enum Language {
    /// A header of C99.
    C,
    /// A header of C++17.
    Cpp,
    /// A source file of C# 8.
    Csharp,
    /// A module of Python 3.11.
    Python,
    /// Files of ROS 2, a `.msg` for each message; --output names their folder.
    Ros2,
}

/// Runs the command.
pub fn run(args: &Args) -> ExitCode {
    let done = match &args.what {
        What::Generate(wanted) => make(wanted),
        What::Show { name } => show(name),
    };
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(reason) => {
            eprintln!("horus message: {}", printable(&reason));
            ExitCode::FAILURE
        }
    }
}

fn show(name: &str) -> Result<(), String> {
    let found = ALL.iter().find(|definition| definition.type_name == name);
    let definition = found.ok_or_else(|| {
        let names: Vec<_> = ALL.iter().map(|definition| definition.type_name).collect();
        format!("there is no message {name} of the field; there are {}", names.join(", "))
    })?;
    println!("{}", generate::text(&(definition.layout)()).map_err(|error| error.to_string())?);
    Ok(())
}

fn make(wanted: &Generate) -> Result<(), String> {
    let layouts = wanted.files.iter().map(|file| read(file)).collect::<Result<Vec<_>, _>>()?;
    if wanted.lang == Language::Ros2 {
        return definitions(&layouts, wanted.output.as_deref());
    }
    // What goes to the terminal is guarded as if it were a file beside its first layout.
    let extension = match wanted.lang {
        Language::C => "h",
        Language::Cpp => "hpp",
        Language::Csharp => "cs",
        Language::Python => "py",
        Language::Ros2 => "msg",
    };
    let named = wanted.output.clone().or_else(|| Some(wanted.files.first()?.with_extension(extension)));
    let header = header(&layouts, wanted.lang, &guard(named.as_deref()))?;
    match &wanted.output {
        None => print!("{header}"),
        Some(file) => std::fs::write(file, header).map_err(|error| format!("{}: {error}", file.display()))?,
    }
    Ok(())
}

/// Writes `PACKAGE/msg/NAME.msg` below the folder for each message, or prints them with a line before each, as recordings have them.
fn definitions(layouts: &[Layout], folder: Option<&Path>) -> Result<(), String> {
    for layout in layouts {
        for file in generate::ros2(layout).map_err(|error| error.to_string())? {
            let Some(folder) = folder else {
                print!("{}\nMSG: {}\n{}", "=".repeat(80), file.name, file.text);
                continue;
            };
            let path = folder.join(format!("{}.msg", file.name));
            let made = path.parent().map_or(Ok(()), std::fs::create_dir_all);
            made.and_then(|()| std::fs::write(&path, file.text))
                .map_err(|error| format!("{}: {error}", path.display()))?;
        }
    }
    Ok(())
}

fn read(file: &Path) -> Result<Layout, String> {
    let text = std::fs::read_to_string(file).map_err(|error| format!("{}: {error}", file.display()))?;
    text.parse().map_err(|error| format!("{}: {error}", file.display()))
}

fn header(layouts: &[Layout], language: Language, guard: &str) -> Result<String, String> {
    let known: Vec<_> = ALL.iter().map(|definition| (definition.layout)()).collect();
    let made = match language {
        Language::C => generate::c(layouts, guard, &known),
        Language::Cpp => generate::cpp(layouts, guard, &known),
        Language::Csharp => generate::csharp(layouts, &known),
        Language::Python => generate::python(layouts, &known),
        Language::Ros2 => return Err("definitions of ROS 2 are files of their own".to_owned()),
    };
    made.map_err(|error| error.to_string())
}

/// `wheels.h` is guarded by `WHEELS_H`.
fn guard(file: Option<&Path>) -> String {
    let name = file.and_then(Path::file_name).map_or("messages".into(), |name| name.to_string_lossy());
    let word = |letter: char| if letter.is_ascii_alphanumeric() { letter.to_ascii_uppercase() } else { '_' };
    let guard: String = name.chars().map(word).collect();
    if guard.starts_with(|first: char| first.is_ascii_alphabetic()) { guard } else { format!("MESSAGES_{guard}") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_message_of_messages_of_the_field_includes_them() {
        let text = format!(
            "message a/Path\n count u64\n places [horus/Pose2D; 4]\n{}",
            generate::text(&Layout::of::<horus::messages::Pose2D>()).unwrap()
        );
        let layout: Layout = text.parse().unwrap();
        let made = header(std::slice::from_ref(&layout), Language::C, &guard(Some(Path::new("a/my-path.h")))).unwrap();
        assert!(made.contains("#ifndef MY_PATH_H") && made.contains("#include <horus/messages.h>"), "{made}");
        assert!(made.contains("horus_pose2d places[4];") && !made.contains("} horus_pose2d;"), "{made}");
        let made = header(std::slice::from_ref(&layout), Language::Csharp, "").unwrap();
        assert!(
            made.contains("internal global::Horus.Net.Messages.Pose2D First;") && made.contains("namespace A\n"),
            "{made}"
        );
        assert!(!made.contains("struct Pose2D"), "{made}");
        let made = header(&[layout], Language::Cpp, &guard(None)).unwrap();
        assert!(made.contains("std::array<::horus::Pose2D, 4> places;") && made.contains("namespace a {"), "{made}");
    }

    #[test]
    fn a_definition_of_ros_is_a_file_for_each_message() {
        let scratch = tempfile::tempdir().unwrap();
        let layout: Layout = "message a/Path\n count u64\n poses [a/Pose; 4]\nmessage a/Pose\n x f64".parse().unwrap();
        definitions(&[layout], Some(scratch.path())).unwrap();
        let text = |name: &str| std::fs::read_to_string(scratch.path().join(name)).unwrap();
        assert!(text("a/msg/Path.msg").ends_with("uint64 count\na/Pose[4] poses\n"));
        assert!(text("a/msg/Pose.msg").ends_with("float64 x\n"));
    }

    #[test]
    fn what_is_no_layout_is_told_with_its_file() {
        let scratch = tempfile::tempdir().unwrap();
        let file = scratch.path().join("wrong.layout");
        std::fs::write(&file, "message a/B\n x bool").unwrap();
        let error = read(&file).unwrap_err();
        assert!(error.contains("wrong.layout: line 2 of the layout: `bool` is no number"), "{error}");
        assert!(show("horus/Nothing").unwrap_err().contains("horus/CmdVel"));
    }
}
