//! `horus new NAME`: a project that builds, passes its test on a virtual clock, and can be deployed.
//!
//! In Rust, the crate `horus` is taken from a copy of its sources on this machine, because it is on no registry yet: see [`sources`]. So is the
//! package for C#. A project in C or C++ finds the library that is installed, and one in Python the package.

pub mod sources;
mod template;

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use horus::outside::printable;

use template::Language;

/// Command line of `horus new`.
#[derive(clap::Args)]
pub struct Args {
    /// The project's folder, whose last part names the program
    path: PathBuf,
    /// What it is written in
    #[arg(long, value_enum, default_value = "rust")]
    lang: Language,
    /// For Rust and C#: the folder of the crate `horus` [default: $HORUS_SOURCE, or where this program was built]
    #[arg(long, value_name = "DIR", env = sources::VARIABLE)]
    horus: Option<PathBuf>,
}

/// Runs the command.
pub fn run(args: &Args) -> ExitCode {
    match make(args) {
        Ok(name) => {
            let folder = printable(&args.path.display().to_string());
            let project = args.lang.project();
            println!("made {folder}: a node at {} in {}, its settings in node.toml", project.rate, project.source);
            println!("  cd {folder} && {}", project.test);
            println!("      tests it on a virtual clock");
            if let Language::Csharp = args.lang {
                println!("  dotnet run");
                println!("      runs {name} on this machine");
            } else {
                println!("  horus deploy HOST");
                println!("      builds {name} for a machine, installs it there and starts it");
            }
            ExitCode::SUCCESS
        }
        Err(reason) => {
            eprintln!("horus new: {}", printable(&reason));
            ExitCode::FAILURE
        }
    }
}

fn make(args: &Args) -> Result<String, String> {
    let name = name_of(&args.path)?;
    let project = args.lang.project();
    let horus = match args.lang {
        Language::Rust | Language::Csharp => sources::find(args.horus.as_deref())?.display().to_string(),
        _ => String::new(),
    };
    let fail = |path: &Path, error: io::Error| format!("{}: {error}", path.display());
    if let Some(above) = args.path.parent().filter(|above| !above.as_os_str().is_empty()) {
        fs::create_dir_all(above).map_err(|error| fail(above, error))?;
    }
    fs::create_dir(&args.path).map_err(|error| match error.kind() {
        io::ErrorKind::AlreadyExists => format!("{} is there already: choose another name", args.path.display()),
        _ => fail(&args.path, error),
    })?;
    let own = [
        ("NAME", &*name),
        ("HORUS", &*horus),
        ("RATE", project.rate),
        ("TEST", project.test),
        ("NEEDS", project.needs),
    ];
    let values = [project.values, &own].concat();
    let mut written = Ok(());
    for (file, template) in project.files {
        let fill = |text: String, (key, value): &(&str, &str)| text.replace(&format!("@{key}@"), value);
        let text = values.iter().fold(template.to_string(), fill);
        let place = args.path.join(file);
        written = written.and_then(|()| fs::create_dir_all(place.parent().expect("it is in the project")));
        written = written.and_then(|()| fs::write(&place, text));
    }
    // The first line of node.toml names it, for editors.
    let written = written.and_then(|()| fs::write(args.path.join("node.schema.json"), horus::app::schema()));
    written.map_err(|error| {
        // Half a project would only be in the way of the next try.
        let _ = fs::remove_dir_all(&args.path);
        fail(&args.path, error)
    })?;
    Ok(name)
}

/// Names that cargo or the projects of CMake have for something else.
const TAKEN: [&str; 8] = ["all", "clean", "help", "horus", "install", "nodes_test", "package", "test"];

/// What cargo, CMake and systemd all take as a name.
fn name_of(path: &Path) -> Result<String, String> {
    let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
    let is_good = name.bytes().all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit() || b"_-".contains(&byte));
    match is_good
        && name.len() <= 64
        && name.starts_with(|first: char| first.is_ascii_lowercase())
        && !TAKEN.contains(&name)
    {
        true => Ok(name.to_owned()),
        false if TAKEN.contains(&name) => {
            Err(format!("'{name}' cannot name a program, because the tools have it: choose another name"))
        }
        false => Err(format!("'{name}' cannot name a program: use a-z, 0-9, _ and -, a letter first")),
    }
}

#[cfg(test)]
mod tests {
    use clap::ValueEnum;

    use super::*;

    #[test]
    fn names_that_cargo_or_systemd_would_refuse_are_refused() {
        for name in ["", "Arm", "7dof", "arm.v2", "-arm", "arm control", "test", "all"] {
            name_of(Path::new(name)).expect_err(name);
        }
        assert_eq!(name_of(Path::new("a/b/arm-2_x")).unwrap(), "arm-2_x");
    }

    fn args(folder: &Path, lang: Language, horus: Option<&str>) -> Args {
        Args { path: folder.join("arm"), lang, horus: horus.map(PathBuf::from) }
    }

    #[test]
    fn in_every_language_what_is_there_stays_and_names_are_filled_in() {
        for lang in Language::value_variants() {
            let folder = tempfile::tempdir().unwrap();
            let args = args(folder.path(), *lang, None);
            make(&args).unwrap();
            let project = lang.project();
            assert!(project.files.iter().any(|(file, _)| *file == project.source), "{}", project.source);
            for (file, _) in project.files {
                let text = fs::read_to_string(args.path.join(file)).unwrap();
                let left = text
                    .split('@')
                    .skip(1)
                    .find(|word| word.len() > 1 && word.bytes().all(|byte| byte.is_ascii_uppercase()));
                assert_eq!(left, None, "{file}");
            }
            let toml = fs::read_to_string(args.path.join("node.toml")).unwrap();
            assert!(toml.contains("program = \"arm\"") && toml.contains(project.source));
            let schema = toml.lines().next().and_then(|first| first.strip_prefix("#:schema ./")).unwrap();
            assert_eq!(fs::read_to_string(args.path.join(schema)).unwrap(), horus::app::schema());
            assert!(make(&args).unwrap_err().contains("is there already"));
            assert_eq!(fs::read_to_string(args.path.join("node.toml")).unwrap(), toml);
        }
    }

    #[test]
    fn sources_that_are_not_there_are_told_and_nothing_is_made() {
        let folder = tempfile::tempdir().unwrap();
        assert!(make(&args(folder.path(), Language::Rust, Some("/nowhere"))).unwrap_err().contains("--horus"));
        assert!(!folder.path().join("arm").exists());
    }
}
