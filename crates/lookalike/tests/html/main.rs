//! The report page in a real browser. It makes no requests, causes no errors, and shows hostile
//! texts as texts. Users can search, open and read it, light and dark, narrow and without scripts.
//!
//! The tests leave pages and pictures in the folder for the files of tests (`tmp` in the target
//! folder). If no browser is installed, they print that they are skipped.
#![allow(clippy::unwrap_used, clippy::print_stderr, reason = "a test")]

mod browser;
mod made;

use browser::Browser;
use lookalike::contamination::{BenchmarkField, ContaminationOptions, MatchList, contamination};
use lookalike::progress::NoProgress;
use lookalike::read::{Collection, ReadOptions};
use lookalike::report::html;
use made::HOSTILE;
use serde_json::{Value, json};
use std::io::Write;
use std::path::{Path, PathBuf};

fn picture(name: &str) -> PathBuf {
    Path::new(env!("CARGO_TARGET_TMPDIR")).join(name)
}

/// Types into the search field and waits for the end of the search.
fn search(browser: &mut Browser, query: &str) {
    browser.evaluate(&format!(
        "{{ const field = document.getElementById('query'); field.value = {};\
         field.dispatchEvent(new Event('input', {{bubbles: true}})); }}",
        Value::from(query)
    ));
    browser.wait_for("!document.getElementById('status').textContent.includes('…')");
}

fn status(browser: &mut Browser) -> String {
    let text = browser.evaluate("document.getElementById('status').textContent");
    text.as_str().unwrap().to_owned()
}

#[test]
fn it_is_complete_searched_and_opened() {
    let Some(mut browser) = Browser::start() else { return };
    browser.view(1280, "light");
    browser.open(&made::page("page.html", 300));
    assert_eq!(status(&mut browser), "300 groups, here 1 to 50.");
    assert_eq!(browser.evaluate("document.querySelectorAll('#list > li').length"), 50);
    let order = "Array.from(document.querySelectorAll('main > section')).map(s => s.id).join(' ')";
    assert_eq!(
        browser.evaluate(order),
        "summary groups samples sources figures skipped recall parameters"
    );

    // Searches for the id of a duplicate in another case. The group marks the match.
    search(&mut browser, "LETTER-000123-Copy-2");
    assert_eq!(status(&mut browser), "1 group has an id with “letter-000123-copy-2”.");
    let hit = browser.evaluate("document.querySelector('.hit mark').textContent");
    assert_eq!(hit, "letter-000123-copy-2");
    browser.evaluate("document.querySelector('#list summary').click()");
    browser.wait_for("!!document.querySelector('#list .opened')");
    let rows = "document.querySelectorAll('#list .opened tbody tr').length";
    assert_eq!(browser.evaluate(rows), 12);
    let first = "document.querySelector('#list .opened tbody td').textContent";
    assert!(browser.evaluate(first).as_str().unwrap().contains("letter-000123-copy-2."));
    let why = browser.evaluate("document.querySelector('#list .why').textContent");
    assert!(why.as_str().unwrap().starts_with("Why it is kept: it "), "{why}");
    search(&mut browser, "no such id");
    assert_eq!(status(&mut browser), "No id holds “no such id”.");
    search(&mut browser, "");

    // Sorts the groups, reverses the order, and opens a large group part by part.
    browser.evaluate(
        "{ const order = document.getElementById('order'); order.value = 'small';\
         order.dispatchEvent(new Event('change')); }",
    );
    let sizes =
        "Array.from(document.querySelectorAll('#list .size')).map(s => parseInt(s.textContent))";
    let sizes: Vec<i64> = serde_json::from_value(browser.evaluate(sizes)).unwrap();
    assert!(sizes.is_sorted() && sizes[0] == 2, "{sizes:?}");
    browser.evaluate(
        "{ const order = document.getElementById('order'); order.value = 'number';\
         order.dispatchEvent(new Event('change')); }",
    );
    browser.evaluate("document.querySelectorAll('#pages button')[2].click()");
    assert_eq!(status(&mut browser), "300 groups, here 51 to 100.");
    browser.evaluate("document.querySelectorAll('#pages button')[0].click()");
    browser.evaluate("document.querySelector('#list summary').click()");
    browser.wait_for("!!document.querySelector('#list .opened button')");
    assert_eq!(browser.evaluate(rows), 100);
    browser.evaluate("document.querySelector('#list .opened button').click()");
    assert_eq!(browser.evaluate(rows), 600);
    assert_eq!(browser.complaints(), Vec::<String>::new());
}

