//! Web pages: small pages with known texts, hostile pages, arbitrary bytes, and real pages compared
//! with the text of another reader.
#![allow(clippy::unwrap_used, reason = "a part of tests")]

use flate2::read::GzDecoder;
use lookalike_extract::{
    ExtractError, ExtractOptions, ExtractedPart, Extractor, FailedPart, Fields, HtmlText,
    LimitKind, Limits, PartSink,
};
use lookalike_test_support::document_set_path;
use proptest::prelude::*;
use std::collections::{BTreeMap, HashMap, HashSet};
use std::convert::Infallible;
use std::fs::File;
use std::io::{Read as _, Write as _};
use std::path::{Path, PathBuf};

/// The text and fields of a page, or its failure.
#[derive(Debug)]
struct Read(Result<(String, Fields), ExtractError>);

impl PartSink for Read {
    type Error = Infallible;

    fn part(&mut self, part: &ExtractedPart<'_>) -> Result<(), Infallible> {
        self.0 = Ok((part.text.to_owned(), part.fields.clone()));
        Ok(())
    }

    fn failed(&mut self, failed: &FailedPart<'_>) -> Result<(), Infallible> {
        self.0 = Err(failed.failure.clone());
        Ok(())
    }
}

fn read(html: HtmlText, limits: Limits, page: &[u8]) -> Result<(String, Fields), ExtractError> {
    let mut read = Read(Err(ExtractError::Binary));
    let options = ExtractOptions { html, limits, ..ExtractOptions::default() };
    let Ok(()) = Extractor::new(&options).extract("page.html", page, &mut read);
    read.0
}

fn text(html: HtmlText, page: impl AsRef<[u8]>) -> String {
    read(html, Limits::default(), page.as_ref()).unwrap().0
}

fn fixture(name: &str) -> Vec<u8> {
    let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../fixtures/extract/html");
    std::fs::read(folder.join(name)).unwrap()
}

#[test]
fn small_pages_match_expected_texts() {
    for page in ["article.html", "plain.html", "unclosed.html", "short.html", "chapter.xhtml"] {
        let stem = page.split('.').next().unwrap();
        for (html, which) in [(HtmlText::All, "all"), (HtmlText::Main, "main")] {
            let expected = String::from_utf8(fixture(&format!("{stem}.{which}.txt"))).unwrap();
            assert_eq!(text(html, fixture(page)), expected, "{page} {which}");
        }
    }
}

#[test]
fn pages_tell_about_themselves() {
    let (_, fields) = read(HtmlText::Main, Limits::default(), &fixture("article.html")).unwrap();
    for (name, value) in [
        ("title", "How bread rises — The Baker's Page"),
        ("author", "Ada Miller"),
        ("language", "en-GB"),
        ("date", "2023-04-30T22:15:00Z"),
        ("url", "https://bread.example/rise"),
    ] {
        assert_eq!(fields.get(name), Some(value), "{name}");
    }
    let (_, fields) = read(HtmlText::Main, Limits::default(), &fixture("chapter.xhtml")).unwrap();
    assert_eq!((fields.get("language"), fields.get("title")), (Some("de"), None));
}

