//! Every row of the table "When a message does not arrive" of docs/topics.md, provoked: who is to be told is told, and where the
//! message is to be counted it is counted.
//!
//! The rows stand here with the words of the page, each beside what provokes it. A word that changes there has to change here, where
//! it is asserted. Programs of nodes are real processes; plain publishers and subscribers are handles of this one, except for those
//! that are killed. Where the proof is a test of another language or of another program, the row names it, and
//! `runtime/horus/tests/loss_table.rs` looks that the suite runs it.
//!
//! Nothing here asserts how fast anything is.

#[path = "losses/looks.rs"]
mod looks;
#[path = "losses/nodes.rs"]
mod nodes;
#[path = "losses/programs.rs"]
mod programs;
#[path = "losses/table.rs"]
mod table;
#[path = "losses/topics.rs"]
mod topics;

use std::path::Path;
use std::time::Duration;

/// How long a program may take to do what a test waits for.
const PATIENCE: Duration = Duration::from_secs(60);

#[test]
#[ignore = "a program that another test of this file starts"]
fn program() {
    programs::run();
}

/// What provokes a row, in a folder of its own.
enum Proof {
    Here(fn(&Path)),
    /// The test that the page names.
    Named,
}

use Proof::{Here, Named};

/// Who, because of what, who is told, where it is counted; and what provokes it.
const ROWS: [([&str; 4], Proof); 25] = [
    (
        [
            "publisher, `reliable`",
            "the topic is full: a subscriber has yet to read its oldest message",
            "`try_send` returns an error; `send` waits",
            "by the caller, who still has a message that was given by reference, or one of a type",
        ],
        Here(topics::reliable_topic_is_full),
    ),
    (
        [
            "publisher, `latest`",
            "subscribers hold every message in place",
            "`try_send` returns an error",
            "by the caller, who still has a message that was given by reference, or one of a type",
        ],
        Here(topics::every_message_is_held),
    ),
    (
        [
            "publisher",
            "it is killed before the message is complete",
            "who publishes it next goes on with the same number",
            "no message was accepted: there is none to count",
        ],
        Here(topics::publisher_is_killed_before_its_message_is_complete),
    ),
    (
        [
            "subscriber, `latest`",
            "newer messages overwrote it",
            "`missed()`",
            "`missed()`; `horus top`, column MISSED, until it reads on",
        ],
        Here(topics::newer_messages_overwrote_it),
    ),
    (
        [
            "subscriber, `latest`",
            "the topic was remade by its first publisher, which overwrote it before the first look",
            "`missed()`",
            "`missed()`",
        ],
        Here(topics::remade_and_overwritten_before_the_first_look),
    ),
    (
        [
            "subscriber, `reliable`",
            "it is dead: what was sent to it is read by no other",
            "the publisher, which finds the topic full until the dead one is reaped",
            "by the caller, who still has the messages behind it",
        ],
        Here(topics::subscriber_is_dead),
    ),
    (
        [
            "subscriber",
            "it joined late",
            "`history` says how many older ones it gets",
            "it is told by `position()` where it begins",
        ],
        Here(topics::subscriber_joined_late),
    ),
    (
        [
            "subscriber",
            "the topic was remade otherwise than it can use, which happens to a damaged file only",
            "`check()`",
            "it receives nothing from then on, and `is_published()` says the reason",
        ],
        Here(topics::remade_otherwise),
    ),
    (
        [
            "publisher and subscriber",
            "another program deleted the topic's file",
            "`check()`; of a node, the journal",
            "who joins from then on is in another topic",
        ],
        Here(nodes::topic_is_deleted),
    ),
    (
        [
            "sleeping subscriber",
            "its publisher was killed before it rang",
            "the message comes 1 s later at most",
            "it is not lost",
        ],
        Named,
    ),
    (
        [
            "output",
            "a `reliable` topic is full, or subscribers hold what stands in its place",
            "`try_set`: `Full`",
            "`lost().full`, account, journal (`OUTPUT_LOST`), `horus top`, `horus node info`",
        ],
        Here(nodes::output_finds_its_topic_full),
    ),
    (
        ["output", "the step set more than the topic holds", "`try_set`: `Beyond`", "`lost().beyond`, and as above"],
        Here(nodes::step_sets_more_than_the_topic_holds),
    ),
    (
        [
            "output",
            "the step panicked, or the monitor published what is safe in its place",
            "the program, which ends or is in its safe state",
            "`lost().discarded`, and as above; after a panic in the journal",
        ],
        Here(nodes::step_is_discarded),
    ),
    (
        [
            "output",
            "another thread sets it while the executor publishes, or the program has ended",
            "`try_set`: `Outside`",
            "`lost().outside`, and as above while the program runs",
        ],
        Here(nodes::output_is_set_outside_of_a_step),
    ),
    (
        [
            "output",
            "it is no message of the topic: too long, or a value that cannot be serialized",
            "`try_set`: `Invalid`",
            "`lost().invalid`, and as above",
        ],
        Here(nodes::output_is_given_what_is_no_message),
    ),
    (
        [
            "output",
            "its program is killed in the step that set it",
            "its step did not return, so nothing was accepted",
            "the service manager and the monitor tell of the end",
        ],
        Here(nodes::program_is_killed_in_its_step),
    ),
    (
        [
            "input",
            "newer messages overwrote it",
            "`missed()`",
            "`missed()`, account, journal (`INPUT_MISSED`), `horus node info`; `horus top`, column MISSED, until it reads on",
        ],
        Here(nodes::input_is_overwritten),
    ),
    (
        [
            "event",
            "several came before the node ran: one release serves them all",
            "`messages()` gives each",
            "as of an input, if newer ones overwrote it",
        ],
        Here(nodes::several_events_are_one_release),
    ),
    (
        [
            "two topics as a question and its answer",
            "either direction, as of an output and an input",
            "as there",
            "as there, on both topics",
        ],
        Here(nodes::question_and_answer_are_lost),
    ),
    (
        [
            "C",
            "as of an output and an input",
            "`horus_output_set`: `HORUS_FULL`",
            "`horus_output_lost`, `horus_input_missed`, and as there",
        ],
        Named,
    ),
    (["C++", "as of an output and an input", "`set` returns false", "`lost()`, `missed()`, and as there"], Named),
    (["Python", "as of an output and an input", "`set` returns `False`", "`lost`, `missed`, and as there"], Named),
    (["C#", "as of an output and an input", "`Set` returns `false`", "`Lost`, `Missed`, and as there"], Named),
    (
        [
            "gateway",
            "its client reads too slowly",
            "the client, by a gap in the topic's numbers",
            "the same; the gateway's account in the journal",
        ],
        Named,
    ),
    (
        [
            "bridge",
            "it was overwritten, refused or lost on the way, as far as that is known",
            "the journal, every ten seconds",
            "missed, refused and lost, in the journal and at its end",
        ],
        Named,
    ),
];

