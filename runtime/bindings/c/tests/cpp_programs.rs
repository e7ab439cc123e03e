//! Programs in C++17: they compile without a warning, run, and are told in the compiler's words what is no message.

mod programs;

use horus::message::layout::{Layout, generate};
use programs::Programs;

#[test]
fn topics_do_in_cpp_what_they_do_in_c() {
    let programs = Programs::new();
    assert_eq!(programs.run(&programs.cpp("topics", &[]), &[]), "all of it holds\n");
}

#[test]
fn frames_do_in_cpp_what_they_do_in_c() {
    let programs = Programs::new();
    assert_eq!(programs.run(&programs.cpp("transforms", &[]), &[]), "all of it holds\n");
}

#[test]
fn a_step_in_cpp_logs_values_by_their_types() {
    let programs = Programs::new();
    assert_eq!(programs.run(&programs.cpp("log", &[]), &[]), "all of it holds\n");
}

#[test]
fn services_do_in_cpp_what_they_do_in_c_and_both_call_each_other() {
    let programs = Programs::new();
    let (cpp, c) = (programs.cpp("services", &[]), programs.c_as("services", "services-in-c"));
    assert_eq!(programs.run(&cpp, &[]), "all of it holds\n");
    for (server, client) in [(&cpp, &c), (&c, &cpp)] {
        std::thread::scope(|scope| {
            let serving = scope.spawn(|| programs.run(server, &["serve", "1"]));
            assert_eq!(programs.run(client, &["call", "7"]), "700 cells\n");
            serving.join().unwrap();
        });
    }
}

#[test]
fn parameters_are_declared_read_and_set_from_another_program() {
    let programs = Programs::new();
    assert_eq!(programs.run(&programs.cpp("params", &[]), &[]), "all of it holds\n");
    assert_eq!(programs.run_beside_itself(&programs.cpp("tuner", &[]), "nav"), "all of it holds\n");
}

#[test]
fn actions_do_in_cpp_what_they_do_in_c_and_both_serve_each_other() {
    let programs = Programs::new();
    let (cpp, c) = (programs.cpp("actions", &[]), programs.c_as("actions", "actions-in-c"));
    assert_eq!(programs.run(&cpp, &[]), "all of it holds\n");
    for (server, client) in [(&cpp, &c), (&c, &cpp)] {
        std::thread::scope(|scope| {
            let serving = scope.spawn(|| programs.run(server, &["serve"]));
            assert_eq!(programs.run(client, &["act", "7"]), "counted to 7\n");
            serving.join().unwrap();
        });
    }
}

#[test]
fn a_struct_of_any_name_in_any_namespace_is_a_message() {
    let programs = Programs::new();
    assert_eq!(programs.run(&programs.cpp("names", &[]), &[]), "all of it holds\n");
}

#[test]
fn what_is_lent_outlives_its_end_and_what_belongs_to_an_ended_program_is_refused() {
    let programs = Programs::new();
    assert_eq!(programs.run(&programs.cpp("lifetimes", &[]), &[]).lines().last(), Some("all of it holds"));
}

