//! Requests, events and statistics, on echo engines.

use std::ptr::{null, null_mut};

use cuzk::ffi::testing::{self, EchoFaultIn};
use cuzk::ffi::*;
use cuzk::Status;

use super::{accepted, alone, bytes, close, echo, refused, resident_kib, zeroed};

/// A fault's number in `EchoFaultIn::what`.
const WRONG_SUMS: u32 = 0;
const DEVICE_LOST: u32 = 1;
const OUT_OF_MEMORY: u32 = 4;
const INTERNAL: u32 = 5;
const BAD_WITNESS: u32 = 7;
const BAD_REQUEST: u32 = 9;
const HOLD_PROVE: u32 = 10;
const OPEN_FAILS: u32 = 14;

fn inject(engine: u64, what: u32, count: u32) {
    let fault = EchoFaultIn { what, count, ..EchoFaultIn::default() };
    accepted(|error| testing::cuzk_testing_inject(engine, &fault, error));
}

/// An update with this content, borrowed from `list`.
fn update(list: &Bytes) -> Update {
    static COMMITMENT: [u8; 32] = [1; 32];
    let commitment = bytes(&COMMITMENT);
    Update {
        struct_size: size_of::<Update>() as u64,
        proof_type: 0,
        comm_r_old: commitment,
        comm_r_new: commitment,
        comm_d_new: commitment,
        vanilla_proofs: list,
        vanilla_proof_count: 1,
    }
}

fn request(tag: u64, update: &Update) -> Request {
    Request { struct_size: size_of::<Request>() as u64, tag, update, label: bytes(b"label"), ..zeroed() }
}

/// Submits, and gives each request's status; messages are freed.
fn submit(engine: u64, requests: &[Request]) -> Vec<u32> {
    let mut results = vec![zeroed::<ErrorOut>(); requests.len()];
    accepted(|error| cuzk_engine_submit(engine, requests.as_ptr(), requests.len() as u64, results.as_mut_ptr(), error));
    let free = |result: &mut ErrorOut| {
        assert_eq!(result.status == CUZK_OK, result.message.len == 0, "a message with every refusal");
        assert_eq!(cuzk_free(&mut result.message), CUZK_OK);
        result.status
    };
    results.iter_mut().map(free).collect()
}

/// The next completion, without its buffers: kept are the status and the proof's length.
fn completion(engine: u64) -> (Event, String) {
    loop {
        let mut event = Event { struct_size: size_of::<Event>() as u64, ..zeroed() };
        accepted(|error| cuzk_engine_next(engine, 60_000, &mut event, error));
        assert_ne!(event.kind, CUZK_EVENT_NONE, "nothing came");
        let text = match event.message.len {
            0 => String::new(),
            // SAFETY: the library's buffer, not freed yet.
            len => unsafe {
                String::from_utf8_lossy(std::slice::from_raw_parts(event.message.ptr, len as usize)).into_owned()
            },
        };
        let kept = event;
        for buffer in [&mut event.message, &mut event.target, &mut event.proof] {
            assert_eq!(cuzk_free(buffer), CUZK_OK);
        }
        if kept.kind == CUZK_EVENT_COMPLETION {
            return (kept, text);
        }
        assert!(kept.kind != CUZK_EVENT_LOG || (1..=5).contains(&kept.level));
    }
}

