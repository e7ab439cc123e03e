//! A run that fails leaves nothing behind: the same process may run a program of the same name at once.

use horus::prelude::*;

struct Idle;

impl Node for Idle {
    fn step(&mut self, _: &Cycle) {}
}

/// Two threads of nodes, for two cycles of each.
fn program(with: impl FnOnce(&mut App)) -> horus::Result {
    let mut app = App::new("again")?;
    app.node("first", Idle).period(ms(5));
    app.node("second", Idle).period(ms(5)).cpu(CpuChoice::Housekeeping);
    app.releases(2);
    with(&mut app);
    app.run().map(drop)
}

#[test]
fn a_program_whose_start_failed_may_start_at_once() {
    let scratch = tempfile::tempdir_in("/dev/shm").unwrap();
    horus_shm::directory::Scope::stay(&scratch.path().join("topics"));
    type Wish = fn(&mut App);
    let wishes: [(Wish, &str); 2] = [
        // More stack than any machine has: the figures are there by then, and the thread beside the loops runs.
        (|app| _ = app.stack(1 << 60), "os error"),
        // Threads of nodes have begun, and one of them is refused what it asks for.
        (|app| _ = app.strict().node("third", Idle).period(ms(5)).cpu(CpuChoice::Isolated(10_000)), "isolated"),
    ];
    for (wish, reason) in wishes {
        let refused = program(wish).unwrap_err().to_string();
        assert!(refused.contains(reason), "{refused}");
        program(|_| {}).unwrap_or_else(|error| panic!("after '{refused}': {error}"));
    }
}