#[test]
fn hostile_texts_are_texts() {
    let Some(mut browser) = Browser::start() else { return };
    browser.open(&made::page("hostile.html", 60));
    let texts: Vec<String> =
        serde_json::from_value(browser.evaluate(
            "Array.from(document.querySelectorAll('#list .id')).map(id => id.textContent)",
        ))
        .unwrap();
    assert_eq!(texts[0], format!("{} 0", HOSTILE[0]));
    assert_eq!(texts[2], "nul\\u{0} bell\\u{7} escape\\u{1b}[31m \\r\\n\\t end 2");
    assert!(texts[3].starts_with("\\u{202e}txt.exe \\u{200f}right"), "{}", texts[3]);
    for (at, hostile) in HOSTILE.into_iter().enumerate() {
        // A field of one line accepts no line ends.
        let line = hostile.split('\r').next().unwrap();
        search(&mut browser, &format!("duplicate {line}"));
        let groups = browser.evaluate("document.querySelectorAll('#list > li').length");
        assert_eq!(groups, 1, "{at}: {}", status(&mut browser));
        browser.evaluate("document.querySelector('#list summary').click()");
        browser.wait_for("!!document.querySelector('#list .opened')");
    }
    // The search ignores data that are not in an id.
    search(&mut browser, "u003c");
    assert_eq!(status(&mut browser), "1 group has an id with “u003c”.");
    search(&mut browser, "end-of-long");
    assert_eq!(status(&mut browser), "1 group has an id with “end-of-long”.");
    search(&mut browser, "\",\"");
    assert!(status(&mut browser).starts_with("No id holds"));
    assert_eq!(browser.evaluate("typeof window.attacked"), "undefined");
    assert_eq!(browser.evaluate("document.images.length + document.links.length"), 11);
    assert_eq!(browser.complaints(), Vec::<String>::new());
}

/// The page of a contamination run shows an item and a document side by side.
#[test]
fn runs_are_side_by_side() {
    let Some(mut browser) = Browser::start() else { return };
    let folder = tempfile::tempdir().unwrap();
    let file = |name: &str, texts: [String; 2]| {
        let [a, b] = texts.map(|text| json!({ "id": format!("{name} {text}"), "text": text }));
        let path = folder.path().join(format!("{name}.jsonl"));
        std::fs::write(&path, format!("{a}\n{b}\n")).unwrap();
        Collection::open(&[path], &ReadOptions::default()).unwrap()
    };
    let hostile = HOSTILE[0].to_owned();
    let items = file("items", [hostile.clone(), "Which of the two is it?".to_owned()]);
    let texts = [format!("Before {hostile}"), "So: WHICH of the two\nis it".to_owned()];
    let corpus = file("corpus", texts);
    let mut options = ContaminationOptions::new().unwrap();
    options.matches = MatchList::WithExcerpts;
    let fields = [BenchmarkField { name: None, collection: &items }];
    let found = contamination(&corpus, &fields, &options, &NoProgress).unwrap();
    let path = picture("contamination.html");
    let mut out = std::fs::File::create(&path).unwrap();
    html::contamination(&mut out, &found, &options).unwrap();
    browser.view(1280, "light");
    browser.open(&path);
    browser.evaluate("document.querySelectorAll('details').forEach(one => one.open = true)");
    let marks = browser
        .evaluate("Array.from(document.querySelectorAll('.row mark'), mark => mark.textContent)");
    let marks: Vec<String> = serde_json::from_value(marks).unwrap();
    assert_eq!(marks.len(), 4);
    assert!(marks.iter().any(|mark| mark == "WHICH of the two\nis it"), "{marks:?}");
    let is_next_to = "(() => { const [a, b] = document.querySelector('.row:not(.heads)').children; \
                  const [l, r] = [a, b].map(one => one.getBoundingClientRect()); \
                  return l.top === r.top && l.right <= r.left; })()";
    assert_eq!(browser.evaluate(is_next_to), true);
    browser.picture(&picture("contamination.png"), 4000);
    assert_eq!(browser.evaluate("typeof window.attacked"), "undefined");
    assert_eq!(browser.evaluate("document.images.length + document.scripts.length"), 0);
    assert_eq!(browser.complaints(), Vec::<String>::new());
}

#[test]
fn injected_markup_neither_runs_nor_loads() {
    let Some(mut browser) = Browser::start() else { return };
    let path = made::page("mistake.html", 60);
    let mistake = "<img src=\"http://127.0.0.1:9/x.png\" onerror=\"window.attacked = 1\">\
                   <script>window.attacked = 2</script><main";
    let html = std::fs::read_to_string(&path).unwrap().replacen("<main", mistake, 1);
    std::fs::write(&path, html).unwrap();
    browser.open(&path);
    assert_eq!(browser.evaluate("document.images.length"), 1);
    assert_eq!(browser.evaluate("typeof window.attacked"), "undefined");
    assert_eq!(status(&mut browser), "60 groups, here 1 to 50.");
    // The browser reports the attempt, so the other tests would notice one.
    let complaints = browser.complaints().join(" ");
    assert!(complaints.contains("Content Security Policy"), "{complaints}");
}

