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
        .args(["--ignored", "--exact", "determinism::evidence::store::tests::writer_process"])
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
        drop(Room::reserve(directory.path(), "b0").unwrap());
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
fn only_the_newest_reports_are_kept() {
    let directory = tempfile::tempdir().unwrap();
    for boot in 0..KEPT_REPORTS + 5 {
        let report = crate::determinism::evidence::sample::report(&format!("boot{boot:03}"));
        store(directory.path(), &report).unwrap();
    }
    let mut names: Vec<String> = fs::read_dir(directory.path())
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .filter(|name| name != LATEST)
        .collect();
    names.sort();
    assert_eq!(names.len(), KEPT_REPORTS);
    assert!(names.contains(&format!("boot{:03}.json", KEPT_REPORTS + 4)), "the newest stays");
}

#[test]
fn a_hostile_boot_id_stays_within_the_directory() {
    assert_eq!(file_name("../../etc/passwd"), "etcpasswd.json");
    assert_eq!(file_name(""), "unknown-boot.json");
}

#[test]
fn an_unusable_directory_is_an_error_with_a_remedy() {
    let directory = tempfile::tempdir().unwrap();
    let file = directory.path().join("file");
    fs::write(&file, "").unwrap();
    let error = Room::reserve(&file, "b0").unwrap_err().to_string();
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
    let room = Room::reserve(directory.path(), "b0").unwrap();
    assert_eq!(names(directory.path()), ["b0.json.part", "latest.json.part"]);
    let about = fs::metadata(directory.path().join("b0.json.part")).unwrap();
    assert_eq!(about.len(), ROOM_BYTES as u64);
    let (number, blocks) = (about.ino(), about.blocks());
    assert!(blocks * 512 >= ROOM_BYTES as u64, "a file with a hole reserves nothing: {blocks} blocks");
    let report = crate::determinism::evidence::sample::report("b0");
    let path = store(directory.path(), &report).unwrap();
    let stored = fs::metadata(&path).unwrap();
    assert_eq!(stored.ino(), number, "the report is written into its room");
    assert!(stored.len() < ROOM_BYTES as u64);
    crate::report::load(&path).unwrap();
    drop(room);
    assert_eq!(names(directory.path()), ["b0.json", "latest.json"]);
    drop(Room::reserve(directory.path(), "b1").unwrap());
    assert_eq!(names(directory.path()), ["b0.json", "latest.json"], "a run that stores nothing leaves nothing");
}

#[test]
fn reports_beyond_the_quota_go_oldest_first_and_the_newest_never() {
    let directory = tempfile::tempdir().unwrap();
    for (age, name) in ["a.json", "b.json", "c.json", "new.json"].iter().rev().enumerate() {
        let path = directory.path().join(name);
        fs::write(&path, vec![b' '; 1_000]).unwrap();
        let time = std::time::SystemTime::now() - Duration::from_secs(100 * age as u64);
        File::options().write(true).open(&path).unwrap().set_modified(time).unwrap();
    }
    let newest = directory.path().join("new.json");
    remove_oldest(directory.path(), &newest, 2_500).unwrap();
    assert_eq!(names(directory.path()), ["c.json", "new.json"]);
    remove_oldest(directory.path(), &newest, 10).unwrap();
    assert_eq!(names(directory.path()), ["new.json"], "the newest stays, however large it is");
}
