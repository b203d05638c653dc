//! The stages of a divided run. The output has the bytes of a single run, however documents are
//! divided.
#![allow(clippy::unwrap_used, reason = "a test")]

use crate::collection::Drawn;
use crate::exact::rules;
use lookalike::core::disjoint_sets::DisjointSets;
use lookalike::core::hash::{self, SplitMix64};
use lookalike::core::keep::KeepPolicy;
use lookalike::core::params::{Measure, Params, ParamsBuilder, Scheme};
use lookalike::find::{self, FindOptions, Findings, Grouping, PairList};
use lookalike::progress::NoProgress;
use lookalike::read::{
    Collection, Document, DocumentRowError, DocumentRows, DocumentSink, InMemoryDocuments,
    ReadBuffers, ReadError, ReadOptions, Side, SkipReason, SkippedItem,
};
use lookalike::report::csv::{self, CellRule};
use lookalike::shard::{
    BucketRule, CheckedDocuments, Connector, Edge, GroupLines, KeyCollector, MemberRole, Node,
    NodeIdentity, PairLines, PairRow, RarityCounter, RarityCounters, ShardError, SimilarityRank,
    member_rows, merge_with_roots, node_of, pair_rows, part_of,
};
use proptest::prelude::*;
use std::collections::{BTreeMap, HashMap};
use std::num::{NonZeroU32, NonZeroUsize};
use std::sync::Arc;

/// The id and text of a document.
type Row = (String, String);

struct Rows(Vec<Row>);

impl DocumentRows for Rows {
    fn len(&self) -> usize {
        self.0.len()
    }

    fn id<'a>(&'a self, row: usize, _: &'a mut String) -> Result<&'a str, SkipReason> {
        Ok(&self.0[row].0)
    }

    fn text<'a>(&'a self, row: usize, _: &'a mut String) -> Result<&'a str, DocumentRowError> {
        Ok(&self.0[row].1)
    }

    /// Returns the last character of the text.
    fn field(&self, row: usize, _: usize, buffer: &mut String) -> bool {
        buffer.extend(self.0[row].1.chars().last());
        !buffer.is_empty()
    }
}

fn collection(rows: &[Row], reference: &[Row], options: &FindOptions) -> Collection {
    let side = |rows: &[Row]| {
        let rows = Arc::new(Rows(rows.to_vec()));
        vec![InMemoryDocuments { name: "documents".to_owned(), rows }]
    };
    let reading = ReadOptions { fields: options.fields(), ..ReadOptions::default() };
    let (documents, references) = (side(rows), side(reference));
    let references = if reference.is_empty() { &[] } else { &references[..] };
    Collection::of_sides(Side::InMemory(&documents), Side::InMemory(references), &reading).unwrap()
}

/// Returns random texts with the ids d000000, d000001, ….
fn drawn(documents: usize, seed: u64) -> Vec<Row> {
    let texts = Drawn { documents, vocabulary: 400, seed }.texts();
    texts.into_iter().enumerate().map(|(i, text)| (format!("d{i:06}"), text)).collect()
}

/// The bytes of groups and pairs, and the counts.
#[derive(Debug, PartialEq, Eq)]
struct Output {
    groups: String,
    lines: String,
    pairs: String,
    counts: [u64; 6],
}

fn counts(findings: &Findings) -> [u64; 5] {
    let counts = &findings.counts;
    [counts.copies, counts.candidates, counts.verified, counts.groups, counts.duplicates]
}

