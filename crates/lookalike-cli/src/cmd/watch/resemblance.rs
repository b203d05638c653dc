//! The report about a document that was added.

use lookalike::report::phrases::{count, one_line};
use lookalike::watch::Resemblance;
use serde_json::{Value, json};

/// The most similar documents that a report names.
const NAMED: usize = 3;

/// One line for people.
pub(super) fn line(found: &Resemblance) -> String {
    let id = one_line(&found.id);
    let replaced = if found.replaced { "; replaced the earlier version" } else { "" };
    if found.matches.is_empty() {
        return format!("{id}: resembles nothing{replaced}");
    }
    let named: Vec<String> = found.matches.iter().take(NAMED).map(named).collect();
    let rest = found.total.saturating_sub(named.len() as u64);
    let rest = if rest == 0 { String::new() } else { format!(" and {}", count(rest, "other")) };
    format!("{id}: resembles {}{rest}{replaced}", named.join(", "))
}

/// The object of a line of `--json`, and of a webhook.
pub(super) fn to_json(found: &Resemblance) -> Value {
    let matches: Vec<Value> = found.matches.iter().map(|(id, similarity)| {
            json!({ "id": id, "similarity": similarity.parse::<f64>().unwrap_or(0.0) })
        }).collect();
    let group = match (found.matches.is_empty(), found.is_new_group) {
        (true, _) => Value::Null,
        (false, true) => "new".into(),
        (false, false) => "grown".into(),
    };
    json!({
        "id": found.id,
        "done": if found.replaced { "replaced" } else { "added" },
        "time": found.time,
        "group": group,
        "total": found.total,
        "matches": matches,
    })
}

fn named((id, similarity): &(String, String)) -> String {
    format!("{} ({similarity})", one_line(id))
}
