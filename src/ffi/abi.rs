//! The structs of the C ABI, and their layout.
//!
//! Fixed widths only; no arrays (safer-ffi would name them without our prefix), no bool, no enum. A struct that may grow
//! starts with `struct_size`; the others ([`Bytes`], [`Buffer`], [`ErrorOut`]) never change.

use safer_ffi::prelude::*;

/// Borrowed for the call: `len` bytes at `ptr`. (NULL, 0) is empty; (NULL, n) is INVALID.
#[derive_ReprC(rename = "cuzk_bytes")]
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct Bytes {
    /// First byte.
    pub ptr: *const u8,
    /// Bytes.
    pub len: u64,
}

/// Owned by the caller until `cuzk_free`: `len` bytes at `ptr`. All fields are 0 if it is empty.
#[derive_ReprC(rename = "cuzk_buffer")]
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct Buffer {
    /// First byte.
    pub ptr: *mut u8,
    /// Bytes.
    pub len: u64,
    /// Names the buffer in this process; never used again.
    pub id: u64,
}

/// How a call ended. Written by every call that is given one; what was in it is overwritten, not freed.
#[derive_ReprC(rename = "cuzk_error")]
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct ErrorOut {
    /// The status that the call returned.
    pub status: u32,
    /// 0.
    pub reserved: u32,
    /// Says what is wrong, and where; UTF-8, without a final 0. Empty on success.
    pub message: Buffer,
}

/// What an engine is opened with. All-zero fields mean their defaults.
#[derive_ReprC(rename = "cuzk_config")]
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct Config {
    /// sizeof(cuzk_config_t).
    pub struct_size: u64,
    /// CUZK_ABI_VERSION of the header that the caller was compiled with.
    pub abi_version: u32,
    /// A CUZK_BACKEND_ number. Default: CUDA if it is built in, else the CPU.
    pub backend: u32,
    /// Directories of `.params` files, UTF-8 paths. Default: the environment's FIL_PROOFS_PARAMETER_CACHE, or
    /// /var/tmp/filecoin-proof-parameters.
    pub param_dirs: *const Bytes,
    /// Elements of `param_dirs`.
    pub param_dir_count: u64,
    /// Directory of recorded circuits and finished checks, made when it is first written to; nothing is written
    /// elsewhere. Default: none; each process then records each circuit anew.
    pub cache_dir: Bytes,
    /// UUIDs of the devices to use; naming some is an error where the back end is the CPU. Default: all.
    pub devices: *const Bytes,
    /// Elements of `devices`.
    pub device_count: u64,
    /// UUIDs of devices that prove WinningPoSts alone; the same holds for them. Default: none.
    pub reserved_devices: *const Bytes,
    /// Elements of `reserved_devices`.
    pub reserved_device_count: u64,
    /// Budget of host memory in bytes. Default: 80 % of the cgroup's limit or of the machine's memory.
    pub host_memory_bytes: u64,
    /// Budget of pinned memory in bytes, for all devices together. Default: 1 GiB.
    pub pinned_memory_bytes: u64,
    /// Budget per device in bytes. Default: what is free when it is opened, less 1 GiB.
    pub device_memory_bytes: u64,
    /// Bytes of each device's memory that only a WinningPoSt may use. Default: 1 GiB.
    pub device_reserve_bytes: u64,
    /// Threads that synthesise and, on the CPU back end, prove. Default: the CPUs that machine and cgroup allow.
    pub threads: u32,
    /// Most unfinished PoRep and SnapDeals requests; one counts until its completion is taken. WindowPoSts and
    /// WinningPoSts have as many places each, 64 at least. Default: 256.
    pub queue_len: u32,
    /// A CUZK_SRS_CHECK_ number: how far an SRS is checked before it is used. Default: CUZK_SRS_CHECK_ON_CURVE.
    pub srs_check: u32,
    /// Log records at this CUZK_LOG_ level and above become events. Default: CUZK_LOG_INFO.
    pub log_level: u32,
    /// Kinds proved on the CPU when no device can: bits 1 << CUZK_KIND_x, or CUZK_CPU_FALLBACK_NONE.
    /// Default: WinningPoSt.
    pub cpu_fallback: u32,
    /// 1 accepts an SRS that isn't the network's. Default: 0.
    pub allow_unknown_params: u32,
    /// 0.
    pub reserved_0: u64,
    /// 0.
    pub reserved_1: u64,
    /// 0.
    pub reserved_2: u64,
    /// 0.
    pub reserved_3: u64,
}

