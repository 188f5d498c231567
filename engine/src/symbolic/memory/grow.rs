//! Growth of large lists.

/// Reserves room for `more` items, and at most a fraction of the capacity in addition.
#[inline(always)]
pub(crate) fn reserve<T>(list: &mut Vec<T>, more: usize) {
    let (len, capacity) = (list.len(), list.capacity());
    if len + more > capacity {
        // Small lists are copied when they grow, large ones are remapped.
        let divisor = if capacity < 1 << 20 { 2 } else { 8 };
        list.reserve_exact(more.max(capacity / divisor).max(1 << 8) + capacity - len);
    }
}
