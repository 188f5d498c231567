//! Buffers that are used again. Fresh memory costs more than the bytes that are copied into it: the
//! allocator gives the memory of large buffers, and of those that another thread frees, back to the system.

use std::ops::{Deref, DerefMut};
use std::sync::{Arc, Mutex, PoisonError};

/// Buffers that were dropped.
#[derive(Debug)]
pub struct BufferPool {
    /// Most buffers that are kept.
    most: usize,
    buffers: Mutex<Vec<Vec<u8>>>,
}

impl BufferPool {
    /// A pool that keeps up to `most` buffers.
    #[must_use]
    pub fn new(most: usize) -> Arc<BufferPool> {
        Arc::new(BufferPool { most, buffers: Mutex::default() })
    }

    /// A buffer with the content of an earlier one, or an empty one.
    #[must_use]
    pub fn buffer(self: &Arc<Self>) -> PooledBuffer {
        let mut buffers = self.buffers.lock().unwrap_or_else(PoisonError::into_inner);
        let bytes = buffers.pop().unwrap_or_default();
        PooledBuffer { bytes, pool: Some(Arc::clone(self)) }
    }
}

/// A buffer that goes back to its pool when it is dropped. The default belongs to no pool.
#[derive(Debug, Default)]
pub struct PooledBuffer {
    bytes: Vec<u8>,
    pool: Option<Arc<BufferPool>>,
}

impl Deref for PooledBuffer {
    type Target = Vec<u8>;

    fn deref(&self) -> &Vec<u8> {
        &self.bytes
    }
}

impl DerefMut for PooledBuffer {
    fn deref_mut(&mut self) -> &mut Vec<u8> {
        &mut self.bytes
    }
}

impl AsRef<[u8]> for PooledBuffer {
    fn as_ref(&self) -> &[u8] {
        &self.bytes
    }
}

impl Drop for PooledBuffer {
    fn drop(&mut self) {
        let Some(pool) = &self.pool else { return };
        let mut buffers = pool.buffers.lock().unwrap_or_else(PoisonError::into_inner);
        if buffers.len() < pool.most {
            buffers.push(std::mem::take(&mut self.bytes));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dropped_buffers_are_used_again_up_to_a_number() {
        let pool = BufferPool::new(2);
        let mut buffers: Vec<PooledBuffer> = (0..3).map(|_| pool.buffer()).collect();
        buffers.iter_mut().for_each(|buffer| buffer.extend_from_slice(b"abc"));
        drop(buffers);
        let lengths: Vec<usize> = [pool.buffer(), pool.buffer(), pool.buffer()]
            .iter()
            .map(|buffer| buffer.len())
            .collect();
        assert_eq!(lengths, [3, 3, 0]);
    }
}