#[test]
fn a_request_becomes_a_proof() {
    let _alone = alone();
    let live = testing::cuzk_testing_live_buffers();
    let engine = echo();
    let content = bytes(b"content");
    let update = update(&content);
    assert_eq!(submit(engine, &[request(7, &update)]), [CUZK_OK]);
    let (event, text) = completion(engine);
    assert_eq!((event.status, event.tag, event.task), (CUZK_OK, 7, CUZK_TASK_PROVE), "{text}");
    assert_eq!((event.circuit_kind, event.sector_size), (CUZK_KIND_UPDATE, 2048));
    assert_eq!(event.proof.len, 192 * event.partition_count);
    assert!(
        event.constraint_count > 0 && event.total_ns > 0 && event.prove_ns > 0 && event.time_ns > 0 && event.job > 0
    );

    let mut stats = Stats { struct_size: size_of::<Stats>() as u64, ..zeroed() };
    accepted(|error| cuzk_engine_stats(engine, &mut stats, error));
    assert_eq!((stats.update.submitted, stats.update.proved, stats.porep.submitted), (1, 1, 0));
    assert!(stats.pool_count > 0 && stats.device_count > 0 && stats.resident_count == 1);
    // SAFETY: the library's list, not freed yet.
    let resident = unsafe { *stats.resident };
    assert_eq!((resident.kind, resident.sector_size), (CUZK_KIND_UPDATE.into(), 2048));
    // SAFETY: as above.
    let phases = unsafe { std::slice::from_raw_parts(stats.device_phases, stats.device_phase_count as usize) };
    // SAFETY: as above.
    let devices = unsafe { std::slice::from_raw_parts(stats.devices, stats.device_count as usize) };
    assert!(!phases.is_empty() && stats.driver_calls == 1, "one load");
    for phase in phases {
        assert_eq!(phase.time.count, devices[phase.device as usize].partition_count);
    }
    assert_eq!(phases.iter().map(|phase| phase.time.count).sum::<u64>(), event.partition_count);
    assert_eq!(cuzk_free(&mut stats.owned), CUZK_OK);
    close(engine);
    assert_eq!(testing::cuzk_testing_live_buffers(), live);
}

#[test]
fn faults_have_their_status() {
    let _alone = alone();
    for (what, status) in [
        (WRONG_SUMS, Status::SelfCheck),
        (DEVICE_LOST, Status::DeviceLost),
        (OUT_OF_MEMORY, Status::OutOfMemory),
        (INTERNAL, Status::Internal),
        (BAD_WITNESS, Status::BadWitness),
        (BAD_REQUEST, Status::Invalid),
        (OPEN_FAILS, Status::ParamsCorrupt),
    ] {
        let engine = echo();
        inject(engine, what, 1000);
        let content = bytes(b"content");
        assert_eq!(submit(engine, &[request(1, &update(&content))]), [CUZK_OK]);
        let (event, text) = completion(engine);
        assert_eq!(event.status, status as u32, "fault {what}: {text}");
        assert!(!text.is_empty() && event.proof.len == 0, "fault {what}: {text}");
        close(engine);
    }
}

#[test]
fn malformed_requests_are_named() {
    let _alone = alone();
    let engine = echo();
    let content = bytes(b"content");
    let good = update(&content);
    let one = request(1, &good);
    let null_list = Update { vanilla_proofs: null(), ..good };
    let null_bytes = Bytes { ptr: null(), len: 1 };
    let null_proof = Update { vanilla_proofs: &null_bytes, ..good };
    let short = Update { comm_r_old: bytes(&[0; 31]), ..good };
    let number = Update { proof_type: 5, ..good };
    let none = Update { vanilla_proof_count: 0, ..good };
    let (listed, byte) = (vec![content; 4097], vec![0; (1 << 20) + 1]);
    let many = Update { vanilla_proofs: listed.as_ptr(), vanilla_proof_count: 4097, ..good };
    let large = bytes(&byte);
    let large = Update { vanilla_proofs: &large, ..good };
    for update in [&null_list, &null_proof, &short, &number, &none, &many, &large] {
        assert_eq!(submit(engine, &[request(2, update)]), [CUZK_INVALID]);
    }
    let post = Post { struct_size: size_of::<Post>() as u64, proof_type: 10, ..zeroed() };
    for request in [
        Request { update: null(), ..one },
        Request { window_post: &post, ..one },
        Request { update: null(), winning_post: &post, ..one },
        Request { reserved_1: 1, ..one },
        Request { label: bytes(b"\xff"), ..one },
    ] {
        assert_eq!(submit(engine, &[request]), [CUZK_INVALID]);
    }
    // A label is for logs: however long, it is no reason to refuse.
    assert_eq!(
        submit(engine, &[Request { tag: 3, label: bytes(&"é".repeat(1 << 20).into_bytes()), ..one }]),
        [CUZK_OK]
    );
    assert_eq!(completion(engine).0.status, CUZK_OK);
    // What is wrong with the array is wrong with the call.
    let mut result = zeroed::<ErrorOut>();
    let sizes = [one, Request { struct_size: 64, ..one }];
    refused(Status::Invalid, "differs", |error| cuzk_engine_submit(engine, sizes.as_ptr(), 2, &mut result, error));
    refused(Status::Invalid, "requests", |error| cuzk_engine_submit(engine, null(), 1, &mut result, error));
    refused(Status::Invalid, "requests", |error| cuzk_engine_submit(engine, &one, u64::MAX, &mut result, error));
    refused(Status::Invalid, "results", |error| cuzk_engine_submit(engine, &one, 1, null_mut(), error));
    accepted(|error| cuzk_engine_submit(engine, null(), 0, null_mut(), error));
    // Each request of a batch has its own answer; a tag in use is refused.
    inject(engine, HOLD_PROVE, 1000);
    let batch = [one, request(2, &number), request(3, &good), request(1, &good)];
    assert_eq!(submit(engine, &batch), [CUZK_OK, CUZK_INVALID, CUZK_OK, CUZK_INVALID]);
    close(engine);
}

