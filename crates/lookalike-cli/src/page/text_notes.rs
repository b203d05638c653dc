//! What was done to the texts of a run, in sentences of the page.

use crate::difference::thousands;
use crate::summary::count;
use lookalike::error::Error;
use lookalike::read::Wording;
use lookalike::run::Findings;

/// Empty documents with the text of an earlier one that the page lists.
const LISTED: usize = 1000;

/// What [`html::TextNotes`](lookalike::write::html::TextNotes) borrows.
pub(super) struct Notes {
    pub(super) sentences: Vec<String>,
    pub(super) empty_copies: Vec<(String, String)>,
    pub(super) more_empty_copies: u64,
}

impl Notes {
    pub(super) fn of(findings: &Findings) -> Result<Self, Error> {
        let copies = findings.identical.empty_copies();
        let empty_copies: Vec<(String, String)> =
            copies.iter().take(LISTED).collect::<Result<_, _>>().map_err(Error::of_io)?;
        let more_empty_copies = copies.len().saturating_sub(empty_copies.len() as u64);
        Ok(Self { sentences: sentences(findings), empty_copies, more_empty_copies })
    }
}

/// The members `wording`, `cut_from_mail` and `folding` of the report in words.
fn sentences(findings: &Findings) -> Vec<String> {
    let mut sentences = Vec::new();
    if findings.wording != Wording::default() {
        sentences.push(format!("Before comparison, texts were changed by {}.", findings.wording));
    }
    let cut = &findings.cut_from_mail;
    if cut.quoting_messages > 0 {
        let messages = count(cut.quoting_messages, "message");
        sentences.push(format!("{messages} read without quoted text; --quotes keep reads it."));
    }
    if cut.signed_messages > 0 {
        sentences.push(format!(
            "{} read without signatures: {}, {}.",
            count(cut.signed_messages, "message"),
            count(cut.signature_words, "word"),
            count(cut.signature_bytes, "byte")
        ));
    }
    let folding = &findings.folding;
    if folding.changed() > 0 {
        let scripts: Vec<String> = folding
            .by_script()
            .map(|(script, number)| format!("{script} {}", thousands(number)))
            .collect();
        sentences.push(format!(
            "--normalize fold changes the shingles of {} of {} drawn ({}).",
            thousands(folding.changed()),
            count(folding.documents(), "document"),
            scripts.join(", ")
        ));
    }
    sentences
}