#[test]
fn odd_markup_gives_its_text() {
    for (page, expected) in [
        ("<p>a<p>b<div>c</p>d", "a\nb\nc\nd"),
        ("a<b>b</b>c <i>d</i>", "abc d"),
        ("a<!-- --> b<!--> -->c", "a b -->c"),
        ("x &lt;b&gt; &amp;amp &#65;&#x42; &nope; &", "x <b> &amp AB &nope; &"),
        ("1 < 2 <é> </é> <3", "1 < 2 <é> <3"),
        ("<textarea>a <b>c</textarea>d", "a <b>c\nd"),
        ("<script><!-- </p> x</script>a<style></p></style>b", "ab"),
        ("<script src=x />a</script>b", "b"),
        ("<svg><title/><script/><path/></svg>a", "a"),
        ("<svg><text>no<p>a", "a"),
        ("<title>t</title><title>u</title>a", "a"),
        ("<pre>\n a\n  b</pre>c", " a\n  b\nc"),
        ("a<span hidden>b</span>c<i style=display:none>d</i>", "a c"),
        ("<div hidden><p>a</div></div>b", "b"),
        ("<div hidden=until-found>a</div>", "a"),
        ("<div style='display:none'>waits for a script</div>", "waits for a script"),
        ("<select><option>a<option>b</select>c", "c"),
        ("<a href=x>a<p>b</a>c", "a\nbc"),
        ("<DIV>a</DiV><BR/>b", "a\nb"),
        ("<dialog>a</dialog>b<dialog open>c</dialog>", "b\nc"),
        ("<plaintext>a</plaintext><b>", "a</plaintext><b>"),
        ("<p>e\u{301}\u{a0}ö\u{2003}x", "e\u{301}\u{a0}ö\u{2003}x"),
    ] {
        assert_eq!(text(HtmlText::All, page), expected, "{page}");
    }
    for page in
        ["<p>", "<script>a", "<!-- a", "<title>a", "<div hidden></div>", "<template>a</template>"]
    {
        let no_text = ExtractError::NoText { kind: "a web page".to_owned() };
        assert_eq!(read(HtmlText::All, Limits::default(), page.as_bytes()), Err(no_text), "{page}");
    }
}

/// Long enough to count as text by itself.
const LONG: &str = "Whoever walks along the river in the morning meets nobody but the herons, \
                    which stand in the reeds and wait for what the water brings.";

#[test]
fn main_text_is_marked_or_dense() {
    let menu = "<ul><li><a href=a>Home</a><li><a href=b>News</a><li><a href=c>Shop</a></ul>";
    let links = "<p><a href=a>One of many links</a>".repeat(5);
    for (page, expected) in [
        // The page marks its main text.
        (format!("{LONG}<div role=main><p>{LONG}</div>{LONG}"), vec![LONG]),
        (format!("{menu}<article>a</article><article>{LONG}</article><p>z"), vec!["a", LONG]),
        (format!("{menu}<main>{links}{menu}</main>"), vec!["Home", "many"]),
        (format!("<main><nav>{menu}</nav><p>{LONG}<aside>b</aside></main>"), vec![LONG, "b"]),
        (format!("<header>{LONG}</header><div>{LONG}"), vec![LONG]),
        (format!("<section><header>a</header><p>{LONG}</section>"), vec!["a", LONG]),
        (format!("<div id=content>{LONG}{links}</div>{menu}"), vec![LONG, "many"]),
        (format!("<div class=toc>{menu}</div>{LONG}"), vec!["Home", LONG]),
        // The marks of the page are implausible.
        (format!("<div class='menu'>{menu}<h1>a</h1><p>{LONG}</div>"), vec!["a", LONG]),
        (format!("<nav>{menu}<h1>a</h1><p>{LONG}"), vec!["a", LONG]),
        (format!("<div hidden>a<p>{LONG}"), vec!["a", LONG]),
        (format!("<main>x</main><p>{LONG}"), vec!["x", LONG]),
        (format!("<div id=content>x</div><p>{LONG}"), vec!["x", LONG]),
        // The main text is the dense part.
        (format!("{menu}<h1>a</h1><p>{LONG}<p>b<p>{LONG}{menu}<p>c{menu}"), vec!["a", "b", LONG]),
        (format!("<p>{LONG}{links}<p>{LONG}"), vec![LONG]),
        (format!("<p>{LONG}<p><a href=a>a</a><p>{LONG}"), vec![LONG, "a"]),
        (format!("<p>{LONG}<p>{LONG}<p>Copyright 2020 me<p>{}", &LONG[..95]), vec![LONG]),
        (format!("<h1>Copyright</h1><p>{LONG}"), vec!["Copyright", LONG]),
        (format!("{menu}<pre>a\nb</pre><p>{LONG}"), vec!["a", "b", LONG]),
        // The page has nearly no text.
        (format!("<nav>{menu}</nav>a"), vec!["Home", "a"]),
        (links.clone(), vec!["many"]),
        ("a".to_owned(), vec!["a"]),
    ] {
        let main = text(HtmlText::Main, &page);
        for word in ["Home", "many", "Copyright", "a", "b", "c", "x", "z", LONG] {
            let is_present = main.contains(word)
                && (word.len() > 1 || main.split_whitespace().any(|other| other == word));
            assert_eq!(is_present, expected.contains(&word), "{word:?} of {page} in {main}");
        }
    }
}

