//! Assignment of shards to workers.

use std::cmp::Reverse;

use crate::entry::WorkerNumber;

/// Divides `shards` shards among `workers` so that their shares differ by one shard at most.
/// Returns the owner of each shard.
///
/// A shard stays with its owner in `before` where the even division allows it, since a move copies
/// the shard's states. `workers` must be distinct and not empty. `before` is the previous owner of
/// each shard, or empty. Equal inputs give equal owners.
#[must_use]
pub(crate) fn assign(
    shards: u32,
    before: &[WorkerNumber],
    workers: &[WorkerNumber],
) -> Vec<WorkerNumber> {
    let shards = shards as usize;
    if before.len() != shards {
        return (0..shards).map(|shard| workers[shard * workers.len() / shards]).collect();
    }
    let mut order: Vec<WorkerNumber> = workers.to_vec();
    // The remainder of the division goes to the workers that own most shards.
    order.sort_by_key(|worker| (Reverse(owned(before, *worker)), *worker));
    let share = |place: usize| shards / order.len() + usize::from(place < shards % order.len());
    let mut room: Vec<(WorkerNumber, usize)> =
        order.iter().enumerate().map(|(place, worker)| (*worker, share(place))).collect();
    let mut take = |wanted: Option<WorkerNumber>| {
        let fits = |(worker, left): &&mut (WorkerNumber, usize)| {
            *left > 0 && wanted.is_none_or(|wanted| wanted == *worker)
        };
        let place = room.iter_mut().find(fits)?;
        place.1 -= 1;
        Some(place.0)
    };
    let kept: Vec<Option<WorkerNumber>> = before.iter().map(|owner| take(Some(*owner))).collect();
    // The shares add up to the number of shards, so `take` finds one for each.
    kept.into_iter().map(|owner| owner.or_else(|| take(None)).unwrap_or(workers[0])).collect()
}

/// Number of shards that a worker owns.
pub(crate) fn owned(owners: &[WorkerNumber], worker: WorkerNumber) -> usize {
    owners.iter().filter(|owner| **owner == worker).count()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn a_single_worker_owns_all_shards() {
        assert_eq!(assign(4, &[], &[7]), [7; 4]);
        assert_eq!(assign(4, &[0, 1, 2, 3], &[7]), [7; 4]);
    }

    #[test]
    fn shards_stay_with_their_owner_where_possible() {
        assert_eq!(assign(6, &[0, 0, 1, 1, 2, 2], &[0, 1, 2]), [0, 0, 1, 1, 2, 2]);
        // Worker 1 is lost: the others share its shards.
        assert_eq!(assign(6, &[0, 0, 1, 1, 2, 2], &[0, 2]), [0, 0, 0, 2, 2, 2]);
        // Worker 3 joins: only its share moves.
        let joined = assign(6, &[0, 0, 0, 2, 2, 2], &[0, 2, 3]);
        assert_eq!(joined, [0, 0, 3, 2, 2, 3]);
    }

    proptest! {
        #[test]
        fn shares_are_even_and_few_shards_move(
            shards in 1..200_u32,
            owners in proptest::collection::vec(0..6_u16, 200),
            workers in proptest::collection::btree_set(0..8_u16, 1..6),
        ) {
            let workers: Vec<u16> = workers.into_iter().collect();
            let before = &owners[..shards as usize];
            let after = assign(shards, before, &workers);
            prop_assert_eq!(after.len(), before.len());
            let (least, most) = (shards as usize / workers.len(), (shards as usize).div_ceil(workers.len()));
            for worker in &workers {
                let (had, has) = (owned(before, *worker), owned(&after, *worker));
                prop_assert!((least..=most).contains(&has));
                let stay = before.iter().zip(&after).filter(|(a, b)| a == b && *a == worker).count();
                // No worker loses one shard and gains another.
                prop_assert_eq!(stay, had.min(has));
            }
        }
    }
}
