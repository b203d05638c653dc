//! The S-curve of a banding, drawn for a terminal and as SVG.
//!
//! Used instead of `plotters` and `textplots`, because one scale draws the curve in characters and
//! as SVG. The SVG of `plotters` has no title, description or dark colours, and `textplots` has no
//! ASCII and no labels between the ends of an axis (November 2026, `contributing/libraries.md`).

use lookalike::core::curve::{candidate_probability, steepest};
use lookalike::core::params::RecallCaveat;
use std::fmt::Write;

/// A plot of the probability of being a candidate over similarity, with the threshold.
#[derive(Debug, Clone, Copy)]
pub(crate) struct CurvePlot {
    /// Bands per signature.
    pub(crate) bands: usize,
    /// Rows per band.
    pub(crate) rows: usize,
    /// The similarity at the vertical line, 0 to 1.
    pub(crate) threshold: f64,
    /// Why the probabilities may not be reached, if there is a reason.
    pub(crate) caveat: Option<RecallCaveat>,
}

impl CurvePlot {
    fn at(self, similarity: f64) -> f64 {
        candidate_probability(similarity, self.bands, self.rows)
    }

    fn recall(self) -> f64 {
        self.at(self.threshold)
    }

    /// Draws the curve in `width` columns and `height` lines of text (at least 20 and 5), each with
    /// a line end. Uses Braille dots, or only ASCII.
    pub(crate) fn terminal(self, width: usize, height: usize, ascii: bool) -> String {
        let width = width.max(20);
        let height = height.max(5);
        let cells =
            if ascii { self.ascii_cells(width, height) } else { self.braille_cells(width, height) };
        let (side, corner, tick, line) =
            if ascii { ('|', '+', '+', '-') } else { ('│', '└', '┴', '─') };
        let mut out = String::new();
        for (at, row) in cells.iter().enumerate() {
            let quarter = at * 4 % (height - 1) < 4 && {
                let nearest = (at as f64 / (height - 1) as f64 * 4.0).round();
                (nearest / 4.0 * (height - 1) as f64).round() as usize == at
            };
            let value = 1.0 - at as f64 / (height - 1) as f64;
            let rounded = (value * 4.0).round() / 4.0;
            let label = if quarter { format!("{rounded:.2}") } else { " ".repeat(4) };
            let row: String = row.iter().collect();
            let _ = writeln!(out, "  {label} {side}{}", row.trim_end());
        }
        let column = |similarity: f64| (similarity * (width - 1) as f64).round() as usize;
        let mut axis = vec![line; width];
        let mut labels = vec![' '; width + 4];
        for fifth in 0..=5 {
            let similarity = f64::from(fifth) / 5.0;
            axis[column(similarity)] = tick;
            for (at, c) in format!("{similarity:.1}").chars().enumerate() {
                labels[column(similarity) + at] = c;
            }
        }
        let axis: String = axis.iter().collect();
        let labels: String = labels.iter().collect();
        let _ = writeln!(out, "       {corner}{axis}");
        // The first digit of a label is under its tick.
        let _ = writeln!(out, "        {}", labels.trim_end());
        let arrow = if ascii { "^" } else { "▲" };
        let note = format!("threshold {}: found with {:.4}", self.threshold, self.recall());
        let place = column(self.threshold.clamp(0.0, 1.0));
        let is_left = place >= note.len() + 2;
        let note = if is_left {
            format!("{}{note} {arrow}", " ".repeat(place - note.len() - 1))
        } else {
            format!("{}{arrow} {note}", " ".repeat(place))
        };
        let _ = writeln!(out, "        {note}");
        out
    }

    fn ascii_cells(self, width: usize, height: usize) -> Vec<Vec<char>> {
        let mut cells = vec![vec![' '; width]; height];
        let threshold = (self.threshold.clamp(0.0, 1.0) * (width - 1) as f64).round() as usize;
        for row in &mut cells {
            row[threshold] = ':';
        }
        let row = |column: usize| self.row(column, width, height);
        for column in 0..width {
            let from = row(column.saturating_sub(1));
            let to = row(column);
            // A steep step is filled, so that the curve has no holes.
            for cells in &mut cells[to..(from + usize::from(from == to)).max(to + 1)] {
                cells[column] = '*';
            }
        }
        cells
    }

