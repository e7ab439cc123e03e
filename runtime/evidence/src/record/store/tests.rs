//! The writer is killed as a real process: at every step, and at random moments.

use std::os::unix::fs::MetadataExt;
use std::process::{Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, getpid, kill_process};

use super::*;

const OLD: &str = "old";
const NEW: &str = "new";
const STEPS: [Step; 6] =
    [Step::Created, Step::HalfWritten, Step::Written, Step::Synced, Step::Renamed, Step::DirectorySynced];

/// A megabyte that starts and ends with `word`: half of one and half of another is seen at once.
fn content(word: &str) -> Vec<u8> {
    format!("{word} {} {word}", "x".repeat(1 << 20)).into_bytes()
}

/// Runs [`writer_process`] of this very test binary on `directory`.
fn spawn_writer(directory: &Path, die_at: Option<usize>) -> std::process::Child {
    Command::new(std::env::current_exe().unwrap())
        .args(["--ignored", "--exact", "record::store::tests::writer_process"])
        .env("WRITER_DIRECTORY", directory)
        .env("WRITER_DIES_AT", die_at.map(|step| step.to_string()).unwrap_or_default())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .unwrap()
}

/// Not a test of its own: the process that the tests below kill.
#[test]
#[ignore = "started by the other tests as a process of its own"]
fn writer_process() {
    let directory = PathBuf::from(std::env::var("WRITER_DIRECTORY").unwrap());
    let path = directory.join(LATEST);
    match std::env::var("WRITER_DIES_AT").unwrap().parse::<usize>() {
        Ok(step) => {
            let die = |reached| {
                if reached == STEPS[step] {
                    kill_process(getpid(), Signal::KILL).unwrap();
                }
            };
            write_whole_with(&path, &content(NEW), die).unwrap();
        }
        Err(_) => loop {
            write_whole(&path, &content(NEW)).unwrap();
            write_whole(&path, &content(OLD)).unwrap();
        },
    }
}

fn killed(status: ExitStatus) -> bool {
    use std::os::unix::process::ExitStatusExt;
    status.signal() == Some(9)
}

#[test]
fn a_writer_killed_at_any_step_leaves_the_old_or_the_new_file() {
    for (number, step) in STEPS.iter().enumerate() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join(LATEST);
        fs::write(&path, content(OLD)).unwrap();
        let status = spawn_writer(directory.path(), Some(number)).wait().unwrap();
        assert!(killed(status), "the writer should have died at {step:?}: {status}");
        let expected = if number < 4 { OLD } else { NEW };
        assert!(fs::read(&path).unwrap() == content(expected), "after a kill at {step:?} the file is not '{expected}'");
        drop(Room::reserve(directory.path(), "b0", "r0").unwrap());
        let names: Vec<_> = fs::read_dir(directory.path()).unwrap().map(|entry| entry.unwrap().file_name()).collect();
        assert_eq!(names, [LATEST], "the next run removes what the killed one left");
    }
}

#[test]
fn a_writer_killed_at_a_random_moment_leaves_the_old_or_the_new_file() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join(LATEST);
    fs::write(&path, content(OLD)).unwrap();
    for round in 0..30_u64 {
        let mut writer = spawn_writer(directory.path(), None);
        let moment = Instant::now() + Duration::from_micros(5_000 + round * 7_919 % 20_000);
        while Instant::now() < moment {
            std::thread::yield_now();
        }
        kill_process(Pid::from_child(&writer), Signal::KILL).unwrap();
        writer.wait().unwrap();
        let found = fs::read(&path).unwrap();
        assert!(found == content(OLD) || found == content(NEW), "round {round}: a torn file of {} bytes", found.len());
    }
}

#[test]
fn only_the_newest_runs_are_kept() {
    let directory = tempfile::tempdir().unwrap();
    for run in 0..KEPT_RUNS {
        fs::write(directory.path().join(format!("{:08}-b-{run}.json", run + 1)), "").unwrap();
    }
    for run in ["x", "y"] {
        let report = Report { run_id: run.to_owned(), ..crate::record::sample::report("b0") };
        store(directory.path(), &report).unwrap();
    }
    let names = names(directory.path());
    assert_eq!(names.len(), KEPT_RUNS + 1, "and the copy of the latest");
    assert_eq!((names[0].as_str(), names[KEPT_RUNS - 1].as_str()), ("00000003-b-2.json", "00000502-b0-y.json"));
}

