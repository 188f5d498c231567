//! Steps that one kernel has learned and the others have not: lanes learn the same ones, each at a
//! time of its own, and tell each other at the end of a pass instead of sharing memory within it.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};

/// The kernels of one engine.
#[derive(Default)]
pub(super) struct Board(Mutex<Vec<Weak<Post>>>);

/// What has been told to one kernel.
struct Post {
    steps: Mutex<Vec<Arc<[u64]>>>,
    /// Words that wait at most: what is more is lost to the kernel, and learned by itself.
    most_words: usize,
}

/// One kernel's place.
pub(super) struct Member {
    board: Arc<Board>,
    post: Arc<Post>,
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Member {
    /// A place of its own, for as long as it is held; as many words wait for it at most.
    pub(super) fn join(board: Arc<Board>, most_words: usize) -> Member {
        let post = Arc::new(Post { steps: Mutex::default(), most_words });
        let mut posts = lock(&board.0);
        posts.retain(|post| post.strong_count() > 0);
        posts.push(Arc::downgrade(&post));
        drop(posts);
        Member { board, post }
    }

    /// Tells the other kernels.
    pub(super) fn tell(&self, steps: &[u64]) {
        let posts = lock(&self.board.0);
        let live = posts.iter().filter_map(Weak::upgrade);
        let others: Vec<_> = live.filter(|post| !Arc::ptr_eq(post, &self.post)).collect();
        drop(posts);
        if steps.is_empty() || others.is_empty() {
            return;
        }
        let steps: Arc<[u64]> = steps.into();
        for post in others {
            let mut waiting = lock(&post.steps);
            let words: usize = waiting.iter().map(|steps| steps.len()).sum();
            if words + steps.len() <= post.most_words {
                waiting.push(steps.clone());
            }
        }
    }

    /// What the others have told since the last time.
    pub(super) fn hear(&self) -> Vec<Arc<[u64]>> {
        std::mem::take(&mut *lock(&self.post.steps))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn everybody_hears_the_others_once() {
        let board = Arc::<Board>::default();
        let [a, b, c] = [(); 3].map(|()| Member::join(board.clone(), 5));
        a.tell(&[1, 2]);
        b.tell(&[3]);
        b.tell(&[]);
        let heard = |member: &Member| member.hear().iter().map(|s| s.to_vec()).collect::<Vec<_>>();
        assert_eq!(heard(&a), [vec![3]]);
        assert_eq!(heard(&b), [vec![1, 2]]);
        assert_eq!(heard(&c), [vec![1, 2], vec![3]]);
        assert!(heard(&c).is_empty());
        drop(b);
        // Who does not listen is not waited for.
        a.tell(&[4; 5]);
        a.tell(&[6]);
        assert_eq!(heard(&c), [vec![4; 5]]);
    }
}
