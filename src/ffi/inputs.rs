//! From the caller's structs to ours.

use std::collections::BTreeSet;
use std::time::{Duration, Instant};

use super::abi;
use super::numbers::{self, CUZK_ABI_VERSION, CUZK_CPU_FALLBACK_NONE};
use super::read::{bytes, bytes_32, list, paths, reserved, switch, text, texts, versioned};
use crate::circuit::claim::{Claim, PorepClaim, PostClaim, UpdateClaim};
use crate::circuit::decode::check_byte_limit;
use crate::circuit::porep::MAX_ENVELOPE_BYTES;
use crate::circuit::registered::{post_circuit, post_proof, seal_proof, update_proof};
use crate::circuit::update::MAX_PARTITION_BYTES;
use crate::circuit::Kind;
use crate::engine::{BackendChoice, Config, Job, Request};
use crate::error::{Error, Result};
use crate::srs::SrsCheck;

/// Reads a configuration. Errors: ABI_MISMATCH; INVALID naming the field.
///
/// # Safety
///
/// `from` is NULL or as the header says.
pub unsafe fn config(from: *const abi::Config) -> Result<Config> {
    // SAFETY: the caller's promise; what the struct points to is covered by it.
    unsafe {
        let from = versioned(from)?;
        if from.abi_version != CUZK_ABI_VERSION {
            return Err(Error::AbiMismatch { expected: CUZK_ABI_VERSION, found: from.abi_version });
        }
        reserved("config", &[from.reserved_0, from.reserved_1, from.reserved_2, from.reserved_3])?;
        let cache_dir = text("cache_dir", from.cache_dir)?;
        Ok(Config {
            param_dirs: paths("param_dirs", from.param_dirs, from.param_dir_count)?,
            cache_dir: (!cache_dir.is_empty()).then(|| cache_dir.into()),
            backend: backend(from.backend)?,
            cpu_fallback: cpu_fallback(from.cpu_fallback)?,
            allow_unknown_params: switch("allow_unknown_params", from.allow_unknown_params.into())?,
            devices: texts("devices", from.devices, from.device_count)?,
            reserved_devices: texts("reserved_devices", from.reserved_devices, from.reserved_device_count)?,
            host_memory_bytes: from.host_memory_bytes,
            pinned_memory_bytes: from.pinned_memory_bytes,
            device_memory_bytes: from.device_memory_bytes,
            device_reserve_bytes: from.device_reserve_bytes,
            threads: from.threads,
            queue_len: from.queue_len,
            srs_check: srs_check(from.srs_check)?,
            log_level: numbers::log_filter(from.log_level)?,
        })
    }
}

fn backend(number: u32) -> Result<BackendChoice> {
    match number {
        numbers::CUZK_BACKEND_AUTO => Ok(BackendChoice::Auto),
        numbers::CUZK_BACKEND_CPU => Ok(BackendChoice::Cpu),
        numbers::CUZK_BACKEND_CUDA => Ok(BackendChoice::Cuda),
        _ => Err(Error::invalid("backend", format!("no back end has the number {number}"))),
    }
}

fn srs_check(number: u32) -> Result<SrsCheck> {
    match number {
        numbers::CUZK_SRS_CHECK_ON_CURVE => Ok(SrsCheck::OnCurve),
        numbers::CUZK_SRS_CHECK_SUBGROUP => Ok(SrsCheck::Subgroup),
        numbers::CUZK_SRS_CHECK_DIGEST => Ok(SrsCheck::Digest),
        _ => Err(Error::invalid("srs_check", format!("no check has the number {number}"))),
    }
}

fn cpu_fallback(bits: u32) -> Result<BTreeSet<Kind>> {
    let bit = |kind| 1 << numbers::kind_number(kind);
    let known = Kind::ALL.into_iter().fold(0, |bits, kind| bits | bit(kind));
    match bits {
        0 => Ok(BTreeSet::from([Kind::WinningPoSt])),
        CUZK_CPU_FALLBACK_NONE => Ok(BTreeSet::new()),
        bits if bits & !known != 0 => Err(Error::invalid("cpu_fallback", format!("{bits:#x} has bits of no kind"))),
        bits => Ok(Kind::ALL.into_iter().filter(|&kind| bits & bit(kind) != 0).collect()),
    }
}

