//! Report pages with generated findings.

use lookalike::audit::{Audit, Figures, Interval, JudgedBy, SimilarityRange};
use lookalike::core::params::{Params, ParamsBuilder};
use lookalike::find::{GroupConcentration, RunCounts, SourceCounts};
use lookalike::progress::Stage;
use lookalike::report::html::{
    self, Page, PageDuplicate, PageGroup, PageParameter, PageSample, PageSkipped, Streams,
};
use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};
use std::time::Duration;

/// Ids and texts that could break a careless page.
pub(crate) const HOSTILE: [&str; 9] = [
    "</script><img src=x onerror=\"window.attacked=1\">",
    "<!-- <script> \"quoted\" 'twice' & &amp; &lt;",
    "nul\0 bell\u{7} escape\u{1b}[31m \r\n\t end",
    "\u{202e}txt.exe \u{200f}right to left \u{5e9}\u{5dc}\u{5d5}\u{5dd}",
    "emoji 👩‍👩‍👧‍👦 🏳️‍🌈 \u{feff}mark",
    "]]> {{x}} ${x} `x` \\u003c \\n javascript:alert(1)",
    "line\u{2028}separator\u{85}next \u{ad}soft",
    "İstanbul ΟΔΟΣ ß ŉ",
    "\u{e000}\u{10ffff}\u{fffe} non-characters",
];

const REASONS: [&str; 4] = [
    "it is the longer text",
    "it comes first in the input",
    "its id is first in byte order",
    "it is in the reference",
];

/// A generator of pseudorandom numbers (SplitMix64).
struct Random(u64);

impl Random {
    fn below(&mut self, bound: u64) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        (z ^ (z >> 31)) % bound
    }
}

/// Returns `count` groups, largest first. A group has about twelve documents on average.
fn groups(count: u64) -> impl Iterator<Item = PageGroup> {
    let mut random = Random(1);
    (0..count).map(move |at| {
        // A large page starts with a group of about `count` documents. Each of the next groups has
        // half as many as the group before it.
        let larger = match at {
            0..20 if count >= 100_000 => count >> at,
            0..30 => 3_000 / (at + 1),
            _ => 0,
        };
        let size = 1 + larger + (count - at) * 19 / count;
        let mut duplicates: Vec<PageDuplicate> = (0..size)
            .map(|place| PageDuplicate {
                about: None,
                id: format!("archive/{}/letter-{at:06}-copy-{place}.txt", 1990 + at % 30),
                similarity: match random.below(5) {
                    0 => 1_000_000,
                    _ => 1_000_000 - (random.below(447).pow(2) as u32),
                },
                bytes: 900 + random.below(9_000),
                reason: random.below(3) as usize,
            })
            .collect();
        duplicates.sort_by(|a, b| b.similarity.cmp(&a.similarity).then_with(|| a.id.cmp(&b.id)));
        PageGroup {
            about: None,
            keeper: format!("archive/{}/letter-{at:06}.txt", 1990 + at % 30),
            bytes: 10_000 + random.below(1_000),
            reference: at % 97 == 3,
            duplicates,
            sample: None,
        }
    })
}

/// Returns a text of numbered sentences, some of which `other` changes.
fn text(other: bool) -> String {
    let mut out = String::from("Dear Sir or Madam,\n\n");
    for at in 1..=40 {
        let day = if other && at % 17 == 3 { "Tuesday" } else { "Monday" };
        let case = format!("the papers of case {at}, which you had asked for");
        out.extend(["On ", day, " we sent you ", &case, ". "]);
        if other && at == 20 {
            out.push_str("A second copy went to your office in the harbour. ");
        }
        if !other && at == 30 {
            out.push_str("Please confirm that you have received them. ");
        }
        if at % 5 == 0 {
            out.push_str("\n\n");
        }
    }
    out.push_str("Yours faithfully\n");
    out
}

fn audit() -> Audit {
    let figures = |documents: u64, found: u64, low, high| Figures {
        documents,
        found,
        recall: (documents > 0).then(|| found as f64 / documents as f64),
        interval: Interval { low, high },
        pairs: documents,
        pair_recall: None,
        pair_interval: None,
    };
    let range = |from, to, documents, found, low, high| SimilarityRange {
        from,
        to,
        figures: figures(documents, found, low, high),
    };
    Audit {
        judged_by: JudgedBy::Pairs,
        confidence: 0.95,
        seed: 1,
        population: 100_000,
        sampled: 2_000,
        overall: figures(431, 430, 0.9936, 0.9998),
        ranges: vec![
            range(0.8, 0.85, 212, 211, 0.974, 0.9999),
            range(0.85, 0.9, 308, 307, 0.982, 0.9999),
            range(0.9, 0.95, 0, 0, 0.0, 1.0),
            range(0.95, 1.0, 391, 391, 0.9906, 1.0),
            range(1.0, 1.0, 200, 200, 0.9817, 1.0),
        ],
    }
}

