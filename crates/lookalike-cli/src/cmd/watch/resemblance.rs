//! What a document that was taken in resembles.

use lookalike::report::phrases::{count, one_line};
use lookalike::store::query::Match;
use serde_json::{Value, json};

/// The most similar documents that a report names.
const NAMED: usize = 3;

/// A document that was taken in, and what it resembles, the most similar first.
#[derive(Debug)]
pub(super) struct Resemblance {
    pub(super) id: String,
    /// Whether it replaced a former version.
    pub(super) replaced: bool,
    /// Ids and similarities with six decimals.
    pub(super) matches: Vec<(String, String)>,
    /// How many documents it resembles, listed or not.
    pub(super) total: u64,
    /// Whether what it resembles was alone before.
    pub(super) is_new_group: bool,
    /// When it was taken in, as text.
    pub(super) time: String,
}

impl Resemblance {
    /// Ids and similarities of matches.
    pub(super) fn listed(matches: &[Match]) -> Vec<(String, String)> {
        matches.iter().map(|one| (one.record.id.clone(), one.similarity.six_decimals())).collect()
    }

    /// One line for people.
    pub(super) fn line(&self) -> String {
        let id = one_line(&self.id);
        if self.matches.is_empty() {
            return format!("{id}: resembles nothing");
        }
        let named: Vec<String> = self.matches.iter().take(NAMED).map(named).collect();
        let rest = self.total.saturating_sub(named.len() as u64);
        let rest = if rest == 0 { String::new() } else { format!(" and {}", count(rest, "other")) };
        format!("{id}: resembles {}{rest}", named.join(", "))
    }

    /// The object of a line of `--json`, and of a webhook.
    pub(super) fn to_json(&self) -> Value {
        let matches: Vec<Value> = self.matches.iter().map(|(id, similarity)| {
            json!({ "id": id, "similarity": similarity.parse::<f64>().unwrap_or(0.0) })
        }).collect();
        let group = match (self.matches.is_empty(), self.is_new_group) {
            (true, _) => Value::Null,
            (false, true) => "new".into(),
            (false, false) => "grown".into(),
        };
        json!({
            "id": self.id,
            "done": if self.replaced { "replaced" } else { "added" },
            "time": self.time,
            "group": group,
            "total": self.total,
            "matches": matches,
        })
    }
}

fn named((id, similarity): &(String, String)) -> String {
    format!("{} ({similarity})", one_line(id))
}
