//! Parameters as text.

use horus::outside::printable;
use horus::param::{Current, Origin};
use horus::time::utc;

use crate::table::table;

/// `0.8 1/s`.
pub fn value(current: &Current) -> String {
    let value = current.value.as_ref().map_or_else(|| "-".to_owned(), |value| printable(&value.to_string()));
    value + &current.declaration.unit_behind()
}

/// Where a value came from.
pub fn origin(origin: &Origin) -> String {
    match origin {
        Origin::Program => "program".to_owned(),
        Origin::Settings(file) => printable(file),
        Origin::Command { user, when } => format!("user {user}, {}", utc(*when)),
    }
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
            origin(&current.origin),
            known.about.clone(),
        ]
    };
    let rows: Vec<_> = programs.iter().flat_map(|(program, all)| all.iter().map(|one| row(program, one))).collect();
    let heads = ["NODE", "PARAMETER", "VALUE", "RANGE", "FROM", "ABOUT"].map(|head| (head, false));
    table(&heads, &rows)
}
