//! Delivery of an expansion: its statistics, new states and exits.

use strata_space::{ExitEdge, LayerStats, Local, RegionKey, State, Tabled, Weight};
use strata_store::{EntryKey, Word};

use super::expansion::{ExitCount, Expansion};
use super::regions::RegionCache;
use crate::explicit::error::{Result, check_region};
use crate::explicit::kernel::{ExitSink, Output};

/// The key of a region and its slot in the region cache.
#[derive(Copy, Clone)]
pub(super) struct CachedKey {
    pub(super) at: EntryKey,
    pub(super) slot: usize,
}

/// Scratch memory for the exits of a region.
#[derive(Default)]
pub(super) struct ExitBuffers {
    batch: Vec<Local>,
    /// States to which scattering edges lead.
    scattered: Vec<State>,
}

/// Writes the new states of a region, adds its statistics and sends its exits.
#[inline]
pub(super) fn deliver<S: Tabled>(
    (space, regions): (&S, &mut RegionCache<S>),
    region: CachedKey,
    expansion: &Expansion<'_>,
    buffers: &mut ExitBuffers,
    output: &mut dyn Output,
) -> Result<()> {
    if expansion.next.is_empty() {
        return Ok(());
    }
    output.put(region.at, expansion.next)?;
    let mut stats = LayerStats::default();
    report((space, regions), region, expansion, buffers, &mut stats, output)?;
    output.stats().add(&stats);
    Ok(())
}

/// Adds the statistics of a region and sends its exits.
#[inline]
pub(super) fn report<S: Tabled>(
    (space, regions): (&S, &mut RegionCache<S>),
    CachedKey { at, slot }: CachedKey,
    expansion: &Expansion<'_>,
    buffers: &mut ExitBuffers,
    stats: &mut LayerStats,
    exits: &mut dyn ExitSink,
) -> Result<()> {
    if expansion.next.is_empty() {
        return Ok(());
    }
    stats.regions += 1;
    let (states, weights) = (expansion.next.len() as u64, &regions.at(slot).weights);
    stats.states += states;
    stats.positions += if weights[0][1] == Weight::ZERO { states } else { 2 * states };
    stats.generated += u64::from(expansion.generated);
    for (weights, sums) in weights.iter().zip(&expansion.weight_sums) {
        if *sums != [Weight::ZERO; 2] {
            stats.digest += weights[0] * sums[0] + weights[1] * sums[1];
        }
    }
    let first_scattering = u32::from(space.first_scattering_edge());
    let mut rest = expansion.exit_locals;
    for (i, ExitCount { edge, count }) in expansion.exits.iter().enumerate() {
        if *edge >= first_scattering {
            // Edges are ascending, so all following edges scatter, too.
            buffers.scatter(space, RegionKey(at.region), &expansion.exits[i..], rest);
            buffers.send_scattered(space, regions, exits)?;
            break;
        }
        let (locals, others) = rest.split_at(*count as usize);
        rest = others;
        let edge = *edge as ExitEdge;
        let cached = regions.target(RegionKey(at.region), slot, edge);
        let (target, batch) = (cached.key(), &mut buffers.batch);
        batch.clear();
        let transfer =
            |local: &Local| space.transfer(local >> 1, edge, cached.symmetry) ^ local & 1;
        batch.extend(locals.iter().map(transfer));
        if cached.needs_canonicalising() {
            let class = space.class(RegionKey(target.region));
            batch.iter_mut().for_each(|local| *local = space.canonicalise(&class, *local));
        }
        if let Some(local) = batch.first() {
            check_region(space, State::new(RegionKey(target.region), *local))?;
        }
        exits.send(target, cached.inverse(), Word::of(batch))?;
    }
    Ok(())
}

impl ExitBuffers {
    /// Collects the states to which scattering edges lead, sorted by region. `exits` are the edges and
    /// `rest` their states.
    fn scatter<S: Tabled>(
        &mut self,
        space: &S,
        region: RegionKey,
        exits: &[ExitCount],
        mut rest: &[Local],
    ) {
        self.scattered.clear();
        for ExitCount { edge, count } in exits {
            let (locals, others) = rest.split_at(*count as usize);
            rest = others;
            space.scatter(region, *edge as ExitEdge, locals, &mut self.scattered);
        }
        self.scattered.sort_unstable();
    }

    /// Sends the collected states, one batch for each target region.
    fn send_scattered<S: Tabled>(
        &mut self,
        space: &S,
        regions: &RegionCache<S>,
        exits: &mut dyn ExitSink,
    ) -> Result<()> {
        for group in self.scattered.chunk_by(|a, b| a.region == b.region) {
            check_region(space, group[0])?;
            self.batch.clear();
            self.batch.extend(group.iter().map(|state| state.narrow()));
            exits.send(regions.key_of(group[0].region), None, Word::of(&self.batch))?;
        }
        Ok(())
    }
}
