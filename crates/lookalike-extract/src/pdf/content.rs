//! Interprets the operators of content streams as strings with positions.

use super::font::Font;
use super::glyph_names::GlyphNames;
use super::lexer::{Lexer, PdfOperands, PdfToken};
use super::lines::{LineWriter, TextPosition, WORD_GAP};
use super::objects::{get, name};
use super::stream::inflate;
use crate::reading::{ExtractError, LimitTracker};
use lopdf::{Dictionary, Document, Object, Stream};
use std::collections::{HashMap, HashSet};
use std::rc::Rc;

/// Maximum saved graphics states. Deeper states are not saved.
const MAX_STATES: usize = 1 << 10;
/// Maximum nesting of form `XObject`s: each level takes a few kilobytes of stack.
const MAX_FORMS: usize = 256;
/// Maximum operands of an operator.
const MAX_OPERANDS: usize = 1 << 18;
/// Operators between two checks of the limits.
const OPERATORS: u32 = 1 << 12;

/// Resources shared by the pages of a file.
pub(super) struct PdfResources<'a> {
    pub(super) document: &'a Document,
    pub(super) tracker: &'a LimitTracker<'a>,
    glyph_names: GlyphNames,
    /// By the address of the dictionary, which does not move.
    fonts: HashMap<usize, Rc<Font>>,
    /// Forms without text.
    mute: HashSet<usize>,
}

impl<'a> PdfResources<'a> {
    pub(super) fn new(document: &'a Document, tracker: &'a LimitTracker<'a>) -> Self {
        Self {
            document,
            tracker,
            glyph_names: GlyphNames::default(),
            fonts: HashMap::new(),
            mute: HashSet::new(),
        }
    }

    fn font(&mut self, font: &Dictionary) -> Result<Rc<Font>, ExtractError> {
        let place = std::ptr::from_ref(font) as usize;
        if let Some(font) = self.fonts.get(&place) {
            return Ok(Rc::clone(font));
        }
        let font = Rc::new(Font::read(self.document, font, &mut self.glyph_names, self.tracker)?);
        self.fonts.insert(place, Rc::clone(&font));
        Ok(font)
    }
}

/// `[a b c d e f]`: x' = ax + cy + e, y' = bx + dy + f.
type Matrix = [f64; 6];
const UNIT: Matrix = [1.0, 0.0, 0.0, 1.0, 0.0, 0.0];

/// The length of a vector. Avoids `hypot`, whose last bit differs between systems.
fn vector_length(x: f64, y: f64) -> f64 {
    (x * x + y * y).sqrt()
}

/// The transformation `a`, then `b`.
fn product(a: &Matrix, b: &Matrix) -> Matrix {
    [
        a[0] * b[0] + a[1] * b[2],
        a[0] * b[1] + a[1] * b[3],
        a[2] * b[0] + a[3] * b[2],
        a[2] * b[1] + a[3] * b[3],
        a[4] * b[0] + a[5] * b[2] + b[4],
        a[4] * b[1] + a[5] * b[3] + b[5],
    ]
}

#[derive(Clone)]
struct GraphicsState {
    matrix: Matrix,
    font: Option<Rc<Font>>,
    size: f64,
    letter_spacing: f64,
    word_spacing: f64,
    stretch: f64,
    leading: f64,
    rise: f64,
}

/// Interprets the content of a page.
pub(super) struct ContentInterpreter<'a, 'b> {
    shared: &'b mut PdfResources<'a>,
    lines: LineWriter<'b>,
    state: GraphicsState,
    saved: Vec<GraphicsState>,
    text: Matrix,
    line: Matrix,
    forms: Vec<usize>,
    operators: u32,
    charged: usize,
    /// Open marked-content sequences.
    marks: u32,
    /// Depth of the sequence with a replacement text (`ActualText`), and the text until it is
    /// written.
    replacement: Option<(u32, Option<String>)>,
}

