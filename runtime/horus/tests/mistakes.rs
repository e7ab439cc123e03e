//! What the compiler says to mistakes in messages, and to topics of what is none: it names the field or the type, and what to do.

/// The words are those of the pinned compiler (`rust-toolchain.toml`): another one may print the same errors in another
/// order or with other hints. After a new pin, `TRYBUILD=overwrite cargo test --test mistakes` writes them anew, to be read.
#[test]
fn every_mistake_in_a_message_is_named_where_it_stands_with_what_to_do() {
    if std::env::var_os("CARGO").is_none() {
        println!("skipped: there is no compiler where a test runs that was built elsewhere");
        return;
    }
    let cases = trybuild::TestCases::new();
    cases.compile_fail("tests/mistakes/messages/*.rs");
    cases.compile_fail("tests/mistakes/topics/*.rs");
}
