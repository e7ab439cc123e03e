//! How a page looks in a terminal.

use ratatui::Frame;
use ratatui::layout::{Alignment, Constraint, Layout, Rect};
use ratatui::style::{Color, Modifier, Style};
use ratatui::text::Line;
use ratatui::widgets::{Cell, Paragraph, Row as Drawn, Table as Widget, Wrap};

use super::order::Order;
use super::view::View;
use crate::top::page::{Row, Table};

/// Columns between two columns.
const GAP: u16 = 2;

/// What is left out where a terminal is too narrow, the least missed first.
const DISPENSABLE: [&str; 9] =
    ["SCHEDULING", "PREDICTED", "TYPE", "p99.9", "BUDGET", "PERIOD", "BYTES/s", "PUB", "DEADLINE"];

/// What the keys do.
const KEYS: &str = "q quit  Tab other table  s sort by next column  r reverse  Space pause  arrows scroll";

/// Draws what the user looks at.
pub fn draw(frame: &mut Frame, view: &mut View) {
    let area = frame.area();
    let Some(page) = &view.page else {
        frame.render_widget("looking …", area);
        return;
    };
    let header = Paragraph::new(page.header.as_str()).style(bold()).wrap(Wrap { trim: true });
    let notes = Paragraph::new(page.notes.join("\n")).style(bad());
    let header_lines = lines(&page.header, area.width);
    let rows = |table: &Table| u16::try_from(table.rows.len()).unwrap_or(u16::MAX).saturating_add(2); // head and a gap
    let nodes = rows(&page.tables[0]);
    let notes_lines = u16::try_from(page.notes.len()).unwrap_or(u16::MAX).min(3);
    // Nodes are few, and what is left is for topics; but a long table leaves half of the page to the other one.
    let half = area.height.saturating_sub(header_lines + 3) / 2;
    let topics = rows(&page.tables[1]);
    let of_nodes = nodes.min(half.max(area.height.saturating_sub(header_lines + 3 + topics)));
    // Services and actions are few, too, and have a quarter at most.
    let [of_services, of_actions] = [&page.tables[2], &page.tables[3]].map(|table| match table.rows.len() {
        0 => 0,
        _ => rows(table).min(area.height / 4),
    });
    let [top, _, first, second, third, fourth, noted, keys] = Layout::vertical([
        Constraint::Length(header_lines),
        Constraint::Length(1),
        Constraint::Length(of_nodes),
        Constraint::Min(0),
        Constraint::Length(of_services),
        Constraint::Length(of_actions),
        Constraint::Length(notes_lines),
        Constraint::Length(1),
    ])
    .areas(area);
    frame.render_widget(header, top);
    for (number, (table, area)) in page.tables.iter().zip([first, second, third, fourth]).enumerate() {
        let is_front = number == view.front;
        tables(frame, area, table, view.orders[number], view.scrolled[number], is_front);
    }
    frame.render_widget(notes, noted);
    let keys_line = if view.is_paused { format!("PAUSED  {KEYS}") } else { KEYS.to_owned() };
    frame.render_widget(Paragraph::new(keys_line).style(Style::new().add_modifier(Modifier::DIM)), keys);
}

/// How many lines a text takes, when it is wrapped at blanks.
fn lines(text: &str, width: u16) -> u16 {
    let (mut lines, mut column) = (1_u16, 0_usize);
    for word in text.split_whitespace() {
        let length = word.chars().count();
        if column > 0 && column + 2 + length > usize::from(width) {
            lines = lines.saturating_add(1);
            column = 0;
        }
        column += length + if column > 0 { 2 } else { 0 };
    }
    lines
}