/// A PoRep C2.
#[derive_ReprC(rename = "cuzk_porep")]
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct Porep {
    /// sizeof(cuzk_porep_t).
    pub struct_size: u64,
    /// Miner's actor id.
    pub miner: u64,
    /// Sector number.
    pub sector: u64,
    /// The C1 output as JSON, plain or in the envelope {"SectorNum", "Phase1Out", "SectorSize"}.
    pub c1: Bytes,
}

/// A SnapDeals update.
#[derive_ReprC(rename = "cuzk_update")]
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct Update {
    /// sizeof(cuzk_update_t).
    pub struct_size: u64,
    /// Registered update proof, numbered as in go-state-types.
    pub proof_type: i64,
    /// Replica commitment before the update, 32 bytes.
    pub comm_r_old: Bytes,
    /// Replica commitment after it, 32 bytes.
    pub comm_r_new: Bytes,
    /// Data commitment after it, 32 bytes.
    pub comm_d_new: Bytes,
    /// Partition proofs in bincode, in order.
    pub vanilla_proofs: *const Bytes,
    /// Elements of `vanilla_proofs`.
    pub vanilla_proof_count: u64,
}

/// A WindowPoSt partition or a WinningPoSt.
#[derive_ReprC(rename = "cuzk_post")]
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct Post {
    /// sizeof(cuzk_post_t).
    pub struct_size: u64,
    /// Registered PoSt proof, numbered as in go-state-types.
    pub proof_type: i64,
    /// Miner's actor id.
    pub miner: u64,
    /// 32 bytes; the two top bits of the last are ignored.
    pub randomness: Bytes,
    /// Which partition of the deadline, for WindowPoSt V1 alone; less than 2^32.
    pub partition: u64,
    /// Sector proofs in bincode.
    pub vanilla_proofs: *const Bytes,
    /// Elements of `vanilla_proofs`.
    pub vanilla_proof_count: u64,
}

/// One proof to be made. Exactly one of the four pointers isn't NULL.
#[derive_ReprC(rename = "cuzk_request")]
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct Request {
    /// sizeof(cuzk_request_t), the same in all requests of a call.
    pub struct_size: u64,
    /// The caller's name for it, unique among the engine's unfinished requests, preloads, evictions and trims.
    pub tag: u64,
    /// Milliseconds from now until it is no longer of use; 0: never.
    pub deadline_ms: u64,
    /// For logs only, UTF-8.
    pub label: Bytes,
    /// PoRep C2.
    pub porep: *const Porep,
    /// SnapDeals.
    pub update: *const Update,
    /// WindowPoSt.
    pub window_post: *const Post,
    /// WinningPoSt.
    pub winning_post: *const Post,
    /// 0.
    pub reserved_0: u64,
    /// 0.
    pub reserved_1: u64,
}

/// What a PoRep's verifier knows.
#[derive_ReprC(rename = "cuzk_porep_claim")]
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct PorepClaim {
    /// sizeof(cuzk_porep_claim_t).
    pub struct_size: u64,
    /// Registered seal proof, numbered as in go-state-types.
    pub proof_type: i64,
    /// Miner's actor id.
    pub miner: u64,
    /// Sector number.
    pub sector: u64,
    /// Replica commitment, 32 bytes.
    pub comm_r: Bytes,
    /// Data commitment, 32 bytes.
    pub comm_d: Bytes,
    /// 32 bytes.
    pub ticket: Bytes,
    /// 32 bytes.
    pub seed: Bytes,
}

/// What a SnapDeals update's verifier knows.
#[derive_ReprC(rename = "cuzk_update_claim")]
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct UpdateClaim {
    /// sizeof(cuzk_update_claim_t).
    pub struct_size: u64,
    /// Registered update proof, numbered as in go-state-types.
    pub proof_type: i64,
    /// Replica commitment before the update, 32 bytes.
    pub comm_r_old: Bytes,
    /// Replica commitment after it, 32 bytes.
    pub comm_r_new: Bytes,
    /// Data commitment after it, 32 bytes.
    pub comm_d_new: Bytes,
}

