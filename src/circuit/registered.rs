//! Registered proof types and what follows from them.

/// Miner's actor id as the 32-byte prover id: unsigned LEB128, left-aligned, the rest 0.
pub fn prover_id(miner: u64) -> [u8; 32] {
    let mut id = [0; 32];
    let mut rest = miner;
    for byte in id.iter_mut() {
        *byte = (rest & 0x7f) as u8;
        rest >>= 7;
        if rest == 0 {
            break;
        }
        *byte |= 0x80;
    }
    id
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn prover_id_is_leb128() {
        let head = |miner| prover_id(miner)[..12].to_vec();
        assert_eq!(head(0), [0; 12]);
        assert_eq!(head(127), [127, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0]);
        assert_eq!(head(128), [0x80, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0]);
        assert_eq!(head(1000), [0xe8, 0x07, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0]);
        assert_eq!(head(u64::MAX), [0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 1, 0, 0]);
    }
}