fn one_run(rows: &[Row], reference: &[Row], options: &FindOptions) -> Output {
    let opened = collection(rows, reference, options);
    let findings = find::in_collection(&opened, options, &NoProgress).unwrap();
    let (mut groups, mut lines, mut pairs) = (Vec::new(), Vec::new(), Vec::new());
    let measure = options.params.measure();
    csv::groups(&mut groups, &findings.groups, measure, CellRule::Exact).unwrap();
    lookalike::report::jsonl::groups(&mut lines, &findings.groups, measure).unwrap();
    let found = findings.pairs.as_ref().unwrap();
    csv::pairs(&mut pairs, found, measure, CellRule::Exact).unwrap();
    let [copies, candidates, verified, groups_found, duplicates] = counts(&findings);
    let empty = findings.counts.empty;
    Output {
        groups: String::from_utf8(groups).unwrap(),
        lines: String::from_utf8(lines).unwrap(),
        pairs: String::from_utf8(pairs).unwrap(),
        counts: [empty, copies, candidates, verified, groups_found, duplicates],
    }
}

/// The division of a collection.
#[derive(Clone, Copy)]
struct Division {
    tasks: usize,
    parts: u32,
    /// The number of bits of a node that are used. Few bits cause collisions.
    node_bits: u32,
    seed: u64,
}

impl Division {
    fn node(&self, id: &str, reference: bool) -> Node {
        Node(node_of(id, reference).0 >> (64 - self.node_bits))
    }
}

/// Adds documents to the collector of their task.
struct KeySink<'a> {
    collector: &'a mut KeyCollector,
    division: Division,
    reference: bool,
}

impl DocumentSink for KeySink<'_> {
    type Error = ReadError;

    fn document(&mut self, document: &Document<'_>) -> Result<(), ReadError> {
        self.collector.add(self.division.node(document.id, self.reference), document);
        Ok(())
    }

    fn skipped(&mut self, _: SkippedItem) -> Result<(), ReadError> {
        panic!("no row is skipped");
    }
}

/// Group size, keeper, reference, role, rank, id and overlap.
type OwnedMember = (u64, String, bool, MemberRole, SimilarityRank, String, Option<[u64; 3]>);

/// The rows of a part: group members, pairs and counts.
#[derive(Default)]
struct Decided {
    members: Vec<OwnedMember>,
    pairs: Vec<(String, String, [u64; 3])>,
    counts: [u64; 5],
}

/// Counts the shingles of some documents, with so few counters that many shingles share one.
fn counters(rows: &[Row], options: &FindOptions) -> RarityCounters {
    let opened = collection(rows, &[], options);
    let mut counter = RarityCounter::new(options, 8);
    while let Some(block) = opened.next_block().unwrap() {
        block.read(&mut ReadBuffers::default(), &mut counter).unwrap();
    }
    counter.counters().clone()
}

/// In exact runs, the keys are rare shingles.
fn bucket_rule(options: &FindOptions) -> BucketRule {
    if options.params.exact() {
        BucketRule::of_measure(options.params.measure())
    } else {
        BucketRule::Shared
    }
}

/// Runs all stages.
fn divided(rows: &[Row], reference: &[Row], options: &FindOptions, division: Division) -> Output {
    let mut random = SplitMix64::new(division.seed);
    let parts = NonZeroU32::new(division.parts).unwrap();
    let mut tasks: Vec<[Vec<Row>; 2]> = vec![Default::default(); division.tasks];
    for (side, rows) in [rows, reference].into_iter().enumerate() {
        for row in rows {
            let task = random.below(division.tasks as u64) as usize;
            tasks[task][side].push(row.clone());
        }
    }
    let mut counted = counters(rows, options);
    counted.merge(&counters(reference, options)).unwrap();
    let counted = Arc::new(counted);
    let rule = bucket_rule(options);
    let (mut connectors, mut empty) = (BTreeMap::<u32, Connector>::new(), 0);
    for task in &tasks {
        let of_signatures = KeyCollector::new(options, parts);
        let of_shingles = || KeyCollector::screening(options, parts, Arc::clone(&counted));
        let mut collector = of_signatures.unwrap_or_else(of_shingles);
        for (side, rows) in task.iter().enumerate() {
            let opened = collection(rows, &[], options);
            let mut buffers = ReadBuffers::default();
            while let Some(block) = opened.next_block().unwrap() {
                let reference = side == 1;
                let mut sink = KeySink { collector: &mut collector, division, reference };
                block.read(&mut buffers, &mut sink).unwrap();
                if random.below(2) == 0 {
                    flush(&mut collector, &mut connectors, rule);
                }
            }
        }
        flush(&mut collector, &mut connectors, rule);
        empty += collector.counts().1;
    }
    let (mut forests, mut identities) = (Vec::new(), HashMap::<Node, Vec<NodeIdentity>>::new());
    for connected in connectors.into_values().map(Connector::finish) {
        assert!(division.node_bits < 64 || connected.repeated.is_empty());
        forests.extend(connected.forest);
        for identity in connected.identities {
            identities.entry(identity.node).or_default().push(identity);
        }
    }
    let forest = merge_with_roots(forests.iter().copied());
    let decided = by_component(&forest, rows, reference, options, division, &identities);
    let mut out = sorted(decided, options);
    out.counts[0] = empty;
    out
}

