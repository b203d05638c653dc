//! `stages`: measures every stage separately, in this thread, on the same documents. Prints CPU
//! seconds, and the cost of a byte or another unit of work. A stage is a call of
//! [`StageBench::stage`] with a closure. The closure returns a number that depends on all its work,
//! so that the compiler cannot remove any work.

use crate::collection::BenchCollection;
use crate::measure;
use crate::options::{BenchError, BenchOptions};
use crate::table::TextTable;
use lookalike::core::band::bucket_keys;
use lookalike::core::candidate::{BandIndex, BandScratch, group_equal_keys};
use lookalike::core::hash::SplitMix64;
use lookalike::core::kernel::Kernel;
use lookalike::core::params::{Params, ParamsBuilder, Scheme, ShingleRule, Unit};
use lookalike::core::shingle::Shingler;
use lookalike::core::signature::Signer;
use lookalike::core::verify;
use lookalike::read::{
    self, Document, DocumentSink, ReadBuffers, ReadError, ReadOptions, SkippedItem,
};
use std::hint::black_box;
use std::path::Path;

/// The amount of work of a stage: bytes of a text or file, or a number of other units.
enum Amount {
    Bytes(usize),
    Units(usize, &'static str),
}

/// Measures the stages one by one and collects the table.
struct StageBench {
    runs: usize,
    table: TextTable,
}

impl StageBench {
    fn stage(
        &mut self,
        name: &str,
        amount: &Amount,
        mut work: impl FnMut() -> u64,
    ) -> Result<(), BenchError> {
        let mut seconds = Vec::new();
        for _ in 0..self.runs.max(1) {
            let (spent, number) = measure::thread_cpu(&mut work)?;
            black_box(number);
            seconds.push(spent);
        }
        let seconds = measure::median(seconds);
        let (rate, each) = match *amount {
            Amount::Bytes(bytes) => (
                format!("{:.0}", bytes as f64 / 1e6 / seconds),
                format!("{:.3} ns per byte", seconds * 1e9 / bytes as f64),
            ),
            Amount::Units(count, unit) => {
                (String::new(), format!("{:.1} ns per {unit}", seconds * 1e9 / count as f64))
            }
        };
        self.table.row(&[name.to_owned(), format!("{seconds:.4}"), rate, each]);
        Ok(())
    }
}

/// The texts of a collection.
#[derive(Default)]
struct StageTexts(Vec<String>);

impl DocumentSink for StageTexts {
    type Error = ReadError;

    fn document(&mut self, document: &Document<'_>) -> Result<(), ReadError> {
        let text = document.text;
        self.0.push(text.to_owned());
        Ok(())
    }

    fn skipped(&mut self, _: SkippedItem) -> Result<(), ReadError> {
        Ok(())
    }
}

/// Counts the bytes of ids and texts, to measure reading only.
#[derive(Default)]
pub(crate) struct ByteCounter(pub(crate) u64);

impl DocumentSink for ByteCounter {
    type Error = ReadError;

    fn document(&mut self, document: &Document<'_>) -> Result<(), ReadError> {
        let id = document.id;
        let text = document.text;
        self.0 += (id.len() + text.len()) as u64;
        Ok(())
    }

