//! Search for the new states of a region: those in its inbox that no layer has.

use strata_space::{LayerStats, Local};
use strata_store::{List, LocalWord};

use crate::explicit::dedup;
use crate::explicit::kernel::Inputs;
use crate::explicit::local_set::LocalSet;
use crate::explicit::sorting::sort_words;

/// Finds new states among locals of one width.
pub(crate) trait NewStates: Default + Send {
    /// The type of locals.
    type Local: LocalWord;

    /// Replaces `next` with the new states of a region, in order. Records in `stats` whether the searches
    /// from both ends have met. None if a list cannot be decoded.
    fn find(
        &mut self,
        inputs: Inputs<'_>,
        next: &mut Vec<Self::Local>,
        stats: &mut LayerStats,
    ) -> Option<()>;

    /// Clears what an unfinished region has left.
    fn discard(&mut self);
}

/// The lists of states of layers before the current one, without empty lists.
fn known<'a>(inputs: &Inputs<'a>) -> impl Iterator<Item = List<'a>> + use<'a> {
    let lists = [inputs.previous].into_iter().chain(inputs.older.iter().copied());
    lists.filter(|list: &List<'_>| !list.is_empty())
}

/// Finds new states with locals of 32 bits, with a bit set or by sorting.
#[derive(Debug, Default)]
pub(crate) struct Narrow {
    set: LocalSet,
    /// Scratch memory: states of the current layer, and of a layer before.
    current: Vec<Local>,
    known: Vec<Local>,
}

impl NewStates for Narrow {
    type Local = Local;

    fn find(
        &mut self,
        inputs: Inputs<'_>,
        next: &mut Vec<Local>,
        stats: &mut LayerStats,
    ) -> Option<()> {
        let inbox = inputs.inbox.narrow();
        next.clear();
        if self.set.fill(inbox) {
            self.set.remove(inputs.current)?;
            for list in known(&inputs) {
                self.set.remove(list)?;
            }
            stats.odd |= self.set.meets(inputs.current)?;
            stats.even |= self.set.take(next);
        } else {
            inputs.current.decode_locals(&mut self.current)?;
            next.extend_from_slice(inbox);
            next.sort_unstable();
            next.dedup();
            dedup::subtract(next, &self.current);
            for list in known(&inputs) {
                list.decode_locals(&mut self.known)?;
                dedup::subtract(next, &self.known);
            }
            dedup::find_meetings(next, &self.current, stats);
        }
        Some(())
    }

    fn discard(&mut self) {
        self.set.take(&mut Vec::new());
    }
}

/// Finds new states with wider locals, by sorting.
#[derive(Debug, Default)]
pub(crate) struct Wide<L> {
    counts: Vec<u32>,
    current: Vec<L>,
    known: Vec<L>,
}

impl<L: LocalWord> NewStates for Wide<L> {
    type Local = L;

    fn find(
        &mut self,
        inputs: Inputs<'_>,
        next: &mut Vec<L>,
        stats: &mut LayerStats,
    ) -> Option<()> {
        inputs.current.decode_locals(&mut self.current)?;
        sort_words(inputs.inbox.words(), next, &mut self.counts);
        inputs.previous.decode_locals(&mut self.known)?;
        dedup::subtract_both(next, &self.current, &self.known);
        for list in inputs.older.iter().filter(|list| !list.is_empty()) {
            list.decode_locals(&mut self.known)?;
            dedup::subtract(next, &self.known);
        }
        dedup::find_meetings(next, &self.current, stats);
        Some(())
    }

    fn discard(&mut self) {}
}
