//! Structural hashes of the recorded circuits. A release of the proofs stack that changes a circuit changes its hash, and
//! then proofs against the network's SRS would fail: the test of this table fails first.

use super::CircuitId;

/// Name of a circuit and the hash of its R1CS as [`CircuitId::record`] makes it, in hex. Printed by
/// `cargo bench --bench r1cs -- NAME`.
const HASHES: [(&str, &str); 20] = [
    ("porep-2kib", "34fc9d4d4cb57300f668ab574a7207900f2d2128d19ce83869497330dafa7e91"),
    ("porep-8mib", "c481fb6a4fbd396e4a0495d9188a931b53641bbf76425bbc3c9cef1fa749adb6"),
    ("porep-512mib", "b56bf1386cf5564b042044fb7ffd2522654822b6ff613d88506bad5a8407a34e"),
    ("porep-32gib", "8e68b98e77fccdd77dda167361c81aef6b91911035b29a69201556e790099f5e"),
    ("porep-64gib", "0217b266b900baf97b4e549b3ef4428bba73c2d469b4c304cc6a4e4f6e32d20a"),
    ("snapdeals-2kib", "c5b853ee2f8efcc236ada737a54cd5e107f5eaf83e860b3a811da454af0fa21d"),
    ("snapdeals-8mib", "721bc2d91373e6c1f8b55b30d5df4d7e00102985078ed9ce44b075c901001e40"),
    ("snapdeals-512mib", "9f38a137622495c5d6acd9b66c6830ad757a58614dc366bd2140de293c6c7b93"),
    ("snapdeals-32gib", "b6ce875b7de4a8a1723da9463b8f4e73d0f3add8abcdeeb75a88de4629ea7c11"),
    ("snapdeals-64gib", "c9148b8da67406975fba72da769eaaa66e133b1223da1eb3a31cba3f77e5bb6f"),
    ("windowpost-2kib", "9ff8a817d4f12d90fc9ede343a31b0822a3682723ee858f758cf245b3a760b39"),
    ("windowpost-8mib", "f03328517ff18bf514d4ea7d4341ed1ca71bd5b3282ff2abe612972b200dafe1"),
    ("windowpost-512mib", "f56597bf4d8166aa078d4385f7a836b505f616f7f4521f4e0fb81cbddf51b28b"),
    ("windowpost-32gib", "17fef7a17960cc948aeaa9e1485a1cb315323c8c0400666a70e2105837a8851b"),
    ("windowpost-64gib", "bb4a12b4be08981c6432c2a30fcd9fe7d04e0bb216740fbf2e379e5b1d0bde79"),
    ("winningpost-2kib", "91bfa14f2033dcf9dc71013bd7596777e7dfcf60c891e14b024ccdbec6c49c5e"),
    ("winningpost-8mib", "03bf6be6a0a2eb81c07ad5ea14242b64995da56c82c1f4d13e7dc9abc3b32ab7"),
    ("winningpost-512mib", "6a023143decff6f7a0acba42baca94427565f689aa9fe68340bb92c9cb00fa79"),
    ("winningpost-32gib", "53e8855bfb6bc5bd159ecdc58b9158a4dca7e5643697f8d286734e4c3249d06f"),
    ("winningpost-64gib", "5b801457915e3eb75ab6d2fd497828daf1a852dd363b77721ede330ec829edec"),
];

