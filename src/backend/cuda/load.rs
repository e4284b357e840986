//! Making a circuit resident on a device, and a layout.

use std::rc::Rc;
use std::sync::mpsc::RecvTimeoutError;
use std::sync::Arc;
use std::time::Duration;

use super::arena::Reservation;
use super::device::{Device, Lane, PIECE_BYTES};
use super::fault::{Fault, Outcome};
use super::owner::Asker;
use super::plan::Plan;
use super::prepare::{Prepared, PreparedLayout};
use super::readers::{Filled, Piece, Readers};
use super::resident::{r1cs_bytes, Pieces, Resident, ResidentLayout, SrsOnDevice, SECTIONS};
use super::sys::{self, Curve, DeviceRows};
use crate::backend::Circuit;
use crate::error::{Error, FileFault};
use crate::srs::{Section, SrsFile};

/// Pieces of a file that may wait for their points to be decoded on the device.
const SLOTS: usize = 4;
/// Buffers that the readers fill at the same time, at most.
const READ_AHEAD: usize = 16;
/// How long to wait for a reader between two questions.
const ASK_AGAIN: Duration = Duration::from_millis(20);
/// Layouts kept of one circuit; a growing one's generations replace each other.
const LAYOUTS: usize = 2;
/// Largest domain that the transforms take.
const LG_MAX: u32 = 28;
/// Where no bad point was found.
const NO_POINT: u64 = u64::MAX;

/// Loads `circuit`, unless it is resident.
pub(super) fn load(
    device: &Device,
    asker: &Asker<'_>,
    circuit: &Arc<Circuit>,
    prepared: &Arc<Prepared>,
) -> Outcome<()> {
    asker.ask()?;
    if device.circuits.borrow().contains_key(&circuit.id()) {
        return Ok(());
    }
    let r1cs = circuit.r1cs();
    if r1cs.lg_domain_size() > LG_MAX || r1cs.variable_count() >= 1 << 31 {
        let size = format!("{} rows, {} variables", r1cs.row_count(), r1cs.variable_count());
        return Err(Error::Unsupported(format!("{} on a device: {size}", circuit.name())).into());
    }
    // Everything that is needed is taken before anything is read.
    let (sections, bytes) = SrsOnDevice::places(circuit, device.sums);
    let memory = device.arena.reserve(format!("srs {}", circuit.name()), bytes)?;
    let matrices = device.arena.reserve(format!("r1cs {}", circuit.name()), r1cs_bytes(r1cs, prepared))?;
    if !asker.is_urgent() {
        device.work(asker.lane(), Plan::least_bytes(r1cs.lg_domain_size()))?;
    }
    let srs = SrsOnDevice { memory, sections };
    Sections { device, asker, lane: asker.lane(), srs: circuit.srs(), to: &srs }.load()?;
    let (rows, densities) = place_rows(device, asker, circuit, prepared, &matrices)?;
    asker.lane().main.wait()?;
    circuit.srs().check_unchanged()?;
    let resident = Resident {
        circuit: Arc::clone(circuit),
        prepared: Arc::clone(prepared),
        srs,
        rows,
        _r1cs: matrices,
        densities,
        layouts: Default::default(),
    };
    device.circuits.borrow_mut().insert(circuit.id(), Rc::new(resident));
    Ok(())
}

fn place_rows(
    device: &Device,
    asker: &Asker<'_>,
    circuit: &Circuit,
    prepared: &Prepared,
    matrices: &Reservation,
) -> Outcome<(DeviceRows, [*const u64; 2])> {
    let (r1cs, lane) = (circuit.r1cs(), asker.lane());
    let mut waiting = asker.waiting();
    // SAFETY: the placer copies into the reservation alone.
    let mut copy = |to, bytes: &[u8]| unsafe { device.upload(lane, to, bytes, &mut waiting) };
    let row_bytes = DeviceRows::bytes_for(r1cs);
    // SAFETY: the reservation has these bytes, and is kept beside the rows.
    let rows = unsafe { DeviceRows::at(matrices.at(0, row_bytes), r1cs, &mut copy, &lane.main)? };
    let densities = Pieces::of_densities(prepared);
    let addresses = densities.addresses(matrices, row_bytes.next_multiple_of(256));
    for (array, to) in densities.arrays.iter().zip(&addresses) {
        copy(*to, array)?;
    }
    Ok((rows, [addresses[0].cast_const().cast(), addresses[1].cast_const().cast()]))
}

