//! What has to hold for any bytes that the R1CS cache is asked to read. Run by the fuzz target and, on its corpus, by
//! `tests/r1cs_corpus.rs`; both have the module `r1cs` at their root.

use crate::r1cs::cache::decode_file;
use crate::r1cs::R1cs;

/// Name that the corpus' files have in their keys.
pub const NAME: &str = "fuzz";
/// An R1CS of more rows than this is decoded and checked, but not expanded: a few bytes can ask for 2^32 rows.
const MAX_ROWS: u64 = 1 << 12;

/// Reads `bytes` as a file and as the body of one. Whatever is accepted can be expanded and is encoded to the same bytes.
pub fn check(bytes: &[u8]) {
    if let Ok(r1cs) = decode_file(bytes, NAME, None) {
        assert!(bytes.ends_with(&r1cs.to_body()));
        expand(&r1cs);
    }
    if let Ok(r1cs) = R1cs::from_body(bytes) {
        assert_eq!(r1cs.to_body(), bytes);
        expand(&r1cs);
    }
}

fn expand(r1cs: &R1cs) {
    if r1cs.row_count() > MAX_ROWS {
        return;
    }
    let mut non_zeros = [0; 3];
    for row in r1cs.rows() {
        for (count, terms) in non_zeros.iter_mut().zip([row.a, row.b, row.c]) {
            for (index, _) in terms {
                assert!(u64::from(index) < r1cs.variable_count());
                *count += 1;
            }
        }
    }
    let inputs = u64::from(r1cs.input_count);
    let [a, b, c] = r1cs.non_zero_counts();
    assert_eq!(non_zeros, [a + inputs, b, c]);
    let counts = r1cs.query_counts();
    assert!(counts.a >= inputs && counts.a.max(counts.b) <= r1cs.variable_count());
}