/// A sector as a PoSt's verifier knows it.
#[derive_ReprC(rename = "cuzk_sector")]
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct Sector {
    /// Sector number.
    pub sector: u64,
    /// Replica commitment, 32 bytes.
    pub comm_r: Bytes,
}

/// What a PoSt's verifier knows.
#[derive_ReprC(rename = "cuzk_post_claim")]
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct PostClaim {
    /// sizeof(cuzk_post_claim_t).
    pub struct_size: u64,
    /// Registered PoSt proof, numbered as in go-state-types.
    pub proof_type: i64,
    /// 32 bytes; the two top bits of the last are ignored.
    pub randomness: Bytes,
    /// Which partition of the deadline, for WindowPoSt V1 alone; less than 2^32.
    pub partition: u64,
    /// The sectors, in the order of their vanilla proofs.
    pub sectors: *const Sector,
    /// Elements of `sectors`.
    pub sector_count: u64,
}

/// What a proof is verified against. Exactly one of the four pointers isn't NULL.
#[derive_ReprC(rename = "cuzk_claim")]
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct Claim {
    /// sizeof(cuzk_claim_t).
    pub struct_size: u64,
    /// PoRep C2.
    pub porep: *const PorepClaim,
    /// SnapDeals.
    pub update: *const UpdateClaim,
    /// WindowPoSt.
    pub window_post: *const PostClaim,
    /// WinningPoSt.
    pub winning_post: *const PostClaim,
}

/// Where verifying keys come from.
#[derive_ReprC(rename = "cuzk_vk_source")]
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct VkSource {
    /// sizeof(cuzk_vk_source_t).
    pub struct_size: u64,
    /// Directories of `.params` files, UTF-8 paths. Default: as in cuzk_config_t.
    pub param_dirs: *const Bytes,
    /// Elements of `param_dirs`.
    pub param_dir_count: u64,
    /// 1 accepts a verifying key that isn't the network's. Default: 0.
    pub allow_unknown_params: u64,
}

/// Something that happened. All-zero fields don't belong to its kind.
#[derive_ReprC(rename = "cuzk_event")]
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct Event {
    /// sizeof(cuzk_event_t).
    pub struct_size: u64,
    /// A CUZK_EVENT_ number.
    pub kind: u32,
    /// Completion: how it ended.
    pub status: u32,
    /// Completion, progress: the caller's tag.
    pub tag: u64,
    /// The engine's number of the job; 0 if there is none.
    pub job: u64,
    /// When, in nanoseconds since 1970.
    pub time_ns: u64,
    /// Log: its CUZK_LOG_ level.
    pub level: u32,
    /// Health: the new CUZK_HEALTH_ number.
    pub health: u32,
    /// Progress: done so far, of `total`. Never falls.
    pub done: u64,
    /// Progress: what `done` reaches.
    pub total: u64,
    /// Completion, progress: the circuit's CUZK_KIND_ number; 0 if there is none.
    pub circuit_kind: u32,
    /// Completion: the CUZK_TASK_ number of what has ended.
    pub task: u32,
    /// Completion, progress: bytes of a sector.
    pub sector_size: u64,
    /// Completion of a proof: its partitions.
    pub partition_count: u64,
    /// Completion of a proof: constraints of a partition.
    pub constraint_count: u64,
    /// Completion of a proof: partitions that were proved again.
    pub redo_count: u64,
    /// Completion of a proof: nanoseconds from its submission to its end.
    pub total_ns: u64,
    /// Completion of a proof: nanoseconds in each phase, summed over partitions, which overlap. Waiting for its turn.
    pub queue_ns: u64,
    /// Waiting for SRS and R1CS.
    pub open_ns: u64,
    /// Decoding and checking vanilla proofs.
    pub check_ns: u64,
    /// From vanilla proofs to assignments.
    pub synthesis_ns: u64,
    /// Waiting for a device.
    pub wait_ns: u64,
    /// On a device.
    pub prove_ns: u64,
    /// Blinding, assembly, pairing check.
    pub finish_ns: u64,
    /// Completion of a proof: 192 bytes a partition. To be freed.
    pub proof: Buffer,
    /// Log, health: text. Completion: why it failed. To be freed.
    pub message: Buffer,
    /// Log: the module it comes from. To be freed.
    pub target: Buffer,
}
