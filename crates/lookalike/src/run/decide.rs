//! Components in, decisions out: the documents of a component are read again and made into sets;
//! components are independent, so threads take them one after the other.

use super::FindOptions;
use super::collected::Collected;
use super::component::{Decided, Placed, Sets};
use super::workers::{Counter, on_threads};
use crate::error::Error;
use crate::progress::Progress;
use crate::read::Scratch;
use lookalike_core::candidate::{Candidates, Component};
use lookalike_core::shingle::Shingler;

/// Verifies and groups all components.
pub(super) fn decide(
    documents: &Collected,
    candidates: &Candidates,
    options: &FindOptions,
    progress: &dyn Progress,
) -> Result<Decided, Error> {
    let counter = Counter::default();
    let all = on_threads(options.threads, |stop| {
        let mut decider = Decider {
            documents,
            options,
            shingler: Shingler::with_kernel(options.params.shingle(), options.kernel),
            scratch: Scratch::default(),
            sets: Sets::default(),
            decided: Decided::default(),
        };
        while let Some(i) = counter.next(candidates.len()) {
            if stop.asked() {
                break;
            }
            let component = candidates.component(i);
            decider.component(component)?;
            progress.advance(component.members.len() as u64);
        }
        Ok(decider.decided)
    })?;
    let mut decided = Decided::default();
    for more in all {
        decided.append(more);
    }
    Ok(decided)
}

/// One thread's tools and results.
struct Decider<'a> {
    documents: &'a Collected,
    options: &'a FindOptions,
    shingler: Shingler,
    scratch: Scratch,
    sets: Sets,
    decided: Decided,
}

impl Decider<'_> {
    fn component(&mut self, component: Component<'_>) -> Result<(), Error> {
        self.read_sets(component.members)?;
        let placed = Placed::new(self.documents, component, &self.sets);
        placed.decide(self.options, &mut self.decided);
        Ok(())
    }

    /// Reads the members again and makes their shingle sets; refuses what has changed meanwhile.
    fn read_sets(&mut self, members: &[u32]) -> Result<(), Error> {
        self.sets.clear();
        let mut set = Vec::new();
        for &document in members {
            let (retained, place, fingerprint) = self.documents.place(document);
            let shingler = &mut self.shingler;
            let id = self.documents.id(document);
            let again = retained
                .fetch(place, id, &mut self.scratch, |text| shingler.set(text, &mut set))?;
            if again != fingerprint {
                return Err(Error::Changed {
                    id: id.to_owned(),
                    place: self.documents.place_name(document),
                });
            }
            self.sets.push(&set);
        }
        Ok(())
    }
}
