//! Tests the whole page without a browser. `tests/html/main.rs` opens it in a browser.

use super::*;
use crate::audit::{Audit, Figures, Interval, JudgedBy, SimilarityRange};
use crate::engine::{GroupConcentration, RunCounts, SourceCounts};
use crate::progress::Stage;
use lookalike_core::params::{Params, ParamsBuilder};
use std::time::Duration;

const HOSTILE: &str = "</script><img src=x onerror=alert(1)>\"'<!--\0\u{1b}\u{202e}";

fn group(keeper: &str, id: &str) -> PageGroup {
    let about = |text: &str| {
        let file = text.into();
        Some(About { heading: text.into(), source: text.into(), date: text.into(), file })
    };
    let similarity = 912_345;
    let bytes = 10;
    let reason = 0;
    let duplicate = PageDuplicate { id: id.into(), about: about(id), similarity, bytes, reason };
    PageGroup {
        keeper: keeper.into(),
        about: about(keeper),
        bytes: 12,
        reference: true,
        duplicates: vec![duplicate],
        sample: Some(sample(id)),
    }
}

fn sample(text: &str) -> PageSample {
    PageSample {
        keeper: text.into(),
        duplicate: text.into(),
        similarity: 900_000,
        keeper_text: format!("one {text} two"),
        duplicate_text: format!("one {text} three"),
    }
}

fn source(name: &str, documents: u64, duplicates: u64) -> SourceCounts {
    let name = name.to_owned();
    let bytes = 0;
    SourceCounts { name, documents, bytes, duplicates, duplicate_bytes: 0, reference: false }
}

fn render(
    text: &str,
    groups: &[PageGroup],
    skipped: &[PageSkipped],
    sources: &[SourceCounts],
) -> String {
    let overall = Figures {
        documents: 100,
        found: 99,
        recall: Some(0.99),
        interval: Interval { low: 0.95, high: 0.999 },
        pairs: 100,
        pair_recall: None,
        pair_interval: None,
    };
    let range = SimilarityRange { from: 0.8, to: 1.0, figures: overall };
    let no_figures = Figures { documents: 0, recall: None, ..overall };
    let audit = Audit {
        judged_by: JudgedBy::Pairs,
        confidence: 0.95,
        seed: 1,
        population: 9_000,
        sampled: 2000,
        overall,
        ranges: vec![range, SimilarityRange { from: 1.0, to: 1.0, figures: no_figures }],
    };
    let samples = [sample(text)];
    let parameter = PageParameter { name: "--threshold", value: text.into(), meaning: text.into() };
    let page = Page {
        title: text,
        parameters: &[parameter],
        counts: RunCounts { documents: 1000, groups: 1, duplicates: 10, ..RunCounts::default() },
        notes: &[text.into()],
        params: &Params::new(&ParamsBuilder::default()).unwrap(),
        concentration: GroupConcentration { largest: 60, pairs: 2_360 },
        audit: Some(&audit),
        sources,
        reasons: &[text.into()],
        chains: true,
        samples: &samples,
        times: &[(Stage::Prepare, Duration::from_millis(1500))],
    };
    let mut out = Vec::new();
    let streams = Streams {
        groups: &mut groups.iter().cloned().map(Ok),
        skipped: &mut skipped.iter().cloned().map(Ok),
    };
    write(&mut out, &page, streams).unwrap();
    String::from_utf8(out).unwrap()
}

/// Returns the tags of a page, in order. Checks that each tag that opens is closed in its place.
fn tags(html: &str) -> Vec<String> {
    const EMPTY: [&str; 3] = ["meta", "input", "!DOCTYPE"];
    let mut rest = html;
    let mut tags = Vec::new();
    let mut open = Vec::<String>::new();
    while let Some((_, after)) = rest.split_once('<') {
        let (tag, after) = after.split_once('>').unwrap();
        rest = after;
        let name = tag.trim_start_matches('/').split([' ', '\n', '/']).next().unwrap();
        tags.push(name.to_owned());
        if tag.starts_with('/') {
            assert_eq!(open.pop().as_deref(), Some(name), "{}", tags.len());
        } else if name == "script" || name == "style" {
            rest = rest.split_once(&format!("</{name}>")).unwrap().1;
        } else if !EMPTY.contains(&name) && !tag.ends_with('/') {
            open.push(name.to_owned());
        }
    }
    assert!(open.is_empty(), "{open:?}");
    tags
}

#[test]
fn user_texts_add_no_tags() {
    let page = |text: &str| {
        let skipped = PageSkipped {
            source: text.into(),
            line: Some(3),
            id: Some(text.into()),
            reason: format!("binary: {text}"),
        };
        render(text, &[group(text, text)], &[skipped], &[source(text, 2, 2)])
    };
    let hostile = page(HOSTILE);
    let longest = page(&HOSTILE.repeat(200));
    assert_eq!(tags(&page("plain")), tags(&hostile));
    for html in [hostile, longest] {
        assert!(!html.contains("<img") && !html.contains(['\0', '\u{1b}', '\u{202e}']));
    }
}

#[test]
fn page_shows_run_statistics() {
    let sources = [source("calm", 100, 50), source("wild", 100, 60)];
    let html = render("letters/", &[group("k", "d")], &[], &sources);
    tags(&html);
    for text in [
        "<strong>10</strong> of 1,000 documents (1.0 %) are near-duplicates",
        "threshold 0.8: 99.83 %",
        "between 95 % and 99.9 % with a confidence of 95 %",
        "which agrees with the requested recall",
        "1 of 2 sources</a> would lose more than half of its documents",
        "Chains were followed",
        "1.5 seconds",
        "title=\"0.912345\">0.912</data>",
        "every file and record was read",
    ] {
        assert!(html.replace('\u{a0}', " ").contains(text), "{text}");
    }
    assert_eq!(html.matches("⚠ more than half").count(), 1);
    assert!(html.find("wild") < html.find("calm"), "most duplicates first");
    // The only address is a namespace, which is never requested.
    let addresses = html.replace("http://www.w3.org/2000/svg", "");
    assert!(!addresses.contains("http:") && !addresses.contains("https:"));
    assert_eq!(html.matches("</script>").count(), html.matches("<script").count());
}

#[test]
fn page_rendering_is_deterministic() {
    let page = || render("a", &[group("k", "d"), group("l", "e")], &[], &[]);
    assert_eq!(page(), page());
}

#[test]
fn page_without_findings_is_valid() {
    let html = render("a", &[], &[], &[]);
    tags(&html);
    assert!(html.contains("id=\"list\"") && !html.contains("Size of the groups"));
}