impl<'a, 'b> ContentInterpreter<'a, 'b> {
    pub(super) fn new(shared: &'b mut PdfResources<'a>, out: &'b mut String) -> Self {
        let charged = out.len();
        let state = GraphicsState {
            matrix: UNIT,
            font: None,
            size: 1.0,
            letter_spacing: 0.0,
            word_spacing: 0.0,
            stretch: 1.0,
            leading: 0.0,
            rise: 0.0,
        };
        Self {
            shared,
            lines: LineWriter::new(out),
            state,
            saved: Vec::new(),
            text: UNIT,
            line: UNIT,
            forms: Vec::new(),
            operators: 0,
            charged,
            marks: 0,
            replacement: None,
        }
    }

    /// Interprets the whole content of a page.
    pub(super) fn finish(
        mut self,
        content: &[u8],
        resources: Option<&'a Dictionary>,
    ) -> Result<(), ExtractError> {
        let result = self.run(content, resources);
        self.lines.end_line();
        result.and_then(|()| self.charge())
    }

    /// Counts the text added since the last call against the limits.
    fn charge(&mut self) -> Result<(), ExtractError> {
        let length = self.lines.mark();
        let more = length.saturating_sub(self.charged);
        self.charged = self.charged.max(length);
        self.shared.tracker.charge_bytes(more)?;
        self.shared.tracker.check_time()
    }

    fn run(
        &mut self,
        content: &[u8],
        resources: Option<&'a Dictionary>,
    ) -> Result<(), ExtractError> {
        let mut lexer = Lexer::new(content);
        let mut operands: Vec<PdfToken<'_>> = Vec::new();
        while let Some(token) = lexer.token() {
            let PdfToken::Operator(operator) = token else {
                if operands.len() < MAX_OPERANDS {
                    operands.push(token);
                }
                continue;
            };
            if operator == b"ID" {
                lexer.skip_image();
            }
            let operands_now = PdfOperands { tokens: &operands, strings: &lexer.strings };
            self.operator(operator, &operands_now, resources)?;
            operands.clear();
            lexer.strings.clear();
            self.operators += 1;
            if self.operators.is_multiple_of(OPERATORS) {
                self.charge()?;
            }
        }
        Ok(())
    }

    fn operator(
        &mut self,
        operator: &[u8],
        operands: &PdfOperands<'_>,
        resources: Option<&'a Dictionary>,
    ) -> Result<(), ExtractError> {
        match operator {
            b"Tj" | b"TJ" => self.show(operands),
            b"'" => {
                self.next_line();
                self.show(operands);
            }
            b"\"" => {
                self.state.word_spacing = operands.number(0);
                self.state.letter_spacing = operands.number(1);
                self.next_line();
                self.show(&PdfOperands {
                    tokens: operands.tokens.get(2..).unwrap_or(&[]),
                    ..*operands
                });
            }
            b"Td" => self.move_by(operands.number(0), operands.number(1)),
            b"TD" => {
                self.state.leading = -operands.number(1);
                self.move_by(operands.number(0), operands.number(1));
            }
            b"T*" => self.next_line(),
            b"Tm" => {
                self.line = matrix(operands);
                self.text = self.line;
            }
            b"BT" => {
                self.text = UNIT;
                self.line = UNIT;
            }
            b"Tf" => self.select(operands, resources)?,
            b"Tc" => self.state.letter_spacing = operands.number(0),
            b"Tw" => self.state.word_spacing = operands.number(0),
            b"Tz" => self.state.stretch = operands.number(0) / 100.0,
            b"TL" => self.state.leading = operands.number(0),
            b"Ts" => self.state.rise = operands.number(0),
            b"q" if self.saved.len() < MAX_STATES => self.saved.push(self.state.clone()),
            b"Q" => {
                if let Some(state) = self.saved.pop() {
                    self.state = state;
                }
            }
            b"cm" => self.state.matrix = product(&matrix(operands), &self.state.matrix),
            b"Do" => self.draw(operands, resources)?,
            b"BMC" => self.marks += 1,
            b"BDC" => self.mark(operands, resources),
            b"EMC" => {
                self.marks = self.marks.saturating_sub(1);
                if self.replacement.as_ref().is_some_and(|(marks, _)| self.marks < *marks) {
                    self.replacement = None;
                }
            }
            _ => {}
        }
        Ok(())
    }

