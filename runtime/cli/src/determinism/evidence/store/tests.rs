//! The writer is killed as a real process: at every step, and at random moments.

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
        prepare(directory.path()).unwrap();
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
    let error = prepare(&file).unwrap_err().to_string();
    assert!(error.contains("--output"), "{error}");
}
