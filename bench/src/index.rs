//! `index`: fills an index in a folder or in a PostgreSQL database with invented documents.
//! Measures the documents added per second at the beginning and at the end, the bytes on disk per
//! document, and the times of opening, single writes and queries.

use crate::measure;
use crate::options::{BenchError, BenchOptions};
use crate::table::TextTable;
use lookalike::store::backend::Change;
use lookalike::store::entry::{IndexEntry, Metadata, RecordFields};
use lookalike::store::index::{Access, Index, IndexLocation, create, open};
use lookalike::store::nearest::NearestRequest;
use lookalike::store::query::{QueryBuffers, QueryDocument, QueryRequest};
use lookalike::store::set;
use lookalike::store::settings::{IndexSettings, StoredContent};
use lookalike_core::hash::{SplitMix64, mix64};
use lookalike_core::params::{Params, ParamsBuilder};
use lookalike_core::signature::Signer;
use nix::sys::resource::{UsageWho, getrusage};
use std::num::NonZeroUsize;
use std::path::Path;
use std::time::{Duration, Instant};

/// Number of documents in one measurement of adding.
const WINDOW: u64 = 100_000;
/// Number of shingles of a document.
const SHINGLES: u64 = 340;
/// One in this many documents is a changed copy of an earlier document.
const ORIGINALS: u64 = 10;
const WRITE: Access = Access::Write { wait: Duration::ZERO };

/// Measures an index of signatures and one of shingle sets.
///
/// # Errors
///
/// If the folder or the index cannot be written.
pub(crate) fn index(mut options: BenchOptions) -> Result<(), BenchError> {
    let documents: u64 = options.number("docs", 1_000_000)?;
    let with_sets: u64 = options.number("sets", documents.min(200_000))?;
    let batch: u64 = options.number("batch", 5_000)?;
    let queries: u64 = options.number("queries", 5_000)?;
    let nearest: u64 = options.number("nearest", 500)?;
    let folder = options
        .path("folder")
        .unwrap_or_else(|| Path::new(env!("CARGO_MANIFEST_DIR")).join("data").join("index"));
    let database = options.text("postgres");
    options.finish()?;
    std::fs::create_dir_all(&folder).map_err(|error| BenchError::new(folder.display(), error))?;
    let place = |name: &str| match &database {
        Some(url) => IndexLocation::Postgres(format!("{url}{}index=bench-{name}", separator(url))),
        None => IndexLocation::Folder(folder.join(name)),
    };
    let mut table = TextTable::new(&["what", "value", "unit"]);
    let mut bench = IndexBench { batch: batch.max(1), nearest, table: &mut table };
    bench.run(&place("signatures"), StoredContent::Signatures, documents, queries)?;
    bench.run(&place("sets"), StoredContent::Sets, with_sets, queries)?;
    println!("{table}");
    Ok(())
}

/// Returns the character that separates a further parameter from a URL.
fn separator(url: &str) -> char {
    if url.contains('?') { '&' } else { '?' }
}

/// Creates documents from their numbers.
struct DocumentMaker {
    store: StoredContent,
    signer: Signer,
    num_hashes: usize,
}

/// An invented document. An entry of the index borrows its data.
#[derive(Default, Clone)]
struct MadeDocument {
    id: String,
    signature: Vec<u32>,
    set: Vec<u64>,
    code: Vec<u8>,
    metadata: Metadata,
    fingerprint: u128,
}

impl DocumentMaker {
    fn new(settings: &IndexSettings) -> Result<Self, BenchError> {
        let params = settings.params().map_err(|error| BenchError::new("settings", error))?;
        let signer = Signer::new(params.scheme(), params.num_hashes(), params.seed());
        Ok(Self { store: settings.store, signer, num_hashes: params.num_hashes() })
    }