#[test]
fn nodes_are_lambdas_and_what_they_throw_ends_their_program_with_its_text() {
    let programs = Programs::new();
    let nodes = programs.cpp("nodes", &[]);
    let settings = programs.source("slower.toml", "[node.a]\nperiod = \"2 ms\"\n");
    let world = ["world", settings.to_str().unwrap()];
    assert_eq!(programs.run(&nodes, &world).lines().last(), Some("all of it holds"));
    assert!(programs.run(&nodes, &["run"]).contains("control: 20 releases"));
    let described = programs.run(&nodes, &["throw", "--describe"]);
    assert!(
        described.contains(r#""name": "control""#) && described.contains(r#""monitor_limit_ns": 50000000"#),
        "{described}"
    );
    let output = programs.output(&nodes, &["throw"]);
    assert_eq!(output.status.code(), Some(1));
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(said.contains("robot: node control failed: the wheel came off"), "{said}");
    let said = String::from_utf8_lossy(&programs.output(&nodes, &["main"]).stderr).into_owned();
    assert!(said.contains("there is no option 'main'"), "{said}");
    let said = String::from_utf8_lossy(&programs.output(&nodes, &[]).stderr).into_owned();
    assert_eq!(said, "robot: no robot\n");
}

#[test]
fn an_exception_that_leaves_a_step_of_c_ends_the_process_at_once() {
    let programs = Programs::new();
    let code = "#include <horus/horus.h>\n#include <stdexcept>\n\
                static void step(void *, const horus_cycle *) { throw std::runtime_error(\"lost\"); }\n\
                int main() {\n  horus_app *app = horus_app_new(\"throws\");\n  \
                horus_node_period_ns(horus_app_node(app, \"a\", step, nullptr), 1000000);\n  return horus_app_run(app);\n}\n";
    let program = programs.compile("c++", &["-std=c++17"], &programs.source("throws.cpp", code));
    let output = programs.output(&program, &[]);
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(
        !output.status.success() && said.contains("Rust cannot catch foreign exceptions"),
        "{}: {said}",
        output.status
    );
}

#[test]
fn threads_may_outlive_main() {
    let programs = Programs::new();
    let endings = programs.cpp("endings", &[]);
    for _ in 0..20 {
        assert_eq!(programs.run(&endings, &["outlive"]), "all of it holds\n");
    }
}

#[test]
fn a_program_whose_step_never_returns_is_ended_by_a_third_sigterm() {
    let programs = Programs::new();
    programs.end_what_hangs(&programs.cpp("endings", &[]), &["hang"]);
}

#[test]
fn without_a_grace_time_the_second_signal_ends_what_hangs() {
    let programs = Programs::new();
    programs.end_by_the_second_signal(&programs.cpp("endings", &[]));
}

#[test]
fn a_plug_in_may_be_opened_twice_and_again_after_it_was_closed() {
    let programs = Programs::new();
    let plugin = programs.cpp("plugin", &["-shared", "-fPIC"]);
    assert_eq!(programs.run(&programs.c("plugins"), &[plugin.to_str().unwrap()]), "all of it holds\n");
}

#[test]
fn structs_have_the_hashes_sizes_and_alignments_of_the_test_vectors() {
    let programs = Programs::new();
    let vectors = programs::vectors();
    assert_eq!(programs.run(&programs.cpp("vectors", &[]), &[vectors.to_str().unwrap()]), "all of it holds\n");
}

#[test]
fn a_library_of_another_version_is_refused_by_whatever_is_opened_first() {
    let programs = Programs::new();
    let code =
        "#include <stdint.h>\nuint32_t horus_abi_version(void);\nuint32_t horus_abi_version(void) { return 7; }\n";
    let other = programs.compile("cc", &["-shared", "-fPIC"], &programs.source("other.c", code));
    let code = "#include <horus/horus.hpp>\n#include <cstdio>\nint main(int count, char **) {\n  \
                if (count == 2) return horus::main(\"robot\", [](horus::App &) {});\n  \
                try {\n    horus::App app{\"a\"};\n  } catch (const horus::Error &error) {\n    std::puts(error.what());\n  }\n  \
                std::puts(horus::Publisher<horus::CmdVel>::open(\"a\").error().c_str());\n  \
                std::puts(horus::Subscriber<horus::Bytes>::open(\"a\", 8).error().c_str());\n  \
                std::puts(horus::World::make([](horus::App &) {}).error().c_str());\n}\n";
    let program = programs.compile("c++", &["-std=c++17"], &programs.source("versions.cpp", code));
    let sentence = format!(
        "this program was compiled for version {} of libhorus, and version 7 was loaded: install the one that it was compiled for, or compile \
         it again\n",
        horus_c::HORUS_ABI_VERSION
    );
    let run = |arguments: &[&str]| {
        let mut command = std::process::Command::new(&program);
        command.args(arguments).env("LD_PRELOAD", &other).env("HORUS_SHM_DIR", programs.topics()).output().unwrap()
    };
    assert_eq!(String::from_utf8_lossy(&run(&[]).stdout), sentence.repeat(4));
    let output = run(&["main"]);
    assert_eq!(String::from_utf8_lossy(&output.stderr), format!("robot: {sentence}"));
    assert_eq!(output.status.code(), Some(1));
}

#[test]
fn without_the_library_a_program_is_not_started_and_the_loader_says_which_one_is_missing() {
    let programs = Programs::new();
    let program = programs.cpp("listen", &[]);
    std::fs::remove_file(programs.path().join("libhorus.so.1")).unwrap();
    let output = programs.output(&program, &["0"]);
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), Some(127), "{said}");
    assert!(said.contains("libhorus.so.1: cannot open shared object file"), "{said}");
}

