//! The network's SRS files, from `parameters.json` of filecoin-proofs 19.1.0.
//!
//! One entry per `.vk` of that file, sorted by name: name, sector size, digest of the `.vk`, digest of the `.params`.
//! `tests/srs_known.rs` compares the table with the JSON in the package that cargo resolved, so that a new version of
//! filecoin-proofs can't be taken without updating it.

/// An SRS of the network. Digests are the first 16 bytes of blake2b-512, in hex.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct KnownSrs {
    /// File name without `.params` or `.vk`.
    pub name: &'static str,
    /// Bytes of the sector that the circuit proves.
    pub sector_bytes: u64,
    /// Digest of the `.vk` file, which is the head of the `.params` file.
    pub vk_digest: &'static str,
    /// Digest of the whole `.params` file.
    pub params_digest: &'static str,
}

/// The entry whose vk has this digest.
pub fn by_vk_digest(digest: &str) -> Option<&'static KnownSrs> {
    KNOWN.iter().find(|known| known.vk_digest == digest)
}

/// The entry with this name (without `.params` or `.vk`).
pub fn by_name(name: &str) -> Option<&'static KnownSrs> {
    KNOWN.iter().find(|known| known.name == name)
}

const fn srs(name: &'static str, sector_bytes: u64, vk_digest: &'static str, params_digest: &'static str) -> KnownSrs {
    KnownSrs { name, sector_bytes, vk_digest, params_digest }
}

const KIB: u64 = 1 << 10;
const MIB: u64 = 1 << 20;
const GIB: u64 = 1 << 30;