/// The layout on the device, with its plan.
pub(super) fn layout(
    device: &Device,
    asker: &Asker<'_>,
    resident: &Resident,
    layout: &PreparedLayout,
) -> Outcome<Rc<ResidentLayout>> {
    let known = resident.layouts.borrow().iter().find(|known| known.id == layout.id).map(Rc::clone);
    if let Some(known) = known {
        return Ok(known);
    }
    let (prepared, lane) = (&resident.prepared, asker.lane());
    let plan = Plan::new(resident.circuit.r1cs().lg_domain_size(), prepared, layout)?;
    let lists = layout.take_lists(prepared);
    let pieces = Pieces::of_layout(layout, &lists);
    let memory = device.arena.reserve(format!("layout {}", resident.circuit.name()), pieces.bytes)?;
    let addresses = pieces.addresses(&memory, 0);
    for (array, to) in pieces.arrays.iter().zip(&addresses) {
        // SAFETY: each address has room for its array.
        unsafe { device.upload(lane, *to, array, &mut asker.waiting())? };
    }
    lane.main.wait()?;
    let list = |at: usize| addresses[at].cast_const().cast::<u32>();
    let made = Rc::new(ResidentLayout {
        id: layout.id,
        plan,
        _memory: memory,
        full_bits: addresses[0],
        rank: addresses[1],
        l: list(2),
        tails: [(list(3), list(4)), (list(5), list(6))],
    });
    let mut layouts = resident.layouts.borrow_mut();
    if layouts.len() == LAYOUTS {
        layouts.remove(0);
    }
    layouts.push(Rc::clone(&made));
    Ok(made)
}

/// The load of one file's sections.
struct Sections<'a> {
    device: &'a Device,
    asker: &'a Asker<'a>,
    lane: &'a Lane,
    srs: &'a Arc<SrsFile>,
    to: &'a SrsOnDevice,
}