/// Splits an array of requests: the caller's struct_size is the step from one to the next. Errors: INVALID if the sizes
/// differ.
///
/// # Safety
///
/// `first` is NULL or points to `count` structs as the header says.
pub unsafe fn requests(first: *const abi::Request, count: u64) -> Result<Vec<*const abi::Request>> {
    if count == 0 {
        return Ok(Vec::new());
    }
    if first.is_null() || !first.cast::<u64>().is_aligned() {
        return Err(Error::invalid("requests", format!("{first:?} with {count} elements")));
    }
    // SAFETY: not NULL; the caller vouches for the first field of each.
    let size_of = |request: *const abi::Request| unsafe { request.cast::<u64>().read() };
    let size = size_of(first);
    let fits = size.checked_mul(count).is_some_and(|bytes| bytes <= isize::MAX as u64);
    if size < 8 || size % 8 != 0 || !fits {
        return Err(Error::invalid("requests", format!("struct_size is {size}, of {count} elements")));
    }
    let all: Vec<_> = (0..count).map(|i| first.wrapping_byte_add((i * size) as usize)).collect();
    match all.iter().position(|&request| size_of(request) != size) {
        Some(i) => Err(Error::invalid("requests", format!("[{i}].struct_size differs from the first's"))),
        None => Ok(all),
    }
}

/// More vanilla proofs than any request has: a WindowPoSt's have 2,349.
const MAX_VANILLA_PROOFS: usize = 4096;
/// Bytes of a label that are read.
const MAX_LABEL_BYTES: usize = 4096;

/// Reads a request, copying its bytes. Errors: INVALID naming the field, UNSUPPORTED.
///
/// # Safety
///
/// `from` is as the header says.
pub unsafe fn job(from: *const abi::Request) -> Result<Job> {
    // SAFETY: the caller's promise; what the struct points to is covered by it.
    unsafe {
        let from = versioned(from)?;
        reserved("request", &[from.reserved_0, from.reserved_1])?;
        let set =
            [!from.porep.is_null(), !from.update.is_null(), !from.window_post.is_null(), !from.winning_post.is_null()];
        let request = match set {
            [true, false, false, false] => porep(from.porep)?,
            [false, true, false, false] => update(from.update)?,
            [false, false, true, false] => post(Kind::WindowPoSt, from.window_post)?,
            [false, false, false, true] => post(Kind::WinningPoSt, from.winning_post)?,
            _ => return Err(one_of_four("request", set)),
        };
        let now = Instant::now();
        let deadline = match from.deadline_ms {
            0 => None,
            // Beyond what the clock can hold is as good as never.
            ms => now.checked_add(Duration::from_millis(ms)),
        };
        Ok(Job { tag: from.tag, label: label(from.label)?, request, deadline })
    }
}

fn one_of_four(field: &'static str, set: [bool; 4]) -> Error {
    let count = set.iter().filter(|set| **set).count();
    Error::invalid(field, format!("{count} of porep, update, window_post and winning_post are set instead of 1"))
}

unsafe fn porep(from: *const abi::Porep) -> Result<Request> {
    // SAFETY: see `job`.
    unsafe {
        let from = versioned(from)?;
        Ok(Request::PoRep { miner: from.miner, sector: from.sector, c1: copied("c1", from.c1, MAX_ENVELOPE_BYTES)? })
    }
}

unsafe fn update(from: *const abi::Update) -> Result<Request> {
    // SAFETY: see `job`.
    unsafe {
        let from = versioned(from)?;
        Ok(Request::Update {
            proof: update_proof(from.proof_type)?,
            comm_r_old: bytes_32("comm_r_old", from.comm_r_old)?,
            comm_r_new: bytes_32("comm_r_new", from.comm_r_new)?,
            comm_d_new: bytes_32("comm_d_new", from.comm_d_new)?,
            vanilla_proofs: vanilla_proofs(from.vanilla_proofs, from.vanilla_proof_count)?,
        })
    }
}

unsafe fn post(kind: Kind, from: *const abi::Post) -> Result<Request> {
    // SAFETY: see `job`.
    unsafe {
        let from = versioned(from)?;
        Ok(Request::PoSt {
            proof: post_proof_of(kind, from.proof_type)?,
            miner: from.miner,
            randomness: bytes_32("randomness", from.randomness)?,
            partition: partition(from.partition)?,
            vanilla_proofs: vanilla_proofs(from.vanilla_proofs, from.vanilla_proof_count)?,
        })
    }
}

