//! The categories of groups, if the documents are in an index with categories.

use serde::Serialize;

/// A category in the form of reports.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct CategoryName {
    /// Its place in the tree.
    pub path: String,
    /// Its most characteristic words.
    pub label: Vec<String>,
}

/// The category of the keeper of each group.
#[derive(Debug, Clone, Default)]
pub struct GroupCategories {
    names: Vec<CategoryName>,
    /// For each group, the number of its category in `names`, from 1; 0 for none.
    groups: Vec<u32>,
}

impl GroupCategories {
    /// Creates the table from all categories, and the category number of each group: from 1, or 0
    /// for none.
    pub(crate) fn new(names: Vec<CategoryName>, groups: Vec<u32>) -> Self {
        Self { names, groups }
    }

    /// The category of a group, given by its number from 1; `None` if its keeper has no category.
    pub(crate) fn of_group(&self, number: u64) -> Option<&CategoryName> {
        let group = self.groups.get((number as usize).checked_sub(1)?)?;
        self.names.get((*group as usize).checked_sub(1)?)
    }
}
