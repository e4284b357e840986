//! Foreign bytes in requests: each is refused with INVALID in less than a second, and takes little memory.
//!
//! One test in a process of its own, since it measures the process's memory.

use std::time::{Duration, Instant};

use cuzk::circuit::porep::{PorepRequest, MAX_C1_BYTES, MAX_ENVELOPE_BYTES};
use cuzk::circuit::post::PostRequest;
use cuzk::circuit::update::UpdateRequest;
use cuzk::circuit::Request;
use cuzk::vanilla::{samples_2kib, PorepInput, PostInput, UpdateInput};
use cuzk::Status;

/// Most that a refused request may add to the process's peak: twice what is allowed for one at 32 GiB.
const MAX_GROWTH_KIB: u64 = 100 << 10;

fn peak_kib() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap();
    let line = status.lines().find(|line| line.starts_with("VmHWM")).unwrap();
    line.split_whitespace().nth(1).unwrap().parse().unwrap()
}

/// Starts the peak anew at what is in use.
fn reset_peak() {
    std::fs::write("/proc/self/clear_refs", "5").unwrap();
}

/// Asks, and checks outcome, time and memory. The bytes exist before, as a caller's would.
fn refused(what: &str, request: Request<'_>) {
    reset_peak();
    let (before, start) = (peak_kib(), Instant::now());
    let error = request.check().map(|_| ()).expect_err(what);
    let (took, grown) = (start.elapsed(), peak_kib().saturating_sub(before));
    assert_eq!(error.status(), Status::Invalid, "{what}: {error}");
    assert!(error.to_string().len() < 400, "{what}: {error}");
    assert!(took < Duration::from_secs(1), "{what}: {took:?}");
    assert!(grown < MAX_GROWTH_KIB, "{what}: {grown} KiB");
}

fn c1_refused(what: &str, input: &PorepInput, c1: &[u8]) {
    refused(what, Request::Porep(PorepRequest { miner: input.miner, sector: input.sector, c1 }));
}

fn update_refused(what: &str, input: &UpdateInput, vanilla: &[&[u8]]) {
    let UpdateInput { proof, comm_r_old, comm_r_new, comm_d_new, .. } = *input;
    let request = UpdateRequest { proof, comm_r_old, comm_r_new, comm_d_new, vanilla_proofs: vanilla };
    refused(what, Request::Update(request));
}

fn post_refused(what: &str, input: &PostInput, vanilla: &[&[u8]]) {
    let PostInput { proof, miner, randomness, partition, .. } = *input;
    refused(what, Request::Post(PostRequest { proof, miner, randomness, partition, vanilla_proofs: vanilla }));
}

fn json(input: &PorepInput) {
    let text = String::from_utf8(input.c1.clone()).unwrap();
    let replaced = |from: &str, to: &str| {
        assert!(text.contains(from), "{from}");
        text.replacen(from, to, 1).into_bytes()
    };
    c1_refused("no bytes", input, b"");
    c1_refused("not UTF-8", input, &[0xff; 100]);
    c1_refused("cut in half", input, &input.c1[..input.c1.len() / 2]);
    c1_refused("trailing bytes", input, &[&input.c1[..], b"}"].concat());
    c1_refused("a second document", input, &input.c1.repeat(2));
    c1_refused("10,000 arrays", input, &b"[".repeat(10_000));
    c1_refused("10,000 objects", input, &b"{\"a\":".repeat(10_000));
    let deep = format!("{{\"registered_proof\":{}", "[".repeat(10_000));
    c1_refused("10,000 arrays in a field", input, deep.as_bytes());
    c1_refused("unknown field", input, &replaced("\"seed\"", "\"seeds\""));
    c1_refused("a field twice", input, &replaced("\"seed\"", "\"ticket\""));
    c1_refused("NaN", input, &replaced("\"node\":", "\"node\":NaN,\"x\":"));
    c1_refused("negative", input, &replaced("\"node\":", "\"node\":-"));
    c1_refused("a fraction", input, &replaced("\"layer_index\":1", "\"layer_index\":1.5"));
    c1_refused("above 64 bits", input, &replaced("\"node\":", "\"node\":99999999999999999999"));
    c1_refused("index above 2^32", input, &replaced("\"index\":", "\"index\":99999999999"));
    c1_refused("a byte of 256", input, &replaced("\"comm_r\":[", "\"comm_r\":[256,"));
    c1_refused("33 bytes", input, &replaced("\"comm_r\":[", "\"comm_r\":[1,"));
    c1_refused("not below the order", input, &replaced("\"root\":[", "\"root\":[255,255,255,255,255,255,255,255,255,"));
    c1_refused("a size that isn't", input, &replaced("StackedDrg2KiBV1_1", "StackedDrg2GiBV1_1"));
    c1_refused("a size not the proofs'", input, &replaced("StackedDrg2KiBV1_1", "StackedDrg64GiBV1_1"));
    c1_refused("another variant", input, &replaced("{\"StackedDrg2KiBV1\":", "{\"StackedDrg8MiBV1\":"));
    c1_refused("no partitions", input, &replaced("{\"StackedDrg2KiBV1\":[", "{\"StackedDrg2KiBV1\":[],\"x\":["));
    c1_refused("an empty partition", input, &replaced("{\"StackedDrg2KiBV1\":[", "{\"StackedDrg2KiBV1\":[[],"));
    let partitions = format!("{{\"StackedDrg2KiBV1\":[{}", "[],".repeat(1000));
    c1_refused("1000 partitions", input, &replaced("{\"StackedDrg2KiBV1\":[", &partitions));
    c1_refused("a path too long", input, &replaced("\"path\":[{", &format!("\"path\":[{}{{", step().repeat(40))));
    c1_refused("an empty step", input, &replaced("\"path\":[{", &format!("\"path\":[{}{{", step())));
    c1_refused("a path in another layer", input, &replaced("{\"Single\":", "{\"Sub\":"));
}