/// The least contrast of a text with its background (WCAG 2.2, 1.4.3), and its place.
const CONTRAST: &str = r"(() => {
  const rgb = (text) => text.match(/[\d.]+/g).map(Number);
  const light = (c) => {
    const [r, g, b] = c.slice(0, 3).map((v) => {
      v /= 255;
      return v <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4;
    });
    return 0.2126 * r + 0.7152 * g + 0.0722 * b;
  };
  const ground = (element) => {
    for (let e = element; e; e = e.parentElement) {
      const c = rgb(getComputedStyle(e).backgroundColor);
      if (c.length === 3 || c[3] > 0) return c;
    }
    return [255, 255, 255];
  };
  let least = [99, ''], seen = 0;
  const walk = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  while (walk.nextNode()) {
    const element = walk.currentNode.parentElement;
    const style = getComputedStyle(element);
    if (!walk.currentNode.textContent.trim() || !element.getClientRects().length) continue;
    if (['SCRIPT', 'STYLE', 'title', 'desc'].includes(element.tagName)) continue;
    if (element.disabled) continue;
    seen += 1;
    const color = rgb(element.closest('svg') ? style.fill : style.color);
    const [a, b] = [light(color), light(ground(element))].sort((x, y) => y - x);
    const contrast = (a + 0.05) / (b + 0.05);
    if (contrast < least[0]) {
      least = [contrast, element.className + ': ' + walk.currentNode.textContent.slice(0, 60)];
    }
  }
  return {least: least[0], where: least[1], seen};
})()";

#[test]
fn page_is_readable_in_all_layouts() {
    let Some(mut browser) = Browser::start() else { return };
    let page = made::page("looks.html", 300);
    for (width, scheme) in [(1280, "light"), (1280, "dark"), (360, "light"), (1600, "dark")] {
        browser.view(width, scheme);
        browser.open(&page);
        search(&mut browser, "letter-00002");
        browser.evaluate("document.querySelectorAll('#list summary')[3].click()");
        browser.wait_for("!!document.querySelector('#list .opened')");
        browser.evaluate("document.querySelectorAll('details').forEach(d => { d.open = true; })");
        browser.wait_for("document.querySelectorAll('#list .opened').length === 10");
        let found = browser.evaluate(CONTRAST);
        assert!(found["seen"].as_u64().unwrap() > 300, "{found}");
        assert!(found["least"].as_f64().unwrap() >= 4.5, "{scheme} {width}: {found}");
        let room = browser.evaluate("document.documentElement.scrollWidth <= innerWidth");
        assert_eq!(room, true, "{width}: wider than the window");
        browser.open(&page);
        browser.evaluate("document.querySelectorAll('#list summary')[12].click()");
        browser.wait_for("!!document.querySelector('#list .opened')");
        browser.picture(&picture(&format!("looks-{scheme}-{width}.png")), 12_000);
    }
    assert_eq!(browser.complaints(), Vec::<String>::new());
}

#[test]
fn keys_are_enough() {
    let Some(mut browser) = Browser::start() else { return };
    browser.view(1280, "light");
    browser.open(&made::page("keys.html", 60));
    browser.press("Tab");
    assert_eq!(browser.evaluate("document.activeElement.className"), "skip");
    browser.evaluate("document.getElementById('query').focus()");
    let ring = browser.evaluate(
        "getComputedStyle(document.activeElement).outlineStyle + document.activeElement.id",
    );
    assert_eq!(ring, "solidquery");
    browser.call("Input.insertText", &json!({ "text": "letter-000041-copy" }));
    browser.wait_for("document.getElementById('status').textContent.startsWith('1 group ')");
    for _ in 0..2 {
        browser.press("Tab");
    }
    assert_eq!(browser.evaluate("document.activeElement.tagName"), "SUMMARY");
    browser.press("Enter");
    browser.wait_for("!!document.querySelector('#list .opened')");
    // Every table has header cells, every picture a name and every field a label. No heading level
    // is skipped.
    let lacking = browser.evaluate(
        "[...document.querySelectorAll('table:not(:has(th[scope]))'),\
          ...document.querySelectorAll('svg:not([aria-hidden]):not([aria-labelledby])'),\
          ...Array.from(document.querySelectorAll('input, select')).filter(f => !f.labels.length),\
          ...Array.from(document.querySelectorAll('[id]')).filter(e =>\
             document.querySelectorAll('[id=\"' + e.id + '\"]').length > 1)\
         ].map(e => e.outerHTML.slice(0, 90))",
    );
    assert_eq!(lacking, json!([]));
    let headings = "Array.from(document.querySelectorAll('h1,h2,h3')).map(h => +h.tagName[1])";
    let headings: Vec<u8> = serde_json::from_value(browser.evaluate(headings)).unwrap();
    assert!(headings[0] == 1 && headings.windows(2).all(|two| two[1] <= two[0] + 1));
    assert_eq!(browser.complaints(), Vec::<String>::new());
}

