//! A group of near-duplicates: its keeper, and the duplicates of it.

/// A group.
#[derive(Debug)]
pub(crate) struct DocumentGroup {
    pub(crate) keeper: GroupMember,
    /// By descending similarity, with six decimals.
    pub(crate) duplicates: Vec<(GroupMember, f64)>,
}

/// A document of a group.
#[derive(Debug)]
pub(crate) struct GroupMember {
    pub(crate) id: String,
    pub(crate) bytes: u64,
}

impl DocumentGroup {
    /// Memory in bytes, with the overhead of allocator and growing lists.
    pub(crate) fn memory(&self) -> u64 {
        let members = self.duplicates.iter().map(|(member, _)| member).chain([&self.keeper]);
        let ids: usize = members.map(|member| member.id.capacity() + 16).sum();
        let duplicates = self.duplicates.capacity() * size_of::<(GroupMember, f64)>();
        (ids + duplicates + 2 * size_of::<Self>()) as u64
    }
}
