//! The project in a folder: what its tool and `node.toml` say of it.

use std::path::{Path, PathBuf};

use horus::app::Installation;
use horus::outside::Word;

use super::tool::{Described, Tool};
use super::{cargo, cmake, python};

/// What is deployed.
pub struct Project {
    /// The program, as `node.toml` names it.
    pub name: String,
    pub version: String,
    /// `node.toml` as it goes to the machine: with the version.
    pub settings: String,
    /// What it is built by.
    pub tool: Tool,
    /// Where it is.
    pub folder: PathBuf,
}

/// Reads what the file of a tool says.
type Reader = fn(&Path) -> Result<Described, String>;
/// The files that tell what a project is. The first one that is there counts.
const TOOLS: [(&str, Reader); 3] =
    [("Cargo.toml", cargo::describe), ("CMakeLists.txt", cmake::describe), ("pyproject.toml", python::describe)];

impl Project {
    /// Reads that in `folder`.
    pub fn read(folder: &Path) -> Result<Self, String> {
        let known = TOOLS.into_iter().find(|(file, _)| folder.join(file).is_file());
        let (source, read) = known.ok_or_else(|| no_project(folder).to_owned())?;
        let Described { name, version, programs, tool } = read(&folder.join(source))?;
        let file = folder.join("node.toml");
        let installation = Installation::read(&file).map_err(|error| error.to_string())?;
        let program = installation.program.unwrap_or_default();
        if !programs.contains(&program) {
            return Err(format!(
                "{}: program = \"{program}\" has to be the project of {source}, which is \"{name}\"",
                file.display()
            ));
        }
        version.parse::<Word>().map_err(|error| format!("{source}: version: {error}"))?;
        let text = std::fs::read_to_string(&file).map_err(|error| format!("{}: {error}", file.display()))?;
        let settings = match installation.version {
            Some(_) => text,
            // Before the first line, so before all tables.
            None => format!("version = \"{version}\"\n{text}"),
        };
        Ok(Self { name: program, version, settings, tool, folder: folder.to_owned() })
    }
}

/// What is said of a folder without a file of a tool.
fn no_project(folder: &Path) -> &'static str {
    let is_csharp = |entry: std::fs::DirEntry| entry.path().extension().is_some_and(|extension| extension == "csproj");
    match std::fs::read_dir(folder).is_ok_and(|entries| entries.flatten().any(is_csharp)) {
        true => {
            "this project is in C#, and no image has .NET: run it on a machine that has, beside the appliance, and join its topics by the gateway or \
             the bridge (docs/gateway.md, docs/ros2.md)"
        }
        false => {
            "here is no project, for there is no Cargo.toml, CMakeLists.txt or pyproject.toml: run this in the folder that `horus new` made"
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn project(files: &[(&str, &str)]) -> Result<Project, String> {
        let folder = tempfile::tempdir().unwrap();
        for (file, text) in files {
            std::fs::write(folder.path().join(file), text).unwrap();
        }
        Project::read(folder.path())
    }

    const ARM: (&str, &str) = ("node.toml", "program = \"arm\"\n");

    #[test]
    fn a_project_is_known_by_the_file_of_its_tool() {
        let cmake = project(&[ARM, ("CMakeLists.txt", "project(arm VERSION 1.2 LANGUAGES CXX)")]).unwrap();
        assert!(matches!(cmake.tool, Tool::Cmake) && cmake.settings.starts_with("version = \"1.2\"\n"));
        let python =
            project(&[ARM, ("pyproject.toml", "[project]\nname = \"arm\"\nversion = \"3\""), ("main.py", "")]).unwrap();
        assert!(matches!(python.tool, Tool::Python) && python.version == "3");
    }

    #[test]
    fn a_program_may_be_any_of_a_package_of_cargo() {
        let package = |program: &str| {
            format!(
                "[package]\nname = \"robot\"\nversion = \"0.4.0\"\nedition = \"2024\"\n[[bin]]\nname = \"{program}\"\npath = \"main.rs\"\n"
            )
        };
        let found = project(&[ARM, ("Cargo.toml", &package("arm")), ("main.rs", "fn main() {}")]).unwrap();
        assert_eq!((found.name.as_str(), found.version.as_str()), ("arm", "0.4.0"));
        let refused = project(&[ARM, ("Cargo.toml", &package("leg")), ("main.rs", "fn main() {}")]).err().unwrap();
        assert!(refused.contains("has to be the project of Cargo.toml, which is \"robot\""), "{refused}");
    }

    #[test]
    fn what_is_no_project_is_told_with_what_to_do() {
        for (files, words) in [
            (&[ARM][..], "`horus new` made"),
            (&[ARM, ("arm.csproj", "<Project/>")], "no image has .NET"),
            (&[("CMakeLists.txt", "project(arm)")], "node.toml"),
            (&[ARM, ("CMakeLists.txt", "project(leg)")], "has to be the project of CMakeLists.txt, which is \"leg\""),
            (&[ARM, ("CMakeLists.txt", "add_executable(arm arm.c)")], "project(NAME VERSION"),
            (&[ARM, ("pyproject.toml", "[tool.ruff]")], "[project]"),
            (&[ARM, ("pyproject.toml", "[project]\nname = \"arm\"\nversion = \"3\"")], "main.py"),
        ] {
            let error = project(files).err().expect(words);
            assert!(error.contains(words), "{error}");
        }
    }
}