fn flush(
    collector: &mut KeyCollector,
    connectors: &mut BTreeMap<u32, Connector>,
    rule: BucketRule,
) {
    for block in collector.flush() {
        let connector = connectors.entry(block.part).or_insert_with(|| Connector::new(rule));
        connector.add(&block.rows).unwrap();
    }
}

/// Runs whole components, several in one run.
fn by_component(
    forest: &[Edge],
    rows: &[Row],
    reference: &[Row],
    options: &FindOptions,
    division: Division,
    identities: &HashMap<Node, Vec<NodeIdentity>>,
) -> Decided {
    let mut components: HashMap<Node, Node> = HashMap::new();
    for edge in forest {
        components.insert(edge.node, edge.component);
    }
    let batches = u64::from(division.parts) + 1;
    let mut batch_rows: BTreeMap<u64, [Vec<Row>; 2]> = BTreeMap::new();
    for (side, rows) in [rows, reference].into_iter().enumerate() {
        for row in rows {
            let node = division.node(&row.0, side == 1);
            if let Some(component) = components.get(&node) {
                let batch = hash::mix64(component.0) % batches;
                batch_rows.entry(batch).or_default()[side].push(row.clone());
            }
        }
    }
    let mut decided = Decided::default();
    for [rows, reference] in batch_rows.into_values() {
        let nodes = rows.iter().map(|row| division.node(&row.0, false));
        let nodes = nodes.chain(reference.iter().map(|row| division.node(&row.0, true)));
        let check = |node| match identities[&node][..] {
            [identity] => Some(identity.check),
            _ => None,
        };
        let checks: Vec<Option<u64>> = nodes.map(check).collect();
        let opened = collection(&rows, &reference, options);
        let documents = CheckedDocuments { collection: &opened, checks: &checks };
        let findings = documents.decide(options, &NoProgress).unwrap();
        decided.add(&findings, options);
    }
    decided
}

/// Returns the checks of documents.
fn checks_of(rows: &[Row], options: &FindOptions) -> Vec<Option<u64>> {
    let one_part = NonZeroU32::MIN;
    let check = |row: &Row| {
        let mut collector = KeyCollector::new(options, one_part).unwrap();
        let opened = collection(std::slice::from_ref(row), &[], options);
        let division = Division { tasks: 1, parts: 1, node_bits: 64, seed: 0 };
        let mut sink = KeySink { collector: &mut collector, division, reference: false };
        let block = opened.next_block().unwrap().unwrap();
        block.read(&mut ReadBuffers::default(), &mut sink).unwrap();
        let mut connector = Connector::default();
        connector.add(&collector.flush()[0].rows).unwrap();
        Some(connector.finish().identities[0].check)
    };
    rows.iter().map(check).collect()
}