#[test]
fn requests_are_cancelled_or_too_late() {
    let _alone = alone();
    let engine = echo();
    inject(engine, HOLD_PROVE, 1000);
    let content = bytes(b"content");
    let update = update(&content);
    assert_eq!(submit(engine, &[request(1, &update), Request { deadline_ms: 1, ..request(2, &update) }]), [CUZK_OK; 2]);
    let (event, _) = completion(engine);
    assert_eq!((event.tag, event.status), (2, CUZK_DEADLINE));
    accepted(|error| cuzk_engine_cancel(engine, 1, error));
    accepted(|error| cuzk_engine_cancel(engine, 99, error));
    let (event, _) = completion(engine);
    assert_eq!((event.tag, event.status), (1, CUZK_CANCELLED));
    close(engine);
}

#[test]
fn a_full_queue_is_busy() {
    let _alone = alone();
    let mut engine = 0;
    let config = Config { queue_len: 2, ..super::config() };
    accepted(|error| testing::cuzk_testing_open_echo(&config, &testing::Echo::default(), &mut engine, error));
    inject(engine, HOLD_PROVE, 1000);
    let content = bytes(b"content");
    let update = update(&content);
    let requests = [request(1, &update), request(2, &update), request(3, &update)];
    assert_eq!(submit(engine, &requests), [CUZK_OK, CUZK_OK, CUZK_BUSY]);
    close(engine);
}

#[test]
fn commands_end_in_a_completion() {
    let _alone = alone();
    let engine = echo();
    accepted(|error| cuzk_engine_preload(engine, CUZK_KIND_WINDOW_POST, 2048, 5, error));
    let (event, text) = completion(engine);
    assert_eq!((event.tag, event.status, event.task), (5, CUZK_OK, CUZK_TASK_PRELOAD), "{text}");
    accepted(|error| cuzk_engine_evict(engine, CUZK_KIND_WINDOW_POST, 2048, 6, error));
    let (event, text) = completion(engine);
    assert_eq!((event.tag, event.status, event.task), (6, CUZK_OK, CUZK_TASK_EVICT), "{text}");
    accepted(|error| cuzk_engine_trim(engine, 7, error));
    let (event, text) = completion(engine);
    assert_eq!((event.tag, event.status, event.task), (7, CUZK_OK, CUZK_TASK_TRIM), "{text}");
    let mut event = Event { struct_size: size_of::<Event>() as u64, ..zeroed() };
    while event.kind != CUZK_EVENT_NONE || event.struct_size == 0 {
        accepted(|error| cuzk_engine_next(engine, 0, &mut event, error));
    }
    close(engine);
}

#[test]
fn failing_calls_leave_nothing_behind() {
    let _alone = alone();
    let engine = echo();
    inject(engine, BAD_REQUEST, u32::MAX);
    let content = bytes(b"content");
    let update = update(&content);
    let round = |count: u64| {
        for tag in 0..count {
            assert_eq!(submit(engine, &[request(tag, &update)]), [CUZK_OK]);
            assert_eq!(completion(engine).0.status, CUZK_INVALID);
            refused(Status::Unsupported, "2049", |error| cuzk_engine_preload(engine, 1, 2049, 0, error));
        }
    };
    round(1000);
    let (live, before) = (testing::cuzk_testing_live_buffers(), resident_kib());
    round(10_000);
    assert_eq!(testing::cuzk_testing_live_buffers(), live);
    let after = resident_kib();
    assert!(after < before + 4096, "{before} KiB before, {after} KiB after");
    close(engine);
}
