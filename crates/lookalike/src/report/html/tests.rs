//! The page as a whole, without a browser; `tests/html/main.rs` opens it in one.

use super::*;
use lookalike_core::params::ShingleRule;

const HOSTILE: &str = "</script><img src=x onerror=alert(1)>\"'<!--\0\u{1b}\u{202e}";

fn group(keeper: &str, id: &str) -> PageGroup {
    let about =
        |text: &str| Some(About { heading: text.into(), source: text.into(), date: text.into() });
    let (similarity, bytes, reason) = (912_345, 10, 0);
    let duplicate = PageDuplicate { id: id.into(), about: about(id), similarity, bytes, reason };
    PageGroup {
        keeper: keeper.into(),
        about: about(keeper),
        bytes: 12,
        reference: true,
        duplicates: vec![duplicate],
    }
}

fn shown(
    text: &str,
    groups: &[PageGroup],
    skipped: &[PageSkipped],
    sources: &[PageSource],
) -> String {
    let rule = ShingleRule::default();
    let recall = PageInterval { value: 0.99, low: 0.95, high: 0.999 };
    let bin = AuditBin { from: 0.8, to: 1.0, checked: 9, found: 9, recall };
    let audit = PageAudit {
        what: text.into(),
        recall,
        confidence: 0.95,
        complete: false,
        sampled: 2000,
        with_neighbours: 100,
        bins: vec![bin.clone(), AuditBin { from: 1.0, checked: 0, ..bin }],
    };
    let samples = [PageSample {
        keeper: text.into(),
        duplicate: text.into(),
        similarity: 900_000,
        keeper_text: format!("one {text} two"),
        duplicate_text: format!("one {text} three"),
    }];
    let page = Page {
        title: text,
        version: "1.2.3",
        parameters: &[PageParameter { name: "--threshold", value: text, meaning: text }],
        counts: PageCounts { documents: 1000, groups: 1, duplicates: 10, ..PageCounts::default() },
        notes: &[text.into()],
        measure: "Jaccard similarity",
        threshold: 0.8,
        shingle: &rule,
        recall: Recall::Banding { bands: 21, rows: 6, asked: 0.99, caveat: None },
        concentrated: Some((60, 0.75)),
        audit: Some(&audit),
        sources,
        reasons: &[text],
        chains: true,
        samples: &samples,
        times: &[("reading", 1.5)],
    };
    let mut out = Vec::new();
    let streams = Streams {
        groups: &mut groups.iter().cloned().map(Ok),
        skipped: &mut skipped.iter().cloned().map(Ok),
    };
    write(&mut out, &page, streams).unwrap();
    String::from_utf8(out).unwrap()
}

/// The tags of a page, in order, and whether each that opens is closed in its place.
fn tags(html: &str) -> Vec<String> {
    const EMPTY: [&str; 3] = ["meta", "input", "!DOCTYPE"];
    let (mut rest, mut tags, mut open) = (html, Vec::new(), Vec::<String>::new());
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
fn texts_of_the_user_add_no_tags() {
    let page = |text: &str| {
        let skipped = PageSkipped {
            source: text.into(),
            line: Some(3),
            id: Some(text.into()),
            reason: format!("binary: {text}"),
        };
        let source =
            PageSource { name: text.into(), documents: 2, duplicates: 2, ..PageSource::default() };
        shown(text, &[group(text, text)], &[skipped], &[source])
    };
    let hostile = page(HOSTILE);
    let longest = page(&HOSTILE.repeat(200));
    assert_eq!(tags(&page("plain")), tags(&hostile));
    for html in [hostile, longest] {
        assert!(!html.contains("<img") && !html.contains(['\0', '\u{1b}', '\u{202e}']));
    }
}

#[test]
fn the_page_says_what_is_needed() {
    let source = |name: &str, duplicates| PageSource {
        name: name.into(),
        documents: 100,
        duplicates,
        ..PageSource::default()
    };
    let sources = [source("calm", 50), source("wild", 60)];
    let html = shown("letters/", &[group("k", "d")], &[], &sources);
    tags(&html);
    for text in [
        "<strong>10</strong> of 1,000 documents (1.0 %) are near-duplicates",
        "threshold 0.8: 99.83 %",
        "between 95 % and 99.9 % with a confidence of 95 %",
        "which agrees with what was asked",
        "1 of 2 sources would lose more than half of its documents",
        "Chains were followed",
        "1.5 seconds",
        "title=\"0.912345\">0.912</data>",
        "every file and record was read",
    ] {
        assert!(html.replace('\u{a0}', " ").contains(text), "{text}");
    }
    assert_eq!(html.matches("⚠ more than half").count(), 1);
    assert!(html.find("wild") < html.find("calm"), "most duplicates first");
    // The name of a kind of element, which nothing fetches, is the only address.
    let addresses = html.replace("http://www.w3.org/2000/svg", "");
    assert!(!addresses.contains("http:") && !addresses.contains("https:"));
    assert_eq!(html.matches("</script>").count(), html.matches("<script").count());
}

#[test]
fn the_same_page_is_the_same_bytes() {
    let page = || shown("a", &[group("k", "d"), group("l", "e")], &[], &[]);
    assert_eq!(page(), page());
}

#[test]
fn nothing_found() {
    let html = shown("a", &[], &[], &[]);
    tags(&html);
    assert!(html.contains("id=\"list\"") && !html.contains("id=\"spread\""));
}
