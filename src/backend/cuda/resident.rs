//! What a device holds of a circuit.

use std::cell::RefCell;
use std::ffi::c_void;
use std::ptr::null;
use std::rc::Rc;
use std::sync::Arc;

use super::arena::Reservation;
use super::plan::Plan;
use super::prepare::{Lists, Prepared, PreparedLayout, Tail};
use super::sums::Of;
use super::sys::DeviceRows;
use crate::backend::Circuit;
use crate::r1cs::R1cs;
use crate::srs::Section;

/// The sections that a device holds.
#[cfg(feature = "testing")]
pub(super) const SECTIONS: &[Section] = &[Section::H, Section::L, Section::A, Section::BG2, Section::BG1];
/// The sections that a device holds.
#[cfg(not(feature = "testing"))]
pub(super) const SECTIONS: &[Section] = &[Section::H, Section::L, Section::A, Section::BG2];

/// A circuit on a device. Immutable but for its layouts.
pub(super) struct Resident {
    pub circuit: Arc<Circuit>,
    pub prepared: Arc<Prepared>,
    pub srs: SrsOnDevice,
    pub rows: DeviceRows,
    /// Rows, and the bitmaps of A's and B's aux variables, null where every one has a point.
    pub _r1cs: Reservation,
    pub densities: [*const u64; 2],
    pub layouts: RefCell<Vec<Rc<ResidentLayout>>>,
}

/// Sections, one behind the other.
pub(super) struct SrsOnDevice {
    pub memory: Reservation,
    /// Offset and points of each of [`SECTIONS`].
    pub sections: Vec<(u64, u64)>,
}

/// A layout on a device, with the plan for assignments of it.
pub(super) struct ResidentLayout {
    pub id: u64,
    pub plan: Plan,
    pub _memory: Reservation,
    pub full_bits: *const c_void,
    pub rank: *const c_void,
    pub l: *const u32,
    /// Points and slots of A's and of B's tail.
    pub tails: [(*const u32, *const u32); 2],
}

impl SrsOnDevice {
    /// Where the sections will stand that `sums` are taken over, and the bytes of all. Others have no point.
    pub(super) fn places(circuit: &Circuit, sums: &[Of]) -> (Vec<(u64, u64)>, u64) {
        let mut end = 0;
        let is_needed = |section: Section| section == Section::H || sums.iter().any(|of| query(*of) == section);
        let places = SECTIONS.iter().map(|section| {
            let (at, count) = (end, if is_needed(*section) { circuit.srs().count(*section) } else { 0 });
            end += (count * section.point_bytes()).next_multiple_of(256);
            (at, count)
        });
        (places.collect(), end)
    }

    /// First point and number of points of a section.
    pub(super) fn section(&self, section: Section) -> (*const c_void, u64) {
        let at = SECTIONS.iter().position(|other| *other == section).expect("a section that is loaded");
        let (offset, count) = self.sections[at];
        (self.memory.at(offset, count * section.point_bytes()), count)
    }

    /// The points of a sum's query.
    pub(super) fn query(&self, of: Of) -> (*const c_void, u64) {
        self.section(query(of))
    }
}

fn query(of: Of) -> Section {
    match of {
        Of::HL => Section::L,
        Of::A => Section::A,
        Of::B2 => Section::BG2,
        #[cfg(feature = "testing")]
        Of::B1 => Section::BG1,
    }
}

/// Arrays of a reservation, one behind the other.
pub(super) struct Pieces<'a> {
    pub arrays: Vec<&'a [u8]>,
    pub bytes: u64,
}

/// Bytes of plain integers.
pub(super) fn bytes_of<T: Integer>(values: &[T]) -> &[u8] {
    // SAFETY: integers have no padding, and any of their bytes are initialised.
    unsafe { std::slice::from_raw_parts(values.as_ptr().cast(), size_of_val(values)) }
}

/// Types whose bytes may be looked at.
pub(super) trait Integer: Copy {}
impl Integer for u32 {}
impl Integer for u64 {}

impl<'a> Pieces<'a> {
    pub(super) fn new(arrays: Vec<&'a [u8]>) -> Self {
        let bytes = arrays.iter().map(|array| (array.len() as u64).next_multiple_of(256)).sum();
        Pieces { arrays, bytes }
    }

    /// Arrays of a layout and its lists.
    pub(super) fn of_layout(layout: &'a PreparedLayout, lists: &'a Lists) -> Self {
        let Tail { points: a, slots: a_slots } = &lists.a;
        let Tail { points: b, slots: b_slots } = &lists.b;
        Pieces::new(vec![
            bytes_of(layout.layout.full_words()),
            bytes_of(layout.layout.rank_directory()),
            bytes_of(&lists.l),
            bytes_of(a),
            bytes_of(a_slots),
            bytes_of(b),
            bytes_of(b_slots),
        ])
    }

    /// Bitmaps of A's and B's aux variables, empty where every one has a point.
    pub(super) fn of_densities(prepared: &'a Prepared) -> Self {
        let words = |query: &'a super::prepare::Query| query.aux.as_ref().map_or(&[][..], |(words, _)| bytes_of(words));
        Pieces::new(vec![words(&prepared.a), words(&prepared.b)])
    }

    /// Address of each array from `base` bytes of `memory` on; null for an empty one.
    pub(super) fn addresses(&self, memory: &Reservation, base: u64) -> Vec<*mut c_void> {
        let mut at = base;
        let place = |array: &&[u8]| {
            let len = array.len() as u64;
            let address = if len == 0 { null::<c_void>().cast_mut() } else { memory.at(at, len) };
            at += len.next_multiple_of(256);
            address
        };
        self.arrays.iter().map(place).collect()
    }
}

/// Bytes of a circuit's R1CS on a device.
pub(super) fn r1cs_bytes(r1cs: &R1cs, prepared: &Prepared) -> u64 {
    DeviceRows::bytes_for(r1cs).next_multiple_of(256) + Pieces::of_densities(prepared).bytes
}
