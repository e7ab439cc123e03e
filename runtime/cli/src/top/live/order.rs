//! In which order a table's rows are shown.

use std::cmp::Ordering;

use crate::top::page::{Row, Table};

/// What a table is sorted by: the order in which it came, or a column.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Order {
    pub column: Option<usize>,
    pub is_reversed: bool,
}

impl Row {
    /// The text of a column.
    pub fn cell(&self, column: usize) -> &str {
        self.cells.get(column).map_or("", String::as_str)
    }

    /// Larger numbers first, texts by their letters.
    fn compare(&self, other: &Self, column: usize) -> Ordering {
        let key = |row: &Self| row.keys.get(column).copied().flatten();
        match (key(self), key(other)) {
            (Some(one), Some(other)) => other.total_cmp(&one),
            _ => self.cell(column).cmp(other.cell(column)),
        }
    }
}

impl Table {
    /// Its rows in an order.
    pub fn sorted(&self, order: Order) -> Vec<&Row> {
        let mut rows: Vec<_> = self.rows.iter().collect();
        if let Some(column) = order.column {
            rows.sort_by(|one, other| one.compare(other, column));
        }
        if order.is_reversed {
            rows.reverse();
        }
        rows
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn table() -> Table {
        let row = |name: &str, misses: f64| Row {
            cells: vec![name.to_owned(), misses.to_string()],
            keys: vec![None, Some(misses)],
            is_bad: false,
        };
        Table { heads: &[("NODE", false), ("MISSES", true)], rows: vec![row("b", 9.0), row("a", 10.0), row("c", 9.0)] }
    }

    fn names(column: Option<usize>, is_reversed: bool) -> String {
        let table = table();
        table.sorted(Order { column, is_reversed }).iter().map(|row| row.cell(0)).collect()
    }

    #[test]
    fn numbers_are_sorted_as_numbers_with_the_largest_first_and_texts_by_letters() {
        assert_eq!(names(None, false), "bac");
        assert_eq!(names(Some(0), false), "abc");
        assert_eq!(names(Some(1), false), "abc", "rows that are alike stay as they came");
        assert_eq!(names(Some(1), true), "cba");
        assert_eq!(names(Some(7), false), "bac", "a column that is not there");
    }
}
