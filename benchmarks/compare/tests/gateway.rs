//! The benchmark of the gateway measures what it says, and accounts for every message. No test looks at a time.

use std::process::Command;

#[test]
fn what_is_sent_through_the_gateway_and_the_relay_arrives_once_and_in_order() {
    let directory = tempfile::tempdir().unwrap();
    let mut command = Command::new(env!("CARGO_BIN_EXE_gateway_benchmark"));
    command.args(["--quick", "--only", "200/s", "--out"]).arg(directory.path());
    let done = command.output().unwrap();
    let said = String::from_utf8_lossy(&done.stdout) + String::from_utf8_lossy(&done.stderr);
    assert!(done.status.success(), "{said}");
    let mut found = Vec::new();
    for row in csv::Reader::from_path(directory.path().join("gateway.csv"))
        .unwrap()
        .deserialize::<std::collections::HashMap<String, String>>()
    {
        let row = row.unwrap();
        let account = ["sent", "lost", "twice", "out_of_order", "wrong"].map(|name| row[name].as_str());
        assert_eq!(account, ["110", "0", "0", "0", "0"], "{row:?}");
        found.push(row["system"].clone());
    }
    assert!(
        ["tcp-relay", "horus-gateway", "horus-gateway-log"].iter().all(|name| found.iter().any(|is| is == name)),
        "{said}"
    );
}
