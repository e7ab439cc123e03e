//! Parameters as text.

use horus::outside::printable;
use horus::param::{Change, Current, Origin};
use horus::time::utc;

use crate::table::table;

/// `0.8 1/s`.
pub fn value(current: &Current) -> String {
    let value = current.value.as_ref().map_or_else(|| "-".to_owned(), |value| printable(&value.to_string()));
    value + &current.declaration.unit_behind()
}

/// `drive.gain`.
pub fn named(current: &Current) -> String {
    printable(&format!("{}.{}", current.declaration.node, current.declaration.name))
}

/// Where a value came from.
pub fn origin(origin: &Origin) -> String {
    match origin {
        Origin::Program => "program".to_owned(),
        Origin::Settings(file) => printable(file),
        Origin::Command { user, when } => format!("user {user}, {}", utc(*when)),
        Origin::Saved { user: Some(user), when } => format!("saved, user {user}, {}", utc(*when)),
        Origin::Saved { user: None, when } => format!("saved, {}", utc(*when)),
    }
}

/// Where a value came from, and whether the program begins with it again.
fn origin_and_saved(current: &Current) -> String {
    match (&current.origin, current.saved) {
        (Origin::Command { when, .. }, Some(saved)) if saved < *when => {
            format!("{}, another was saved {}", origin(&current.origin), utc(saved))
        }
        (Origin::Command { .. } | Origin::Program | Origin::Settings(_), Some(_)) => {
            origin(&current.origin) + ", saved"
        }
        (Origin::Saved { .. }, None) => origin(&current.origin) + ", forgotten since",
        _ => origin(&current.origin),
    }
}

/// `drive.gain  0.8 -> 1.2 1/s  user 1000, 2026-11-28T09:04:39Z`.
pub fn change(change: &Change) -> String {
    let before = change.before.as_ref().map_or_else(|| "-".to_owned(), |value| printable(&value.to_string()));
    format!("{}  {before} -> {}  {}", named(&change.now), value(&change.now), origin_and_saved(&change.now))
}

/// All parameters of these programs.
pub fn list(programs: &[(&str, Vec<Current>)]) -> String {
    let row = |program: &str, current: &Current| {
        let known = &current.declaration;
        let mut may = known.range().map_or_else(String::new, |[least, greatest]| format!("{least} to {greatest}"));
        if known.read_only {
            may = format!("{may} at start").trim_start().to_owned();
        }
        [
            format!("{program}/{}", known.node),
            known.name.clone(),
            value(current),
            may,
            origin_and_saved(current),
            known.about.clone(),
        ]
    };
    let rows: Vec<_> = programs.iter().flat_map(|(program, all)| all.iter().map(|one| row(program, one))).collect();
    let heads = ["NODE", "PARAMETER", "VALUE", "RANGE", "FROM", "ABOUT"].map(|head| (head, false));
    table(&heads, &rows)
}
