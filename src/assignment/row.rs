//! Short rows of a stored block, evaluated at bits.

use std::collections::HashMap;
use std::ops::{Add, Mul, Sub};

use blstrs::Scalar as Fr;
use ff::{Field, PrimeField};

use crate::r1cs::{Column, ColumnClass, Matrix, R1cs, Segment};

/// Bits that a row may have beside the variable that it is solved for: three, and one that they determine.
pub(super) const MAX_KNOWN: usize = 4;

const MAX_VARIABLES: usize = MAX_KNOWN + 1;

/// Coefficients below this are calculated with as integers: products of sums of `MAX_VARIABLES + 1` of them, and three
/// of these products, stay far below 2^63, so that integers are equal exactly if the field elements are.
const SMALL: i64 = 1 << 20;
const _: () = assert!(3 * (MAX_VARIABLES as i64 + 1) * (MAX_VARIABLES as i64 + 1) < i64::MAX / (SMALL * SMALL));

/// The rows of a segment's block, with columns renumbered: `[0, local_count)` are the block's own aux variables, then
/// ports, then outside aux variables, then inputs (each once for all: their values don't matter here).
pub(super) struct Rows<'a> {
    segment: &'a Segment,
    dictionary: &'a [Fr],
    /// The dictionary's entries that are small integers.
    small: Vec<Option<i64>>,
    input_count: u32,
    local_count: usize,
    /// z indices of the outside aux variables, and where each stands in this list.
    pub(super) outside: Vec<u32>,
    outside_positions: HashMap<u32, u32>,
}

/// A row of at most [`MAX_VARIABLES`] variables: the coefficients of ONE and of each variable in A, B and C.
pub(super) struct Row {
    variables: [u32; MAX_VARIABLES],
    count: usize,
    values: Values,
}

enum Values {
    Small(Terms<i64>),
    Large(Box<Terms<Fr>>),
}

/// `[A, B, C]` coefficients; the last entry is ONE's.
struct Terms<T>([[T; 3]; MAX_VARIABLES + 1]);

impl<'a> Rows<'a> {
    pub(super) fn new(r1cs: &'a R1cs, segment: &'a Segment) -> Self {
        let mut rows = Rows {
            segment,
            dictionary: &r1cs.dictionary,
            small: r1cs.dictionary.iter().map(small_integer).collect(),
            input_count: r1cs.input_count,
            local_count: 0,
            outside: Vec::new(),
            outside_positions: HashMap::new(),
        };
        for column in segment.matrices().into_iter().flat_map(|matrix| &matrix.columns) {
            match column.class() {
                ColumnClass::LocalAux(value) => rows.local_count = rows.local_count.max(value as usize + 1),
                ColumnClass::Outside(z) if z >= r1cs.input_count => {
                    rows.outside_positions.entry(z).or_insert_with(|| {
                        rows.outside.push(z);
                        rows.outside.len() as u32 - 1
                    });
                }
                _ => {}
            }
        }
        rows
    }

    /// Rows of the block.
    pub(super) fn count(&self) -> u32 {
        self.segment.row_count
    }

    /// Aux variables of the block itself.
    pub(super) fn local_count(&self) -> usize {
        self.local_count
    }

    /// Ports and outside aux variables.
    pub(super) fn foreign_count(&self) -> usize {
        self.segment.port_count as usize + self.outside.len()
    }

    /// Row `index` of the block, unless it has too many variables.
    pub(super) fn row(&self, index: u32) -> Option<Row> {
        let matrices = self.segment.matrices();
        let ranges = matrices.map(|matrix| matrix.row(index as usize));
        if ranges.iter().any(|range| range.len() > MAX_VARIABLES + 1) {
            return None;
        }
        let mut row = Row { variables: [0; MAX_VARIABLES], count: 0, values: Values::Small(Terms::zero(0)) };
        for (which, (matrix, range)) in matrices.into_iter().zip(ranges).enumerate() {
            for position in range {
                let at = match self.renumber(matrix.columns[position]) {
                    None => MAX_VARIABLES,
                    Some(variable) => row.position_of(variable)?,
                };
                self.set(&mut row, at, which, matrix, position);
            }
        }
        Some(row)
    }