fn tables(frame: &mut Frame, area: Rect, table: &Table, order: Order, scrolled: usize, is_front: bool) {
    let shown = fitting(table, area.width);
    let aligned = |text: String, is_number: bool| {
        Line::from(text).alignment(if is_number { Alignment::Right } else { Alignment::Left })
    };
    let head = |column: &usize| {
        let (text, is_number) = table.heads[*column];
        let style = match order.column == Some(*column) {
            true => bold().add_modifier(Modifier::REVERSED),
            false if is_front => bold().add_modifier(Modifier::UNDERLINED),
            false => bold(),
        };
        Cell::from(aligned(text.to_owned(), is_number)).style(style)
    };
    let row = |row: &&Row| {
        let cells =
            shown.iter().map(|column| Cell::from(aligned(row.cell(*column).to_owned(), table.heads[*column].1)));
        let drawn = Drawn::new(cells.collect::<Vec<_>>());
        if row.is_bad { drawn.style(bad()) } else { drawn }
    };
    let rows = table.sorted(order);
    let rows = rows.iter().skip(scrolled).map(row);
    let widths = shown.iter().map(|column| Constraint::Length(width(table, *column)));
    let widget = Widget::new(rows, widths).header(Drawn::new(shown.iter().map(head))).column_spacing(GAP);
    frame.render_widget(widget, area);
}

/// The columns that there is room for, in their order.
fn fitting(table: &Table, room: u16) -> Vec<usize> {
    let mut shown: Vec<usize> = (0..table.heads.len()).collect();
    for dispensable in DISPENSABLE {
        let needed: u32 = shown.iter().map(|column| u32::from(width(table, *column) + GAP)).sum();
        if needed <= u32::from(room) + u32::from(GAP) {
            break;
        }
        shown.retain(|column| table.heads[*column].0 != dispensable);
    }
    shown
}

fn width(table: &Table, column: usize) -> u16 {
    let cells = table.rows.iter().map(|row| row.cell(column).chars().count());
    let widest = cells.chain([table.heads[column].0.chars().count()]).max().unwrap_or_default();
    u16::try_from(widest).unwrap_or(u16::MAX).min(200)
}

fn bold() -> Style {
    Style::new().add_modifier(Modifier::BOLD)
}

/// Red, but for who declined colours (<https://no-color.org>).
fn bad() -> Style {
    let is_declined = std::env::var_os("NO_COLOR").is_some_and(|value| !value.is_empty());
    if is_declined { bold() } else { Style::new().fg(Color::Red) }
}

#[cfg(test)]
mod tests {
    use ratatui::Terminal;
    use ratatui::backend::TestBackend;

    use super::*;
    use crate::top::page::Page;

    fn page() -> Page {
        let table = |heads: &[&'static str], cells: &[&str]| Table {
            heads: heads.iter().map(|head| (*head, *head == "MISSES")).collect::<Vec<_>>().leak(),
            rows: vec![Row { cells: cells.iter().map(|&cell| cell.to_owned()).collect(), ..Row::default() }],
        };
        Page {
            header: "robot  RT yes".to_owned(),
            tables: [
                table(&["NODE", "SCHEDULING", "MISSES"], &["balance/control", "FIFO/80", "7"]),
                table(&["TOPIC", "RATE"], &["imu", "1000 /s"]),
                Table::default(),
                Table::default(),
            ],
            notes: vec!["random.topic: is no topic".to_owned()],
        }
    }

    fn screen(width: u16, height: u16) -> String {
        let mut terminal = Terminal::new(TestBackend::new(width, height)).unwrap();
        let mut view = View::default();
        view.show(page());
        terminal.draw(|frame| draw(frame, &mut view)).unwrap();
        let buffer = terminal.backend().buffer();
        let line = |row| (0..width).map(|column| buffer[(column, row)].symbol()).collect::<String>();
        (0..height).map(|row| line(row).trim_end().to_owned() + "\n").collect()
    }

    #[test]
    fn a_page_fills_a_terminal_from_above_with_the_keys_below() {
        let expected = "robot  RT yes

NODE             SCHEDULING  MISSES
balance/control  FIFO/80          7

TOPIC  RATE
imu    1000 /s

random.topic: is no topic
";
        let screen = screen(60, 10);
        assert!(screen.starts_with(expected), "{screen}");
        assert!(screen.lines().last().unwrap().starts_with("q quit"), "{screen}");
    }

    #[test]
    fn what_matters_least_goes_first_where_there_is_no_room() {
        let narrow = screen(26, 10);
        assert!(!narrow.contains("SCHEDULING") && narrow.contains("balance/control       7"), "{narrow}");
    }

    #[test]
    fn no_terminal_is_too_small() {
        for (width, height) in [(1, 1), (2, 3), (80, 2), (5, 40)] {
            let _ = screen(width, height);
        }
    }
}
