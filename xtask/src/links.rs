//! Checks the relative links of Markdown files: the file and the heading of each link must exist.

use crate::source;
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

/// The list of pages for language models.
const LIST: &str = "llms.txt";

/// The folder of the pages with the help of each command. The list does not contain these pages.
const HELP: &str = "docs/reference/commands/";

/// Reports relative links of Markdown files whose file or heading does not exist, and pages that
/// `llms.txt` does not list.
///
/// # Errors
/// If a file cannot be read.
pub(crate) fn check(
    root: &Path,
    files: &[String],
    findings: &mut Vec<String>,
) -> Result<(), String> {
    let mut pages = BTreeMap::new();
    let is_page = |name: &&String| source::extension(name) == "md" || *name == LIST;
    for name in files.iter().filter(is_page) {
        let text = std::fs::read_to_string(root.join(name));
        let text = text.map_err(|error| format!("cannot read {name}: {error}"))?;
        pages.insert(name.as_str(), without_code_blocks(&text));
    }
    let list = pages.get(LIST).map_or("", String::as_str);
    let is_listed = |name: &str| {
        !name.starts_with("docs/") || name.starts_with(HELP) || list.contains(&format!("({name})"))
    };
    for name in pages.keys().filter(|name| !is_listed(name)) {
        findings.push(format!("{name}: {LIST} does not list the page"));
    }
    let mut present: BTreeSet<&str> = files.iter().map(String::as_str).collect();
    for name in files {
        present.extend(name.match_indices('/').map(|(at, _)| &name[..at]));
    }
    let headings: BTreeMap<_, _> =
        pages.iter().map(|(name, text)| (*name, anchors(text))).collect();
    for (name, text) in &pages {
        for (number, link) in links(text) {
            let (path, anchor) = link.split_once('#').unwrap_or((link, ""));
            let target =
                if path.is_empty() { Some((*name).to_owned()) } else { resolve(name, path) };
            let target = target.filter(|target| present.contains(target.as_str()));
            let Some(target) = target else {
                findings.push(format!("{name}:{number}: {path} is not in the repository"));
                continue;
            };
            if let Some(anchors) = headings.get(target.as_str())
                && !anchor.is_empty()
                && !anchors.contains(anchor)
            {
                findings.push(format!("{name}:{number}: {target} has no heading #{anchor}"));
            }
        }
    }
    Ok(())
}

/// Empties the lines of fenced code blocks and their fences.
fn without_code_blocks(text: &str) -> String {
    let mut is_code = false;
    let line = |line: &str| {
        let is_fence = line.trim_start().starts_with("```");
        is_code ^= is_fence;
        if is_code || is_fence { "\n".to_owned() } else { format!("{line}\n") }
    };
    text.lines().map(line).collect()
}

/// Returns the relative links of a page with their line numbers.
fn links(text: &str) -> Vec<(usize, &str)> {
    let mut links = Vec::new();
    for (number, line) in (1..).zip(text.lines()) {
        for (start, end) in [("](", ')'), (" src=\"", '"'), (" srcset=\"", '"')] {
            let targets = line.split(start).skip(1).filter_map(|rest| rest.split_once(end));
            let targets = targets.map(|(target, _)| target).filter(|target| !target.contains(':'));
            links.extend(targets.map(|target| (number, target)));
        }
    }
    links
}

/// Returns the anchors of a page's headings, as GitHub and GitLab form them. The site has other
/// anchors for repeated headings.
fn anchors(text: &str) -> BTreeSet<String> {
    let mut counts = BTreeMap::<String, usize>::new();
    let mut anchors = BTreeSet::new();
    for line in text.lines().filter(|line| line.starts_with('#')) {
        let title = line.trim_start_matches('#').trim().to_lowercase();
        let is_kept = |letter: &char| letter.is_alphanumeric() || " -_".contains(*letter);
        let anchor: String = title.chars().filter(is_kept).collect::<String>().replace(' ', "-");
        let count = counts.entry(anchor.clone()).or_default();
        anchors.insert(if *count == 0 { anchor } else { format!("{anchor}-{count}") });
        *count += 1;
    }
    anchors
}

/// Returns the path of a link's target from the root, or `None` if it leads out of the root.
fn resolve(page: &str, link: &str) -> Option<String> {
    let mut parts: Vec<&str> = page.split('/').collect();
    parts.pop();
    for part in link.split('/').filter(|part| !part.is_empty() && *part != ".") {
        if part == ".." {
            parts.pop()?;
        } else {
            parts.push(part);
        }
    }
    Some(parts.join("/"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn anchors_follow_the_headings() {
        let text = "# `--keep name`: the version\n## Same\n```\n# no heading\n```\n## Same\n";
        let anchors = anchors(&without_code_blocks(text));
        assert_eq!(anchors, ["--keep-name-the-version", "same", "same-1"].map(String::from).into());
    }

    #[test]
    fn relative_links_are_resolved() {
        let text = without_code_blocks("[a](../b.md#c) [d](https://e.org)\n```\n[f](g)\n```\n");
        assert_eq!(links(&text), [(1, "../b.md#c")]);
        assert_eq!(resolve("docs/guides/a.md", "../b.md").as_deref(), Some("docs/b.md"));
        assert_eq!(resolve("a.md", "./docs/").as_deref(), Some("docs"));
        assert_eq!(resolve("docs/a.md", "../../b.md"), None);
        assert_eq!(links("<img src=\"a.svg\" alt=\"b\">"), [(1, "a.svg")]);
    }
}
