//! Programs in C and C++ for the tests: compiled as strictly as compilers can, against the library that these tests were built with.
#![allow(dead_code)] // each test uses some of it

use std::io::{BufRead, BufReader};
use std::os::unix::fs::symlink;
use std::os::unix::process::ExitStatusExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use horus::prelude::{ms, sleep};
use tempfile::TempDir;

/// What every compiler is told.
const STRICT: [&str; 7] = ["-Wall", "-Wextra", "-Wpedantic", "-Wshadow", "-Werror", "-O2", "-pthread"];

/// What runs longer hangs.
const LONGEST_SECONDS: &str = "120";

/// A place for programs and their topics, with the library under the names that it is installed by.
pub struct Programs {
    place: TempDir,
}

impl Programs {
    pub fn new() -> Self {
        let own = std::env::current_exe().unwrap();
        let folder = own.parent().unwrap();
        let place = tempfile::tempdir_in("/dev/shm").unwrap();
        let archive = folder.join("libhorus_c.a");
        assert!(archive.exists(), "there is no {}", archive.display());
        std::fs::create_dir_all(place.path().join("static")).unwrap();
        symlink(&archive, place.path().join("static/libhorus.a")).unwrap();
        // Each test process links it once; what is linked is the same in all of them.
        static SHARED: std::sync::OnceLock<Vec<u8>> = std::sync::OnceLock::new();
        let shared = place.path().join("libhorus.so.1");
        match SHARED.get() {
            Some(bytes) => std::fs::write(&shared, bytes).unwrap(),
            None => {
                link_shared(&archive, &shared);
                let _ = SHARED.set(std::fs::read(&shared).unwrap());
            }
        }
        symlink(&shared, place.path().join("libhorus.so")).unwrap();
        Self { place }
    }

    pub fn path(&self) -> &Path {
        self.place.path()
    }

    /// Where their topics are.
    pub fn topics(&self) -> PathBuf {
        self.path().join("shm")
    }

    /// Writes a source file.
    pub fn source(&self, name: &str, text: &str) -> PathBuf {
        let path = self.path().join(name);
        std::fs::write(&path, text).unwrap();
        path
    }

    /// Compiles a program of `tests/c`.
    pub fn c(&self, name: &str) -> PathBuf {
        self.compile("cc", &["-std=gnu99"], &source_of(name))
    }

    /// Compiles a program of `tests/c` under another name.
    pub fn c_as(&self, name: &str, program: &str) -> PathBuf {
        let program = self.path().join(program);
        let output = self.compiler("cc", &["-std=gnu99"], &source_of(name), &program).output().unwrap();
        assert!(output.status.success(), "cc: {}", String::from_utf8_lossy(&output.stderr));
        program
    }

    /// Compiles a program of `tests/cpp`.
    pub fn cpp(&self, name: &str, more: &[&str]) -> PathBuf {
        let source = root().join("tests/cpp").join(name).with_extension("cpp");
        self.compile("c++", &[&["-std=c++17"], more].concat(), &source)
    }

    /// Compiles a program with `compiler`.
    pub fn compile(&self, compiler: &str, more: &[&str], source: &Path) -> PathBuf {
        let program = self.path().join(source.file_stem().unwrap());
        let output = self.compiler(compiler, more, source, &program).output().unwrap();
        assert!(output.status.success(), "{compiler}: {}", String::from_utf8_lossy(&output.stderr));
        program
    }

    /// The command that compiles a program.
    pub fn compiler(&self, compiler: &str, more: &[&str], source: &Path, program: &Path) -> Command {
        let mut command = Command::new(compiler);
        command.args(more).args(STRICT);
        command.arg("-I").arg(root().join("include")).arg("-I").arg(root().join("tests/c"));
        command.arg(source).arg("-o").arg(program);
        command.arg("-L").arg(self.path()).arg("-lhorus").arg(format!("-Wl,-rpath,{}", self.path().display()));
        command
    }

    /// Runs a program on topics of its own.
    pub fn output(&self, program: &Path, arguments: &[&str]) -> Output {
        let bounded = ["-k", "5", LONGEST_SECONDS];
        let mut command = Command::new("timeout");
        command
            .args(bounded)
            .arg(program)
            .args(arguments)
            .env("HORUS_SHM_DIR", self.topics())
            .env("HORUS_JOURNAL", "print")
            .output()
            .unwrap()
    }

    /// What a program says that ends well.
    pub fn run(&self, program: &Path, arguments: &[&str]) -> String {
        let output = self.output(program, arguments);
        assert!(output.status.success(), "{}: {}", output.status, String::from_utf8_lossy(&output.stderr));
        String::from_utf8(output.stdout).unwrap()
    }
}

