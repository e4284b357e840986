//! The tool's thread pool.

use std::sync::Arc;

use clap::Args;
use cuzk::{Error, Result};
use rayon::ThreadPool;

/// How many threads compute.
#[derive(Args)]
pub struct Threads {
    /// Threads; 0 means one per core.
    #[arg(long, default_value_t = 0, value_parser = clap::value_parser!(u16).range(..=1024))]
    threads: u16,
}

/// A pool of these threads.
pub fn pool(threads: &Threads) -> Result<Arc<ThreadPool>> {
    let pool = rayon::ThreadPoolBuilder::new().num_threads(threads.threads.into()).build();
    pool.map(Arc::new).map_err(|error| Error::Internal(format!("thread pool: {error}")))
}