impl Decided {
    fn add(&mut self, findings: &Findings, options: &FindOptions) {
        for group in findings.groups.iter() {
            let group = group.unwrap();
            for row in member_rows(&group, options.params.measure()) {
                let overlap = row.overlap.map(|o| [o.intersection, o.left, o.right]);
                let (keeper, id) = (row.keeper.to_owned(), row.id.to_owned());
                let row = (row.size, keeper, row.reference, row.role, row.rank, id, overlap);
                self.members.push(row);
            }
        }
        let pairs = &mut self.pairs;
        pair_rows(findings, &mut |row| {
            let o = row.overlap;
            pairs.push((row.a.to_owned(), row.b.to_owned(), [o.intersection, o.left, o.right]));
            Ok::<_, ShardError>(())
        })
        .unwrap();
        for (sum, count) in self.counts.iter_mut().zip(counts(findings)) {
            *sum += count;
        }
    }
}

fn overlap([intersection, left, right]: [u64; 3]) -> lookalike::core::verify::Overlap {
    lookalike::core::verify::Overlap { intersection, left, right }
}

/// Sorts the rows and writes them in two ranges.
fn sorted(mut decided: Decided, options: &FindOptions) -> Output {
    use std::cmp::Reverse;
    let measure = options.params.measure();
    decided.members.sort_by(|a, b| {
        let key = |m: &OwnedMember| (Reverse(m.0), m.1.clone(), m.3, Reverse(m.4), m.5.clone());
        key(a).cmp(&key(b))
    });
    decided.pairs.sort();
    let keepers = decided.members.iter().enumerate().filter(|(_, m)| m.3 == MemberRole::Keeper);
    let starts: Vec<usize> = keepers.map(|(at, _)| at).collect();
    let middle = starts.get(starts.len() / 2).copied().unwrap_or(0);
    let before = starts.iter().filter(|start| **start < middle).count() as u64;
    let mut texts = [Vec::new(), Vec::new()];
    for (range, first) in [(0..middle, 1), (middle..decided.members.len(), before + 1)] {
        let mut csv = GroupLines::csv(measure, first, first == 1 && range.start == 0).unwrap();
        let mut jsonl = GroupLines::jsonl(measure, first);
        for member in &decided.members[range] {
            let row = lookalike::shard::MemberRow {
                size: member.0,
                keeper: &member.1,
                reference: member.2,
                role: member.3,
                rank: member.4,
                id: &member.5,
                overlap: member.6.map(overlap),
            };
            csv.push(&row).unwrap();
            jsonl.push(&row).unwrap();
        }
        texts[0].extend(csv.finish().unwrap());
        texts[1].extend(jsonl.finish().unwrap());
    }
    if middle == 0 {
        // The header of the second range is dropped, because both ranges begin the file.
        let header = texts[0].iter().position(|byte| *byte == b'\n').unwrap() + 1;
        texts[0].drain(..header);
    }
    let mut pairs = PairLines::new(measure, true);
    for (a, b, numbers) in &decided.pairs {
        pairs.push(&PairRow { a, b, overlap: overlap(*numbers) });
    }
    let [groups, lines] = texts.map(|text| String::from_utf8(text).unwrap());
    let pairs = String::from_utf8(pairs.finish()).unwrap();
    let [copies, candidates, verified, found, duplicates] = decided.counts;
    let counts = [0, copies, candidates, verified, found, duplicates];
    Output { groups, lines, pairs, counts }
}

fn options(builder: &ParamsBuilder) -> FindOptions {
    let base = FindOptions::new(Params::new(builder).unwrap());
    FindOptions { pairs: PairList::Exact, threads: NonZeroUsize::MIN, ..base }
}