    /// The variable of a column; none for ONE.
    fn renumber(&self, column: Column) -> Option<u32> {
        let ports_base = self.local_count as u32;
        let outside_base = ports_base + self.segment.port_count;
        let inputs_base = outside_base + self.outside.len() as u32;
        match column.class() {
            ColumnClass::LocalAux(value) => Some(value),
            ColumnClass::Port(value) => Some(ports_base + value),
            ColumnClass::Outside(0) => None,
            ColumnClass::Outside(z) if z < self.input_count => Some(inputs_base + z),
            ColumnClass::Outside(z) => Some(outside_base + self.outside_positions[&z]),
            ColumnClass::LocalInput(value) => Some(inputs_base + self.input_count + value),
        }
    }

    fn set(&self, row: &mut Row, at: usize, which: usize, matrix: &Matrix, position: usize) {
        let small = self.small.get(usize::from(matrix.coefficients[position])).copied().flatten();
        match (&mut row.values, small) {
            (Values::Small(terms), Some(small)) => terms.0[at][which] = small,
            (Values::Small(terms), None) => {
                row.values = Values::Large(Box::new(Terms(terms.0.map(|column| column.map(field_element)))));
                self.set(row, at, which, matrix, position);
            }
            (Values::Large(terms), _) => terms.0[at][which] = *matrix.coefficient(position, self.dictionary),
        }
    }
}

impl Row {
    /// The row's variables, in order of appearance.
    pub(super) fn variables(&self) -> impl Iterator<Item = u32> + '_ {
        self.variables[..self.count].iter().copied()
    }

    /// The variable at a position.
    pub(super) fn variable(&self, at: usize) -> u32 {
        self.variables[at]
    }

    /// Where a variable stands, which is appended if it is new; none if there are too many.
    fn position_of(&mut self, variable: u32) -> Option<usize> {
        if let Some(at) = self.variables().position(|other| other == variable) {
            return Some(at);
        }
        *self.variables.get_mut(self.count)? = variable;
        self.count += 1;
        Some(self.count - 1)
    }

    /// All assignments of bits to the variables other than `unknown`, as sets of positions.
    pub(super) fn assignments(&self, unknown: usize) -> impl Iterator<Item = u32> {
        let below = (1 << unknown) - 1;
        (0..1u32 << (self.count - 1)).map(move |bits| bits & below | (bits & !below) << 1)
    }

    /// Whether no value but 0 and 1 of the variable at `unknown` satisfies the row, if the others have these bits.
    pub(super) fn has_bit_roots(&self, unknown: usize, bits: u32) -> bool {
        match &self.values {
            Values::Small(terms) => terms.has_bit_roots(unknown, bits, 0),
            Values::Large(terms) => terms.has_bit_roots(unknown, bits, Fr::ZERO),
        }
    }

    /// Whether these bits satisfy the row.
    pub(super) fn holds(&self, bits: u32) -> bool {
        match &self.values {
            Values::Small(terms) => terms.holds(bits, 0),
            Values::Large(terms) => terms.holds(bits, Fr::ZERO),
        }
    }
}

impl<T: Copy + PartialEq + Add<Output = T> + Sub<Output = T> + Mul<Output = T>> Terms<T> {
    fn zero(zero: T) -> Self {
        Terms([[zero; 3]; MAX_VARIABLES + 1])
    }

    /// A·z, B·z and C·z.
    fn evaluate(&self, bits: u32) -> [T; 3] {
        let mut sums = self.0[MAX_VARIABLES];
        for (at, terms) in self.0[..MAX_VARIABLES].iter().enumerate() {
            if bits >> at & 1 == 1 {
                sums = [sums[0] + terms[0], sums[1] + terms[1], sums[2] + terms[2]];
            }
        }
        sums
    }

    fn holds(&self, bits: u32, zero: T) -> bool {
        let [a, b, c] = self.evaluate(bits);
        a * b - c == zero
    }

