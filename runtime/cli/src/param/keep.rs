//! `horus param save|load|forget`: the program does it, with its own rights, and says in which file.

use horus::outside::printable;
use horus::param::Params;

use super::{failed, text};

pub fn save(params: &Params, names: &[&str]) -> Result<String, String> {
    let file = params.save(names).map_err(|error| failed(&error))?;
    Ok(values(params)? + &format!("saved {}\n", printable(&file)))
}

pub fn load(params: &Params, names: &[&str]) -> Result<String, String> {
    let file = params.load(names).map_err(|error| failed(&error))?;
    Ok(values(params)? + &format!("loaded {}\n", printable(&file)))
}

pub fn forget(params: &Params, names: &[&str]) -> Result<String, String> {
    let file = params.forget(names).map_err(|error| failed(&error))?;
    Ok(format!("forgot {}; what runs keeps its values until it ends\n", printable(&file)))
}

/// What is saved by now, a line each.
fn values(params: &Params) -> Result<String, String> {
    let all = params.list().map_err(|error| failed(&error))?;
    let line = |current: &horus::param::Current| format!("{} = {}\n", text::named(current), text::value(current));
    Ok(all.iter().filter(|current| current.saved.is_some()).map(line).collect())
}
