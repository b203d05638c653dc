//! Figures, not tests: how quick it is to add many documents and to ask for one, on a server of its
//! own that writes to the disk.

use crate::conformance::documents::Document;
use crate::postgres_server::Server;
use crate::{WRITE, postgres_open};
use lookalike_core::hash::{SplitMix64, mix64};
use lookalike_core::params::{Params, Wishes};
use lookalike_index::backend::{Backend, Change};
use lookalike_index::entry::Wanted;
use lookalike_index::postgres;
use lookalike_index::query::{Question, Scratch, query};
use lookalike_index::settings::{Settings, Store};
use std::io::Write as _;
use std::time::Instant;

const BATCH: u64 = 5_000;
/// Documents that are measured together.
const WINDOW: u64 = 100_000;

fn say(line: &str) {
    writeln!(std::io::stderr(), "{line}").unwrap();
}

/// A document of random values; one in ten has 85 % of those of an earlier one.
fn document(number: u64) -> Document {
    let mut random = SplitMix64::new(mix64(number ^ 0x5eed));
    let is_copy = number.is_multiple_of(10) && number > 0;
    let original = if is_copy { random.below(number) } else { number };
    let mut signature: Vec<u32> = (0..128).map(|i| mix64(original * 1024 + i) as u32).collect();
    if is_copy {
        for value in &mut signature {
            if random.below(100) < 15 {
                *value = random.next_u64() as u32;
            }
        }
    }
    let json = format!(r#"{{"language":"en","source":"feed-{:05}"}}"#, number % 100_000);
    Document {
        id: format!("{:016x}-{number:09}", mix64(number)),
        set: Vec::new(),
        code: Vec::new(),
        fingerprint: u128::from(mix64(number)) << 64 | u128::from(number),
        signature,
        text: String::new(),
        metadata: serde_json::from_str(&json).unwrap(),
        added: 1_700_000_000_000_000_000,
        modified: None,
        expires: None,
    }
}

#[test]
#[ignore = "takes minutes, and shows figures"]
#[expect(clippy::disallowed_methods, reason = "whoever measures says how much")]
fn measure() {
    let count = std::env::var("LOOKALIKE_DOCUMENTS").map_or(200_000, |n| n.parse().unwrap());
    let server = Server::start_with(&["shared_buffers=1GB", "max_wal_size=4GB"]).unwrap();
    let url = server.index("measured");
    let wishes = Wishes { num_hashes: Some(128), ..Wishes::default() };
    let settings = Settings::new(&Params::new(&wishes).unwrap(), "", Store::Signatures).unwrap();
    say(&format!("{} bands of {} rows", settings.bands, settings.rows));
    let backend = postgres::create(&url, &settings).unwrap();
    let mut seconds = 0.0;
    for number in (0..count).step_by(BATCH as usize) {
        let documents: Vec<_> = (number..number + BATCH).map(document).collect();
        let changes: Vec<Change<'_>> = documents.iter().map(Document::add).collect();
        let begun = Instant::now();
        backend.write(&changes).unwrap();
        seconds += begun.elapsed().as_secs_f64();
        if (number + BATCH).is_multiple_of(WINDOW) {
            let rate = WINDOW as f64 / seconds;
            say(&format!("{} documents: {rate:.0} a second", number + BATCH));
            seconds = 0.0;
        }
    }
    let stats = backend.stats().unwrap();
    let each = |bytes: u64| bytes as f64 / stats.documents as f64;
    let (docs, bands) = (each(stats.catalogue_bytes), each(stats.segment_bytes));
    say(&format!("bytes a document: {docs:.0} of docs, {bands:.0} of bands"));
    queries("as they came", &*backend, count);
    let begun = Instant::now();
    backend.compact(0).unwrap();
    say(&format!("compacted in {:.1} s", begun.elapsed().as_secs_f64()));
    queries("compacted", &*postgres_open(&url, WRITE), count);
    let begun = Instant::now();
    assert_eq!(backend.check().unwrap(), []);
    say(&format!("checked in {:.1} s", begun.elapsed().as_secs_f64()));
    let mut singles = Vec::new();
    for number in count..count + 1000 {
        let one = document(number);
        let begun = Instant::now();
        backend.write(&[one.add()]).unwrap();
        singles.push(begun.elapsed().as_secs_f64() * 1e6);
    }
    tell("one document a write", singles);
    let ids: Vec<String> = (0..BATCH).map(|number| document(number * 7).id).collect();
    let changes: Vec<Change<'_>> = ids.iter().map(|id| Change::Remove(id)).collect();
    let begun = Instant::now();
    backend.write(&changes).unwrap();
    say(&format!("removed: {:.0} a second", BATCH as f64 / begun.elapsed().as_secs_f64()));
}

fn queries(how: &str, backend: &dyn Backend, count: u64) {
    let question = Question {
        threshold: 0.8,
        top: Some(10),
        filters: &[],
        now: 0,
        except: None,
        wanted: Wanted::default(),
    };
    let (mut random, mut scratch) = (SplitMix64::new(1), Scratch::default());
    let (mut seconds, mut found) = (Vec::new(), 0);
    for turn in 0..4_000 {
        let one = document(random.below(count));
        let begun = Instant::now();
        let mut snapshot = backend.snapshot().unwrap();
        let settings = backend.settings();
        let answer = query(&mut *snapshot, settings, &one.probe(), &question, &mut scratch);
        drop(snapshot);
        // The first half warms up.
        if turn >= 2_000 {
            seconds.push(begun.elapsed().as_secs_f64() * 1e6);
            found += answer.unwrap().found;
        }
    }
    tell(&format!("query, {how} ({:.2} found)", found as f64 / 2e3), seconds);
}

fn tell(what: &str, mut micros: Vec<f64>) {
    micros.sort_by(f64::total_cmp);
    let at = |share: f64| micros[(share * (micros.len() - 1) as f64) as usize];
    say(&format!("{what}: p50 {:.0} µs, p99 {:.0} µs", at(0.5), at(0.99)));
}
