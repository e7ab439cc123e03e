//! `horus message` as a program: one definition becomes structs of every language, which their compilers take, and files of ROS 2.

use std::path::Path;
use std::process::{Command, Output};

/// With a message of the field, one of its own, and arrays of arrays.
const ROUTE: &str = "message example/Route\n count u64\n places [horus/Pose2D; 2]\n matrix [[f32; 3]; 2]\n last example/Wheel\n\
                     message example/Wheel\n turns i32\n slip f32\n\
                     message horus/Pose2D\n stamp_ns u64\n x f64\n y f64\n yaw f64\n";

fn generate(folder: &Path, arguments: &[&str]) -> Output {
    let command = ["message", "generate"];
    Command::new(env!("CARGO_BIN_EXE_horus")).current_dir(folder).args(command).args(arguments).output().unwrap()
}

fn words(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

/// A folder with the definition in a file.
fn place() -> tempfile::TempDir {
    let place = tempfile::tempdir().unwrap();
    std::fs::write(place.path().join("route.layout"), ROUTE).unwrap();
    place
}

/// What the command writes, which is what it prints.
fn written(place: &Path, language: &str, file: &str) -> String {
    let printed = generate(place, &["--lang", language, "route.layout"]);
    assert!(printed.status.success(), "{}", words(&printed.stderr));
    let output = generate(place, &["--lang", language, "-o", file, "route.layout"]);
    assert!(output.status.success() && output.stdout.is_empty(), "{}", words(&output.stderr));
    let written = std::fs::read_to_string(place.join(file)).unwrap();
    assert_eq!(written, words(&printed.stdout));
    written
}

fn accepts(command: &mut Command) {
    let output = command.output().unwrap();
    assert!(output.status.success(), "{command:?}: {}", words(&output.stderr));
}

#[test]
fn compilers_take_the_structs_of_c_and_cpp() {
    let place = place();
    let include = Path::new(env!("CARGO_MANIFEST_DIR")).with_file_name("bindings/c/include");
    for (language, file, compiler, standard, size) in [
        ("c", "route.h", "cc", "-std=c99", "example_route"),
        ("cpp", "route.hpp", "c++", "-std=c++17", "example::Route"),
    ] {
        let header = written(place.path(), language, file);
        assert!(header.contains(&format!("#ifndef {}", file.to_uppercase().replace('.', "_"))), "{header}");
        let source = place.path().join(format!("user.{language}"));
        let code = format!(
            "#include \"{file}\"\n#include \"{file}\"\nint of_the_right_size[sizeof({size}) == 104 ? 1 : -1];\n"
        );
        std::fs::write(&source, code).unwrap();
        accepts(
            Command::new(compiler)
                .args([standard, "-Wall", "-Werror", "-fsyntax-only", "-I"])
                .arg(&include)
                .arg(source),
        );
    }
}

#[test]
fn python_and_csharp_have_the_fields_in_their_order() {
    let place = place();
    let python = written(place.path(), "python", "route.py");
    let csharp = written(place.path(), "csharp", "Route.cs");
    for text in [&python, &csharp] {
        let places: Vec<_> = ["Route", "Wheel"].iter().map(|name| text.find(&format!("example/{name}"))).collect();
        assert!(places.iter().all(Option::is_some), "{text}");
    }
    let order = |text: &str, fields: [&str; 3]| {
        let found = fields.map(|field| text.find(field).unwrap_or_else(|| panic!("no {field} in {text}")));
        assert!(found.is_sorted(), "{text}");
    };
    order(&python, ["count", "places", "matrix"]);
    order(&csharp, ["Count", "Places", "Matrix"]);
    accepts(
        Command::new("python3")
            .args(["-c", "import ast, sys; ast.parse(open(sys.argv[1]).read())"])
            .arg(place.path().join("route.py")),
    );
}

#[test]
fn definitions_of_ros_are_a_file_for_each_message() {
    let place = place();
    let output = generate(place.path(), &["--lang", "ros2", "-o", "made", "route.layout"]);
    assert!(output.status.success(), "{}", words(&output.stderr));
    let route = std::fs::read_to_string(place.path().join("made/example/msg/Route.msg")).unwrap();
    assert!(route.lines().any(|line| line.starts_with("uint64 count")), "{route}");
    assert!(place.path().join("made/example/msg/Wheel.msg").exists());
}

#[test]
fn what_is_no_definition_is_told_with_its_file_and_field() {
    let place = place();
    std::fs::write(place.path().join("padded.layout"), "message a/B\n flag u8\n x f64\n").unwrap();
    for (file, said) in [
        ("padded.layout", "horus message: padded.layout: line 1 of the layout: 7 bytes before the field `x`"),
        ("none.layout", "horus message: none.layout: No such file"),
    ] {
        let output = generate(place.path(), &["--lang", "c", file]);
        assert!(!output.status.success() && output.stdout.is_empty());
        assert!(words(&output.stderr).starts_with(said), "{}", words(&output.stderr));
    }
    let output = generate(place.path(), &["--lang", "cobol", "route.layout"]);
    assert!(!output.status.success() && words(&output.stderr).contains("csharp"), "{}", words(&output.stderr));
}