#[test]
fn divided_runs_equal_one_run() {
    let low = ParamsBuilder { threshold: 0.5, ..ParamsBuilder::default() };
    let letters = ParamsBuilder {
        threshold: 0.6,
        shingle: "chars:4".parse().unwrap(),
        ..ParamsBuilder::default()
    };
    let keep = |rule: &str| KeepPolicy::new(vec![rule.parse().unwrap()]);
    let all = [
        options(&ParamsBuilder::default()),
        options(&low),
        FindOptions { keep: keep("shortest"), ..options(&low) },
        FindOptions { keep: keep("field:last"), ..options(&low) },
        FindOptions { grouping: Grouping::Components, ..options(&low) },
        options(&letters),
    ];
    for (seed, options) in (1..).zip(&all) {
        let rows = drawn(600, seed);
        let (documents, reference) = rows.split_at(500);
        for reference in [&[][..], reference] {
            let expected = one_run(documents, reference, options);
            assert!(expected.counts[4] > 10, "{:?}", expected.counts);
            for (tasks, parts, node_bits) in [(1, 1, 64), (3, 2, 64), (7, 5, 64), (40, 64, 64)] {
                let division = Division { tasks, parts, node_bits, seed };
                let got = divided(documents, reference, options, division);
                assert_eq!(got, expected, "{tasks} tasks, {parts} parts, option {seed}");
            }
        }
    }
}

#[test]
fn divided_exact_runs_equal_one_run() {
    let builder = ParamsBuilder { threshold: 0.5, exact: true, ..ParamsBuilder::default() };
    let part = ParamsBuilder { threshold: 0.8, measure: Measure::Containment, ..builder.clone() };
    let chains = FindOptions { grouping: Grouping::Components, ..options(&builder) };
    for (seed, options) in (1..).zip([options(&builder), options(&part), chains]) {
        let rows = drawn(600, seed);
        let (documents, reference) = rows.split_at(500);
        for reference in [&[][..], reference] {
            let mut expected = one_run(documents, reference, &options);
            assert!(expected.counts[4] > 10, "{:?}", expected.counts);
            for (tasks, parts) in [(1, 1), (3, 2), (40, 64)] {
                let division = Division { tasks, parts, node_bits: 64, seed };
                let mut got = divided(documents, reference, &options, division);
                // The number of comparisons depends on the frequencies of shingles in a part.
                for work in [2, 3] {
                    (got.counts[work], expected.counts[work]) = (0, 0);
                }
                assert_eq!(got, expected, "{tasks} tasks, {parts} parts, option {seed}");
            }
        }
    }
}

#[test]
fn node_collisions_change_no_findings() {
    let options = options(&ParamsBuilder { threshold: 0.5, ..ParamsBuilder::default() });
    let rows = drawn(500, 9);
    let mut expected = one_run(&rows, &[], &options);
    let division = Division { tasks: 3, parts: 4, node_bits: 8, seed: 9 };
    let mut got = divided(&rows, &[], &options, division);
    assert!(got.counts[3] >= expected.counts[3], "{:?} {:?}", got.counts, expected.counts);
    got.counts = [0; 6];
    expected.counts = [0; 6];
    assert_eq!(got, expected);
}

#[test]
fn flush_has_one_row_per_bucket() {
    let options = options(&ParamsBuilder::default());
    let text = "one two three four five six seven eight nine ten eleven";
    let rows: Vec<Row> = (0..1000).map(|i| (format!("{i}"), text.to_owned())).collect();
    let opened = collection(&rows, &[], &options);
    let parts = NonZeroU32::new(8).unwrap();
    let mut collector = KeyCollector::new(&options, parts).unwrap();
    let division = Division { tasks: 1, parts: 8, node_bits: 64, seed: 0 };
    let mut sink = KeySink { collector: &mut collector, division, reference: false };
    while let Some(block) = opened.next_block().unwrap() {
        block.read(&mut ReadBuffers::default(), &mut sink).unwrap();
    }
    let blocks = collector.flush();
    let bytes: usize = blocks.iter().map(|block| block.rows.len()).sum();
    let bands = options.params.bands();
    // Each part repeats the edges of its documents, so that they are next to their buckets.
    assert_eq!(bytes, 8 * 16 + bands * 16 + 8 * 999 * 16 + 1000 * 24);
    assert!(blocks.iter().all(|block| block.part < 8));
    assert_eq!((part_of(0, parts), part_of(u64::MAX, parts), part_of(1 << 63, parts)), (0, 7, 4));
}