    fn make(&mut self, number: u64) -> MadeDocument {
        // Numbers that are multiples of ten belong to changed copies of earlier documents.
        let mut random = SplitMix64::new(mix64(number ^ 0x5eed));
        let is_copy = number.is_multiple_of(ORIGINALS) && number > 0;
        let original = if is_copy { random.below(number) } else { number };
        let mut document = MadeDocument {
            id: format!("{:016x}-{number:09}", mix64(number)),
            fingerprint: u128::from(mix64(number)) << 64 | u128::from(number),
            ..MadeDocument::default()
        };
        let json = format!(
            r#"{{"language":"en","source":"feed-{:05}","time":"2024-06-{:02}"}}"#,
            number % 100_000,
            number % 28 + 1
        );
        document.metadata = serde_json(&json);
        if self.store == StoredContent::Signatures {
            let values = |i: usize| mix64(original * 1024 + i as u64) as u32;
            document.signature = (0..self.num_hashes).map(values).collect();
            if is_copy {
                for value in &mut document.signature {
                    if random.below(100) < 15 {
                        *value = random.next_u32();
                    }
                }
            }
            return document;
        }
        document.set = (0..SHINGLES).map(|i| mix64(original * 4096 + i)).collect();
        if is_copy {
            for hash in &mut document.set {
                if random.below(100) < 5 {
                    *hash = random.next_u64();
                }
            }
        }
        document.set.sort_unstable();
        document.set.dedup();
        let upper: Vec<u32> = document.set.iter().map(|hash| (hash >> 32) as u32).collect();
        document.signature = self.signer.sign(&upper).to_vec();
        set::encode(&document.set, &mut document.code);
        document
    }
}

fn serde_json(json: &str) -> Metadata {
    let mut metadata = Metadata::new();
    let members = json.trim_matches(['{', '}']).split(',');
    for (name, value) in members.filter_map(|member| member.split_once(':')) {
        metadata.insert(name.trim_matches('"').to_owned(), value.trim_matches('"').into());
    }
    metadata
}

impl MadeDocument {
    fn entry(&self) -> IndexEntry<'_> {
        IndexEntry {
            id: &self.id,
            fingerprint: self.fingerprint,
            bytes: 2000,
            signature: &self.signature,
            set: &self.code,
            text: None,
            original: None,
            metadata: &self.metadata,
            added: 1_700_000_000_000_000_000,
            modified: None,
            expires: None,
        }
    }
}

struct IndexBench<'a> {
    batch: u64,
    /// The number of queries for the nearest documents.
    nearest: u64,
    table: &'a mut TextTable,
}