    fn braille_cells(self, width: usize, height: usize) -> Vec<Vec<char>> {
        // Each character holds 2 × 4 dots; their bits by column and row.
        const BITS: [[u32; 4]; 2] = [[0x01, 0x02, 0x04, 0x40], [0x08, 0x10, 0x20, 0x80]];
        let dots_wide = 2 * width;
        let dots_high = 4 * height;
        let mut bits = vec![vec![0u32; width]; height];
        let row = |column: usize| self.row(column, dots_wide, dots_high);
        for column in 0..dots_wide {
            let from = row(column.saturating_sub(1));
            let to = row(column);
            for dot in to..from.max(to + 1) {
                bits[dot / 4][column / 2] |= BITS[column % 2][dot % 4];
            }
        }
        let threshold = (self.threshold.clamp(0.0, 1.0) * (width - 1) as f64).round() as usize;
        let cell = |(column, bits): (usize, &u32)| match char::from_u32(0x2800 + bits) {
            Some(dots) if *bits > 0 => dots,
            _ if column == threshold => '┊',
            _ => ' ',
        };
        bits.iter().map(|row| row.iter().enumerate().map(cell).collect()).collect()
    }

    /// The row, from the top, of the curve in one of `width` columns.
    fn row(self, column: usize, width: usize, height: usize) -> usize {
        let probability = self.at(column as f64 / (width - 1) as f64);
        ((1.0 - probability) * (height - 1) as f64).round() as usize
    }

    /// Draws a picture that needs no other file. It is light or dark like the reader's system, and
    /// has a text for readers who cannot see it.
    pub(crate) fn svg(self) -> String {
        let Self { bands, rows, threshold, .. } = self;
        let recall = self.recall();
        let steep = steepest(bands, rows);
        let x = |similarity: f64| LEFT + similarity * (RIGHT - LEFT);
        let y = |probability: f64| BOTTOM - probability * (BOTTOM - TOP);
        let point = |at: i32| {
            let similarity = f64::from(at) / 200.0;
            format!("{:.1},{:.1}", x(similarity), y(self.at(similarity)))
        };
        let points: Vec<String> = (0..=200).map(point).collect();
        let mut out = format!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 720 480\" role=\"img\" \
             aria-labelledby=\"title desc\">\n\
             <title id=\"title\">{bands} bands of {rows} rows: how likely a pair becomes a \
             candidate</title>\n\
             <desc id=\"desc\">The probability that a pair of documents shares a bucket, over its \
             Jaccard similarity: an S-shaped curve from 0 to 1, steepest at {steep:.3}. At the \
             threshold of {threshold} it is {recall:.4}.{}{}</desc>\n\
             <style>{STYLE}</style>\n\
             <rect class=\"ground\" width=\"720\" height=\"480\"/>\n\
             <text class=\"head\" x=\"{LEFT}\" y=\"36\">{bands} bands × {rows} rows</text>\n",
            self.examples(),
            self.caveat.map(|caveat| format!(" But {caveat}.")).unwrap_or_default()
        );
        if let Some(RecallCaveat::XorScheme) = self.caveat {
            let _ = writeln!(
                out,
                "<text class=\"label\" x=\"{LEFT}\" y=\"58\">The scheme xor finds fewer pairs of \
                 small shingle sets.</text>"
            );
        }
        for fifth in 0..=5 {
            let value = f64::from(fifth) / 5.0;
            let at_x = x(value);
            let at_y = y(value);
            let _ = writeln!(
                out,
                "<path class=\"grid\" d=\"M{at_x:.1} {BOTTOM}V{TOP}M{LEFT} {at_y:.1}H{RIGHT}\"/>\n\
                 <text x=\"{at_x:.1}\" y=\"{}\" text-anchor=\"middle\">{value:.1}</text>\n\
                 <text x=\"{}\" y=\"{:.1}\" text-anchor=\"end\">{value:.1}</text>",
                BOTTOM + 22.0,
                LEFT - 10.0,
                at_y + 5.0
            );
        }
        let at_x = x(threshold);
        let at_y = y(recall);
        let (anchor, shift) = if threshold > 0.3 { ("end", -10.0) } else { ("start", 10.0) };
        let middle = f64::midpoint(LEFT, RIGHT);
        let _ = write!(
            out,
            "<path class=\"axis\" d=\"M{LEFT} {TOP}V{BOTTOM}H{RIGHT}\"/>\n\
             <path class=\"threshold\" d=\"M{at_x:.1} {TOP}V{BOTTOM}\"/>\n\
             <polyline class=\"curve\" points=\"{}\"/>\n\
             <circle class=\"mark\" cx=\"{at_x:.1}\" cy=\"{at_y:.1}\" r=\"5\"/>\n\
             <text class=\"label\" x=\"{:.1}\" y=\"{}\" text-anchor=\"{anchor}\">threshold \
             {threshold}: {recall:.4}</text>\n\
             <text x=\"{middle:.1}\" y=\"{}\" text-anchor=\"middle\">Jaccard similarity of the \
             pair</text>\n\
             <text transform=\"translate(22 {:.1}) rotate(-90)\" \
             text-anchor=\"middle\">probability \
             of being a candidate</text>\n\
             </svg>\n",
            points.join(" "),
            at_x + shift,
            TOP - 10.0,
            BOTTOM + 52.0,
            f64::midpoint(TOP, BOTTOM)
        );
        out
    }

    /// Some points of the curve in words.
    fn examples(self) -> String {
        let mut out = String::new();
        for tenth in [2, 4, 6, 8] {
            let similarity = f64::from(tenth) / 10.0;
            let _ = write!(out, " At {similarity:.1}: {:.4}.", self.at(similarity));
        }
        out
    }
}