impl Programs {
    /// Runs a program that says on stderr that it hangs: it has to end by SIGTERM, at the third one at the earliest.
    pub fn end_what_hangs(&self, program: &Path, arguments: &[&str]) {
        let mut command = Command::new(program);
        command.args(arguments).env("HORUS_SHM_DIR", self.topics()).stderr(Stdio::piped()).stdout(Stdio::null());
        let mut child = command.spawn().unwrap();
        let mut said = BufReader::new(child.stderr.take().unwrap()).lines();
        assert!(said.any(|line| line.unwrap() == "hangs"));
        let id = child.id().to_string();
        let terminate = || assert!(Command::new("kill").args(["-TERM", &id]).status().unwrap().success());
        // The first one sets a flag, which the step does not look at, and the second one comes with it. One that comes before
        // another was seen is the same one.
        let mut sent = 0;
        while child.try_wait().unwrap().is_none() {
            terminate();
            sent += 1;
            sleep(ms(20));
        }
        assert!(sent >= 3 && !child.wait().unwrap().success(), "{sent}");
    }
}

impl Programs {
    /// Sends two signals in a row to a program that says on stderr that it hangs, and has no grace time: the second one ends it.
    pub fn end_by_the_second_signal(&self, program: &Path) {
        let mut command = Command::new("timeout");
        command.args(["-k", "1", "--foreground", LONGEST_SECONDS]).arg(program).arg("grace");
        let mut child = command.env("HORUS_SHM_DIR", self.topics()).stderr(Stdio::piped()).spawn().unwrap();
        let mut said = BufReader::new(child.stderr.take().unwrap()).lines();
        assert!(said.any(|line| line.unwrap() == "hangs"));
        let id = child.id();
        let both = format!("hangs=$(cat /proc/{id}/task/{id}/children); kill -INT $hangs; kill -TERM $hangs");
        assert!(Command::new("sh").args(["-c", &both]).status().unwrap().success());
        // `timeout` ends itself by the signal that ended what it watches.
        let signal = child.wait().unwrap().signal();
        assert!(signal == Some(2) || signal == Some(15), "{signal:?}");
    }
}

impl Programs {
    /// Runs a program that looks at the one of this name, which is the same one in another process.
    pub fn run_beside_itself(&self, program: &Path, name: &str) -> String {
        let with = |command: &mut Command| {
            command.env("HORUS_SHM_DIR", self.topics()).env("HORUS_STATE_DIR", self.path());
            command.env("HORUS_JOURNAL", "print").env_remove("HORUS_NAMESPACE").env_remove("HORUS_NODE_FILE");
        };
        let mut beside = Command::new("timeout");
        with(beside.args(["-k", "5", LONGEST_SECONDS]).arg(program).env("HORUS_TEST_PROGRAM", name));
        let mut beside = beside.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
        let mut command = Command::new("timeout");
        with(command.args(["-k", "5", LONGEST_SECONDS]).arg(program).arg(name));
        let output = command.output().unwrap();
        // The signal goes on to the program.
        assert!(Command::new("kill").args(["-TERM", &beside.id().to_string()]).status().unwrap().success());
        beside.wait().unwrap();
        assert!(output.status.success(), "{}: {}", output.status, String::from_utf8_lossy(&output.stderr));
        String::from_utf8(output.stdout).unwrap()
    }
}

impl Programs {
    /// Sends two signals in a row to a program that says a word on stderr in its first step: it ends well and gives its account.
    pub fn end_in_order_after_two_signals(&self, program: &Path, arguments: &[&str], word: &str) {
        let mut command = Command::new(program);
        command.args(arguments).env("HORUS_SHM_DIR", self.topics()).stderr(Stdio::piped()).stdout(Stdio::piped());
        let mut child = command.spawn().unwrap();
        let mut said = BufReader::new(child.stderr.take().unwrap()).lines();
        assert!(said.any(|line| line.unwrap() == word));
        let both = format!("kill -INT {0}; kill -TERM {0}", child.id());
        assert!(Command::new("sh").args(["-c", &both]).status().unwrap().success());
        let output = child.wait_with_output().unwrap();
        let account = String::from_utf8_lossy(&output.stdout);
        assert!(output.status.success() && account.contains(" releases"), "{}: {account}", output.status);
    }
}

/// A program in Rust, of `tests/rust`.
pub fn example(name: &str) -> PathBuf {
    std::env::current_exe().unwrap().parent().unwrap().with_file_name("examples").join(name)
}

/// Layouts with their hashes, which the tests of every language read.
pub fn vectors() -> PathBuf {
    root().with_file_name("layout-vectors.txt")
}

/// What Rust says that a program needs beside its static library, on Linux with glibc.
pub const LIBRARIES: [&str; 6] = ["-lgcc_s", "-lutil", "-lrt", "-lpthread", "-lm", "-ldl"];

fn link_shared(archive: &Path, shared: &Path) {
    let link =
        Command::new(root().join("package/link-shared")).arg(archive).arg(shared).args(LIBRARIES).output().unwrap();
    assert!(link.status.success(), "{}", String::from_utf8_lossy(&link.stderr));
}

/// Where this crate is.
pub fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

/// A program of `tests/c`.
pub fn source_of(name: &str) -> PathBuf {
    root().join("tests/c").join(name).with_extension("c")
}
