//! A hundred nodes in one program, on whatever CPUs there are: they run when they fit, and are refused with the reason when they do not.

use std::process::{Command, Output};

use horus::prelude::*;

const NODES: usize = 100;
const RELEASES: u64 = 5;

/// The program: `ASKS` is `little` or `much`.
#[test]
#[ignore = "a program that the test of this file starts"]
fn hundred() {
    let asks_much = std::env::var("ASKS").unwrap() == "much";
    let mut app = App::new("hundred").unwrap();
    for number in 0..NODES {
        let node = app.node(&format!("n{number}"), |_: &Cycle| {}).period(ms(100));
        if asks_much {
            // 20 ms of every 100 on CPU 0, a hundred times. It is refused, so nothing runs with this policy.
            node.budget(ms(20)).cpu(CpuChoice::Number(0)).scheduling_policy("fifo:10".parse().unwrap());
        }
    }
    app.releases(RELEASES);
    match app.run() {
        Ok(accounts) => accounts.iter().for_each(|account| println!("account {account}")),
        Err(error) => {
            eprintln!("{error}");
            std::process::exit(1);
        }
    }
}

fn run(asks: &str) -> Output {
    let scratch = tempfile::tempdir_in("/dev/shm").unwrap();
    let mut command = Command::new(std::env::current_exe().unwrap());
    command.args(["--exact", "hundred", "--ignored", "--nocapture"]).env("ASKS", asks);
    command.env("HORUS_SHM_DIR", scratch.path()).env_remove("NOTIFY_SOCKET").output().unwrap()
}

#[test]
fn a_hundred_nodes_run_when_they_fit() {
    let output = run("little");
    let text = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success(), "{output:?}");
    let accounts: Vec<_> = text.lines().filter(|line| line.starts_with("account ")).collect();
    assert_eq!(accounts.len(), NODES, "{text}");
    // Late or not, each release is accounted for.
    assert!(accounts.iter().all(|account| account.contains(&format!("{RELEASES} releases"))), "{text}");
}

#[test]
fn a_hundred_nodes_that_do_not_fit_are_refused_with_the_reason() {
    let output = run("much");
    let text = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(1), "{output:?}");
    assert!(text.contains("refused: n") && text.contains("CPU 0"), "{text}");
}