/// The edges of the curve's field in the picture.
const LEFT: f64 = 76.0;
const RIGHT: f64 = 696.0;
const TOP: f64 = 76.0;
const BOTTOM: f64 = 408.0;

/// The contrast of text to ground is above 7, in light and in dark.
const STYLE: &str = "
text{font:15px system-ui,sans-serif;fill:#3c4450}
.head{font-size:19px;font-weight:600;fill:#14181f}
.label{font-weight:600;fill:#a03a00}
.ground{fill:#fff}.grid{stroke:#e3e6eb;fill:none}.axis{stroke:#6b7480;fill:none}
.curve{stroke:#1d5fbf;stroke-width:3;fill:none;stroke-linejoin:round}
.threshold{stroke:#a03a00;stroke-width:2;stroke-dasharray:6 5;fill:none}.mark{fill:#a03a00}
@media(prefers-color-scheme:dark){
text{fill:#c3cad4}.head{fill:#f2f4f7}.label{fill:#ffb27a}
.ground{fill:#14181f}.grid{stroke:#2b323d}.axis{stroke:#8a94a2}
.curve{stroke:#7fb2ff}.threshold{stroke:#ffb27a}.mark{fill:#ffb27a}}
";

#[cfg(test)]
mod tests {
    use super::*;

    const USUAL: CurvePlot = CurvePlot { bands: 21, rows: 6, threshold: 0.8, caveat: None };

    #[test]
    fn terminal_plots_show_axes_and_threshold() {
        for ascii in [true, false] {
            let drawn = USUAL.terminal(60, 17, ascii);
            assert!(drawn.contains("threshold 0.8: found with 0.9983"), "{drawn}");
            for label in ["1.00", "0.75", "0.50", "0.25", "0.00"] {
                assert_eq!(drawn.matches(&format!("  {label} ")).count(), 1, "{label}\n{drawn}");
            }
            assert!(drawn.lines().all(|line| line.chars().count() <= 72), "{drawn}");
            assert_eq!(ascii, drawn.is_ascii());
        }
    }

    #[test]
    fn every_column_has_a_point() {
        for (bands, rows) in [(1, 1), (1, 128), (128, 1), (21, 6), (8192, 1)] {
            for threshold in [1e-300, 0.5, 1.0] {
                let curve = CurvePlot { bands, rows, threshold, caveat: None };
                let cells = curve.ascii_cells(40, 10);
                assert!((0..40).all(|x| cells.iter().any(|row| row[x] == '*')), "{bands} {rows}");
                let cells = curve.braille_cells(40, 10);
                let dots = |c: char| ('\u{2801}'..='\u{28ff}').contains(&c);
                assert!((0..40).all(|x| cells.iter().any(|row| dots(row[x]))), "{bands} {rows}");
                let drawn = curve.terminal(0, 0, true);
                assert!(drawn.contains("threshold"));
            }
        }
    }

    /// Whether every element ends, in the right order, and no stray mark-up is inside.
    fn well_formed(xml: &str) -> bool {
        let mut open = Vec::new();
        for part in xml.split('<').skip(1) {
            let Some((tag, text)) = part.split_once('>') else { return false };
            let name = tag.split([' ', '\n']).next().unwrap_or_default();
            if let Some(name) = name.strip_prefix('/') {
                if open.pop() != Some(name) {
                    return false;
                }
            } else if !tag.ends_with('/') {
                open.push(name);
            }
            if tag.matches('"').count() % 2 == 1 || text.contains(['>', '&']) {
                return false;
            }
        }
        open.is_empty()
    }

    #[test]
    fn svg_plots_are_well_formed_xml() {
        assert!(
            !well_formed("<a><b></a></b>") && !well_formed("<a>") && well_formed("<a><b/></a>")
        );
        for threshold in [0.01, 0.8, 1.0] {
            let svg = CurvePlot { threshold, ..USUAL }.svg();
            assert!(well_formed(&svg), "{svg}");
            assert!(svg.contains(&format!("threshold {threshold}:")));
            assert!(svg.contains("<title") && svg.contains("prefers-color-scheme:dark"));
        }
        assert!(USUAL.svg().contains("0.9983"));
    }
}
