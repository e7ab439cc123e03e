//! The projects: their files, by language.

/// Languages that there are projects for.
#[derive(Clone, Copy, clap::ValueEnum)]
pub enum Language {
    /// With cargo.
    Rust,
    /// With CMake and an installed libhorus.
    C,
    /// With CMake and an installed libhorus; C++17.
    Cpp,
    /// With the package `horus`.
    Python,
    /// With .NET 8 and the package `Horus.Net`.
    Csharp,
}

/// A project of a language.
pub struct Project {
    /// Where its node is.
    pub source: &'static str,
    /// The node's rate, for people.
    pub rate: &'static str,
    /// What tests it, in its folder.
    pub test: &'static str,
    /// What has to be on the machine, for people.
    pub needs: &'static str,
    /// The files by their names.
    pub files: &'static [(&'static str, &'static str)],
    /// What is filled into them beside names.
    pub values: &'static [(&'static str, &'static str)],
}

macro_rules! file {
    ($name:literal, $template:literal) => {
        ($name, include_str!(concat!("template/", $template, ".in")))
    };
}

const README: (&str, &str) = file!("README.md", "README.md");
const SETTINGS: (&str, &str) = file!("node.toml", "node.toml");
const BUILD: (&str, &str) = (".gitignore", "/build\n");

macro_rules! values {
    ($source:literal, $period:literal, $budget:literal, $deadline:literal) => {
        &[("SOURCE", $source), ("PERIOD", $period), ("BUDGET", $budget), ("DEADLINE", $deadline)]
    };
}

const RUST: Project = Project {
    source: "src/main.rs",
    rate: "1 kHz",
    test: "cargo test",
    needs: "Rust (<https://rustup.rs>), and a copy of the HORUS sources where `Cargo.toml` names them",
    files: &[
        README,
        SETTINGS,
        file!("Cargo.toml", "rust/Cargo.toml"),
        file!("src/main.rs", "rust/main.rs"),
        (".gitignore", "/target\n"),
    ],
    values: values!("src/main.rs", "1 ms", "150 us", "800 us"),
};

const C: Project = Project {
    source: "src/nodes.c",
    rate: "1 kHz",
    test: "cmake -B build && cmake --build build && ctest --test-dir build",
    needs: "CMake, make, a compiler, and libhorus (`./scripts/install-library --prefix /usr/local` in a copy of the HORUS sources)",
    files: &[
        README,
        SETTINGS,
        BUILD,
        file!("CMakeLists.txt", "c/CMakeLists.txt"),
        file!("src/main.c", "c/main.c"),
        file!("src/nodes.c", "c/nodes.c"),
        file!("src/nodes.h", "c/nodes.h"),
        file!("tests/nodes_test.c", "c/nodes_test.c"),
    ],
    values: values!("src/nodes.c", "1 ms", "150 us", "800 us"),
};

const CPP: Project = Project {
    source: "src/nodes.cpp",
    files: &[
        README,
        SETTINGS,
        BUILD,
        file!("CMakeLists.txt", "cpp/CMakeLists.txt"),
        file!("src/main.cpp", "cpp/main.cpp"),
        file!("src/nodes.cpp", "cpp/nodes.cpp"),
        file!("src/nodes.hpp", "cpp/nodes.hpp"),
        file!("tests/nodes_test.cpp", "cpp/nodes_test.cpp"),
    ],
    values: values!("src/nodes.cpp", "1 ms", "150 us", "800 us"),
    ..C
};

/// Slower than the others: an interpreter's steps take longer, and its garbage collection is part of them.
const PYTHON: Project = Project {
    source: "main.py",
    rate: "100 Hz",
    test: "python3 -m unittest",
    needs: "Python 3.11 or newer with the package `horus-rt` (`docs/python.md` of the HORUS sources)",
    files: &[
        README,
        SETTINGS,
        (".gitignore", "/build\n__pycache__/\n"),
        file!("pyproject.toml", "python/pyproject.toml"),
        file!("main.py", "python/main.py"),
        file!("test_nodes.py", "python/test_nodes.py"),
    ],
    values: values!("main.py", "10 ms", "1 ms", "8 ms"),
};

/// Slower than the others: a collection of garbage stops its steps, too.
const CSHARP: Project = Project {
    source: "src/Nodes.cs",
    rate: "100 Hz",
    test: "dotnet run --project tests",
    needs: "the SDK of .NET 8 or newer, and the package `Horus.Net` where `nuget.config` names it (`docs/csharp.md` of the HORUS sources builds it)",
    files: &[
        file!("README.md", "csharp/README.md"),
        SETTINGS,
        (".gitignore", "bin/\nobj/\n"),
        file!("nuget.config", "csharp/nuget.config"),
        file!("program.csproj", "csharp/project.csproj"),
        file!("src/Nodes.cs", "csharp/Nodes.cs"),
        file!("src/Program.cs", "csharp/Program.cs"),
        file!("tests/NodesTest.cs", "csharp/NodesTest.cs"),
        file!("tests/tests.csproj", "csharp/tests.csproj"),
    ],
    values: values!("src/Nodes.cs", "10 ms", "1 ms", "8 ms"),
};

impl Language {
    /// Its project.
    pub fn project(self) -> Project {
        match self {
            Self::Rust => RUST,
            Self::C => C,
            Self::Cpp => CPP,
            Self::Python => PYTHON,
            Self::Csharp => CSHARP,
        }
    }
}
