//! Headings, columns and numbers.

use crate::output::terminal::Style;
use anstyle::AnsiColor;
use lookalike::report::phrases::thousands;
use std::io::{self, Write};

/// Writes a title, and details in a dimmed style.
pub(super) fn heading(out: &mut impl Write, title: &str, rest: &str) -> io::Result<()> {
    let bold = Style::BOLD;
    let quiet = Style::DIMMED;
    write!(out, "{bold}{title}{bold:#}")?;
    if rest.is_empty() { writeln!(out) } else { writeln!(out, "  {quiet}{rest}{quiet:#}") }
}

/// Writes columns side by side. Aligns the first `names` columns and the last one to the left, and
/// the others to the right. Dims the first `header` lines, and highlights the marked lines.
pub(super) fn write_table(
    out: &mut impl Write,
    lines: &[Vec<String>],
    [header, names]: [usize; 2],
    marked: impl Fn(usize) -> bool,
) -> io::Result<()> {
    let columns = lines.iter().map(Vec::len).max().unwrap_or(0);
    let width = |column: usize| {
        let cells = lines.iter().filter_map(|line| line.get(column));
        cells.map(|cell| cell.chars().count()).max().unwrap_or(0)
    };
    let widths: Vec<usize> = (0..columns).map(width).collect();
    for (at, line) in lines.iter().enumerate() {
        let style = match (at < header, marked(at)) {
            (true, _) => Style::DIMMED,
            (_, true) => Style::new(AnsiColor::Green.on_default().bold()),
            _ => Style::PLAIN,
        };
        let mut text = String::new();
        for (column, (cell, width)) in line.iter().zip(&widths).enumerate() {
            let is_left = column < names || column + 1 == columns;
            let gap = " ".repeat(width - cell.chars().count());
            let (before, after) = if is_left { ("", gap.as_str()) } else { (gap.as_str(), "") };
            text.extend(["  ", before, cell, after]);
        }
        writeln!(out, "{style}{}{style:#}", text.trim_end())?;
    }
    Ok(())
}

/// Three significant digits of a count.
pub(super) fn rounded(count: f64) -> String {
    if count > 0.0 && count < 10.0 {
        return format!("{count:.1}");
    }
    let mut step = 1.0_f64;
    while count >= step * 1000.0 && step < 1e18 {
        step *= 10.0;
    }
    thousands(((count / step).round() * step) as u64)
}

/// Nanoseconds in a unit that suits them.
pub(super) fn duration(nanoseconds: f64) -> String {
    match nanoseconds / 1e6 {
        ms if ms < 10.0 => format!("{ms:.1} ms"),
        ms if ms < 1e3 => format!("{ms:.0} ms"),
        ms if ms < 1e4 => format!("{:.2} s", ms / 1e3),
        ms => format!("{} s", rounded(ms / 1e3)),
    }
}

/// A share in percent with one decimal.
pub(super) fn percent(share: f64) -> String {
    format!("{:.1} %", share * 100.0)
}

/// Rounds to six decimals.
pub(super) fn six(value: f64) -> f64 {
    (value * 1e6).round() / 1e6
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_have_three_digits() {
        let texts = [0.0, 0.26, 9.96, 12.3, 987.6, 1_234.0, 98_765.0, 1.234e9].map(rounded);
        let expected = ["0", "0.3", "10.0", "12", "988", "1,230", "98,800", "1,230,000,000"];
        assert_eq!(texts, expected);
    }

    #[test]
    fn times_have_a_unit() {
        let texts = [1e5, 4.2e7, 1.357e9, 1.2e10].map(duration);
        assert_eq!(texts, ["0.1 ms", "42 ms", "1.36 s", "12 s"]);
    }

    #[test]
    fn the_table_aligns() {
        let lines = [["a", "bb", "x"], ["111", "2", "yy"]];
        let lines: Vec<Vec<String>> =
            lines.iter().map(|line| line.iter().map(|&cell| cell.to_owned()).collect()).collect();
        let out = crate::output::terminal::piped(|out| {
            write_table(out, &lines, [0, 0], |_| false).unwrap();
            write_table(out, &lines, [0, 1], |_| false).unwrap();
        });
        let expected = "    a  bb  x\n  111   2  yy\n  a    bb  x\n  111   2  yy\n";
        assert_eq!(out, expected);
    }
}
