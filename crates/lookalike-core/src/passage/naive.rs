//! Implements the definitions of `passage` by comparing each place with all others, as the oracle
//! of tests. Takes O(tokens² · length) time, so use it for a few thousand tokens at most.

/// A run of tokens at a place.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Run {
    /// The number of the document.
    pub document: usize,
    /// The position of the first token.
    pub position: usize,
    /// The number of its tokens.
    pub length: usize,
}

/// Returns true if an equal run is at another place.
pub fn is_repeated<T: PartialEq>(documents: &[Vec<T>], run: Run) -> bool {
    places(documents, run).len() > 1
}

/// All places with the tokens of `run`, including its own, by document and position.
pub fn places<T: PartialEq>(documents: &[Vec<T>], run: Run) -> Vec<(usize, usize)> {
    let tokens = &documents[run.document][run.position..run.position + run.length];
    let mut places = Vec::new();
    for (document, all) in documents.iter().enumerate() {
        let windows = all.windows(run.length).enumerate();
        places.extend(windows.filter(|(_, w)| *w == tokens).map(|(at, _)| (document, at)));
    }
    places
}

/// All maximal runs of at least `least` tokens, by document and position.
pub fn maximal_runs<T: PartialEq>(documents: &[Vec<T>], least: usize) -> Vec<Run> {
    let mut runs = Vec::new();
    for (document, tokens) in documents.iter().enumerate() {
        for position in 0..tokens.len() {
            for length in least.max(1)..=tokens.len() - position {
                let run = Run { document, position, length };
                let is = |run: Run| is_repeated(documents, run);
                let earlier =
                    position > 0 && is(Run { position: position - 1, length: length + 1, ..run });
                let later =
                    position + length < tokens.len() && is(Run { length: length + 1, ..run });
                if is(run) && !earlier && !later {
                    runs.push(run);
                }
            }
        }
    }
    runs
}

/// For each token of each document, whether it is in a copy of at least `least` tokens: a run that
/// equals a run at an earlier place that does not overlap it. `order` contains the number of each
/// document in the order of documents.
pub fn copied_tokens<T: PartialEq>(
    documents: &[Vec<T>],
    least: usize,
    order: &[u32],
) -> Vec<Vec<bool>> {
    let mut copied: Vec<Vec<bool>> =
        documents.iter().map(|tokens| vec![false; tokens.len()]).collect();
    let length = least.max(1);
    for (document, tokens) in documents.iter().enumerate() {
        for position in 0..(tokens.len() + 1).saturating_sub(length) {
            let is_earlier = |&(other, at): &(usize, usize)| {
                if other == document {
                    at + length <= position
                } else {
                    order[other] < order[document]
                }
            };
            let run = Run { document, position, length };
            if places(documents, run).iter().any(is_earlier) {
                copied[document][position..position + length].fill(true);
            }
        }
    }
    copied
}