impl Sections<'_> {
    /// Readers fill pinned buffers; each goes to a slot on the device and is decoded from there, slots in turn on the lane's
    /// two streams.
    fn load(&self) -> Outcome<()> {
        let staging = self.device.arena.reserve("staging", (SLOTS * PIECE_BYTES + 8 * SECTIONS.len()) as u64)?;
        let bad = staging.at((SLOTS * PIECE_BYTES) as u64, 8 * SECTIONS.len() as u64);
        // SAFETY: of the staging reservation.
        unsafe { sys::fill(bad, 0xff, 8 * SECTIONS.len() as u64, &self.lane.main)? };
        self.lane.main.wait()?;
        let outcome = self.pump(&staging, bad.cast());
        self.lane.settle();
        let first_flagged = outcome?;
        let mut found = vec![NO_POINT; SECTIONS.len()];
        // SAFETY: as many words on both sides, and the stream is waited for.
        unsafe { sys::copy(found.as_mut_ptr().cast(), bad, 8 * SECTIONS.len() as u64, &self.lane.main)? };
        self.lane.main.wait()?;
        for (section, (on_device, flagged)) in SECTIONS.iter().zip(found.iter().zip(first_flagged)) {
            let first = flagged.min(*on_device);
            if first != NO_POINT {
                return Err(self.refused(*section, first));
            }
        }
        Ok(())
    }

    /// Everything through readers and slots; for each section its first point whose encoding has a flag.
    fn pump(&self, staging: &Reservation, bad: *mut u64) -> Outcome<Vec<u64>> {
        let readers = Readers::new(self.srs, self.device.readers);
        let mut pieces = self.to.pieces().into_iter().peekable();
        let (mut on_their_way, mut slot) = (0, 0);
        let mut flagged = vec![NO_POINT; SECTIONS.len()];
        let (mut done, total) = (0, self.to.sections.iter().map(|(_, count)| count).sum());
        loop {
            while let Some(piece) = pieces.peek().filter(|_| on_their_way < READ_AHEAD) {
                let buffer = match on_their_way {
                    0 => Some(self.device.pool.take(piece.bytes(), &mut self.asker.waiting())?),
                    _ => self.device.pool.try_take(piece.bytes())?,
                };
                let Some(buffer) = buffer else { break };
                readers.fill(*piece, buffer);
                pieces.next();
                on_their_way += 1;
            }
            if on_their_way == 0 {
                return Ok(flagged);
            }
            match readers.filled(ASK_AGAIN) {
                Ok(filled) => {
                    on_their_way -= 1;
                    let first = &mut flagged[filled.piece.section];
                    *first = filled.flagged.map_or(*first, |at| at.min(*first));
                    done += filled.piece.count;
                    self.decode(filled, staging, slot, bad)?;
                    self.asker.progress(done, total);
                    slot = (slot + 1) % SLOTS;
                }
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => {
                    return Err(Fault::Other(Error::Internal("the readers are gone".into())));
                }
            }
            self.asker.ask()?;
        }
    }

    fn decode(&self, filled: Filled, staging: &Reservation, slot: usize, bad: *mut u64) -> Outcome<()> {
        let Filled { piece, buffer, read, .. } = filled;
        read?;
        let (curve, bytes) = (curve_of(SECTIONS[piece.section]), piece.bytes());
        let (offset, _) = self.to.sections[piece.section];
        let points = self.to.memory.at(offset + piece.first * curve.affine_bytes() as u64, bytes);
        let raw = staging.at((slot * PIECE_BYTES) as u64, bytes);
        let stream = if slot % 2 == 0 { &self.lane.main } else { &self.lane.side };
        // SAFETY: the slot's last use was on the same stream; points and slot have room for the piece.
        unsafe {
            sys::copy(raw, buffer.as_ptr().cast(), bytes, stream)?;
            self.lane.release(buffer, stream)?;
            curve.load(points, raw, piece.count, piece.first, bad.add(piece.section).cast(), stream)?;
        }
        Ok(())
    }

    /// Why point `index` is refused: the host's decoder says it.
    fn refused(&self, section: Section, index: u64) -> Fault {
        use crate::srs::Point;
        let mut bytes = vec![0; section.point_bytes() as usize];
        if let Err(error) = self.srs.read(section, index, &mut bytes) {
            return error.into();
        }
        let why = match curve_of(section) {
            Curve::G1 => blstrs::G1Affine::decode(&bytes).err(),
            Curve::G2 => blstrs::G2Affine::decode(&bytes).err(),
        };
        let Some(why) = why else {
            let text = format!("{}: point {index} of {} is good", self.device.shared.label, section.name());
            return Fault::Other(Error::Internal(format!("{text}, but the device refused it")));
        };
        Fault::Other(Error::ParamsCorrupt(FileFault {
            file: self.srs.path().to_path_buf(),
            section: section.name(),
            index: Some(index),
            expected: why.expected().into(),
            found: why.found().into(),
        }))
    }
}

fn curve_of(section: Section) -> Curve {
    if section == Section::BG2 {
        Curve::G2
    } else {
        Curve::G1
    }
}

impl SrsOnDevice {
    /// All sections in pieces of at most [`PIECE_BYTES`].
    fn pieces(&self) -> Vec<Piece> {
        let of_section = |(section, (_, count)): (usize, &(u64, u64))| {
            let (count, step) = (*count, PIECE_BYTES as u64 / SECTIONS[section].point_bytes());
            let piece = move |first: u64| Piece { section, first, count: step.min(count - first) };
            (0..count).step_by(step as usize).map(piece).collect::<Vec<_>>()
        };
        self.sections.iter().enumerate().flat_map(of_section).collect()
    }
}
