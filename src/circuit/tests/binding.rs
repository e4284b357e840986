//! Every field of the request that a proof speaks of is bound: another value is INVALID, and the error names it.

use serde_json::Value;

use super::{invalid_field, Asked};
use crate::error::Status;
use crate::vanilla::{samples_2kib, PorepInput, PostInput, UpdateInput};

/// The sample PoRep with its C1 output changed as JSON.
fn porep_with(change: impl FnOnce(&mut Value)) -> Asked {
    let mut input = samples_2kib().unwrap().porep.clone();
    let mut c1: Value = serde_json::from_slice(&input.c1).unwrap();
    change(&mut c1);
    input.c1 = serde_json::to_vec(&c1).unwrap();
    Asked::Porep(input)
}

fn update_with(change: impl FnOnce(&mut UpdateInput)) -> Asked {
    let mut input = samples_2kib().unwrap().update.clone();
    change(&mut input);
    Asked::Update(input)
}

fn post_with(input: &PostInput, change: impl FnOnce(&mut PostInput)) -> Asked {
    let mut input = input.clone();
    change(&mut input);
    Asked::Post(input)
}

/// Adds 1 to a byte.
fn bump(byte: &mut Value) {
    *byte = (byte.as_u64().unwrap() as u8).wrapping_add(1).into();
}

fn challenge(c1: &mut Value) -> &mut Value {
    &mut c1["vanilla_proofs"]["StackedDrg2KiBV1"][0][1]
}

#[test]
fn porep_binds_miner_and_sector() {
    let sample = &samples_2kib().unwrap().porep;
    let other_miner = PorepInput { miner: sample.miner + 1, ..sample.clone() };
    assert_eq!(invalid_field(Asked::Porep(other_miner).check()), "c1.replica_id");
    let other_sector = PorepInput { sector: sample.sector + 1, ..sample.clone() };
    assert_eq!(invalid_field(Asked::Porep(other_sector).check()), "c1.replica_id");
}

#[test]
fn porep_binds_its_header() {
    let expected = [
        ("ticket", "c1.replica_id"),
        ("comm_d", "c1.replica_id"),
        ("replica_id", "c1.replica_id"),
        ("comm_r", "c1.comm_r"),
        ("seed", "c1.vanilla_proofs"),
    ];
    for (name, field) in expected {
        assert_eq!(invalid_field(porep_with(|c1| bump(&mut c1[name][3])).check()), field, "{name}");
    }
    // V1 and V1_1 have one circuit, but another porep_id.
    let other = porep_with(|c1| c1["registered_proof"] = "StackedDrg2KiBV1".into());
    assert_eq!(invalid_field(other.check()), "c1.replica_id");
}

#[test]
fn porep_refuses_zero_values() {
    for name in ["comm_r", "comm_d", "seed"] {
        let zero = porep_with(|c1| c1[name] = vec![0; 32].into());
        assert!(invalid_field(zero.check()).ends_with(name));
    }
}

#[test]
fn porep_compares_what_the_reference_does_not() {
    let index = porep_with(|c1| bump(&mut challenge(c1)["replica_column_proofs"]["drg_parents"][2]["column"]["index"]));
    assert_eq!(invalid_field(index.decode()), "c1.vanilla_proofs");
    for parents in ["drg_parents", "exp_parents"] {
        let missing = porep_with(|c1| {
            challenge(c1)["replica_column_proofs"][parents].as_array_mut().unwrap().pop();
        });
        assert_eq!(invalid_field(missing.decode()), "c1.vanilla_proofs", "{parents}");
    }
    let rows = porep_with(|c1| {
        challenge(c1)["replica_column_proofs"]["c_x"]["column"]["rows"].as_array_mut().unwrap().clear();
    });
    assert_eq!(invalid_field(rows.decode()), "c1.vanilla_proofs");
    // Neither path is hashed by the reference.
    for path in ["comm_d_proofs", "comm_r_last_proof"] {
        let sibling = porep_with(|c1| {
            bump(&mut challenge(c1)[path]["data"]["Single"]["path"]["path"][1]["hashes"][0][4]);
        });
        assert_eq!(invalid_field(sibling.check()), "c1.vanilla_proofs", "{path}");
    }
    for proof in ["labeling_proofs", "encoding_proof"] {
        let parent = porep_with(|c1| {
            let proof = &mut challenge(c1)[proof];
            let labeling = if proof.is_array() { &mut proof[1] } else { proof };
            labeling["parents"].as_array_mut().unwrap().swap(0, 1);
        });
        assert_eq!(invalid_field(parent.decode()), "c1.vanilla_proofs", "{proof}");
    }
}

