//! The tool's thread pool.

use std::sync::Arc;

use cuzk::{Error, Result};
use rayon::ThreadPool;

/// A pool of `threads` threads, or of one per core.
pub fn pool(threads: usize) -> Result<Arc<ThreadPool>> {
    let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build();
    pool.map(Arc::new).map_err(|error| Error::Internal(format!("thread pool: {error}")))
}