    fn skipped(&mut self, _: SkippedItem) -> Result<(), ReadError> {
        Ok(())
    }
}

/// Measures all stages and prints the results. Option: `--runs N` (default: 5; the median counts).
pub(crate) fn stages(
    collection: &BenchCollection,
    mut options: BenchOptions,
) -> Result<(), BenchError> {
    let runs: usize = options.number("runs", 5)?;
    options.finish()?;
    let file = &collection.documents;
    let bytes = std::fs::read(file).map_err(|error| BenchError::new(file.display(), error))?;
    let mut texts = StageTexts::default();
    read_all(file, &ReadOptions::default(), &mut texts)?;
    let texts = texts.0;
    let size = texts.iter().map(String::len).sum();
    let header = ["stage", "CPU s", "MB per CPU s", "each"];
    let mut bench = StageBench { runs, table: TextTable::new(&header) };

    let in_file = Amount::Bytes(bytes.len());
    bench.stage("sum bytes (floor)", &in_file, || bytes.iter().map(|b| u64::from(*b)).sum())?;
    bench.stage("count words (floor)", &in_file, || count_words(&bytes))?;
    drop(bytes);
    bench.stage("read JSONL", &in_file, || {
        let mut sink = ByteCounter::default();
        read_all(file, &ReadOptions::default(), &mut sink).map_or(0, |()| sink.0)
    })?;
    text_stages(&mut bench, &texts, &Amount::Bytes(size))?;
    signature_stages(&mut bench)?;
    later_stages(&mut bench, &texts)?;
    twelve_thousand(&mut bench)?;
    println!(
        "{}: {} documents, {:.1} MB of text; kernel {}; median of {runs}\n",
        file.display(),
        texts.len(),
        size as f64 / 1e6,
        Kernel::best()
    );
    println!("{}", bench.table);
    Ok(())
}

/// Sends all documents of a file to the sink, in this thread.
///
/// # Errors
/// If the file cannot be read.
pub(crate) fn read_all(
    file: &Path,
    options: &ReadOptions,
    sink: &mut impl DocumentSink<Error = ReadError>,
) -> Result<(), BenchError> {
    let failed = |error: ReadError| BenchError(error.to_string());
    let opened = read::Collection::open(&[file.to_owned()], options).map_err(failed)?;
    let mut scratch = ReadBuffers::default();
    while let Some(block) = opened.next_block().map_err(failed)? {
        block.read(&mut scratch, sink).map_err(failed)?;
    }
    Ok(())
}

fn count_words(bytes: &[u8]) -> u64 {
    bytes.split(u8::is_ascii_whitespace).filter(|word| !word.is_empty()).count() as u64
}

/// Measures the stages from text to shingles, signatures and sets, by kernel, length and scheme.
fn text_stages(bench: &mut StageBench, texts: &[String], size: &Amount) -> Result<(), BenchError> {
    let words = ShingleRule::default();
    for kernel in Kernel::available().into_iter().rev() {
        let mut shingler = Shingler::with_kernel(&words, kernel);
        bench.stage(&format!("text → 5-word shingles, {kernel}"), size, || {
            texts.iter().map(|text| shingler.shingle(text).hashes.len() as u64).sum()
        })?;
        for num_hashes in [64, 128, 256] {
            let name = format!("text → signature of {num_hashes}, {kernel}");
            sign_stage(
                bench,
                &name,
                texts,
                size,
                &words,
                Scheme::FastSimilarity,
                num_hashes,
                kernel,
            )?;
        }
    }
    let best = Kernel::best();
    for scheme in [Scheme::MultiplyShift, Scheme::XorMultiply, Scheme::Xor, Scheme::ModPrime] {
        let name = format!("text → signature of 128, {scheme}");
        sign_stage(bench, &name, texts, size, &words, scheme, 128, best)?;
    }
    let chars = ShingleRule::new(Unit::Chars, 5).map_err(|error| BenchError(error.to_string()))?;
    let name = "text → signature of 128, 5 characters";
    sign_stage(bench, name, texts, size, &chars, Scheme::FastSimilarity, 128, best)?;
    let mut shingler = Shingler::new(&words);
    let mut set = Vec::new();
    bench.stage("text → shingle set, sorted", size, || {
        let sizes = texts.iter().map(|text| {
            shingler.set(text, &mut set);
            set.len() as u64
        });
        sizes.sum()
    })
}

#[expect(clippy::too_many_arguments, reason = "every axis of the table")]
fn sign_stage(
    bench: &mut StageBench,
    name: &str,
    texts: &[String],
    size: &Amount,
    rule: &ShingleRule,
    scheme: Scheme,
    num_hashes: usize,
    kernel: Kernel,
) -> Result<(), BenchError> {
    let mut shingler = Shingler::with_kernel(rule, kernel);
    let mut signer = Signer::with_kernel(scheme, num_hashes, 1, kernel);
    bench.stage(name, size, || {
        let first = texts.iter().map(|text| {
            let signature = signer.sign(shingler.shingle(text).hashes);
            u64::from(signature.first().copied().unwrap_or_default())
        });
        first.sum()
    })
}

/// Measures the stage from shingle hashes to signatures, by kernel and number of
/// shingles in a document.
fn signature_stages(bench: &mut StageBench) -> Result<(), BenchError> {
    let mut random = SplitMix64::new(1);
    let hashes: Vec<u32> = (0..1_000_000).map(|_| random.next_u32()).collect();
    let each = Amount::Units(hashes.len(), "shingle");
    for kernel in Kernel::available().into_iter().rev() {
        let mut signer = Signer::with_kernel(Scheme::FastSimilarity, 128, 1, kernel);
        for length in [20, 100, 350, 1_000, 20_000] {
            let name = format!("{length} shingles → signature of 128, {kernel}");
            bench.stage(&name, &each, || {
                let first = hashes.chunks(length).map(|hashes| {
                    let signature = signer.sign(hashes);
                    u64::from(signature.first().copied().unwrap_or_default())
                });
                first.sum()
            })?;
        }
    }
    Ok(())
}

/// Measures the stages from signatures to bucket keys, from keys to buckets, and
/// from sets to overlaps.
fn later_stages(bench: &mut StageBench, texts: &[String]) -> Result<(), BenchError> {
    let params =
        Params::new(&ParamsBuilder::default()).map_err(|error| BenchError(error.to_string()))?;
    let bands = params.bands();
    let rows = params.rows();
    let mut shingler = Shingler::new(params.shingle());
    let mut signer = Signer::new(params.scheme(), params.num_hashes(), params.seed());
    let signatures: Vec<Vec<u32>> =
        texts.iter().map(|text| signer.sign(shingler.shingle(text).hashes).to_vec()).collect();
    let per_band = Amount::Units(texts.len() * bands, "document and band");
    let mut keys = vec![0; bands];
    bench.stage("signature → bucket keys", &per_band, || {
        let sums = signatures.iter().map(|signature| {
            bucket_keys(signature, rows, &mut keys);
            keys.iter().fold(0u64, |sum, key| sum.wrapping_add(*key))
        });
        sums.fold(0, u64::wrapping_add)
    })?;
    let mut columns = vec![Vec::with_capacity(texts.len()); bands];
    for signature in &signatures {
        bucket_keys(signature, rows, &mut keys);
        columns.iter_mut().zip(&keys).for_each(|(column, key)| column.push(*key));
    }
    let mut scratch = BandScratch::default();
    bench.stage("bucket keys → buckets", &per_band, || {
        let buckets = columns.iter().map(|c| group_equal_keys(c, |_| true, &mut scratch));
        buckets.map(|found| found.sorted().len() as u64).sum()
    })?;
    let mut sets = Vec::new();
    for text in texts.iter().take(2_000) {
        let mut set = Vec::new();
        shingler.set(text, &mut set);
        sets.push(set);
    }
    let pairs = Amount::Units(sets.len().saturating_sub(1), "pair");
    bench.stage("exact overlap of two sets", &pairs, || {
        sets.windows(2).map(|pair| verify::overlap(&pair[0], &pair[1]).intersection).sum()
    })
}

/// Measures the published case of SOURCES: 12,000 documents, 100 hashes, 5 bands of 20 rows.
/// Creates the buckets (published: 265 ms), then looks up every document (published: 948 ms).
fn twelve_thousand(bench: &mut StageBench) -> Result<(), BenchError> {
    const DOCUMENTS: u32 = 12_000;
    let mut signer = Signer::new(Scheme::MultiplyShift, 100, 1);
    let signatures: Vec<Vec<u32>> = (0..DOCUMENTS)
        .map(|d| {
            // Every third document equals the previous one.
            let first = (d - u32::from(d % 3 == 1)) * 200;
            let shingles: Vec<u32> =
                (first..first + 200).map(|x| x.wrapping_mul(0x9e37_79b1)).collect();
            signer.sign(&shingles).to_vec()
        })
        .collect();
    let each = Amount::Units(DOCUMENTS as usize, "document");
    let keys_of = || {
        let mut keys = vec![0; 5 * DOCUMENTS as usize];
        for (signature, keys) in signatures.iter().zip(keys.chunks_exact_mut(5)) {
            bucket_keys(signature, 20, keys);
        }
        keys
    };
    bench.stage("Calc: 12,000 × 100, 5 × 20", &each, || {
        black_box(BandIndex::build(&keys_of(), 5));
        0
    })?;
    let keys = keys_of();
    let index = BandIndex::build(&keys, 5);
    let mut found = Vec::new();
    bench.stage("GetNearest: 12,000 look-ups", &each, || {
        let counts = keys.chunks_exact(5).map(|keys| {
            index.candidates(keys, &mut found);
            found.len() as u64
        });
        counts.sum()
    })
}