#[test]
fn the_programs_of_the_guide_run_as_they_are_printed() {
    let programs = Programs::new();
    let guide = include_str!("../../../../docs/languages.md");
    let parts: Vec<_> = guide.split("```cpp\n").skip(1).map(|part| part.split_once("```").unwrap().0).collect();
    assert!(parts.len() >= 3);
    for (number, program) in parts.into_iter().enumerate() {
        let source = programs.source(&format!("guide-{number}.cpp"), program);
        let program = programs.compile("c++", &["-std=c++17"], &source);
        programs.run(&program, &["--releases", "10"]);
    }
}

#[test]
fn without_exceptions_what_is_opened_is_a_result() {
    let programs = Programs::new();
    assert_eq!(programs.run(&programs.cpp("no_exceptions", &["-fno-exceptions"]), &[]), "all of it holds\n");
}

#[test]
fn files_with_exceptions_and_files_without_make_one_program() {
    let programs = Programs::new();
    let code = "#include <horus/horus.hpp>\nint without() {\n  auto opened = horus::Publisher<horus::CmdVel>::open(\"mixed.too\");\n  \
                auto loan = opened->loan();\n  return opened->try_send({0, 0}).is_error() ? 0 : 2;\n}\n";
    let (source, object) = (programs.source("without.cpp", code), programs.path().join("without.o"));
    // Not inlined, so that the linker has a choice to make.
    let flags = ["-std=c++17", "-fno-inline"];
    let output =
        programs.compiler("c++", &[&flags[..], &["-fno-exceptions", "-c"]].concat(), &source, &object).output();
    assert!(output.as_ref().unwrap().status.success(), "{}", String::from_utf8_lossy(&output.unwrap().stderr));
    let code = "#include <horus/horus.hpp>\nint without();\nint main() {\n  horus::Publisher<horus::CmdVel> publisher{\"mixed\"};\n  \
                auto loan = publisher.loan();\n  try {\n    publisher.try_send({0, 0});\n  } catch (const horus::Error &) {\n    \
                return without();\n  }\n  return 1;\n}\n";
    let source = programs.source("mixed.cpp", code);
    programs.run(&programs.compile("c++", &[&flags[..], &[object.to_str().unwrap()]].concat(), &source), &[]);
}

#[test]
fn a_struct_that_is_no_message_does_not_compile_and_the_compiler_says_why() {
    let programs = Programs::new();
    for (number, (code, words)) in [
        (
            "struct A { std::uint8_t flag; double x; }; HORUS_MESSAGE(A, \"a/A\", flag, x);",
            "has bytes that belong to no field",
        ),
        ("struct A { double x, y; }; HORUS_MESSAGE(A, \"a/A\", y, x);", "not all fields in their order"),
        ("struct A { double x, y; }; HORUS_MESSAGE(A, \"a/A\", x);", "not all fields in their order"),
        (
            "struct A { bool flag; }; HORUS_MESSAGE(A, \"a/A\", flag); horus::Publisher<A> p{\"a\"};",
            "use uint8_t in place of bool",
        ),
        (
            "struct A { int *x; }; HORUS_MESSAGE(A, \"a/A\", x); horus::Publisher<A> p{\"a\"};",
            "no number of fixed size",
        ),
        ("struct alignas(32) A { double x, y, z, w; }; HORUS_MESSAGE(A, \"a/A\", x, y, z, w);", "leave alignas"),
        ("struct A { char x[8]; }; HORUS_MESSAGE(A, \"a/A\", x);", "use std::uint8_t or std::int8_t"),
        ("struct A { std::array<char32_t, 2> x; }; HORUS_MESSAGE(A, \"a/A\", x);", "use std::uint8_t or std::int8_t"),
        (
            "struct __attribute__((packed)) A { double x; }; HORUS_MESSAGE(A, \"a/A\", x);",
            "leave alignas and packing out",
        ),
        ("struct A { double x; }; horus::Publisher<A> p{\"a\"};", "this struct is no message: HORUS_MESSAGE"),
        (
            "horus::Publisher<horus::Bytes> p{\"a\"};",
            "a topic of bytes is opened with the most that a message may have",
        ),
        (
            "void f(horus::App &app) { app.input<horus::Bytes>(\"a\"); }",
            "bytes are opened with the most that a message may have",
        ),
        (
            "void f(horus::World &world) { world.publish(\"a\", horus::Bytes(\"b\")); }",
            "publish(topic, maximum, message)",
        ),
        ("void f(horus::World &world) { world.last<horus::Bytes>(\"a\"); }", "last<std::string>(topic, maximum)"),
        (
            "namespace a { struct A { double x; }; } namespace b { HORUS_MESSAGE(a::A, \"a/A\", x); }",
            "in the namespace of a::A, or outside of all namespaces",
        ),
    ]
    .into_iter()
    .enumerate()
    {
        let source = programs
            .source(&format!("wrong-{number}.cpp"), &format!("#include <horus/horus.hpp>\n{code}\nint main() {{}}\n"));
        let output =
            programs.compiler("c++", &["-std=c++17"], &source, &programs.path().join("wrong")).output().unwrap();
        let said = String::from_utf8_lossy(&output.stderr);
        assert!(!output.status.success() && said.contains(words), "{code}: {said}");
    }
}

