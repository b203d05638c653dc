//! `generate`: writes a collection as JSONL and its truth as CSV. Equal options produce equal bytes
//! on every machine.

use crate::corpus::{Corpus, CorpusDocument, LEAST_WORDS, MemberLayout, Request};
use crate::excerpt;
use crate::options::{BenchError, BenchOptions};
use crate::truth;
use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::path::Path;

/// Reads and checks the options of `generate`. The default values suit measurements.
pub(crate) fn request(options: &mut BenchOptions) -> Result<Request, BenchError> {
    let docs: u64 = options.number("docs", 100_000)?;
    let share: f64 = options.number("dup-rate", 0.2)?;
    if !(0.0..=1.0).contains(&share) {
        return Err(BenchError(format!("--dup-rate {share}: a share from 0 to 1 is needed")));
    }
    let request = Request {
        docs,
        seed: options.number("seed", 1)?,
        mean_words: options.number("mean-words", 340)?,
        least_words: options.number("least-words", 50)?,
        planted: (docs as f64 * share) as u64,
        mega: options.number("mega", docs / 400)?,
        short: options.number("short", docs / 50)?,
        empty: options.number("empty", docs / 2000)?,
        excerpts: options.number("excerpts", 0)?,
    };
    if request.least_words < LEAST_WORDS {
        return Err(BenchError(format!(
            "--least-words {}: at least {LEAST_WORDS} are needed, so that shared clauses do not \
             make near-duplicates",
            request.least_words
        )));
    }
    // Each excerpt is taken from a separate document, so it needs two documents.
    let excerpts = request.excerpts.saturating_mul(2);
    let kinds = [request.planted, request.mega, request.short, request.empty, excerpts];
    let all = kinds.iter().fold(0u64, |sum, &n| sum.saturating_add(n));
    if docs == 0 || all > docs || docs >= 1 << 31 || request.mean_words > 1 << 20 {
        return Err(BenchError(format!(
            "{docs} documents, {all} of them planted, mega, short, empty or excerpts and what \
             these are of: at least one and \
             fewer than 2^31 documents are needed, no more planted than there are, and at most \
             2^20 words in the mean"
        )));
    }
    Ok(request)
}

/// Writes the collection to `out` and its truth to `truth_file`. Returns the bytes of the
/// collection and the number of pairs.
pub(crate) fn generate(
    request: Request,
    out: &Path,
    truth_file: &Path,
) -> io::Result<(u64, usize)> {
    let corpus = Corpus::new(request);
    let mut file = BufWriter::with_capacity(1 << 20, File::create(out)?);
    let mut bytes = 0;
    let mut line = Vec::new();
    for place in 0..corpus.request().docs {
        line.clear();
        write!(line, "{{\"id\": \"d{place:010}\", \"text\": \"")?;
        write_text(&corpus, place, &mut line);
        line.extend_from_slice(b"\"}\n");
        bytes += line.len() as u64;
        file.write_all(&line)?;
    }
    file.flush()?;
    let pairs = truth::pairs(&corpus);
    truth::write(&pairs, "jaccard", &mut BufWriter::new(File::create(truth_file)?))?;
    if corpus.request().excerpts > 0 {
        let mut file = BufWriter::new(File::create(excerpt::file(truth_file))?);
        truth::write(&truth::excerpts(&corpus), "containment", &mut file)?;
    }
    Ok((bytes, pairs.len()))
}

/// Writes the text of a document as the content of a JSON string. Only separators need escapes, and
/// they are already escaped.
fn write_text(corpus: &Corpus, place: u64, line: &mut Vec<u8>) {
    const BLANK: [&str; 5] = ["", " ", "\\n", "\\t\\n", "\u{3000}"];
    let CorpusDocument { tokens, layout } = corpus.document(place);
    if tokens.is_empty() {
        line.extend_from_slice(BLANK[place as usize % BLANK.len()].as_bytes());
    }
    let mut sentences = 0;
    for (i, &token) in tokens.iter().enumerate() {
        corpus.vocabulary().write(token, line);
        sentences += usize::from(token.ends_sentence());
        if i + 1 == tokens.len() {
            break;
        }
        let separator = match layout {
            MemberLayout::Reflowed if i % 12 == 11 => "\\n",
            MemberLayout::Reflowed if i % 7 == 6 => "  ",
            MemberLayout::Sentences if token.ends_sentence() && sentences % 15 == 0 => "\\n\\n",
            MemberLayout::Sentences if token.ends_sentence() && sentences % 5 == 0 => "\\n",
            _ => " ",
        };
        line.extend_from_slice(separator.as_bytes());
    }
}
