//! Threads that fill buffers from an SRS file, several at a time: one `pread` stream is far below what a device takes.

use std::sync::mpsc::{channel, Receiver, RecvTimeoutError, Sender};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::Duration;

use super::pinned::Pinned;
use super::resident::SECTIONS;
use crate::error::Result;
use crate::srs::SrsFile;

/// Points `[first, first + count)` of a section.
#[derive(Clone, Copy, Debug)]
pub(super) struct Piece {
    /// Index into [`SECTIONS`].
    pub section: usize,
    pub first: u64,
    pub count: u64,
}

/// A piece that was read, or not.
pub(super) struct Filled {
    pub piece: Piece,
    pub buffer: Pinned,
    pub read: Result<()>,
    /// Its first point whose encoding has a flag: no point of an SRS has any.
    pub flagged: Option<u64>,
}

/// Threads of one load. They end when this is dropped, each after the piece in its hands.
pub(super) struct Readers {
    tasks: Sender<(Piece, Pinned)>,
    filled: Receiver<Filled>,
}

/// Compressed, infinity and sign.
const FLAGS: u8 = 0xe0;

impl Piece {
    pub(super) fn bytes(&self) -> u64 {
        self.count * SECTIONS[self.section].point_bytes()
    }
}

impl Readers {
    pub(super) fn new(srs: &Arc<SrsFile>, threads: usize) -> Self {
        let ((tasks, queue), (done, filled)) = (channel::<(Piece, Pinned)>(), channel());
        let queue = Arc::new(Mutex::new(queue));
        for _ in 0..threads {
            let (srs, queue, done) = (Arc::clone(srs), Arc::clone(&queue), done.clone());
            let next = move || queue.lock().unwrap_or_else(PoisonError::into_inner).recv();
            let read = move || {
                while let Ok((piece, buffer)) = next() {
                    if done.send(fill(&srs, piece, buffer)).is_err() {
                        return;
                    }
                }
            };
            // With none the load ends with an error, with fewer it is slower.
            let spawned = thread::Builder::new().name("cuzk-read".into()).stack_size(256 << 10).spawn(read);
            if let Err(error) = spawned {
                log::warn!("a thread that reads an SRS can't be started: {error}");
            }
        }
        Readers { tasks, filled }
    }

    pub(super) fn fill(&self, piece: Piece, buffer: Pinned) {
        // Nobody takes it if no thread could be started; `filled` says so then.
        let _ = self.tasks.send((piece, buffer));
    }

    pub(super) fn filled(&self, timeout: Duration) -> std::result::Result<Filled, RecvTimeoutError> {
        self.filled.recv_timeout(timeout)
    }
}

fn fill(srs: &SrsFile, piece: Piece, mut buffer: Pinned) -> Filled {
    let section = SECTIONS[piece.section];
    let read = srs.read(section, piece.first, &mut buffer);
    let flagged = match &read {
        Ok(()) => {
            let mut points = buffer.chunks_exact(section.point_bytes() as usize);
            points.position(|point| point[0] & FLAGS != 0).map(|at| piece.first + at as u64)
        }
        Err(_) => None,
    };
    Filled { piece, buffer, read, flagged }
}
