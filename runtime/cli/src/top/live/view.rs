//! What the user looks at: a page, the table in front, its order, and where it is scrolled to.

use ratatui::crossterm::event::{KeyCode, KeyEvent, KeyEventKind, KeyModifiers};

use super::order::Order;
use crate::top::page::{Page, TABLES, Table};

/// What is looked at.
#[derive(Debug, Default)]
pub struct View {
    /// The page; none before the first has come.
    pub page: Option<Page>,
    /// The table that keys are for.
    pub front: usize,
    /// Each table's order.
    pub orders: [Order; TABLES],
    /// The first row that is shown of each table.
    pub scrolled: [usize; TABLES],
    /// Whether new pages are left out.
    pub is_paused: bool,
    /// Whether the user left.
    pub is_left: bool,
}

impl View {
    /// Takes a new page.
    pub fn show(&mut self, page: Page) {
        if self.is_paused {
            return;
        }
        self.page = Some(page);
    }

    /// Does what a key asks for.
    pub fn key(&mut self, key: KeyEvent) {
        if key.kind == KeyEventKind::Release {
            return;
        }
        match key.code {
            KeyCode::Char('c') if key.modifiers.contains(KeyModifiers::CONTROL) => self.is_left = true,
            KeyCode::Char('q') | KeyCode::Esc => self.is_left = true,
            KeyCode::Tab => self.front = (self.front + 1) % TABLES,
            KeyCode::Char('s') | KeyCode::Right => self.sort_by_next(true),
            KeyCode::Left => self.sort_by_next(false),
            KeyCode::Char('r') => self.orders[self.front].is_reversed ^= true,
            KeyCode::Char(' ') => self.is_paused ^= true,
            KeyCode::Down => self.scroll(1),
            KeyCode::Up => self.scroll(-1),
            KeyCode::PageDown => self.scroll(10),
            KeyCode::PageUp => self.scroll(-10),
            KeyCode::Home => self.scrolled[self.front] = 0,
            _ => {}
        }
    }

    fn table(&self) -> Option<&Table> {
        Some(&self.page.as_ref()?.tables[self.front])
    }

    /// Goes through the columns, and through the order in which the rows came.
    fn sort_by_next(&mut self, is_forward: bool) {
        let columns = self.table().map_or(0, |table| table.heads.len());
        let order = &mut self.orders[self.front];
        order.column = match (order.column, is_forward) {
            (None, true) => (columns > 0).then_some(0),
            (None, false) => columns.checked_sub(1),
            (Some(column), true) => Some(column + 1).filter(|column| *column < columns),
            (Some(column), false) => column.checked_sub(1),
        };
    }

    fn scroll(&mut self, rows: isize) {
        let last = self.table().map_or(0, |table| table.rows.len().saturating_sub(1));
        let scrolled = &mut self.scrolled[self.front];
        *scrolled = scrolled.saturating_add_signed(rows).min(last);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn view() -> View {
        let table =
            |columns: usize| Table { heads: vec![("C", false); columns].leak(), rows: vec![Default::default(); 3] };
        let mut view = View::default();
        let tables = [table(2), table(3), table(1), table(1)];
        view.show(Page { header: "first".to_owned(), tables, ..Page::default() });
        view
    }

    fn press(view: &mut View, codes: &[KeyCode]) {
        codes.iter().for_each(|code| view.key(KeyEvent::new(*code, KeyModifiers::NONE)));
    }

    #[test]
    fn every_way_out_leaves_and_no_other_key_does() {
        for (code, modifiers) in [
            (KeyCode::Char('q'), KeyModifiers::NONE),
            (KeyCode::Esc, KeyModifiers::NONE),
            (KeyCode::Char('c'), KeyModifiers::CONTROL),
        ] {
            let mut view = view();
            press(&mut view, &[KeyCode::Char('c'), KeyCode::Enter]);
            assert!(!view.is_left);
            view.key(KeyEvent::new(code, modifiers));
            assert!(view.is_left);
        }
    }

    #[test]
    fn columns_are_gone_through_and_come_back_to_no_order() {
        let mut view = view();
        let orders = [KeyCode::Char('s'); 3].map(|key| {
            press(&mut view, &[key]);
            view.orders[0].column
        });
        assert_eq!(orders, [Some(0), Some(1), None]);
        press(&mut view, &[KeyCode::Tab, KeyCode::Left, KeyCode::Char('r')]);
        assert_eq!((view.front, view.orders[1]), (1, Order { column: Some(2), is_reversed: true }));
    }

    #[test]
    fn scrolling_stays_within_the_rows_and_a_pause_keeps_the_page() {
        let mut view = view();
        press(&mut view, &[KeyCode::PageDown]);
        assert_eq!(view.scrolled[0], 2);
        press(&mut view, &[KeyCode::PageUp, KeyCode::Char(' ')]);
        view.show(Page::default());
        assert_eq!((view.scrolled[0], view.page.unwrap().header.as_str()), (0, "first"));
        let mut empty = View::default();
        press(&mut empty, &[KeyCode::Tab, KeyCode::Char('s'), KeyCode::Left, KeyCode::Down]);
    }
}
