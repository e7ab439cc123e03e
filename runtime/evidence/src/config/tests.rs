//! Good files are layered; bad ones are named with file, line and remedy, and everything else still counts.

use super::phases::Measure;
use super::*;

fn with_file(content: &str) -> (Config, Vec<String>) {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("determinism.toml");
    std::fs::write(&path, content).unwrap();
    load(Set::Boot, Path::new("/"), Some(&path))
}

#[test]
fn later_files_override_single_keys() {
    let root = tempfile::tempdir().unwrap();
    for (directory, content) in DIRECTORIES.iter().zip([
        "duration = \"30s\"\npriority = 70",
        "priority = 60",
        "cyclictest-interval = \"2ms\"\npriority = 50",
    ]) {
        let path = root.path().join(directory).join("determinism.toml");
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, content).unwrap();
    }
    let (config, problems) = load(Set::Boot, root.path(), None);
    assert!(problems.is_empty(), "{problems:?}");
    assert_eq!((config.duration, config.priority), (Duration::from_secs(30), 50));
    assert_eq!(config.timing, Config::default().timing);
}

#[test]
fn a_machine_without_files_uses_the_built_in_values() {
    let root = tempfile::tempdir().unwrap();
    assert_eq!(load(Set::Boot, root.path(), None), (Config::default(), Vec::new()));
}

#[test]
fn a_wrong_setting_is_named_with_file_line_and_remedy() {
    for (content, line, named) in [
        ("duration = \"10s\"\nperiod = \"fast\"", 2, "'fast' is not a length of time"),
        ("# comment\n\npriority = 99", 3, "choose 1 to 98"),
        ("\nperiod = \"2s\"", 2, "choose 10µs to 100ms"),
        ("deadline = \"2ms\"", 1, "longer than period"),
        ("\nduration = \"1s\"", 2, "out of range"),
        ("duration = \"2min\"\nduration = \"3min\"", 2, "duplicate key"),
        ("priority = 80\ncolour = \"red\"", 2, "unknown field `colour`"),
        ("priority = \"high\"", 1, "invalid type"),
        ("priority = 80\nload = []", 2, "names no program"),
        ("priority = 80\nperiod = ", 2, "determinism.toml"),
        ("\u{0}\u{1}garbage", 1, "determinism.toml"),
        ("cyclictest-interval = \"1ns\"", 1, "out of range"),
    ] {
        let (config, problems) = with_file(content);
        assert_eq!(config, Config::default(), "a bad file is left out as a whole: {content}");
        let [problem] = problems.as_slice() else { panic!("{content:?}: {problems:?}") };
        assert!(problem.contains(&format!("determinism.toml:{line}: ")), "{content:?}: {problem}");
        assert!(problem.contains(named) && problem.contains("correct the line"), "{content:?}: {problem}");
        assert!(!problem.contains('\n'), "a problem is one line: {problem}");
    }
}

#[test]
fn a_file_that_is_not_text_is_named_with_line_and_byte_and_left_out() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("determinism.toml");
    for (content, place, byte) in [
        (
            &b"priority = 70\n# \xc3\xa4\nload = [\"\xff\xfe\"]\n"[..],
            "determinism.toml:3: line 3 is not text",
            "byte 0xff at offset 28",
        ),
        (&b"\x80\x00\x01"[..], "determinism.toml:1: line 1 is not text", "byte 0x80 at offset 0"),
        (&b"priority = 70\n\xe2\x82"[..], "determinism.toml:2: line 2 is not text", "byte 0xe2 at offset 14"),
    ] {
        std::fs::write(&path, content).unwrap();
        let (config, problems) = load(Set::Boot, Path::new("/"), Some(&path));
        assert_eq!(config, Config::default());
        let [problem] = problems.as_slice() else { panic!("{problems:?}") };
        assert!(problem.contains(place) && problem.contains(byte) && problem.contains("UTF-8"), "{problem}");
    }
}

#[test]
fn a_named_file_that_is_missing_is_a_problem() {
    let (config, problems) = load(Set::Boot, Path::new("/"), Some(Path::new("/nowhere/determinism.toml")));
    assert_eq!(config, Config::default());
    assert!(problems[0].starts_with("/nowhere/determinism.toml: cannot be read"), "{problems:?}");
}

#[test]
fn the_file_of_the_image_documents_the_built_in_values() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../conf/horus/rootfs/usr/lib/horus/determinism.toml");
    let Ok(text) = std::fs::read_to_string(&path) else { return }; // the crate also builds without the image's files
    let uncommented: String = text
        .lines()
        .filter_map(|line| line.strip_prefix('#'))
        .filter(|line| !line.starts_with(' '))
        .fold(String::new(), |all, line| all + line + "\n");
    let layer: Layer = toml::from_str(&uncommented).unwrap();
    let all_set = layer.duration.is_some()
        && layer.period.is_some()
        && layer.deadline.is_some()
        && layer.priority.is_some()
        && layer.cyclictest_interval.is_some()
        && layer.load.is_some()
        && layer.phase.is_some();
    assert!(all_set, "a setting is not documented in {}", path.display());
    assert_eq!(layer.over(&Config::default(), Set::Boot.longest()).map_err(|error| error.1), Ok(Config::default()));
}

