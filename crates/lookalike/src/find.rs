//! Finds near-duplicates: documents in, groups out.

pub use crate::engine::{
    BetterSetting, CategoryName, DecisionCounts, DocumentNumber, DocumentStatus, DropCounts,
    DropList, Duplicate, ESTIMATE_COLUMNS, EmptyCopies, FindOptions, Findings, Group,
    GroupCategories, GroupConcentration, Grouping, Groups, IdList, Keeper, KeeperChoice, MAX_PAIRS,
    MAX_SOURCES, MAX_THREADS, MailRemovals, Memory, NoEffect, NoEstimates, Pair, PairCursor,
    PairList, PairRef, Pairs, RelatedDocument, RelatedDocuments, RunCounts, SignatureEstimate,
    SkippedRecords, SourceCounts, TextlessCopies, UnappliedDecision, find, in_collection,
    parse_memory, workers,
};