/// An algorithm that is not linear would take hours, the whole stack or all memory for these pages.
#[test]
fn hostile_pages_come_to_an_end() {
    const MANY: usize = 300_000;
    let repeat = |piece: &str| piece.repeat(MANY);
    let pages = [
        repeat("<"),
        repeat("</"),
        repeat("<!"),
        repeat("<!--"),
        repeat("<!-->"),
        repeat("<script>"),
        repeat("<div>"),
        repeat("<nav>"),
        repeat("<p hidden>"),
        repeat("<main>a"),
        repeat("<a href=x>") + &repeat("</b>"),
        "<section>".to_owned() + &repeat("<b>") + &repeat("</a></nav></i>"),
        repeat("<table><tr><td>"),
        repeat("<ul><li class=nav>a") + &repeat("</ul>"),
        (0..MANY).fold("<p".to_owned(), |tag, i| tag + &format!(" a{i}=b")) + ">",
        format!("<div class='{}'>a", repeat("nav ")),
        format!("<meta name=author content='{}'>a", repeat("nav ")),
        format!("<p {}>", repeat("x")),
        format!("<{}>", repeat("x")),
        format!("<title>{}", repeat("x")),
        repeat("&amp;"),
        repeat("&"),
        repeat("&CounterClockwiseContourIntegral;"),
        format!("&#{};", repeat("9")),
        format!("&{};", repeat("a")),
        repeat("<svg><p>"),
        repeat("<br>"),
        repeat("<p>a"),
        repeat(" \t"),
    ];
    for page in &pages {
        let page = format!("<p>It begins. {page}");
        for html in [HtmlText::All, HtmlText::Main] {
            let start = &page[..40];
            let (text, _) = read(html, Limits::default(), page.as_bytes()).expect(start);
            let begins = text.starts_with("It begins.");
            assert!(begins || html == HtmlText::Main, "{start}: {:?}", text.get(..40));
        }
    }
}

#[test]
fn limits_hold() {
    let page = "<p>a".repeat(100_000);
    let limits = Limits { expanded: 100_000, ..Limits::default() };
    let failure = read(HtmlText::All, limits, page.as_bytes()).unwrap_err();
    assert_eq!(failure, ExtractError::Limit { kind: LimitKind::Expanded, limit: 100_000 });
    let limits = Limits { expanded: 200_000, ..Limits::default() };
    assert!(read(HtmlText::All, limits, page.as_bytes()).is_ok());
}