/// All of them, sorted by name.
#[rustfmt::skip]
pub const KNOWN: [KnownSrs; 22] = [
    srs(
        concat!("v28-empty-sector-update-merkletree-poseidon_hasher-8-0-0-",
            "61fa69f38b9cc771ba27b670124714b4ea77fbeae05e377fb859c4a43b73a30c"),
        512 * MIB, "994c5b7d450ca9da348c910689f2dc7f", "c3ad7bb549470b82ad52ed070aebb4f4",
    ),
    srs(
        concat!("v28-empty-sector-update-merkletree-poseidon_hasher-8-0-0-",
            "92180959e1918d26350b8e6cfe217bbdd0a2d8de51ebec269078b364b715ad63"),
        8 * MIB, "abd80269054d391a734febdac0d2e687", "5aedd2cf3e5c0a15623d56a1b43110ad",
    ),
    srs(
        concat!("v28-empty-sector-update-merkletree-poseidon_hasher-8-0-0-",
            "fb9e095bebdd77511c0269b967b4d87ba8b8a525edaa0e165de23ba454510194"),
        2 * KIB, "eadad9784969890d30f2749708c79771", "311f92a3e75036ced01b1c0025f1fa0c",
    ),
    srs(
        concat!("v28-empty-sector-update-merkletree-poseidon_hasher-8-8-0-",
            "3b7f44a9362e3985369454947bc94022e118211e49fd672d52bec1cbfd599d18"),
        32 * GIB, "3a6941983754737fde880d29c7094905", "1b3cfd761a961543f9eb273e435a06a2",
    ),
    srs(
        concat!("v28-empty-sector-update-merkletree-poseidon_hasher-8-8-2-",
            "102e1444a7e9a97ebf1e3d6855dcc77e66c011ea66f936d9b2c508f87f2f83a7"),
        64 * GIB, "80e366df2f1011953c2d01c7b7c9ee8e", "1a392e7b759fb18e036c7559b5ece816",
    ),
    srs(
        concat!("v28-empty-sector-update-poseidon-merkletree-poseidon_hasher-8-8-0-",
            "3b7f44a9362e3985369454947bc94022e118211e49fd672d52bec1cbfd599d18"),
        32 * GIB, "1ac05784f304129f74c5184190c1ec78", "b69983b5d7a97a20f43b3d5ff2a4ed04",
    ),
    srs(
        concat!("v28-empty-sector-update-poseidon-merkletree-poseidon_hasher-8-8-2-",
            "102e1444a7e9a97ebf1e3d6855dcc77e66c011ea66f936d9b2c508f87f2f83a7"),
        64 * GIB, "8e8fb9e2c56eb5d740d0de135305a7b8", "a6d4f96e2b641a6d7a1a8e6dc1155c8a",
    ),
    srs(
        concat!("v28-proof-of-spacetime-fallback-merkletree-poseidon_hasher-8-0-0-",
            "0170db1f394b35d995252228ee359194b13199d259380541dc529fb0099096b0"),
        2 * KIB, "0e0958009936b9d5e515ec97b8cb792d", "7610b9f82bfc88405b7a832b651ce2f6",
    ),
    srs(
        concat!("v28-proof-of-spacetime-fallback-merkletree-poseidon_hasher-8-0-0-",
            "0cfb4f178bbb71cf2ecfcd42accce558b27199ab4fb59cb78f2483fe21ef36d9"),
        512 * MIB, "4dae975de4f011f101f5a2f86d1daaba", "1a7d4a9c8a502a497ed92a54366af33f",
    ),
    srs(
        concat!("v28-proof-of-spacetime-fallback-merkletree-poseidon_hasher-8-0-0-",
            "3ea05428c9d11689f23529cde32fd30aabd50f7d2c93657c1d3650bca3e8ea9e"),
        2 * KIB, "ffd79788d614d27919ae5bd2d94eacb6", "82c88066be968bb550a05e30ff6c2413",
    ),
    srs(
        concat!("v28-proof-of-spacetime-fallback-merkletree-poseidon_hasher-8-0-0-",
            "50c7368dea9593ed0989e70974d28024efa9d156d585b7eea1be22b2e753f331"),
        8 * MIB, "79ebb55f56fda427743e35053edad8fc", "700171ecf7334e3199437c930676af82",
    ),
    srs(
        concat!("v28-proof-of-spacetime-fallback-merkletree-poseidon_hasher-8-0-0-",
            "5294475db5237a2e83c3e52fd6c2b03859a1831d45ed08c4f35dbf9a803165a9"),
        8 * MIB, "34d4feeacd9abf788d69ef1bb4d8fd00", "c49499bb76a0762884896f9683403f55",
    ),
    srs(
        concat!("v28-proof-of-spacetime-fallback-merkletree-poseidon_hasher-8-0-0-",
            "7d739b8cf60f1b0709eeebee7730e297683552e4b69cab6984ec0285663c5781"),
        512 * MIB, "bd2cd62f65c1ab84f19ca27e97b7c731", "827359440349fe8f5a016e7598993b79",
    ),
    srs(
        concat!("v28-proof-of-spacetime-fallback-merkletree-poseidon_hasher-8-8-0-",
            "0377ded656c6f524f1618760bffe4e0a1c51d5a70c4509eedae8a27555733edc"),
        32 * GIB, "0f8ec542485568fa3468c066e9fed82b", "2cf49eb26f1fee94c85781a390ddb4c8",
    ),
    srs(
        concat!("v28-proof-of-spacetime-fallback-merkletree-poseidon_hasher-8-8-0-",
            "559e581f022bb4e4ec6e719e563bf0e026ad6de42e56c18714a2c692b1b88d7e"),
        32 * GIB, "fc02943678dd119e69e7fab8420e8819", "d84f79a16fe40e9e25a36e2107bb1ba0",
    ),
    srs(
        concat!("v28-proof-of-spacetime-fallback-merkletree-poseidon_hasher-8-8-2-",
            "2627e4006b67f99cef990c0a47d5426cb7ab0a0ad58fc1061547bf2d28b09def"),
        64 * GIB, "59d2bf1857adc59a4f08fcf2afaa916b", "3810b7780ac0e299b22ae70f1f94c9bc",
    ),
    srs(
        concat!("v28-proof-of-spacetime-fallback-merkletree-poseidon_hasher-8-8-2-",
            "b62098629d07946e9028127e70295ed996fe3ed25b0f9f88eb610a0ab4385a3c"),
        64 * GIB, "6d3789148fb6466d07ee1e24d6292fd6", "2170a91ad5bae22ea61f2ea766630322",
    ),
    srs(
        concat!("v28-stacked-proof-of-replication-merkletree-poseidon_hasher-8-0-0-sha256_hasher-",
            "032d3138d22506ec0082ed72b2dcba18df18477904e35bafee82b3793b06832f"),
        2 * KIB, "dc1ade9929ade1708238f155343044ac", "434fb1338ecfaf0f59256f30dde4968f",
    ),
    srs(
        concat!("v28-stacked-proof-of-replication-merkletree-poseidon_hasher-8-0-0-sha256_hasher-",
            "6babf46ce344ae495d558e7770a585b2382d54f225af8ed0397b8be7c3fcd472"),
        512 * MIB, "065179da19fbe515507267677f02823e", "6c77597eb91ab936c1cef4cf19eba1b3",
    ),
    srs(
        concat!("v28-stacked-proof-of-replication-merkletree-poseidon_hasher-8-0-0-sha256_hasher-",
            "ecd683648512ab1765faa2a5f14bab48f676e633467f0aa8aad4b55dcb0652bb"),
        8 * MIB, "b687beb9adbd9dabe265a7e3620813e4", "09e612e4eeb7a0eb95679a88404f960c",
    ),
    srs(
        concat!("v28-stacked-proof-of-replication-merkletree-poseidon_hasher-8-8-0-sha256_hasher-",
            "82a357d2f2ca81dc61bb45f4a762807aedee1b0a53fd6c4e77b46a01bfef7820"),
        32 * GIB, "0c7b4aac1c40fdb7eb82bc355b41addf", "6a388072a518cf46ebd661f5cc46900a",
    ),
    srs(
        concat!("v28-stacked-proof-of-replication-merkletree-poseidon_hasher-8-8-2-sha256_hasher-",
            "96f1b4a04c5c51e4759bbf224bbc2ef5a42c7100f16ec0637123f16a845ddfb2"),
        64 * GIB, "a89884252c04c298d0b3c81bfd884164", "1801f8a6e1b00bceb00cc27314bb5ce3",
    ),
];