fn sources(groups: u64) -> Vec<SourceCounts> {
    let names = ["archive/2019", "archive/2020", "letters from the harbour", "scans", HOSTILE[0]];
    let source = |(at, name): (usize, &&str)| SourceCounts {
        name: (*name).into(),
        documents: groups * 4 + 10 * at as u64,
        bytes: groups * 40_000,
        duplicates: if at == 3 { groups * 3 } else { groups * at as u64 / 2 },
        duplicate_bytes: groups * 9_876,
        reference: at == 0,
    };
    names.iter().enumerate().map(source).collect()
}

fn skipped(count: u64) -> impl Iterator<Item = PageSkipped> {
    (0..count).map(|at| PageSkipped {
        source: format!("corpus-{}.jsonl", at % 7),
        line: Some(at * 31 + 1),
        id: (at % 3 == 0).then(|| HOSTILE[at as usize % HOSTILE.len()].to_owned()),
        reason: match at % 4 {
            0 => "empty: no tokens".into(),
            1 => format!("not JSON: expected a value at column {at}, got the end of the line"),
            2 => "binary: it holds a NUL byte".into(),
            _ => "the field \"text\" is missing".into(),
        },
    })
}

/// Puts the hostile ids, and one id of ten kilobytes, into the first groups.
fn with_hostile(groups: impl Iterator<Item = PageGroup>) -> impl Iterator<Item = PageGroup> {
    groups.enumerate().map(|(at, mut group)| {
        if let Some(hostile) = HOSTILE.get(at) {
            group.keeper = format!("{hostile} {at}");
            group.duplicates[0].id = format!("duplicate {hostile}");
        }
        if at == HOSTILE.len() {
            group.keeper = format!("long {} end-of-long", "0123456789".repeat(1024));
        }
        group
    })
}

/// Writes a page with `count` groups to the folder for the files of tests. Returns its path.
pub(crate) fn page(name: &str, count: u64) -> PathBuf {
    let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    let mut out = BufWriter::new(File::create(&path).unwrap());
    let (audit, sources) = (audit(), sources(count));
    let sample = |keeper: &str, duplicate: &str, similarity| PageSample {
        keeper: keeper.into(),
        duplicate: duplicate.into(),
        similarity,
        keeper_text: text(false),
        duplicate_text: text(true),
    };
    let mut samples = vec![
        sample("letters/a.txt", "letters/b.txt", 812_345),
        sample("letters/c.txt", "letters/d.txt", 912_345),
        sample(HOSTILE[0], HOSTILE[2], 999_999),
    ];
    samples[2].keeper_text = HOSTILE.join(" ");
    samples[2].duplicate_text = HOSTILE[1..].join(" ");
    let duplicates: u64 = groups(count).map(|group| group.duplicates.len() as u64).sum();
    let parameter = |name, value: &str, meaning: &str| PageParameter {
        name,
        value: value.to_owned(),
        meaning: meaning.to_owned(),
    };
    let page = Page {
        title: "Near-duplicates in archive/ and letters/",
        parameters: &[
            parameter("--threshold", "0.8", "least exact similarity of two documents"),
            parameter(
                "--recall",
                "0.99",
                "least predicted share of the pairs at the threshold that are found",
            ),
            parameter("--shingle", "words:5", "the units of comparison: runs of five words"),
            parameter("--keep", "longest", "which document is kept"),
        ],
        counts: RunCounts {
            documents: duplicates * 3 + 17,
            reference: 0,
            empty: 3,
            skipped: 2_500,
            copies: duplicates / 5,
            candidates: duplicates * 3,
            verified: duplicates * 2,
            groups: count,
            duplicates,
        },
        params: &Params::new(&ParamsBuilder::default()).unwrap(),
        notes: &[],
        concentration: GroupConcentration::default(),
        audit: Some(&audit),
        sources: &sources,
        reasons: &REASONS.map(str::to_owned),
        chains: false,
        samples: &samples,
        times: &[
            (Stage::Prepare, Duration::from_millis(1530)),
            (Stage::Bucket, Duration::from_millis(410)),
            (Stage::Decide, Duration::from_millis(2200)),
        ],
    };
    let streams = Streams {
        groups: &mut with_hostile(groups(count)).map(Ok),
        skipped: &mut skipped(2_500).map(Ok),
    };
    html::write(&mut out, &page, streams).unwrap();
    out.flush().unwrap();
    path
}