impl IndexBench<'_> {
    fn report(&mut self, label: String, value: String, unit: &str) {
        println!("{label}: {value} {unit}");
        self.table.row(&[label, value, unit.to_owned()]);
    }

    fn run(
        &mut self,
        place: &IndexLocation,
        store: StoredContent,
        documents: u64,
        queries: u64,
    ) -> Result<(), BenchError> {
        if documents == 0 {
            return Ok(());
        }
        if let IndexLocation::Folder(folder) = place
            && folder.exists()
        {
            std::fs::remove_dir_all(folder).map_err(|e| BenchError::new(folder.display(), e))?;
        }
        let failed = |error| BenchError::new("the index", error);
        let builder = ParamsBuilder { num_hashes: Some(128), ..ParamsBuilder::default() };
        let params = Params::new(&builder).map_err(|error| BenchError::new("settings", error))?;
        let settings = IndexSettings::new(&params, "", store)
            .map_err(|error| BenchError::new("settings", error))?;
        let name = format!("{store:?}, {documents} documents").to_lowercase();
        let mut maker = DocumentMaker::new(&settings)?;
        let stats = {
            let index = create(place, &settings).map_err(failed)?;
            self.fill(&name, &index, &mut maker, documents)?;
            index.stats().map_err(failed)?
        };
        let bytes = match place {
            IndexLocation::Folder(folder) => {
                self.report(format!("{name}: segments"), stats.segments.to_string(), "");
                bytes_of(folder)?
            }
            IndexLocation::Postgres(_) => stats.catalogue_bytes + stats.segment_bytes,
        };
        let bytes = bytes as f64 / documents as f64;
        self.report(format!("{name}: on disk"), format!("{bytes:.0}"), "bytes a document");
        for (mode, access) in [("reading", Access::Read), ("writing", WRITE)] {
            let begun = Instant::now();
            let (cpu, opened) = measure::process_cpu(|| {
                let index = open(place, access)?;
                let count = index.snapshot()?.len();
                Ok(count)
            })?;
            let count = opened.map_err(failed)?;
            assert_eq!(count, documents, "documents in the index");
            let wall = begun.elapsed().as_secs_f64() * 1e3;
            self.report(
                format!("{name}: opened for {mode}"),
                format!("{wall:.1} ({:.1} CPU)", cpu * 1e3),
                "ms",
            );
        }
        let index = open(place, WRITE).map_err(failed)?;
        self.queries(&name, &index, &mut maker, documents, queries)?;
        self.nearest(&name, &index, &mut maker, documents)?;
        self.single(&name, &index, &mut maker, documents)?;
        let usage = getrusage(UsageWho::RUSAGE_SELF).map_err(|e| BenchError::new("memory", e))?;
        let peak = usage.max_rss() as f64 / 1024.0;
        self.report(
            format!("{name}: peak of memory, with mapped files"),
            format!("{peak:.0}"),
            "MiB",
        );
        Ok(())
    }

    /// Adds all documents in batches. Counts the CPU seconds of the process, which include merges
    /// of segments but not the creation of documents.
    fn fill(
        &mut self,
        name: &str,
        index: &Index,
        maker: &mut DocumentMaker,
        documents: u64,
    ) -> Result<(), BenchError> {
        let failed = |error| BenchError::new(name, error);
        let mut windows = Vec::new();
        let mut number = 0;
        while number < documents {
            let end = (number + WINDOW).min(documents);
            let count = end - number;
            let mut making = 0.0;
            let mut wall = 0.0;
            let (total, result) = measure::process_cpu(|| -> Result<(), BenchError> {
                while number < end {
                    let to = (number + self.batch).min(end);
                    let (cpu, batch) = measure::thread_cpu(|| {
                        (number..to).map(|number| maker.make(number)).collect::<Vec<_>>()
                    })?;
                    making += cpu;
                    let changes: Vec<_> = batch.iter().map(|m| Change::Add(m.entry())).collect();
                    let begun = Instant::now();
                    index.write(&changes).map_err(failed)?;
                    wall += begun.elapsed().as_secs_f64();
                    number = to;
                }
                Ok(())
            })?;
            result?;
            let rate = |seconds: f64| count as f64 / seconds;
            eprintln!("{number}: {:.0} per CPU s, {:.0} per s", rate(total - making), rate(wall));
            windows.push((count as f64, total - making, wall));
        }
        let mean = windows.iter().fold((0.0, 0.0, 0.0), |sum, window| {
            (sum.0 + window.0, sum.1 + window.1, sum.2 + window.2)
        });
        let rows = [
            ("first 100,000", windows.first().copied().unwrap_or(mean)),
            ("last 100,000", windows.last().copied().unwrap_or(mean)),
            ("all", mean),
        ];
        for (range, (count, cpu, wall)) in rows {
            let label = format!("{name}: added, {range}");
            let value = format!("{:.0} ({:.0})", count / cpu, count / wall);
            self.report(label, value, "documents a CPU second (second)");
        }
        Ok(())
    }

    /// Measures queries for documents of the index, and queries for documents without
    /// near-duplicates in it.
    fn queries(
        &mut self,
        name: &str,
        index: &Index,
        maker: &mut DocumentMaker,
        documents: u64,
        queries: u64,
    ) -> Result<(), BenchError> {
        let failed = |error| BenchError::new(name, error);
        let question = QueryRequest {
            threshold: 0.8,
            top: Some(10),
            nearest: None,
            filters: &[],
            now: 0,
            except: None,
            wanted: RecordFields::default(),
        };
        let mut scratch = QueryBuffers::default();
        for (kind, from) in [("that are there", 0), ("that are not", documents)] {
            let mut random = SplitMix64::new(1);
            let mut seconds = Vec::new();
            let mut cpu = 0.0;
            let mut found = 0;
            // The first half of the queries warms the caches.
            for turn in 0..2 * queries {
                // Every second number is a multiple of ten: a near-duplicate of
                // an earlier document.
                let number = from + random.below(documents) / ORIGINALS * ORIGINALS + turn % 2;
                let document = maker.make(if from == 0 {
                    number.min(documents - 1)
                } else {
                    // Such a number is not a multiple of ten, so the document resembles no other.
                    number / ORIGINALS * ORIGINALS + 3
                });
                let probe = QueryDocument {
                    set: &document.set,
                    fingerprint: document.fingerprint,
                    signature: &document.signature,
                };
                let begun = Instant::now();
                let (spent, answer) =
                    measure::thread_cpu(|| index.query(&probe, &question, &mut scratch))?;
                if turn >= queries {
                    seconds.push(begun.elapsed().as_secs_f64());
                    cpu += spent;
                    found += answer.map_err(failed)?.found;
                }
            }
            seconds.sort_by(f64::total_cmp);
            let at = |share: f64| seconds[(share * (seconds.len() - 1) as f64) as usize] * 1e6;
            let value = format!(
                "{:.0} / {:.0} ({:.0} CPU, {:.2} found)",
                at(0.5),
                at(0.99),
                cpu / queries as f64 * 1e6,
                found as f64 / queries as f64
            );
            self.report(format!("{name}: query for documents {kind}, p50 / p99"), value, "µs");
        }
        Ok(())
    }

    /// Measures queries for the ten nearest documents: of documents of the index, and of documents
    /// that resemble no other. The second kind needs the most comparisons.
    fn nearest(
        &mut self,
        name: &str,
        index: &Index,
        maker: &mut DocumentMaker,
        documents: u64,
    ) -> Result<(), BenchError> {
        let failed = |error| BenchError::new(name, error);
        let count = NonZeroUsize::MIN.saturating_add(9);
        let question = QueryRequest {
            threshold: 0.8,
            top: None,
            nearest: Some(NearestRequest { count, signatures: index.compact_signatures() }),
            filters: &[],
            now: 0,
            except: None,
            wanted: RecordFields::default(),
        };
        let mut scratch = QueryBuffers::default();
        for (kind, from) in [("that are there", 0), ("that are not", documents)] {
            let mut random = SplitMix64::new(2);
            let mut seconds = Vec::new();
            let mut compared = 0;
            let mut cpu = 0.0;
            for turn in 0..=self.nearest {
                let document =
                    maker.make(from + random.below(documents) / ORIGINALS * ORIGINALS + 3);
                let probe = QueryDocument {
                    set: &document.set,
                    fingerprint: document.fingerprint,
                    signature: &document.signature,
                };
                let begun = Instant::now();
                let (spent, answer) =
                    measure::thread_cpu(|| index.query(&probe, &question, &mut scratch))?;
                let elapsed = begun.elapsed().as_secs_f64();
                let answer = answer.map_err(failed)?;
                if turn == 0 && from == 0 {
                    let label = format!("{name}: compact signatures, read and kept");
                    let mib = index.compact_signatures().bytes() as f64 / f64::from(1 << 20);
                    self.report(label, format!("{elapsed:.2} s, {mib:.0}"), "MiB");
                } else if turn > 0 {
                    seconds.push(elapsed);
                    cpu += spent * 1e3;
                    compared += answer.candidates;
                }
            }
            if seconds.is_empty() {
                continue;
            }
            seconds.sort_by(f64::total_cmp);
            let at = |share: f64| seconds[(share * (seconds.len() - 1) as f64) as usize] * 1e3;
            let queries = seconds.len() as f64;
            let cpu = cpu / queries;
            let compared = compared as f64 / queries;
            let times = format!("{:.1} / {:.1}", at(0.5), at(0.99));
            let value = format!("{times} ({cpu:.1} CPU, {compared:.0} compared)");
            self.report(format!("{name}: 10 nearest of documents {kind}, p50 / p99"), value, "ms");
        }
        Ok(())
    }

    /// Measures writes of one document each.
    fn single(
        &mut self,
        name: &str,
        index: &Index,
        maker: &mut DocumentMaker,
        documents: u64,
    ) -> Result<(), BenchError> {
        let mut seconds = Vec::new();
        for number in documents..documents + 1000 {
            let document = maker.make(number);
            let begun = Instant::now();
            let result = index.write(&[Change::Add(document.entry())]);
            result.map_err(|error| BenchError::new(name, error))?;
            seconds.push(begun.elapsed().as_secs_f64());
        }
        seconds.sort_by(f64::total_cmp);
        let value = format!("{:.0} / {:.0}", seconds[500] * 1e6, seconds[990] * 1e6);
        self.report(format!("{name}: one document a write, p50 / p99"), value, "µs");
        Ok(())
    }
}

fn bytes_of(folder: &Path) -> Result<u64, BenchError> {
    let failed = |error| BenchError::new(folder.display(), error);
    let entries = std::fs::read_dir(folder).map_err(failed)?;
    entries.map(|entry| Ok(entry.map_err(failed)?.metadata().map_err(failed)?.len())).sum()
}
