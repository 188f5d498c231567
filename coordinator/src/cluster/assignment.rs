//! Which worker owns which shard. Pure: the same inputs give the same owners.

/// Shares `shards` shards out among `workers`, evenly to within one. Shards stay with the owner they
/// had `before` where that is possible, since moving one costs a copy of its states.
///
/// `workers` are distinct numbers, at least one. `before` is the owner by shard, or empty.
#[must_use]
pub(crate) fn assign(shards: u32, before: &[u16], workers: &[u16]) -> Vec<u16> {
    let shards = shards as usize;
    if before.len() != shards {
        return (0..shards).map(|shard| workers[shard * workers.len() / shards]).collect();
    }
    let held = |worker: &u16| before.iter().filter(|owner| *owner == worker).count();
    let mut order: Vec<u16> = workers.to_vec();
    // Who has the most keeps the one that is left over.
    order.sort_by_key(|worker| (std::cmp::Reverse(held(worker)), *worker));
    let share = |place: usize| shards / order.len() + usize::from(place < shards % order.len());
    let mut room: Vec<(u16, usize)> =
        order.iter().enumerate().map(|(place, worker)| (*worker, share(place))).collect();
    let mut take = |wanted: Option<u16>| {
        let fits = |(worker, left): &&mut (u16, usize)| {
            *left > 0 && wanted.is_none_or(|wanted| wanted == *worker)
        };
        let place = room.iter_mut().find(fits)?;
        place.1 -= 1;
        Some(place.0)
    };
    let kept: Vec<Option<u16>> = before.iter().map(|owner| take(Some(*owner))).collect();
    // The shares add up to the shards, so everyone finds a place.
    kept.into_iter().map(|owner| owner.or_else(|| take(None)).unwrap_or(workers[0])).collect()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn one_worker_gets_everything() {
        assert_eq!(assign(4, &[], &[7]), [7; 4]);
        assert_eq!(assign(4, &[0, 1, 2, 3], &[7]), [7; 4]);
    }

    #[test]
    fn what_can_stay_stays() {
        assert_eq!(assign(6, &[0, 0, 1, 1, 2, 2], &[0, 1, 2]), [0, 0, 1, 1, 2, 2]);
        // Worker 1 is gone: its shards go to the others.
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
                let count = |owners: &[u16]| owners.iter().filter(|owner| *owner == worker).count();
                let (had, has) = (count(before), count(&after));
                prop_assert!((least..=most).contains(&has));
                let stay = before.iter().zip(&after).filter(|(a, b)| a == b && *a == worker).count();
                // Nobody gives shards away while taking others in.
                prop_assert_eq!(stay, had.min(has));
            }
        }
    }
}
