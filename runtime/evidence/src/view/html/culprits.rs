//! Who broke deadlines in the boot of the report, as `horus blame` has it from the journal.

use crate::blame::{Blame, rows};
use crate::view::escape::markup;

use super::tables::table;

/// Both tables of `horus blame`, or why there are none.
pub fn section(found: &Result<Blame, String>) -> String {
    let blame = match found {
        Ok(blame) => blame,
        Err(reason) => {
            return format!("<p>Not known here: the journal of that boot cannot be read ({}).</p>", markup(reason));
        }
    };
    if blame.episodes.is_empty() && !blame.unknown.is_empty() {
        let unknown = markup(&blame.unknown.join("; "));
        return format!(
            "<p>The journal of that boot has no missed deadline, which does not say that there was none: {unknown}.</p>"
        );
    }
    if blame.episodes.is_empty() {
        return "<p>No deadline was missed in that boot, as far as its journal is kept.</p>".to_owned();
    }
    let least = if blame.is_cut { "At least " } else { "" };
    let sentence = format!(
        "<p>{least}{} missed deadlines of all nodes in {} episodes since that boot began, those outside of this run included.</p>",
        blame.misses,
        blame.episodes.len()
    );
    let heads = ["Culprit", "Episodes", "Misses", "Longest", "Late by"];
    let culprits = table("Culprits, those with the most misses first", 1, &heads, &rows::culprit_rows(&blame.culprits));
    let heads = ["When (UTC)", "Node", "Late by", "Culprit", "Share", "What prevents it"];
    let note = "Episodes, the newest last; a share with ? is not certain";
    sentence + &culprits + &table(note, 6, &heads, &rows::episode_rows(blame))
}