    fn next_line(&mut self) {
        self.move_by(0.0, -self.state.leading);
    }

    fn move_by(&mut self, x: f64, y: f64) {
        self.line = product(&[1.0, 0.0, 0.0, 1.0, x, y], &self.line);
        self.text = self.line;
    }

    /// `/name size Tf`.
    fn select(
        &mut self,
        operands: &PdfOperands<'_>,
        resources: Option<&'a Dictionary>,
    ) -> Result<(), ExtractError> {
        self.state.size = operands.number(1);
        let font = self.resource(resources, b"Font", operands.name(0));
        self.state.font = match font.and_then(|font| font.as_dict().ok()) {
            Some(font) => Some(self.shared.font(font)?),
            None => None,
        };
        Ok(())
    }

    fn resource(
        &self,
        resources: Option<&'a Dictionary>,
        kind: &[u8],
        name: &[u8],
    ) -> Option<&'a Object> {
        let document = self.shared.document;
        let kind = get(document, resources?, kind)?.as_dict().ok()?;
        get(document, kind, name)
    }

    /// `/tag properties BDC`: properties may contain a replacement text.
    fn mark(&mut self, operands: &PdfOperands<'_>, resources: Option<&'a Dictionary>) {
        self.marks += 1;
        if self.replacement.is_some() {
            return;
        }
        let text = match operands.tokens.get(1) {
            Some(PdfToken::Name(name)) => self
                .resource(resources, b"Properties", name)
                .and_then(|properties| properties.as_dict().ok())
                .and_then(|properties| get(self.shared.document, properties, b"ActualText"))
                .and_then(|text| lopdf::decode_text_string(text).ok()),
            _ => operands
                .tokens
                .windows(2)
                .find(|pair| pair[0] == PdfToken::Name(b"ActualText"))
                .and_then(|pair| operands.bytes(pair[1]))
                .and_then(|bytes| lopdf::decode_text_string(&Object::string_literal(bytes)).ok()),
        };
        self.replacement = text.map(|text| (self.marks, Some(text)));
    }

    /// `/name Do`: interprets a form.
    fn draw(
        &mut self,
        operands: &PdfOperands<'_>,
        resources: Option<&'a Dictionary>,
    ) -> Result<(), ExtractError> {
        let document = self.shared.document;
        let Some(Object::Stream(form)) = self.resource(resources, b"XObject", operands.name(0))
        else {
            return Ok(());
        };
        let place = std::ptr::from_ref::<Stream>(form) as usize;
        if name(document, &form.dict, b"Subtype") != b"Form"
            || self.forms.contains(&place)
            || self.shared.mute.contains(&place)
        {
            return Ok(());
        }
        if self.forms.len() == MAX_FORMS {
            let message = format!("form XObjects nested more than {MAX_FORMS} levels deep");
            return Err(ExtractError::damaged(message));
        }
        let content = inflate(form, self.shared.tracker)?;
        let own_resources =
            get(document, &form.dict, b"Resources").and_then(|own| own.as_dict().ok());
        let state = self.state.clone();
        let matrix = get(document, &form.dict, b"Matrix").and_then(|matrix| matrix.as_array().ok());
        if let Some(matrix) = matrix.and_then(|matrix| form_matrix(document, matrix)) {
            self.state.matrix = product(&matrix, &self.state.matrix);
        }
        // States that a form saves and does not restore are dropped at its end.
        let saved = std::mem::take(&mut self.saved);
        let place_of_text = (self.text, self.line);
        let before = self.lines.strings;
        self.forms.push(place);
        self.run(&content, own_resources.or(resources))?;
        self.forms.pop();
        if self.lines.strings == before {
            self.shared.mute.insert(place);
        }
        self.state = state;
        self.saved = saved;
        (self.text, self.line) = place_of_text;
        Ok(())
    }

    /// Shows the strings among the operands; numbers between them move the position.
    fn show(&mut self, operands: &PdfOperands<'_>) {
        let Some(font) = self.state.font.clone() else { return };
        let GraphicsState { size, letter_spacing, word_spacing, stretch, rise, .. } = self.state;
        let matrix = product(&self.text, &self.state.matrix);
        let (unit, axis) = if font.vertical { (1.0, (2, 3)) } else { (stretch, (0, 1)) };
        let sign = if font.vertical { -1.0 } else { 1.0 };
        let ax = matrix[axis.0] * sign;
        let ay = matrix[axis.1] * sign;
        let length = vector_length(ax, ay);
        let upright = if size < 0.0 || unit < 0.0 { -1.0 } else { 1.0 };
        let direction =
            if length > 0.0 { (upright * ax / length, upright * ay / length) } else { (1.0, 0.0) };
        let em = (size * font.em * vector_length(matrix[2], matrix[3])).abs();
        let place = |moved: f64| TextPosition {
            x: ax * moved + matrix[2] * rise + matrix[4],
            y: ay * moved + matrix[3] * rise + matrix[5],
            direction,
            em,
        };
        let gap = WORD_GAP * (size * font.em).abs() * unit.abs();
        let mut moved = 0.0;
        let mut start = None;
        let mut mark = 0;
        for &token in operands.tokens {
            if let PdfToken::Number(number) = token {
                let step = -number / 1000.0 * size * unit;
                moved += step;
                if start.is_some() && step * upright > gap {
                    self.lines.space();
                } else if start.is_some() && step * upright < -gap {
                    self.lines.step_back();
                }
                continue;
            }
            let Some(mut bytes) = operands.bytes(token).filter(|bytes| !bytes.is_empty()) else {
                continue;
            };
            if start.is_none() {
                start = Some(place(moved));
                self.lines.begin(place(moved));
                mark = self.lines.mark();
            }
            while !bytes.is_empty() {
                let glyph = self.glyph(&font, bytes);
                bytes = bytes.get(glyph.bytes.max(1)..).unwrap_or_default();
                let spacing = letter_spacing + if glyph.space { word_spacing } else { 0.0 };
                moved += (glyph.width * size + spacing) * unit;
            }
        }
        if let Some(start) = start {
            // The spacing after the last letter is not part of a gap.
            let end = place(moved - letter_spacing * unit);
            self.lines.end(start, mark, end);
        }
        let (x, y) = if font.vertical { (0.0, -moved) } else { (moved, 0.0) };
        self.text = product(&[1.0, 0.0, 0.0, 1.0, x, y], &self.text);
    }

    /// Writes the next glyph as text.
    fn glyph(&mut self, font: &Font, bytes: &[u8]) -> super::font::Glyph {
        let mark = self.lines.mark();
        let glyph = font.glyph(bytes, self.lines.out);
        if let Some((_, text)) = &mut self.replacement {
            self.lines.out.truncate(mark);
            self.lines.out.push_str(&text.take().unwrap_or_default());
        }
        self.lines.glyph(mark);
        glyph
    }
}

/// The six operands of an operator.
fn matrix(operands: &PdfOperands<'_>) -> Matrix {
    std::array::from_fn(|index| operands.number(index))
}

fn form_matrix(document: &Document, matrix: &[Object]) -> Option<Matrix> {
    let mut out = UNIT;
    for (index, entry) in out.iter_mut().enumerate() {
        let (_, value) = document.dereference(matrix.get(index)?).ok()?;
        *entry = super::objects::value(value)?;
    }
    Some(out)
}