#[test]
fn porep_envelope_is_bound_too() {
    use base64::{engine::general_purpose::STANDARD, Engine};
    let sample = &samples_2kib().unwrap().porep;
    let wrapped = |sector: i64, size: u64, inner: &str| {
        let text = format!(r#"{{"SectorNum": {sector}, "Phase1Out": "{inner}", "SectorSize": {size}}}"#);
        Asked::Porep(PorepInput { c1: text.into_bytes(), ..sample.clone() })
    };
    let inner = STANDARD.encode(&sample.c1);
    let plain = Asked::Porep(sample.clone()).check().unwrap();
    let enveloped = wrapped(sample.sector as i64, 2048, &inner).check().unwrap();
    assert_eq!(format!("{plain:?}"), format!("{enveloped:?}"));

    assert_eq!(invalid_field(wrapped(19, 2048, &inner).check()), "c1.SectorNum");
    assert_eq!(invalid_field(wrapped(-1, 2048, &inner).check()), "c1");
    assert_eq!(invalid_field(wrapped(18, 32 << 30, &inner).check()), "c1.SectorSize");
    assert_eq!(invalid_field(wrapped(18, 2048, &inner[..inner.len() - 1]).check()), "c1.Phase1Out");
    assert_eq!(invalid_field(wrapped(18, 2048, "").check()), "c1");
}

#[test]
fn non_interactive_porep_is_unsupported() {
    let partitions = |c1: &mut Value, count: usize| {
        let list = c1["vanilla_proofs"]["StackedDrg2KiBV1"].as_array_mut().unwrap();
        let one = list[0].clone();
        list.resize(count, one);
    };
    for count in [1, 13] {
        let asked = porep_with(|c1| {
            c1["registered_proof"] = "StackedDrg2KiBV1_2_Feat_NonInteractivePoRep".into();
            partitions(c1, count);
        });
        assert_eq!(asked.check().unwrap_err().status(), Status::Unsupported, "{count} partitions");
    }
}

#[test]
fn update_binds_its_commitments() {
    assert_eq!(invalid_field(update_with(|input| input.comm_r_old[5] ^= 1).check()), "comm_r_old");
    assert_eq!(invalid_field(update_with(|input| input.comm_r_new[5] ^= 1).check()), "comm_r_new");
    assert_eq!(invalid_field(update_with(|input| input.comm_d_new[5] ^= 1).check()), "vanilla_proofs");
    assert_eq!(invalid_field(update_with(|input| input.comm_d_new = [0xff; 32]).check()), "comm_d_new");
}

#[test]
fn update_binds_apex_leaves() {
    // comm_c, then the count of the apex leaves, then 8 of 32 bytes.
    for leaf in 0..8 {
        let changed = update_with(|input| input.vanilla_proofs[0][40 + 32 * leaf] ^= 1);
        assert_eq!(invalid_field(changed.check()), "vanilla_proofs", "apex leaf {leaf}");
    }
}

#[test]
fn post_binds_randomness_but_two_bits() {
    let samples = samples_2kib().unwrap();
    for input in [&samples.window, &samples.winning, &samples.window_v1] {
        let changed = post_with(input, |input| input.randomness[0] ^= 1);
        assert_eq!(invalid_field(changed.check()), "vanilla_proofs");
        let masked = post_with(input, |input| input.randomness[31] ^= 0xc0).check().unwrap();
        let plain = post_with(input, |_| ()).check().unwrap();
        assert_eq!(format!("{masked:?}"), format!("{plain:?}"));
    }
}

#[test]
fn post_binds_sector_commitments_and_order() {
    let samples = samples_2kib().unwrap();
    // Sector id, then comm_r; comm_c and comm_r_last are the last 64 bytes.
    for input in [&samples.window, &samples.winning] {
        let end = input.vanilla_proofs[0].len();
        for (what, offset) in [("sector id", 0), ("comm_r", 8), ("comm_c", end - 64), ("comm_r_last", end - 32)] {
            let changed = post_with(input, |input| input.vanilla_proofs[0][offset] ^= 1);
            assert_eq!(invalid_field(changed.check()), "vanilla_proofs", "{what}");
        }
    }
    // Only V1 challenges depend on a sector's place.
    let swapped = post_with(&samples.window_v1, |input| input.vanilla_proofs.swap(0, 1));
    assert_eq!(invalid_field(swapped.check()), "vanilla_proofs");
    post_with(&samples.window, |input| input.vanilla_proofs.swap(0, 1)).check().unwrap();
}

#[test]
fn counts_of_proofs_are_checked() {
    let samples = samples_2kib().unwrap();
    for change in [Vec::clear as fn(&mut Vec<Vec<u8>>), |list| list.extend_from_within(..)] {
        assert_eq!(invalid_field(update_with(|input| change(&mut input.vanilla_proofs)).check()), "vanilla_proofs");
        for input in [&samples.window, &samples.winning] {
            let changed = post_with(input, |input| change(&mut input.vanilla_proofs));
            assert_eq!(invalid_field(changed.check()), "vanilla_proofs");
        }
    }
    for count in [0, 2, 10, 1000] {
        let changed = porep_with(|c1| {
            let list = c1["vanilla_proofs"]["StackedDrg2KiBV1"].as_array_mut().unwrap();
            let one = list[0].clone();
            list.resize(count, one);
        });
        assert!(invalid_field(changed.check()).starts_with("c1"), "{count} partitions");
    }
}

#[test]
fn sizes_must_agree() {
    use filecoin_proofs_api::{RegisteredPoStProof, RegisteredUpdateProof};
    let samples = samples_2kib().unwrap();
    let porep = porep_with(|c1| c1["registered_proof"] = "StackedDrg32GiBV1_1".into());
    assert_eq!(invalid_field(porep.check()), "c1");
    let moved = porep_with(|c1| {
        c1["registered_proof"] = "StackedDrg8MiBV1_1".into();
        let proofs = c1["vanilla_proofs"]["StackedDrg2KiBV1"].take();
        c1["vanilla_proofs"] = serde_json::json!({ "StackedDrg8MiBV1": proofs });
    });
    assert_eq!(invalid_field(moved.check()), "c1.replica_id");
    let unknown = porep_with(|c1| c1["registered_proof"] = "StackedDrg3KiBV1".into());
    assert_eq!(invalid_field(unknown.check()), "c1");
    let update = update_with(|input| input.proof = RegisteredUpdateProof::StackedDrg64GiBV1);
    assert_eq!(invalid_field(update.check()), "vanilla_proofs");
    for proof in [RegisteredPoStProof::StackedDrgWindow64GiBV1_2, RegisteredPoStProof::StackedDrgWinning2KiBV1] {
        let post = post_with(&samples.window_short, |input| input.proof = proof);
        assert_eq!(invalid_field(post.check()), "vanilla_proofs", "{proof:?}");
    }
}
