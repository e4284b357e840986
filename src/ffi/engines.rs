//! Engines by number: 64 bits that hold a place and its generation, never a pointer.
//!
//! A number is never given twice, so that an engine that is closed says CLOSED for as long as the process lives.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use crate::engine::Engine;
use crate::error::{Error, Result};

/// Bits of a number that are the place, counted from 1; the generation is above.
const PLACE_BITS: u32 = 16;

#[derive(Default)]
struct Place {
    generation: u64,
    engine: Option<Arc<Engine>>,
}

static PLACES: Mutex<Vec<Place>> = Mutex::new(Vec::new());

fn places() -> MutexGuard<'static, Vec<Place>> {
    PLACES.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Keeps an engine under a new number. Errors: INTERNAL with 65,535 engines open.
pub fn insert(engine: Arc<Engine>) -> Result<u64> {
    let mut places = places();
    let free = places.iter().position(|place| place.engine.is_none()).unwrap_or_else(|| {
        places.push(Place::default());
        places.len() - 1
    });
    if free + 1 >= 1 << PLACE_BITS {
        return Err(Error::Internal("too many engines are open".into()));
    }
    let place = &mut places[free];
    place.generation += 1;
    place.engine = Some(engine);
    Ok(place.generation << PLACE_BITS | (free as u64 + 1))
}

/// The engine with this number. Errors: INVALID if it was never given; CLOSED.
pub fn get(id: u64) -> Result<Arc<Engine>> {
    with_place(id, |place| place.engine.clone())
}

/// Takes the engine out: nobody finds it from now on. Errors: as [`get`].
pub fn remove(id: u64) -> Result<Arc<Engine>> {
    with_place(id, |place| place.engine.take())
}

fn with_place(id: u64, engine: impl FnOnce(&mut Place) -> Option<Arc<Engine>>) -> Result<Arc<Engine>> {
    let (place, generation) = (id & ((1 << PLACE_BITS) - 1), id >> PLACE_BITS);
    let unknown = || Error::invalid("engine", format!("{id} isn't the number of an engine"));
    let mut places = places();
    let index = usize::try_from(place).ok().and_then(|place| place.checked_sub(1)).ok_or_else(unknown)?;
    let place = places.get_mut(index).ok_or_else(unknown)?;
    let closed = || Error::Closed("the engine".into());
    match generation {
        0 => Err(unknown()),
        generation if generation > place.generation => Err(unknown()),
        generation if generation < place.generation => Err(closed()),
        _ => engine(place).ok_or_else(closed),
    }
}

/// Engines that are open.
#[cfg(any(test, feature = "testing"))]
pub fn live() -> u64 {
    places().iter().filter(|place| place.engine.is_some()).count() as u64
}
