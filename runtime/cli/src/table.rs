//! Tables of plain text.

/// A column's head, and whether the column holds numbers.
pub type Head = (&'static str, bool);

/// The most characters of a cell. Names of topics have 128; a longer text is one that was made to be in the way.
const MOST_CHARACTERS: usize = 256;

/// Columns as wide as they must be; numbers to the right. A cell that is too long is shortened.
pub fn table(heads: &[Head], rows: &[impl AsRef<[String]>]) -> String {
    let short = |cell: &String| horus::outside::shown(cell, MOST_CHARACTERS);
    let rows: Vec<Vec<String>> = rows.iter().map(|row| row.as_ref().iter().map(short).collect()).collect();
    let width = |column: usize| {
        let cells = rows.iter().map(|row| row[column].chars().count());
        cells.chain([heads[column].0.chars().count()]).max().unwrap_or_default()
    };
    let widths: Vec<usize> = (0..heads.len()).map(width).collect();
    let line = |cells: Vec<&str>| {
        let padded = cells.iter().zip(heads).zip(&widths).map(|((cell, (_, is_number)), &width)| match is_number {
            true => format!("{cell:>width$}"),
            false => format!("{cell:<width$}"),
        });
        let line = padded.collect::<Vec<_>>().join("  ");
        line.trim_end().to_owned() + "\n"
    };
    let head = line(heads.iter().map(|(head, _)| *head).collect());
    head + &rows.iter().map(|row| line(row.iter().map(String::as_str).collect())).collect::<String>()
}
