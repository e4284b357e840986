//! The QAP's polynomials at τ: each variable's column of A, B and C, weighted with the Lagrange coefficients of its
//! rows.

use blstrs::Scalar as Fr;
use ff::Field;

use crate::r1cs::{R1cs, Row, Terms};

/// `Σ_i M_ik lagrange[i]` for each variable `k`, for M = A, B and C. Streams over the expanded rows, one thread per
/// matrix.
pub(super) fn evaluate(r1cs: &R1cs, lagrange: &[Fr]) -> [Vec<Fr>; 3] {
    let (a, (b, c)) = rayon::join(
        || evaluate_one(r1cs, lagrange, |row| row.a),
        || rayon::join(|| evaluate_one(r1cs, lagrange, |row| row.b), || evaluate_one(r1cs, lagrange, |row| row.c)),
    );
    [a, b, c]
}

fn evaluate_one<'a>(r1cs: &'a R1cs, lagrange: &[Fr], matrix: impl Fn(Row<'a>) -> Terms<'a>) -> Vec<Fr> {
    let minus_one = -Fr::ONE;
    let mut sums = vec![Fr::ZERO; r1cs.variable_count() as usize];
    for (row, weight) in r1cs.rows().zip(lagrange) {
        for (variable, coefficient) in matrix(row) {
            let sum = &mut sums[variable as usize];
            // Most coefficients are 1 or −1.
            if *coefficient == Fr::ONE {
                *sum += weight;
            } else if *coefficient == minus_one {
                *sum -= weight;
            } else {
                *sum += coefficient * weight;
            }
        }
    }
    sums
}