/// Name of a circuit and the hash of the layout that follows from its R1CS. Printed, with a witness that fits, by
/// `cargo bench --bench assignment -- NAME`.
const LAYOUTS: [(&str, &str); 20] = [
    ("porep-2kib", "2f7c49f7f387af66c8d6993ebbf23a28a919368bc8ebad2a46a136194fe18b1f"),
    ("porep-8mib", "1c45383de196af9603ecf297d55f3c7a19d0bd8aeba1a5a304f386ea918434ee"),
    ("porep-512mib", "c19296b61927f3c2787aa19037f84009684bf87ab3060d7856dd8a8f6c5ab4c3"),
    ("porep-32gib", "c75192e70c5249782aaaa308f5f892b5abcb177152280b408aea3cdb9c58f6df"),
    ("porep-64gib", "9f6c24b3979a109cba50ce7f961b98549af6de1918a37031564f38f80c505263"),
    ("snapdeals-2kib", "13e010302004cbb25fe1a59ac4a522f6a9a4ebf65b6ee7a110a8ec0ceb18e8f1"),
    ("snapdeals-8mib", "94bc7ef7c92f20a037a203cf19c6fb75691ee759f3c307de3a3051ddd02e166a"),
    ("snapdeals-512mib", "09f81c0cac855c6acd5e19c392de313c4242b39f85b656dfd8c44e0b3b51e969"),
    ("snapdeals-32gib", "9577010306f37a942465ff4b28c82a2cd8460148dba3f084a86f4c3a419c7f05"),
    ("snapdeals-64gib", "b428cc5865f4bea0dc0870fcaa4dbca843da53d2b734ea2544cab95578281214"),
    ("windowpost-2kib", "ccb060092288f052803239c238e0fbb06f616690a67f9264c1423161e34910e2"),
    ("windowpost-8mib", "e0fde599e0e0d677cc37104da1a1801e21615df249a352178166ac83c83754af"),
    ("windowpost-512mib", "7acd98e7765fd044169f4e0f5472d60861e30e0db65ae69da98669569c74fec3"),
    ("windowpost-32gib", "0f733235f0ed4940865588a9f68798e9c56cb4ab8e50966e060d9bc9326b08bd"),
    ("windowpost-64gib", "10adb2c9f4e2b2f16e5f87f76649d57cf527c879de4bda2c062663a7a7bc588b"),
    ("winningpost-2kib", "ba2cdce2e838be3834f8b7b269db51174f37668df53decbc1b17e11779b557a5"),
    ("winningpost-8mib", "64c70f08f535ec11834d8a4b87598c46fdd92cea7c57955ef16dab7e7dc1f06f"),
    ("winningpost-512mib", "7f0cbfca8ff75ef98385443c811e87ae116af874e56290f6e81244c71fe4e2db"),
    ("winningpost-32gib", "f754441997727e3fe79d22a9cde02b7e690a763210ab8f70572d6987338038df"),
    ("winningpost-64gib", "db5ae2edd5be9a4abf4804d55c027126ed400ba10a8b3ccb30b828ca361446ad"),
];

/// The pinned hash of `id`'s R1CS.
pub(super) fn hash(id: CircuitId) -> [u8; 32] {
    find(&HASHES, id)
}

/// The pinned hash of `id`'s layout.
pub(super) fn layout_hash(id: CircuitId) -> [u8; 32] {
    find(&LAYOUTS, id)
}

fn find(table: &[(&str, &str)], id: CircuitId) -> [u8; 32] {
    let name = id.to_string();
    let (_, hex) = table.iter().find(|(circuit, _)| *circuit == name).expect("every circuit is in the table");
    let mut hash = [0; 32];
    for (byte, digits) in hash.iter_mut().zip(hex.as_bytes().chunks(2)) {
        let digits = std::str::from_utf8(digits).expect("the table is ASCII");
        *byte = u8::from_str_radix(digits, 16).expect("the table is hex");
    }
    hash
}

#[cfg(test)]
mod tests {
    use super::super::Kind;
    use super::*;

    #[test]
    fn every_circuit_has_a_hash_of_its_own() {
        let mut hashes = std::collections::HashSet::new();
        for kind in Kind::ALL {
            for size in CircuitId::SECTOR_SIZES {
                let id = CircuitId::new(kind, size).unwrap();
                assert!(hashes.insert(id.pinned_hash()), "{id}");
                assert!(hashes.insert(layout_hash(id)), "{id}");
            }
        }
        assert!(HASHES.iter().chain(&LAYOUTS).all(|(_, hex)| hex.len() == 64));
    }
}