#[test]
fn each_way_to_lose_a_message_is_told_and_counted_where_the_page_says() {
    let page = table::rows();
    let here: Vec<_> = ROWS.iter().map(|(words, _)| words.map(str::to_owned)).collect();
    for (of_page, of_test) in page.iter().zip(&here) {
        assert_eq!(of_page, of_test, "the page's row has other words than the one that is provoked here");
    }
    assert_eq!(page.len(), here.len(), "a row is on the page and not provoked here, or the other way round");
    // Side by side: they wait most of the time.
    let not_so: Vec<String> = std::thread::scope(|scope| {
        let provoke = |proof: fn(&Path)| {
            let scratch = tempfile::tempdir_in("/dev/shm").unwrap();
            std::fs::create_dir(scratch.path().join("topics")).unwrap();
            proof(scratch.path());
        };
        let proofs = ROWS.iter().filter_map(|([who, because, ..], proof)| match proof {
            Here(proof) => Some((format!("{who}: {because}"), scope.spawn(move || provoke(*proof)))),
            Named => None,
        });
        let begun: Vec<_> = proofs.collect();
        begun.into_iter().filter_map(|(row, proof)| proof.join().is_err().then_some(row)).collect()
    });
    assert!(not_so.is_empty(), "why stands above: {not_so:#?}");
}
