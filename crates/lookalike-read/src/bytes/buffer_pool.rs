//! Reusable buffers of blocks. Allocating fresh memory costs as much as reading into it.

use parking_lot::Mutex;
use std::ops::Deref;
use std::sync::Arc;

/// Maximum number of free buffers.
const POOLED: usize = 16;

/// The buffers of dropped blocks.
#[derive(Default)]
pub(crate) struct BufferPool {
    buffers: Mutex<Vec<Vec<u8>>>,
}

impl BufferPool {
    /// A free buffer of any length, or an empty one.
    pub(crate) fn take(&self) -> Vec<u8> {
        self.buffers.lock().pop().unwrap_or_default()
    }
}

/// The first bytes of a buffer, which returns to its pool when dropped.
pub(crate) struct PooledBuffer {
    /// Never shortened, so that no byte is cleared twice.
    buffer: Vec<u8>,
    length: usize,
    /// Longer buffers are not returned to the pool.
    longest_kept: usize,
    pool: Arc<BufferPool>,
}

impl PooledBuffer {
    /// The first `length` bytes of `buffer`.
    pub(crate) fn new(
        buffer: Vec<u8>,
        length: usize,
        longest_kept: usize,
        pool: &Arc<BufferPool>,
    ) -> Self {
        Self { buffer, length, longest_kept, pool: Arc::clone(pool) }
    }
}

impl Deref for PooledBuffer {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        &self.buffer[..self.length]
    }
}

impl Drop for PooledBuffer {
    fn drop(&mut self) {
        let mut buffers = self.pool.buffers.lock();
        if buffers.len() < POOLED && self.buffer.len() <= self.longest_kept {
            buffers.push(std::mem::take(&mut self.buffer));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pools_keep_few_standard_buffers() {
        let pool = Arc::new(BufferPool::default());
        let buffer = |length| PooledBuffer::new(vec![0; length], length, 100, &pool);
        drop((0..POOLED + 9).map(|_| buffer(100)).collect::<Vec<_>>());
        assert_eq!(pool.buffers.lock().len(), POOLED);
        pool.take();
        drop(buffer(101));
        assert_eq!(pool.buffers.lock().len(), POOLED - 1);
    }
}