#[test]
fn phases_are_read_in_their_order_and_take_what_they_leave_out_from_the_whole() {
    let (config, problems) = with_file(
        "period = \"2ms\"\n[loads.io]\ncommand = [\"x\", \"{data}\"]\nleast-busy-percent = 2\n\
         [[phase]]\nmeasure = \"node\"\n\
         [[phase]]\nmeasure = \"node\"\nname = \"node-10khz-io\"\nload = \"io\"\nperiod = \"100us\"\ndeadline = \"80us\"\nshare = 5\n\
         [[phase]]\nmeasure = \"cyclictest\"\nname = \"cyclictest-default\"\ndefault-system = true\n",
    );
    assert!(problems.is_empty(), "{problems:?}");
    let [idle, io, default] = config.phases.as_slice() else { panic!("{:?}", config.phases) };
    assert_eq!((idle.name.as_str(), &idle.measure, idle.share), ("node-idle", &Measure::Node(None), 1));
    let fast = Timing::new(Duration::from_micros(100), Duration::from_micros(80)).unwrap();
    assert_eq!((io.load.as_str(), &io.measure, io.share), ("io", &Measure::Node(Some(fast)), 5));
    assert_eq!(default.measure, Measure::Cyclictest { interval: None, default_system: true });
    assert_eq!(config.loads["io"].least_busy_percent, 2);
    assert_eq!(config.used_loads().len(), 1, "a load that no phase needs is none of this run");
}

#[test]
fn a_wrong_phase_is_named_with_its_line_and_the_built_in_phases_stay() {
    for (content, line, named) in [
        ("[[phase]]\nmeasure = \"nodes\"", 2, "unknown variant `nodes`, expected one of `node`"),
        ("[[phase]]\nload = \"idle\"", 1, "missing field `measure`"),
        ("[[phase]]\nmeasure = \"node\"\nload = \"gpu\"", 3, "there is no load 'gpu': choose one of idle, load"),
        ("[[phase]]\nmeasure = \"node\"\nshare = 0", 3, "choose 1 to 1000"),
        ("[[phase]]\nmeasure = \"node\"\nname = \"fast\"", 3, "begin it with 'node-'"),
        ("[[phase]]\nmeasure = \"node\"\nname = \"node-\\\"x\"", 3, "a to z"),
        ("[[phase]]\nmeasure = \"node\"\nperiod = \"1ms\"", 2, "needs a deadline"),
        ("[[phase]]\nmeasure = \"node\"\nperiod = \"1ms\"\ndeadline = \"2ms\"", 4, "longer than period"),
        ("[[phase]]\nmeasure = \"hwlat\"\nperiod = \"1ms\"", 3, "period has no meaning"),
        ("[[phase]]\nmeasure = \"node\"\ndefault-system = true", 3, "default-system has no meaning"),
        ("[[phase]]\nmeasure = \"node\"\n[[phase]]\nmeasure = \"node\"", 4, "two phases 'node-idle'"),
        ("[loads.cpu]\ncommand = []", 2, "names no program"),
        ("[loads.idle]\ncommand = [\"x\"]", 2, "choose another name"),
        ("[loads.cpu]\ncommand = [\"x\"]\nleast-busy-percent = 101", 3, "choose 0 to 100"),
        ("phase = []", 1, "there is no phase"),
    ] {
        let (config, problems) = with_file(content);
        assert_eq!(config, Config::default(), "{content}");
        let [problem] = problems.as_slice() else { panic!("{content:?}: {problems:?}") };
        assert!(problem.contains(&format!("determinism.toml:{line}: ")), "{content:?}: {problem}");
        assert!(problem.contains(named) && problem.contains("correct the line"), "{content:?}: {problem}");
    }
    let many = "[[phase]]\nmeasure = \"control\"\n".repeat(101);
    assert!(with_file(&many).1[0].contains("too many"));
}

#[test]
fn the_night_of_the_image_has_every_load_at_both_rates_with_messages_and_the_independent_witness() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../conf/horus/rootfs/usr/lib/horus/night.toml");
    if !path.exists() {
        return; // the crate also builds without the image's files
    }
    let (config, problems) = load(Set::Night, Path::new("/"), Some(&path));
    assert!(problems.is_empty(), "{problems:?}");
    assert_eq!(config.duration, Set::Night.built_in().duration);
    let names: Vec<&str> = config.phases.iter().map(|phase| phase.name.as_str()).collect();
    for load in [IDLE, "cpu", "membw", "sched", "io", "net", "irq", "mixed"] {
        for what in ["node", "node-10khz", "message", "message-1khz", "cyclictest"] {
            assert!(names.contains(&format!("{what}-{load}").as_str()), "{what}-{load} is missing");
        }
    }
    for name in ["hwlat-idle", "control-idle", "cyclictest-default-idle"] {
        assert!(names.contains(&name), "{name} is missing");
    }
}

#[test]
fn a_night_without_its_file_is_one_of_the_phases_of_a_boot_and_a_file_changes_single_loads() {
    let root = tempfile::tempdir().unwrap();
    let (config, problems) = load(Set::Night, root.path(), None);
    assert_eq!((config.phases, config.duration), (phases::of_boot(), Duration::from_secs(8 * 3600)));
    assert!(problems[0].contains("night.toml is missing") && problems[0].contains("--config"), "{problems:?}");
    for (directory, content) in [
        ("usr/lib/horus", "[loads.net]\ncommand = [\"a\"]\n[[phase]]\nmeasure = \"node\"\nload = \"net\""),
        ("var/lib/horus", "duration = \"60min\"\n[loads.net]\ncommand = [\"b\"]"),
    ] {
        std::fs::create_dir_all(root.path().join(directory)).unwrap();
        std::fs::write(root.path().join(directory).join("night.toml"), content).unwrap();
    }
    let (config, problems) = load(Set::Night, root.path(), None);
    assert!(problems.is_empty(), "{problems:?}");
    assert_eq!((config.loads["net"].command.as_slice(), config.phases.len()), (["b".to_owned()].as_slice(), 1));
}