    /// The row is (a + a' x)(b + b' x) − (c + c' x) = αx² + βx + γ.
    fn has_bit_roots(&self, unknown: usize, bits: u32, zero: T) -> bool {
        let [a, b, c] = self.evaluate(bits);
        let [a1, b1, c1] = self.0[unknown];
        let (alpha, beta, gamma) = (a1 * b1, a * b1 + a1 * b - c1, a * b - c);
        let (zero_is_root, one_is_root) = (gamma == zero, alpha + beta + gamma == zero);
        if alpha == zero {
            // No root, or the only one.
            return if beta == zero { gamma != zero } else { zero_is_root || one_is_root };
        }
        // αx(x − 1), αx² or α(x − 1)².
        zero_is_root && (one_is_root || beta == zero) || one_is_root && gamma == alpha
    }
}

/// A small integer as a field element.
fn field_element(small: i64) -> Fr {
    let magnitude = Fr::from(small.unsigned_abs());
    if small < 0 {
        -magnitude
    } else {
        magnitude
    }
}

/// The integer of least magnitude that is this field element, if it is small.
fn small_integer(value: &Fr) -> Option<i64> {
    let below = |value: Fr| {
        let bytes = value.to_repr();
        let (low, high) = bytes.split_at(8);
        let low = u64::from_le_bytes(low.try_into().expect("8 bytes"));
        (high.iter().all(|byte| *byte == 0) && low < SMALL as u64).then_some(low as i64)
    };
    below(*value).or_else(|| below(-*value).map(|magnitude| -magnitude))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Small coefficients, by which every row over two bits and an unknown is reached in time.
    fn terms_of(mut code: u32) -> Terms<i64> {
        let mut terms = Terms::zero(0);
        for at in [0, 1, 2, MAX_VARIABLES] {
            for coefficient in &mut terms.0[at] {
                *coefficient = i64::from(code % 4) - 1;
                code = code.wrapping_mul(2_654_435_761).wrapping_add(12_345).rotate_left(9);
            }
        }
        terms
    }

    /// Roots of αx² + βx + γ, unless it is 0 everywhere.
    fn roots(alpha: Fr, beta: Fr, gamma: Fr) -> Option<Vec<Fr>> {
        if alpha == Fr::ZERO {
            return match Option::<Fr>::from(beta.invert()) {
                Some(inverse) => Some(vec![-gamma * inverse]),
                None => (gamma != Fr::ZERO).then(Vec::new),
            };
        }
        let half = alpha.double().invert().unwrap();
        let discriminant = beta.square() - Fr::from(4) * alpha * gamma;
        let root = Option::<Fr>::from(discriminant.sqrt());
        Some(root.map_or(Vec::new(), |root| vec![(root - beta) * half, (-root - beta) * half]))
    }

    #[test]
    fn bit_roots_are_the_roots() {
        let mut seen = [0; 2];
        for code in 0..4_000 {
            let small = terms_of(code * 977);
            let large = Terms(small.0.map(|column| column.map(field_element)));
            for bits in 0..4 {
                let found = small.has_bit_roots(2, bits, 0);
                assert_eq!(found, large.has_bit_roots(2, bits, Fr::ZERO));
                let [a, b, c] = large.evaluate(bits);
                let [a1, b1, c1] = large.0[2];
                let (alpha, beta, gamma) = (a1 * b1, a * b1 + a1 * b - c1, a * b - c);
                let all_bits = roots(alpha, beta, gamma)
                    .is_some_and(|roots| roots.iter().all(|root| *root == Fr::ZERO || *root == Fr::ONE));
                // A quadratic without a root may be turned down: none of Filecoin's rows is one.
                assert!(found == all_bits || alpha != Fr::ZERO && all_bits, "{code} {bits}");
                assert_eq!(small.holds(bits | 4, 0), large.holds(bits | 4, Fr::ZERO));
                seen[usize::from(found)] += 1;
            }
        }
        assert!(seen.iter().all(|count| *count > 500), "{seen:?}");
    }

    #[test]
    fn small_integers_are_recognised() {
        for value in [0, 1, -1, 2, -77, SMALL - 1, 1 - SMALL] {
            assert_eq!(small_integer(&field_element(value)), Some(value));
        }
        for value in [SMALL, -SMALL, i64::MAX] {
            assert_eq!(small_integer(&field_element(value)), None);
        }
        assert_eq!(small_integer(&Fr::from(2).invert().unwrap()), None);
    }
}