#[test]
fn findings_are_readable_without_scripts() {
    let Some(mut browser) = Browser::start() else { return };
    browser.view(1280, "light");
    browser.call("Emulation.setScriptExecutionDisabled", &json!({ "value": true }));
    browser.open(&made::page("plain.html", 300));
    let text = browser.evaluate("document.querySelector('main').innerText");
    let text = text.as_str().unwrap();
    for needed in [
        "could be removed;",
        "Recall",
        "more than half",
        "The largest groups are shown",
        "Size of the groups",
        "Files and records not read",
    ] {
        assert!(text.contains(needed), "{needed}\n{text}");
    }
    assert_eq!(browser.evaluate("document.querySelectorAll('#list > li').length"), 50);
    assert_eq!(browser.evaluate("document.getElementById('controls').hidden"), true);
    browser.picture(&picture("plain.png"), 6_000);
}

#[test]
fn large_pages_are_listed_and_searched() {
    let Some(mut browser) = Browser::start() else { return };
    let path = made::page("large.html", 100_000);
    let bytes = path.metadata().unwrap().len();
    browser.view(1280, "light");
    // Processor time of the page's thread, which does not include other work on the machine.
    browser.call("Performance.enable", &json!({ "timeDomain": "threadTicks" }));
    browser.open(&path);
    browser.wait_for("!!document.documentElement.dataset.ready");
    assert_eq!(status(&mut browser), "100,000 groups, here 1 to 50.");
    let timed = browser.evaluate(
        "({paint: performance.getEntriesByName('first-contentful-paint')[0]?.startTime,\
          interactive: +document.documentElement.dataset.ready})",
    );
    let mut reported = format!("large page of {} MB: milliseconds {timed}", bytes / 1_000_000);
    let metrics = browser.call("Performance.getMetrics", &json!({}));
    for metric in metrics["metrics"].as_array().unwrap() {
        let name = metric["name"].as_str().unwrap();
        if ["ScriptDuration", "LayoutDuration", "TaskDuration", "JSHeapUsedSize"].contains(&name) {
            reported.extend(["; ", name, " ", &metric["value"].to_string()]);
        }
    }
    for query in ["l", "le", "letter-077777-copy", "2003", "nowhere", "COPY-19.txt"] {
        // The times until the field accepts the next letter, until the first groups, and until the
        // end.
        let timed = browser.evaluate(&format!(
            "new Promise(done => {{
              const field = document.getElementById('query'), start = performance.now();
              const state = document.getElementById('status'), ms = [];
              const past = () => ms.push(Math.round(performance.now() - start));
              field.value = {query:?};
              field.dispatchEvent(new Event('input', {{bubbles: true}}));
              past();
              const look = () => {{
                if (state.textContent.includes('…')) setTimeout(look, 0);
                else {{ past(); done(ms.concat(state.textContent)); }}
              }};
              look();
            }})"
        ));
        reported.extend(["\n  ", query, ": ", &timed.to_string()]);
        assert!(timed[2].as_str().unwrap().contains("group") || query == "nowhere", "{timed}");
    }
    let timed = browser.evaluate(
        "(() => { search = document.getElementById('query'); search.value = '';\
          search.dispatchEvent(new Event('input')); const o = document.getElementById('order');\
          return ['small', 'unlike', 'alike', 'bytes', 'number'].map(name => {\
            const start = performance.now(); o.value = name; o.dispatchEvent(new Event('change'));\
            return name + ' ' + Math.round(performance.now() - start); }); })()",
    );
    let opened = browser.evaluate(
        "new Promise(done => { const start = performance.now();\
          document.querySelector('#list summary').click(); const look = () => {\
            if (!document.querySelector('#list .opened')) setTimeout(look, 0);\
            else done(Math.round(performance.now() - start)); }; look(); })",
    );
    reported.extend(["\n  milliseconds to open the largest group: ", &opened.to_string()]);
    writeln!(std::io::stderr(), "{reported}\n  milliseconds to sort: {timed}").unwrap();
    browser.picture(&picture("large.png"), 3_000);
    assert_eq!(browser.complaints(), Vec::<String>::new());
}