/// Pieces of pages, and arbitrary bytes.
fn piece() -> impl Strategy<Value = Vec<u8>> {
    const PIECES: &[&str] = &[
        "<",
        ">",
        "</",
        "/>",
        "<!--",
        "-->",
        "<p>",
        "</p>",
        "<div>",
        "</div>",
        "<nav>",
        "</nav>",
        "<main>",
        "</main>",
        "<article>",
        "</article>",
        "<a href=x>",
        "</a>",
        "<ul><li>",
        "</ul>",
        "<td>",
        "<tr>",
        "<table>",
        "</table>",
        "<div class=sidebar>",
        "<div id=content>",
        "<b>",
        "</b>",
        "<p hidden>",
        "<span style='display:none'>",
        "</span>",
        "<pre>",
        "</pre>",
        "<br>",
        "<script>",
        "</script>",
        "<svg>",
        "</svg>",
        "<math>",
        "<title>",
        "</title>",
        "<select>",
        "<footer>",
        "</footer>",
        "<aside>",
        "<template>",
        "</template>",
        "<div class=toc>",
        "&amp;",
        "&eacute",
        "&#x",
        "&#128512;",
        " ",
        "\n",
        "word",
        "ein Satz von einiger Länge, ",
        "© ",
        "Copyright 2020 ",
        "<meta charset=big5>",
        "<textarea>",
        "<h1>",
        "</h1>",
        "<html xmlns=x>",
        "a long enough sentence which stands outside of all links and so is text of the page ",
    ];
    prop_oneof![
        20 => prop::sample::select(PIECES).prop_map(|piece| piece.as_bytes().to_vec()),
        1 => prop::collection::vec(any::<u8>(), 0..8),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig {
        failure_persistence: None,
        ..ProptestConfig::with_cases(2000)
    })]

    #[test]
    fn any_bytes_are_read(pieces in prop::collection::vec(piece(), 0..120)) {
        let page = pieces.concat();
        let all = read(HtmlText::All, Limits::default(), &page);
        let main = read(HtmlText::Main, Limits::default(), &page);
        let crashed =
            |read: &Result<_, ExtractError>| matches!(read, Err(ExtractError::Crashed { .. }));
        prop_assert!(!crashed(&all) && !crashed(&main), "{all:?} {main:?}");
        prop_assert_eq!(all.is_ok(), main.is_ok());
        if let (Ok((all, _)), Ok((main, _))) = (all, main) {
            // The words of the main text occur in the same order in the full text.
            let mut words = all.split_whitespace();
            for word in main.split_whitespace() {
                prop_assert!(words.any(|other| other == word), "{word} of {main:?} in {all:?}");
            }
        }
    }
}

/// Returns the hashes of all runs of `n` words.
fn shingles(text: &str, n: usize) -> HashSet<u64> {
    use std::hash::{BuildHasher as _, BuildHasherDefault, DefaultHasher};
    let words: Vec<&str> = text.split_whitespace().collect();
    let hash = |words: &[&str]| BuildHasherDefault::<DefaultHasher>::default().hash_one(words);
    if words.len() < n && !words.is_empty() {
        return HashSet::from([hash(&words)]);
    }
    words.windows(n).map(hash).collect()
}

fn jaccard(a: &HashSet<u64>, b: &HashSet<u64>) -> f64 {
    let common = a.intersection(b).count();
    common as f64 / (a.len() + b.len() - common).max(1) as f64
}

/// Returns the pairs with a similarity of at least `tenths` / 10. Compares pages that share a
/// shingle.
#[expect(clippy::iter_over_hash_type, reason = "pairs are a set, too")]
fn pairs(sets: &[HashSet<u64>], tenths: usize) -> HashSet<(usize, usize)> {
    let mut having: HashMap<u64, Vec<usize>> = HashMap::new();
    let mut found = HashSet::new();
    for (a, set) in sets.iter().enumerate() {
        let mut common = vec![0; a];
        for shingle in set {
            let others = having.entry(*shingle).or_default();
            for other in &*others {
                common[*other] += 1;
            }
            others.push(a);
        }
        for (b, common) in common.into_iter().enumerate() {
            if common > 0 && common * 10 >= tenths * (set.len() + sets[b].len() - common) {
                found.insert((b, a));
            }
        }
    }
    found
}

/// The parts of an id and title that show whether pages are versions of each other.
struct Name {
    manual: String,
    file: String,
    /// The title without the chapter number, which differs between versions.
    title: String,
}

