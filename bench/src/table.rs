//! Formats tables as Markdown whose columns are padded, so that they are readable in a terminal.

use std::fmt;

/// A heading and rows of text. Every row must have as many cells as the heading.
pub(crate) struct TextTable(Vec<Vec<String>>);

impl TextTable {
    /// Creates an empty table with these columns. The first column is aligned to the left, the
    /// others to the right.
    pub(crate) fn new(columns: &[&str]) -> Self {
        Self(vec![columns.iter().map(|&column| column.to_owned()).collect()])
    }

    /// Adds a row.
    pub(crate) fn row(&mut self, cells: &[String]) {
        self.0.push(cells.to_vec());
    }
}

impl fmt::Display for TextTable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let width = |column: usize| {
            let cells = self.0.iter().filter_map(|row| row.get(column));
            cells.map(|cell| cell.chars().count()).max().unwrap_or(0)
        };
        let widths: Vec<usize> = (0..self.0.first().map_or(0, Vec::len)).map(width).collect();
        for (number, row) in self.0.iter().enumerate() {
            for (column, (cell, width)) in row.iter().zip(&widths).enumerate() {
                if column == 0 {
                    write!(f, "| {cell:<width$} |")?;
                } else {
                    write!(f, " {cell:>width$} |")?;
                }
            }
            writeln!(f)?;
            if number == 0 {
                for (column, width) in widths.iter().enumerate() {
                    let (start, end) = if column == 0 { ("| ", " |") } else { (" ", ": |") };
                    let rule = "-".repeat(width - usize::from(column > 0));
                    write!(f, "{start}{rule}{end}")?;
                }
                writeln!(f)?;
            }
        }
        Ok(())
    }
}