#[test]
fn a_message_of_ones_own_is_generated_for_both_languages_with_one_hash() {
    let programs = Programs::new();
    let text = "message example/Path\n count u64\n places [horus/Pose2D; 2]\n matrix [[f32; 3]; 2]\n\
                message horus/Pose2D\n stamp_ns u64\n x f64\n y f64\n yaw f64";
    let layout: Layout = text.parse().unwrap();
    let known: Vec<_> = horus::messages::ALL.iter().map(|definition| (definition.layout)()).collect();
    assert!(known.iter().any(|known| layout.description().contains(known.type_name())));
    programs.source("path.h", &generate::c(std::slice::from_ref(&layout), "PATH_H", &known).unwrap());
    programs.source("path.hpp", &generate::cpp(std::slice::from_ref(&layout), "PATH_HPP", &known).unwrap());
    let hash = format!("{:016x}\n", layout.hash());
    let code = "#include <horus/horus.h>\n#include \"path.h\"\n#include <stdio.h>\n\
                int main(void) {\n  example_path path = {0};\n  horus_layout *layout = horus_layout_parse(EXAMPLE_PATH_LAYOUT);\n  \
                printf(\"%016llx\\n\", (unsigned long long)horus_layout_hash(layout));\n  \
                return (int)path.count + (int)horus_layout_close(layout);\n}\n";
    let source = programs.source("path-c.c", code);
    assert_eq!(programs.run(&programs.compile("cc", &["-std=c99"], &source), &[]), hash);
    let code = "#include \"path.hpp\"\n#include <cstdio>\nint main() {\n  \
                std::printf(\"%016llx\\n\", static_cast<unsigned long long>(horus::layout_hash<example::Path>()));\n}\n";
    let source = programs.source("path-cpp.cpp", code);
    assert_eq!(programs.run(&programs.compile("c++", &["-std=c++17"], &source), &[]), hash);
}

#[test]
fn the_structs_of_messages_compile_in_c_and_have_the_hashes_of_rust() {
    let programs = Programs::new();
    let mut code =
        String::from("#include <horus/horus.h>\n#include <horus/messages.h>\n#include <stdio.h>\nint main(void) {\n");
    let header = std::fs::read_to_string(programs::root().join("include/horus/messages.h")).unwrap();
    let names = header.lines().filter_map(|line| line.strip_prefix("#define ")?.strip_suffix("_LAYOUT \\"));
    for name in names {
        code += &format!(
            "  {{ horus_layout *layout = horus_layout_parse({name}_LAYOUT);\n    printf(\"%016llx %zu\\n\", \
             (unsigned long long)horus_layout_hash(layout), horus_layout_bytes(layout)); horus_layout_close(layout); }}\n"
        );
    }
    code += "  return 0;\n}\n";
    let source = programs.source("hashes.c", &code);
    let said = programs.run(&programs.compile("cc", &["-std=c99"], &source), &[]);
    for definition in &horus::messages::ALL {
        let line = format!("{:016x} {}", definition.layout_hash, definition.bytes);
        assert!(said.lines().any(|found| found == line), "{}: {said}", definition.type_name);
    }
}