/// A step without siblings.
fn step() -> String {
    "{\"hashes\":[],\"index\":0},".into()
}

fn sizes(input: &PorepInput) {
    let mut padded = input.c1.clone();
    padded.resize(MAX_C1_BYTES + 1, b' ');
    c1_refused("padding above the limit", input, &padded);
    // Nobody looks at them, so that they take no memory.
    c1_refused("1 GiB of padding", input, &vec![0; 1 << 30]);
    let mut envelope = b"{\"SectorNum\":18,\"SectorSize\":2048,\"Phase1Out\":\"".to_vec();
    envelope.resize(MAX_ENVELOPE_BYTES + 1, b'A');
    c1_refused("an envelope above the limit", input, &envelope);
    envelope.truncate(MAX_ENVELOPE_BYTES - 2);
    c1_refused("an envelope without an end", input, &envelope);
    envelope.truncate(MAX_ENVELOPE_BYTES / 4 * 4 - 4096);
    envelope.extend_from_slice(b"=!\"}");
    c1_refused("odd base64", input, &envelope);
    let nested = b"{\"SectorNum\":18,\"Phase1Out\":\"eyJTZWN0b3JOdW0iOjF9\",\"SectorSize\":2048}";
    c1_refused("an envelope in an envelope", input, nested);
}

fn bincode(update: &UpdateInput, window: &PostInput) {
    let proof = &update.vanilla_proofs[0];
    // comm_c, then the count of the apex leaves.
    for count in [1u64 << 60, u64::MAX, 129, 9, 0] {
        let mut changed = proof.clone();
        changed[32..40].copy_from_slice(&count.to_le_bytes());
        update_refused("a false count of apex leaves", update, &[&changed]);
    }
    update_refused("no bytes", update, &[b""]);
    update_refused("cut", update, &[&proof[..proof.len() - 1]]);
    update_refused("a trailing byte", update, &[&[&proof[..], &[0]].concat()]);
    update_refused("no partitions", update, &[]);
    update_refused("1000 partitions", update, &vec![&proof[..]; 1000]);
    update_refused("padding above the limit", update, &[&vec![0; (1 << 20) + 1]]);
    update_refused("1 GiB of padding", update, &[&vec![0; 1 << 30]]);

    let proof = &window.vanilla_proofs[0];
    // Sector id and comm_r, then the count of sectors, then that of inclusion proofs, then the first path's variant.
    for (what, at) in [("sectors", 40), ("paths", 48), ("variant and root", 56), ("steps", 124)] {
        for count in [1u64 << 60, u64::MAX, 1000, 0] {
            let mut changed = proof.clone();
            changed[at..at + 8].copy_from_slice(&count.to_le_bytes());
            post_refused(what, window, &[&changed, &window.vanilla_proofs[1]]);
        }
    }
    post_refused("no bytes", window, &[b""]);
    post_refused("cut", window, &[&proof[..proof.len() - 1]]);
    post_refused("a trailing byte", window, &[&[&proof[..], &[0]].concat()]);
    post_refused("no sectors", window, &[]);
    post_refused("a million sectors", window, &vec![&proof[..]; 1_000_000]);
    post_refused("padding above the limit", window, &[&vec![0; (256 << 10) + 1]]);
    post_refused("1 GiB of padding", window, &[&vec![0; 1 << 30]]);
}

#[test]
fn foreign_bytes_are_refused_quickly() {
    let samples = samples_2kib().unwrap();
    // Constants of the hash functions are made on first use, and aren't a request's.
    Request::Porep(PorepRequest { miner: samples.porep.miner, sector: samples.porep.sector, c1: &samples.porep.c1 })
        .check()
        .unwrap();
    json(&samples.porep);
    sizes(&samples.porep);
    bincode(&samples.update, &samples.window);
}
