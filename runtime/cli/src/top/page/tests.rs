//! The page of the documentation.

use horus::graph::NodeInfo;

use super::super::header::{Machine, Misses};
use super::super::topics::Slowest;
use super::*;
use crate::node::running::Figures;
use crate::topic::goals::Goal;

fn control() -> Node {
    let asked = NodeInfo {
        name: "control".to_owned(),
        period_ns: 1_000_000,
        deadline_ns: 800_000,
        budget_ns: 150_000,
        predicted_ns: 212_000,
        scheduling_policy: "fifo:80".to_owned(),
        ..NodeInfo::default()
    };
    let figures = Figures {
        state: "running",
        cpu: Some(3),
        releases: 32_000_000,
        miss_bound_95: 9.4e-8,
        response_p50_ns: Some(92_000),
        response_p999_ns: Some(118_000),
        response_max_ns: Some(164_000),
        cpu_time_max_ns: Some(61_500),
        ..Figures::default()
    };
    Node { program: "balance".to_owned(), process: 7, asked, figures }
}

fn imu() -> Topic {
    Topic {
        name: "imu".to_owned(),
        type_name: "horus/Imu".to_owned(),
        rate: Some(1_000.0),
        bytes_per_second: Some(304_000.0),
        publishers: 1,
        subscribers: 2,
        slowest: Some(Slowest { program: "balance".to_owned(), behind: 1 }),
        missed: Some(0),
    }
}

fn machine() -> Machine {
    Machine {
        host: "robot".to_owned(),
        real_time: true,
        audit: Some(100),
        housekeeping: "0".to_owned(),
        isolated: "1-3".to_owned(),
    }
}

fn snapshot(machine: &Machine, nodes: Vec<Node>, topics: Vec<Topic>) -> Snapshot<'_> {
    Snapshot {
        schema: "horus-top/1",
        is_watched: None,
        machine,
        misses: Misses::of(&nodes),
        directory: "/dev/shm/horus".to_owned(),
        interval_ns: 1_000_000_000,
        nodes,
        topics,
        services: Vec::new(),
        actions: Vec::new(),
        problems: vec!["random.topic: is none".to_owned()],
    }
}

#[test]
fn the_page_reads_as_documented() {
    let machine = machine();
    assert_eq!(
        text(&snapshot(&machine, vec![control()], vec![imu()])),
        "\
robot  RT yes  audit 100/100  0 misses in 3.2e7 releases: P(miss) < 9.4e-8 (95 %)  CPU 0 housekeeping, 1-3 isolated
NODE             CPU  SCHEDULING  PERIOD  DEADLINE  RESPONSE p50   p99.9     max  PREDICTED  BUDGET  MISSES  STATE
balance/control    3  FIFO/80       1 ms    800 us         92 us  118 us  164 us     212 us    41 %       0  running
TOPIC  TYPE          RATE  BYTES/s  PUB  SUB  SLOWEST READER     MISSED
imu    horus/Imu  1000 /s   304 kB    1    2  balance, 1 behind       0
random.topic: is none
"
    );
}

#[test]
fn what_is_not_known_is_a_dash_and_nothing_is_said_to_be_nothing() {
    let machine = machine();
    let unknown = Node { figures: Figures { state: "starting", ..Figures::default() }, ..control() };
    let asked = NodeInfo { predicted_ns: 0, period_ns: 0, on: Some("imu".to_owned()), ..unknown.asked.clone() };
    let topic = Topic { rate: None, bytes_per_second: None, slowest: None, missed: None, ..imu() };
    let screen = text(&snapshot(&machine, vec![Node { asked, ..unknown }], vec![topic]));
    let line = |start: &str| {
        let line = screen.lines().find(|line| line.starts_with(start)).unwrap();
        line.split_whitespace().collect::<Vec<_>>().join(" ")
    };
    assert_eq!(line("balance"), "balance/control - FIFO/80 on imu 800 us - - - - - 0 starting");
    assert_eq!(line("imu"), "imu horus/Imu - - 1 2 - -");
    let nothing = text(&snapshot(&machine, Vec::new(), Vec::new()));
    assert!(nothing.contains("no nodes in /dev/shm/horus\nno topics in /dev/shm/horus\n"), "{nothing}");
}

#[test]
fn services_stand_below_the_topics_and_one_that_none_serves_is_marked() {
    let machine = machine();
    let served = Service {
        name: "map.save".to_owned(),
        servers: vec![Process { pid: 7, elsewhere: false }, Process { pid: 8, elsewhere: true }],
        clients: 2,
        calls_per_second: Some(20.0),
        unanswered: Some(3),
        late: 1,
        ..Service::default()
    };
    let unserved = Service { name: "plan".to_owned(), clients: 1, ..Service::default() };
    let of = |services| Snapshot { services, ..snapshot(&machine, Vec::new(), Vec::new()) };
    let screen = text(&of(vec![served.clone(), unserved.clone()]));
    let table = "\
SERVICE   SERVER         CLIENTS  CALLS/s  UNANSWERED  LATE
map.save  7 8 elsewhere        2    20 /s           3     1
plan      none                 1        -           -     0
";
    assert!(screen.contains(table), "{screen}");
    let page = page(&of(vec![served, unserved]));
    let bad: Vec<_> = page.tables[2].rows.iter().map(|row| row.is_bad).collect();
    assert_eq!(bad, [false, true]);
    assert!(page.tables[2].rows.iter().all(|row| (row.cells.len(), row.keys.len()) == (6, 6)));
}

#[test]
fn actions_stand_below_the_services_with_their_goals() {
    let machine = machine();
    let newest = Goal { id: "0".repeat(32), status: "executing".to_owned(), age_s: 3.21 };
    let served = Action {
        name: "drive_to".to_owned(),
        server: Some(Process { pid: 7, elsewhere: false }),
        clients: 2,
        executing: 1,
        waiting: 3,
        newest: Some(newest),
    };
    let unserved = Action { name: "dock".to_owned(), clients: 1, ..Action::default() };
    let of =
        || Snapshot { actions: vec![served.clone(), unserved.clone()], ..snapshot(&machine, Vec::new(), Vec::new()) };
    let table = "\
ACTION    SERVER  CLIENTS  EXECUTING  WAITING  NEWEST GOAL
drive_to  7             2          1        3  executing, accepted 3.2 s ago
dock      none          1          0        0  -
";
    let screen = text(&of());
    assert!(screen.contains(table), "{screen}");
    let rows = &page(&of()).tables[3].rows;
    assert_eq!(rows.iter().map(|row| row.is_bad).collect::<Vec<_>>(), [false, true]);
    assert!(rows.iter().all(|row| (row.cells.len(), row.keys.len()) == (6, 6)));
}

#[test]
fn every_row_has_a_cell_and_a_key_for_each_head() {
    let machine = machine();
    let page = page(&snapshot(&machine, vec![control()], vec![imu()]));
    for table in &page.tables {
        let heads = table.heads.len();
        for row in &table.rows {
            assert_eq!((row.cells.len(), row.keys.len()), (heads, heads));
        }
    }
    assert_eq!(page.tables[0].rows[0].keys[10], Some(0.0));
}
