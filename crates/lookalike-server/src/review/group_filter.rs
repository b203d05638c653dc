//! Filters the groups of a list by similarity, size, category, metadata and words.

use crate::caches::group::DocumentGroup;
use crate::http::address::{QueryParameters, invalid_value};
use crate::http::problem::Problem;
use lookalike::store::entry::Metadata;
use lookalike::store::filter::MetadataFilter;
use serde_json::Value;
use std::ops::RangeInclusive;

/// Maximum length of a searched text, in characters.
const SEARCH_CHARS: usize = 200;

/// Conditions that a group must meet.
#[derive(Debug)]
pub(crate) struct GroupFilter {
    /// At least one duplicate has a similarity to the keeper in this range.
    similarity: RangeInclusive<f64>,
    /// The number of documents, including the keeper, is in this range.
    documents: RangeInclusive<usize>,
    /// At least one document meets all of these conditions.
    conditions: Vec<MetadataFilter>,
    /// This text, in lower case, occurs in the same document.
    pub(crate) search: Option<String>,
    /// The keeper is in the category with this path, or in a category below it.
    pub(crate) category: Option<String>,
}

impl GroupFilter {
    /// Names of the parameters; `filter` may be present several times.
    pub(crate) const PARAMETERS: [&str; 7] =
        ["least", "most", "min_documents", "max_documents", "filter", "search", "category"];

    pub(crate) fn read(parameters: &QueryParameters) -> Result<Self, Problem> {
        let similarity = |name, default| parameters.share(name, default);
        let documents = |name, default| parameters.number(name, u32::MAX as usize, default);
        let conditions = parameters.conditions()?;
        let search = parameters.text("search").filter(|text| !text.is_empty());
        if let Some(text) = search.filter(|text| text.chars().count() > SEARCH_CHARS) {
            return Err(invalid_value(
                "search",
                text,
                &format!("expected at most {SEARCH_CHARS} characters"),
            ));
        }
        Ok(Self {
            similarity: similarity("least", 0.0)?..=similarity("most", 1.0)?,
            documents: documents("min_documents", 1)?..=documents("max_documents", usize::MAX)?,
            conditions,
            search: search.map(str::to_lowercase),
            category: parameters.text("category").map(str::to_owned),
        })
    }

    /// Whether a group meets the conditions on similarity and size, which need no documents.
    pub(crate) fn fits(&self, group: &DocumentGroup) -> bool {
        self.documents.contains(&(group.duplicates.len() + 1))
            && group.duplicates.iter().any(|(_, similarity)| self.similarity.contains(similarity))
    }

    /// Whether documents have to be read.
    pub(crate) fn reads_documents(&self) -> bool {
        !self.conditions.is_empty() || self.search.is_some()
    }

    /// Whether a document meets the conditions.
    pub(crate) fn fits_document(&self, id: &str, metadata: &Metadata, text: Option<&str>) -> bool {
        let contains = |text: &str, search: &str| text.to_lowercase().contains(search);
        self.conditions.iter().all(|condition| condition.matches(metadata))
            && self.search.as_deref().is_none_or(|search| {
                contains(id, search)
                    || metadata.values().any(|value| value_contains(value, search))
                    || text.is_some_and(|text| contains(text, search))
            })
    }
}

/// Whether a string or number in a value, or in a nested value, contains the search text.
fn value_contains(value: &Value, search: &str) -> bool {
    match value {
        Value::String(text) => text.to_lowercase().contains(search),
        Value::Number(number) => number.to_string().contains(search),
        Value::Array(values) => values.iter().any(|value| value_contains(value, search)),
        Value::Object(members) => members.values().any(|value| value_contains(value, search)),
        Value::Null | Value::Bool(_) => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::caches::group::GroupMember;
    use serde_json::json;

    fn filter(query: &str) -> Result<GroupFilter, Problem> {
        let known = GroupFilter::PARAMETERS;
        GroupFilter::read(&QueryParameters::read_repeating(Some(query), &known, &["filter"])?)
    }

    #[test]
    fn filters_select_similarity_and_size() {
        let member = || GroupMember { id: "a".to_owned(), bytes: 1 };
        let duplicates = vec![(member(), 0.95), (member(), 0.8)];
        let group = DocumentGroup { keeper: member(), duplicates };
        for fits in ["", "least=0.9", "most=0.8", "least=0.8&most=0.8", "min_documents=3"] {
            assert!(filter(fits).unwrap().fits(&group), "{fits}");
        }
        for other in ["least=0.96", "most=0.79", "least=0.81&most=0.94", "max_documents=2"] {
            assert!(!filter(other).unwrap().fits(&group), "{other}");
        }
    }

    #[test]
    fn filters_select_metadata_and_words() {
        let value = json!({ "language": "de", "date": "2024-03-02", "tags": ["Über uns", 7] });
        let Value::Object(metadata) = value else { panic!() };
        let fits = |query: &str| {
            filter(query).unwrap().fits_document("a/B.txt", &metadata, Some("Ein GRUSS"))
        };
        let yes = [
            "filter=language=de&filter=date%3E=2024-01",
            "search=%C3%BCBER",
            "search=b.TXT",
            "search=gruss&filter=tags=7",
        ];
        assert!(yes.into_iter().all(fits));
        let no = ["filter=language=en", "search=gruß", "filter=language=de&filter=date%3E=2025"];
        assert!(!no.into_iter().any(fits));
    }

    #[test]
    fn impossible_conditions_are_refused() {
        let long = format!("search={}", "x".repeat(201));
        for wrong in ["least=-1", "most=2", "most=NaN", "min_documents=0", "filter==x", &long] {
            assert!(filter(wrong).is_err(), "{wrong}");
        }
    }
}