unsafe fn vanilla_proofs(ptr: *const abi::Bytes, count: u64) -> Result<Vec<Vec<u8>>> {
    // SAFETY: see `job`.
    unsafe {
        let proofs = list("vanilla_proofs", ptr, count)?;
        if proofs.len() > MAX_VANILLA_PROOFS {
            let reason = format!("{count} given, at most {MAX_VANILLA_PROOFS} are proved");
            return Err(Error::invalid("vanilla_proofs", reason));
        }
        let read = |(i, proof): (usize, &abi::Bytes)| {
            copied("vanilla_proofs", *proof, MAX_PARTITION_BYTES).map_err(|error| error.in_entry(i))
        };
        proofs.iter().enumerate().map(read).collect()
    }
}

/// A copy of what isn't too long for any request.
unsafe fn copied(field: &'static str, from: abi::Bytes, most: usize) -> Result<Vec<u8>> {
    // SAFETY: see `job`.
    let bytes = unsafe { bytes(field, from)? };
    check_byte_limit(field, bytes.len(), most)?;
    Ok(bytes.to_vec())
}

/// A label, cut to what can be kept of it: it is for logs, and no reason to refuse a proof.
unsafe fn label(from: abi::Bytes) -> Result<String> {
    // SAFETY: see `job`.
    unsafe {
        match bytes("label", from)? {
            long if long.len() > MAX_LABEL_BYTES => Ok(String::from_utf8_lossy(&long[..MAX_LABEL_BYTES]).into_owned()),
            _ => text("label", from),
        }
    }
}

fn post_proof_of(kind: Kind, number: i64) -> Result<filecoin_proofs_api::RegisteredPoStProof> {
    let proof = post_proof(number)?;
    match post_circuit(proof)?.kind() {
        found if found == kind => Ok(proof),
        found => Err(Error::invalid("proof_type", format!("{number} is a {}, not a {}", found.name(), kind.name()))),
    }
}

fn partition(number: u64) -> Result<u32> {
    u32::try_from(number).map_err(|_| Error::invalid("partition", format!("{number} doesn't fit 32 bits")))
}

/// Reads a claim. Errors: INVALID naming the field, UNSUPPORTED.
///
/// # Safety
///
/// `from` is NULL or as the header says.
pub unsafe fn claim(from: *const abi::Claim) -> Result<Claim> {
    // SAFETY: the caller's promise; what the struct points to is covered by it.
    unsafe {
        let from = versioned(from)?;
        let set =
            [!from.porep.is_null(), !from.update.is_null(), !from.window_post.is_null(), !from.winning_post.is_null()];
        match set {
            [true, false, false, false] => porep_claim(from.porep),
            [false, true, false, false] => update_claim(from.update),
            [false, false, true, false] => post_claim(Kind::WindowPoSt, from.window_post),
            [false, false, false, true] => post_claim(Kind::WinningPoSt, from.winning_post),
            _ => Err(one_of_four("claim", set)),
        }
    }
}

unsafe fn porep_claim(from: *const abi::PorepClaim) -> Result<Claim> {
    // SAFETY: see `claim`.
    unsafe {
        let from = versioned(from)?;
        Ok(Claim::Porep(PorepClaim {
            proof: seal_proof(from.proof_type)?,
            miner: from.miner,
            sector: from.sector,
            comm_r: bytes_32("comm_r", from.comm_r)?,
            comm_d: bytes_32("comm_d", from.comm_d)?,
            ticket: bytes_32("ticket", from.ticket)?,
            seed: bytes_32("seed", from.seed)?,
        }))
    }
}

unsafe fn update_claim(from: *const abi::UpdateClaim) -> Result<Claim> {
    // SAFETY: see `claim`.
    unsafe {
        let from = versioned(from)?;
        Ok(Claim::Update(UpdateClaim {
            proof: update_proof(from.proof_type)?,
            comm_r_old: bytes_32("comm_r_old", from.comm_r_old)?,
            comm_r_new: bytes_32("comm_r_new", from.comm_r_new)?,
            comm_d_new: bytes_32("comm_d_new", from.comm_d_new)?,
        }))
    }
}

unsafe fn post_claim(kind: Kind, from: *const abi::PostClaim) -> Result<Claim> {
    // SAFETY: see `claim`.
    unsafe {
        let from = versioned(from)?;
        let sectors = list("sectors", from.sectors, from.sector_count)?;
        let sectors = sectors.iter().map(|sector| Ok((sector.sector, bytes_32("sectors.comm_r", sector.comm_r)?)));
        Ok(Claim::Post(PostClaim {
            proof: post_proof_of(kind, from.proof_type)?,
            randomness: bytes_32("randomness", from.randomness)?,
            partition: partition(from.partition)?,
            sectors: sectors.collect::<Result<_>>()?,
        }))
    }
}