impl Name {
    fn new(id: &str, title: &str) -> Self {
        let (manual, rest) = id.split_once('/').unwrap();
        let file = rest.rsplit('/').next().unwrap();
        let is_numbered = |word: &str| word.ends_with('.');
        let named = |word: &str| word == "Chapter" || word == "Appendix";
        let words = title.split_whitespace().skip_while(|word| is_numbered(word) || named(word));
        let title = words.collect::<Vec<_>>().join(" ");
        Self { manual: manual.to_owned(), file: file.to_owned(), title }
    }

    fn is_version_of(&self, other: &Self) -> bool {
        self.manual == other.manual && self.file == other.file
    }

    fn is_other_page_than(&self, other: &Self) -> bool {
        self.manual == other.manual && self.file != other.file && self.title != other.title
    }
}

/// Returns the oracle's visible text and title, and the page itself, by id.
fn real_pages(folder: &Path) -> BTreeMap<String, (String, String, Vec<u8>)> {
    let open = |name: &str| GzDecoder::new(File::open(folder.join(name)).unwrap());
    let mut lines = String::new();
    open("docs.jsonl.gz").read_to_string(&mut lines).unwrap();
    let mut pages = BTreeMap::new();
    for line in lines.lines() {
        let row: serde_json::Value = serde_json::from_str(line).unwrap();
        let value = |name: &str| row[name].as_str().unwrap().to_owned();
        pages.insert(value("id"), (value("text"), value("title"), Vec::new()));
    }
    let mut archive = tar::Archive::new(open("raw.tar.gz"));
    for member in archive.entries().unwrap() {
        let mut member = member.unwrap();
        let id = member.path().unwrap().to_str().unwrap().to_owned();
        if let Some(page) = pages.get_mut(&id) {
            member.read_to_end(&mut page.2).unwrap();
        }
    }
    pages
}

/// The full text is nearly the same as the text of another reader. Main texts keep versions of a
/// page similar, and make different pages with equal menus less similar.
#[test]
fn real_pages_match_another_reader() {
    let Some(folder) = document_set_path("html") else { return };
    let pages = real_pages(&folder);
    assert_eq!(pages.len(), 848);
    let (mut similarity, mut all, mut main) = (0.0, Vec::new(), Vec::new());
    for (id, (oracle, title, page)) in &pages {
        let (text, fields) = read(HtmlText::All, Limits::default(), page).expect(id);
        similarity += jaccard(&shingles(oracle, 3), &shingles(&text, 3)) / pages.len() as f64;
        assert_eq!(fields.get("title").unwrap_or_default(), title, "{id}");
        all.push(shingles(oracle, 5));
        main.push(shingles(&self::text(HtmlText::Main, page), 5));
    }

    let names: Vec<Name> = pages.iter().map(|(id, (_, title, _))| Name::new(id, title)).collect();
    let versions = |(a, b): &&(usize, usize)| names[*a].is_version_of(&names[*b]);
    let (of_all, of_main) = (pairs(&all, 8), pairs(&main, 8));
    let together = of_all.iter().filter(versions).count();
    let kept = of_all.intersection(&of_main).filter(versions).count();
    let other = |(a, b): &&(usize, usize)| names[*a].is_other_page_than(&names[*b]);
    let read_in_sandbox = |sets: &[_], tenths| pairs(sets, tenths).iter().filter(other).count();
    let (before, after) = (read_in_sandbox(&all, 2), read_in_sandbox(&main, 2));
    let figures = format!(
        "all of the text: {similarity:.4} like the oracle's; main text: of {together} pairs of \
         versions at 0.8 or more {kept} stay; pairs of different pages at 0.2 or more: {after}, \
         were {before}; at 0.5 or more: {}, were {}",
        read_in_sandbox(&main, 5),
        read_in_sandbox(&all, 5),
    );
    writeln!(std::io::stderr(), "{figures}").unwrap();
    assert!(similarity >= 0.99, "{figures}");
    assert!(kept * 100 >= together * 99, "{figures}");
    assert!(before >= 100 && after * 4 <= before, "{figures}");
}