#[test]
fn changed_or_missing_documents_are_errors() {
    let options = options(&ParamsBuilder::default());
    let rows: Vec<Row> = (0..3).map(|i| (format!("d{i}"), format!("a b c d e f {i}"))).collect();
    let checks = checks_of(&rows, &options);
    let decide = |rows: &[Row], checks: &[Option<u64>]| {
        let opened = collection(rows, &[], &options);
        let documents = CheckedDocuments { collection: &opened, checks };
        match documents.decide(&options, &NoProgress) {
            Err(error @ (ShardError::Changed { .. } | ShardError::Missing { .. })) => {
                Some(error.to_string())
            }
            Ok(_) => None,
            Err(error) => panic!("{error}"),
        }
    };
    assert_eq!(decide(&rows, &checks), None);
    assert_eq!(decide(&rows, &[checks[0], None, None]), None);
    let changed = ShardError::Changed { id: "d1".to_owned() }.to_string();
    assert_eq!(decide(&rows, &[checks[0], checks[2], checks[1]]), Some(changed.clone()));
    assert!(changed.contains("\"d1\"") && changed.contains("table"));
    let missing = ShardError::Missing { documents: 1 }.to_string();
    assert_eq!(decide(&rows[..2], &checks), Some(missing));
    let more = ShardError::Changed { id: "d2".to_owned() }.to_string();
    assert_eq!(decide(&rows, &checks[..2]), Some(more));
}

/// Returns the check of each document by its node. Documents without a token have none.
fn checks_by_node(sides: [&[Row]; 2], options: &FindOptions) -> HashMap<Node, u64> {
    let one_part = NonZeroU32::MIN;
    let rarest =
        || KeyCollector::screening(options, one_part, Arc::new(counters(sides[0], options)));
    let mut collector = KeyCollector::new(options, one_part).unwrap_or_else(rarest);
    let division = Division { tasks: 1, parts: 1, node_bits: 64, seed: 0 };
    for (rows, reference) in sides.into_iter().zip([false, true]) {
        let opened = collection(rows, &[], options);
        while let Some(block) = opened.next_block().unwrap() {
            let mut sink = KeySink { collector: &mut collector, division, reference };
            block.read(&mut ReadBuffers::default(), &mut sink).unwrap();
        }
    }
    let mut connectors = BTreeMap::new();
    flush(&mut collector, &mut connectors, bucket_rule(options));
    let identities = connectors.into_values().flat_map(|connector| connector.finish().identities);
    identities.map(|identity| (identity.node, identity.check)).collect()
}

/// Distributes the components of the pairs that `found` lists to `parts` at random. Documents that
/// share a bucket but are not a pair may be in different parts.
fn closed_cut(sides: [&[Row]; 2], found: &Output, parts: u64, seed: u64) -> Vec<[Vec<Row>; 2]> {
    let ids = sides.into_iter().flatten().map(|row| row.0.as_str());
    let numbers: HashMap<&str, u32> = ids.zip(0..).collect();
    let mut components = DisjointSets::new(numbers.len());
    for line in found.pairs.lines().skip(1) {
        let mut ids = line.split(',').map(|id| numbers[id]);
        components.join(ids.next().unwrap(), ids.next().unwrap());
    }
    let mut cut = vec![<[Vec<Row>; 2]>::default(); parts as usize];
    for (side, rows) in sides.into_iter().enumerate() {
        for row in rows {
            let component = components.first(numbers[row.0.as_str()]);
            let part = hash::mix64(u64::from(component) ^ seed) % parts;
            cut[part as usize][side].push(row.clone());
        }
    }
    cut
}

