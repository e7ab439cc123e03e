//! Programs in C: they compile without a warning, run, and understand each other with programs in Rust.

use std::path::{Path, PathBuf};
use std::process::Command;

use horus::topic::{Options, Publisher};

/// Where Cargo put the library that these tests were built with.
fn library_folder() -> PathBuf {
    let own = std::env::current_exe().unwrap();
    let folder = own.parent().unwrap();
    assert!(folder.join("libhorus_c.so").exists(), "{} has no libhorus_c.so", folder.display());
    folder.to_owned()
}

/// Compiles a program of `tests/c`.
fn compiled(name: &str, place: &Path) -> PathBuf {
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/c").join(name).with_extension("c");
    compiled_from(&source, &place.join(name))
}

/// Compiles a program as strictly as compilers can.
fn compiled_from(source: &Path, program: &Path) -> PathBuf {
    let library = library_folder();
    let mut command = Command::new("cc");
    command.args(["-std=c99", "-Wall", "-Wextra", "-Wpedantic", "-Werror", "-O2", "-I"]);
    command.arg(Path::new(env!("CARGO_MANIFEST_DIR")).join("include")).arg(source).arg("-o").arg(program);
    command.arg("-L").arg(&library).arg("-lhorus_c").arg(format!("-Wl,-rpath,{}", library.display()));
    assert!(command.status().unwrap().success(), "{command:?}");
    program.to_owned()
}

fn run(program: &Path, topics: &Path, argument: &str) -> String {
    let output = Command::new(program).arg(argument).env("HORUS_SHM_DIR", topics).output().unwrap();
    assert!(output.status.success(), "{}: {}", output.status, String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap()
}

#[test]
fn messages_arrive_and_every_misuse_is_an_error_in_a_sentence() {
    let place = tempfile::tempdir_in("/dev/shm").unwrap();
    let said = run(&compiled("topics", place.path()), place.path(), "1000000");
    assert_eq!(said, "all of it holds\n");
}

#[test]
fn the_program_of_the_guide_runs_as_it_is_printed() {
    let place = tempfile::tempdir_in("/dev/shm").unwrap();
    let guide = include_str!("../../../../docs/languages.md");
    let (_, program) = guide.split_once("```c\n").unwrap();
    let source = place.path().join("guide.c");
    std::fs::write(&source, program.split_once("```").unwrap().0).unwrap();
    run(&compiled_from(&source, &place.path().join("guide")), place.path(), "");
}

horus::message! {
    /// As the program in C describes it.
    struct WheelSpeed = "example/WheelSpeed" { left: f64, right: f64 }
}

#[test]
fn what_rust_sends_c_receives() {
    let place = tempfile::tempdir_in("/dev/shm").unwrap();
    let program = compiled("listen", place.path());
    let options = Options::reliable(8).directory(place.path());
    let mut publisher = Publisher::<WheelSpeed>::open("wheels", &options).unwrap();
    std::thread::scope(|scope| {
        let listening = scope.spawn(|| run(&program, place.path(), "3"));
        while publisher.subscribers().unwrap() == 0 {
            std::thread::yield_now();
        }
        for left in [0.5, 1.5, 2.5] {
            publisher.send(&WheelSpeed { left, right: -left }).unwrap();
        }
        assert_eq!(listening.join().unwrap(), "0.5 -0.5\n1.5 -1.5\n2.5 -2.5\n");
    });
}