#[test]
fn a_second_run_of_a_boot_replaces_nothing_and_an_unfinished_one_leaves_its_marker() {
    let directory = tempfile::tempdir().unwrap();
    let report = |run: &str| Report { run_id: run.to_owned(), ..crate::record::sample::report("b0") };
    let started = |run: &str| Started { run_id: run.to_owned(), boot_id: "b0".to_owned(), ..Started::default() };
    for run in ["r0", "r1"] {
        mark(directory.path(), &started(run)).unwrap();
        assert!(names(directory.path()).iter().any(|name| name.ends_with(&format!("-{run}.started"))));
        store(directory.path(), &report(run)).unwrap();
    }
    mark(directory.path(), &started("r2")).unwrap();
    store(directory.path(), &report("r3")).unwrap();
    let expected =
        ["00000001-b0-r0.json", "00000002-b0-r1.json", "00000003-b0-r2.started", "00000004-b0-r3.json", LATEST];
    assert_eq!(names(directory.path()), expected);
}

#[test]
fn an_unusable_directory_is_an_error_with_a_remedy() {
    let directory = tempfile::tempdir().unwrap();
    let file = directory.path().join("file");
    fs::write(&file, "").unwrap();
    let error = Room::reserve(&file, "b0", "r0").unwrap_err().to_string();
    assert!(error.contains("--output"), "{error}");
}

fn names(directory: &Path) -> Vec<String> {
    let entries = fs::read_dir(directory).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap());
    let mut names: Vec<String> = entries.collect();
    names.sort();
    names
}

#[test]
fn the_room_of_a_report_is_real_is_used_for_it_and_is_given_back() {
    let directory = tempfile::tempdir().unwrap();
    let room = Room::reserve(directory.path(), "b0", "r0").unwrap();
    assert_eq!(names(directory.path()), ["00000001-b0-r0.json.part", "latest.json.part"]);
    let about = fs::metadata(directory.path().join("00000001-b0-r0.json.part")).unwrap();
    assert_eq!(about.len(), ROOM_BYTES as u64);
    let (number, blocks) = (about.ino(), about.blocks());
    assert!(blocks * 512 >= ROOM_BYTES as u64, "a file with a hole reserves nothing: {blocks} blocks");
    let report = Report { run_id: "r0".to_owned(), ..crate::record::sample::report("b0") };
    let path = store(directory.path(), &report).unwrap();
    let stored = fs::metadata(&path).unwrap();
    assert_eq!(stored.ino(), number, "the report is written into its room");
    assert!(stored.len() < ROOM_BYTES as u64);
    crate::record::load::load(&path).unwrap();
    drop(room);
    assert_eq!(names(directory.path()), ["00000001-b0-r0.json", "latest.json"]);
    drop(Room::reserve(directory.path(), "b1", "r1").unwrap());
    assert_eq!(
        names(directory.path()),
        ["00000001-b0-r0.json", "latest.json"],
        "a run that stores nothing leaves nothing"
    );
}

#[test]
fn reports_beyond_the_quota_go_in_the_order_of_their_counter_whatever_the_clock_says_and_the_newest_never() {
    let directory = tempfile::tempdir().unwrap();
    let files =
        ["of-version-1.json", "00000007-b-r.json", "00000008-b-r.started", "00000010-b-r.json", "00000011-b-r.json"];
    for (age, name) in files.iter().enumerate() {
        let path = directory.path().join(name);
        fs::write(&path, vec![b' '; 1_000]).unwrap();
        // A clock that starts anew in every boot: the newest file has the oldest date.
        let time = std::time::SystemTime::UNIX_EPOCH + Duration::from_secs(1_000_000 - 100 * age as u64);
        File::options().write(true).open(&path).unwrap().set_modified(time).unwrap();
    }
    let newest = directory.path().join(files[4]);
    remove_oldest(directory.path(), &newest, KEPT_RUNS, 3_500).unwrap();
    assert_eq!(names(directory.path()), files[2..]);
    remove_oldest(directory.path(), &newest, KEPT_RUNS, 10).unwrap();
    assert_eq!(names(directory.path()), [files[4]], "the newest stays, however large it is");
}