/// Returns the output for the parts of a random cut that separates no pair, and the output of one
/// run.
fn cut_and_whole(
    sides: [&[Row]; 2],
    options: &FindOptions,
    parts: u64,
    seed: u64,
) -> (Output, Output) {
    let whole = one_run(sides[0], sides[1], options);
    let known = checks_by_node(sides, options);
    let mut decided = Decided::default();
    for [rows, reference] in closed_cut(sides, &whole, parts, seed) {
        let nodes = rows.iter().map(|row| node_of(&row.0, false));
        let nodes = nodes.chain(reference.iter().map(|row| node_of(&row.0, true)));
        let checks: Vec<Option<u64>> = nodes.map(|node| known.get(&node).copied()).collect();
        let opened = collection(&rows, &reference, options);
        let documents = CheckedDocuments { collection: &opened, checks: &checks };
        decided.add(&documents.decide(options, &NoProgress).unwrap(), options);
    }
    (sorted(decided, options), whole)
}

/// Keeps the counts of groups and duplicates, which add up. The other counts depend on the work or
/// on the stage `keys`: a cut may separate equal documents of a reference collection, which are not
/// a pair.
fn without_work(output: Output) -> Output {
    let [_, _, _, _, groups, duplicates] = output.counts;
    Output { counts: [0, 0, 0, 0, groups, duplicates], ..output }
}

/// Generates options of all kinds that affect the result.
fn any_options() -> impl Strategy<Value = FindOptions> {
    let measures =
        [(Measure::Jaccard, false), (Measure::Jaccard, true), (Measure::Containment, true)];
    let schemes = [
        Scheme::FastSimilarity,
        Scheme::MultiplyShift,
        Scheme::ModPrime,
        Scheme::Xor,
        Scheme::XorMultiply,
    ];
    let keep = ["longest", "shortest", "first", "last", "field:last"];
    let similarity = (prop::sample::select(measures.to_vec()), 6u32..=20, rules());
    let signature = (prop::sample::select(schemes.to_vec()), any::<u64>());
    let result = (prop::sample::select(keep.to_vec()), prop::sample::select(&Grouping::ALL[..]));
    (similarity, signature, result).prop_map(|(similarity, (scheme, seed), (keep, grouping))| {
        let ((measure, exact), twentieths, shingle) = similarity;
        let threshold = f64::from(twentieths) / 20.0;
        let defaults = ParamsBuilder::default();
        let builder =
            ParamsBuilder { shingle, measure, threshold, exact, scheme, seed, ..defaults };
        let keep = KeepPolicy::new(vec![keep.parse().unwrap()]);
        FindOptions { keep, grouping, ..options(&builder) }
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(96))]

    #[test]
    fn cuts_through_no_pair_change_nothing(
        options in any_options(), seed: u64, vocabulary in 3u64..400, references in 0usize..60,
        parts in 1u64..12,
    ) {
        let texts = Drawn { documents: 150, vocabulary, seed }.texts();
        let id = |(i, text)| (format!("d{i:06}"), text);
        let rows: Vec<Row> = texts.into_iter().enumerate().map(id).collect();
        let (reference, documents) = rows.split_at(references);
        let (cut, whole) = cut_and_whole([documents, reference], &options, parts, seed);
        prop_assert_eq!(without_work(cut), without_work(whole));
    }
}

/// The cuts of the test above separate documents of one bucket, so the parts have fewer candidates.
#[test]
fn a_cut_may_go_through_buckets() {
    let options = options(&ParamsBuilder { threshold: 0.6, ..ParamsBuilder::default() });
    for seed in 1..4 {
        let rows = drawn(400, seed);
        let (cut, whole) = cut_and_whole([&rows, &[]], &options, 8, seed);
        assert!(cut.counts[2] < whole.counts[2], "{:?} {:?}", cut.counts, whole.counts);
        assert!(whole.counts[4] > 10, "{:?}", whole.counts);
        assert_eq!(without_work(cut), without_work(whole));
    }
}
