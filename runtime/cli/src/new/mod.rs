//! `horus new NAME`: a project that builds, passes its test on a virtual clock, and can be deployed.
//!
//! The crate `horus` is taken from a copy of its sources on this machine, because it is on no registry yet: from `--horus`, from
//! `$HORUS_SOURCE`, or from where this program was built.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use crate::topic::printable;

/// Names the folder of the crate `horus`.
const SOURCE_VARIABLE: &str = "HORUS_SOURCE";
/// Where it was when this program was built; a build for another machine says where it is there.
const BUILT_FROM: &str = match option_env!("HORUS_BUILT_FROM") {
    Some(place) => place,
    None => concat!(env!("CARGO_MANIFEST_DIR"), "/../horus"),
};

/// The files of a project by their names.
const FILES: [(&str, &str); 4] = [
    ("Cargo.toml", include_str!("template/Cargo.toml.in")),
    ("node.toml", include_str!("template/node.toml.in")),
    ("src/main.rs", include_str!("template/src/main.rs.in")),
    (".gitignore", "/target\n"),
];

/// Languages that there are projects for.
#[derive(Clone, Copy, clap::ValueEnum)]
enum Language {
    /// With cargo.
    Rust,
}

/// Command line of `horus new`.
#[derive(clap::Args)]
pub struct Args {
    /// The project's folder, whose last part names the program
    path: PathBuf,
    /// What it is written in
    #[arg(long, value_enum, default_value = "rust")]
    lang: Language,
    /// The folder of the crate `horus` [default: $HORUS_SOURCE, or where this program was built]
    #[arg(long, value_name = "DIR", env = SOURCE_VARIABLE)]
    horus: Option<PathBuf>,
}

/// Runs the command.
pub fn run(args: &Args) -> ExitCode {
    let Language::Rust = args.lang;
    match make(args) {
        Ok(name) => {
            let folder = printable(&args.path.display().to_string());
            println!("made {folder}: a node at 1 kHz in src/main.rs, its settings in node.toml");
            println!("  cd {folder} && cargo test    tests it on a virtual clock");
            println!("  horus deploy HOST            builds {name} for a machine, installs it there and starts it");
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
    let horus = find_horus(args.horus.as_deref())?;
    let fail = |path: &Path, error: io::Error| format!("{}: {error}", path.display());
    if let Some(above) = args.path.parent().filter(|above| !above.as_os_str().is_empty()) {
        fs::create_dir_all(above).map_err(|error| fail(above, error))?;
    }
    fs::create_dir(&args.path).map_err(|error| match error.kind() {
        io::ErrorKind::AlreadyExists => format!("{} is there already: choose another name", args.path.display()),
        _ => fail(&args.path, error),
    })?;
    let mut written = fs::create_dir(args.path.join("src"));
    for (file, template) in FILES {
        let text = template.replace("@NAME@", &name).replace("@HORUS@", &horus.display().to_string());
        written = written.and_then(|()| fs::write(args.path.join(file), text));
    }
    written.map_err(|error| {
        // Half a project would only be in the way of the next try.
        let _ = fs::remove_dir_all(&args.path);
        fail(&args.path, error)
    })?;
    Ok(name)
}

/// What cargo and systemd both take as a name.
fn name_of(path: &Path) -> Result<String, String> {
    let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
    let is_good = name.bytes().all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit() || b"_-".contains(&byte));
    match is_good && name.len() <= 64 && name.starts_with(|first: char| first.is_ascii_lowercase()) && name != "test" {
        true => Ok(name.to_owned()),
        false => Err(format!("'{name}' cannot name a program: use a-z, 0-9, _ and -, a letter first")),
    }
}

fn find_horus(given: Option<&Path>) -> Result<PathBuf, String> {
    let place = given.unwrap_or(Path::new(BUILT_FROM));
    match place.join("Cargo.toml").is_file() {
        true => place.canonicalize().map_err(|error| format!("{}: {error}", place.display())),
        false => Err(format!(
            "the crate horus is not in {}: give the folder runtime/horus of a copy of the HORUS sources with --horus, or in ${SOURCE_VARIABLE}",
            place.display()
        )),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_that_cargo_or_systemd_would_refuse_are_refused() {
        for name in ["", "Arm", "7dof", "arm.v2", "-arm", "arm control", "test"] {
            name_of(Path::new(name)).expect_err(name);
        }
        assert_eq!(name_of(Path::new("a/b/arm-2_x")).unwrap(), "arm-2_x");
    }

    #[test]
    fn what_is_there_stays_and_sources_that_are_not_there_are_told() {
        let folder = tempfile::tempdir().unwrap();
        let args = |horus: Option<&str>| Args {
            path: folder.path().join("arm"),
            lang: Language::Rust,
            horus: horus.map(PathBuf::from),
        };
        assert!(make(&args(Some("/nowhere"))).unwrap_err().contains("--horus"));
        assert!(!folder.path().join("arm").exists());
        make(&args(None)).unwrap();
        let toml = fs::read_to_string(folder.path().join("arm/node.toml")).unwrap();
        assert!(toml.contains("program = \"arm\""));
        assert!(make(&args(None)).unwrap_err().contains("is there already"));
    }
}
