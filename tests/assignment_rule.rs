//! The rule that derives a layout, gadget by gadget, and in blocks.

use bellpepper_core::boolean::{AllocatedBit, Boolean};
use bellpepper_core::num::AllocatedNum;
use bellpepper_core::{Circuit, ConstraintSystem, LinearCombination, SynthesisError, Variable};
use blstrs::Scalar as Fr;
use cuzk::assignment::Layout;
use cuzk::r1cs::{Flat, Mark, Proposer, R1cs};
use ff::Field;

/// A circuit without a witness, from a function that can't be generic over the constraint system.
struct Rows<F>(F);

/// What the functions write to: variables and rows, in order.
#[derive(Default)]
struct Script(Vec<Step>);

enum Step {
    Aux,
    Input,
    Row([Vec<(i64, Name)>; 3]),
    /// Begins a block; the next one or `End` ends it.
    Block,
    End,
}

/// A variable of a script.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Name {
    One,
    Aux(usize),
    Input(usize),
}
use Name::One;

impl Script {
    fn aux(&mut self) -> Name {
        self.0.push(Step::Aux);
        Name::Aux(self.0.iter().filter(|step| matches!(step, Step::Aux)).count() - 1)
    }

    fn input(&mut self) -> Name {
        self.0.push(Step::Input);
        Name::Input(self.0.iter().filter(|step| matches!(step, Step::Input)).count())
    }

    fn row(&mut self, a: &[(i64, Name)], b: &[(i64, Name)], c: &[(i64, Name)]) {
        self.0.push(Step::Row([a.to_vec(), b.to_vec(), c.to_vec()]));
    }

    /// A variable with its boolean row.
    fn bit(&mut self) -> Name {
        let x = self.aux();
        self.row(&[(1, One), (-1, x)], &[(1, x)], &[]);
        x
    }

    /// The product of two variables.
    fn product(&mut self, a: Name, b: Name) -> Name {
        let x = self.aux();
        self.row(&[(1, a)], &[(1, b)], &[(1, x)]);
        x
    }
}

impl<F: FnOnce(&mut Script)> Circuit<Fr> for Rows<F> {
    fn synthesize<CS: ConstraintSystem<Fr>>(self, cs: &mut CS) -> Result<(), SynthesisError> {
        let mut script = Script::default();
        self.0(&mut script);
        let (mut aux, mut inputs, mut in_block) = (Vec::new(), vec![CS::one()], false);
        for step in script.0 {
            match step {
                Step::Aux => aux.push(cs.alloc(|| "", || Err(SynthesisError::AssignmentMissing))?),
                Step::Input => inputs.push(cs.alloc_input(|| "", || Err(SynthesisError::AssignmentMissing))?),
                Step::Row(row) => {
                    let [a, b, c] = row.map(|terms| combination(&terms, &aux, &inputs));
                    cs.enforce(|| "", |_| a, |_| b, |_| c);
                }
                Step::Block | Step::End => {
                    if in_block {
                        cs.get_root().pop_namespace();
                    }
                    in_block = matches!(step, Step::Block);
                    if in_block {
                        cs.get_root().push_namespace(|| "block");
                    }
                }
            }
        }
        Ok(())
    }
}

fn combination(terms: &[(i64, Name)], aux: &[Variable], inputs: &[Variable]) -> LinearCombination<Fr> {
    terms.iter().fold(LinearCombination::zero(), |sum, (coefficient, name)| {
        let variable = match name {
            One => inputs[0],
            Name::Aux(j) => aux[*j],
            Name::Input(i) => inputs[*i],
        };
        let magnitude = Fr::from(coefficient.unsigned_abs());
        sum + (if *coefficient < 0 { -magnitude } else { magnitude }, variable)
    })
}

/// Proposes each namespace named `block`.
struct Named;

impl Proposer for Named {
    fn depth_limit(&self) -> usize {
        1
    }

    fn mark(&self, _depth: usize, name: &str) -> Mark {
        if name == "block" {
            Mark::Block
        } else {
            Mark::None
        }
    }
}

/// For each aux variable whether it is full-size.
fn full_sizes(script: impl FnOnce(&mut Script)) -> Vec<bool> {
    let layout = Layout::derive(&R1cs::record(Rows(script), Flat).unwrap());
    (0..layout.aux_count()).map(|aux| layout.is_full(aux)).collect()
}

/// The layout of a script with blocks, which must be what the flat rows give; and the segments' repeats.
fn in_blocks(script: impl Fn(&mut Script)) -> (Layout, Vec<u32>) {
    let blocks = R1cs::record(Rows(&script), Named).unwrap();
    let layout = Layout::derive(&blocks);
    assert_eq!(layout, Layout::derive(&R1cs::record(Rows(&script), Flat).unwrap()));
    (layout, blocks.segments.iter().map(|segment| segment.repeat_count).collect())
}

#[test]
fn boolean_rows_in_any_form() {
    let full = full_sizes(|rows| {
        rows.bit();
        for (a, b) in [
            ([(1, One), (-1, Name::Aux(1))], [(1, Name::Aux(1))]),
            ([(-1, One), (1, Name::Aux(2))], [(7, Name::Aux(2))]),
        ] {
            rows.aux();
            rows.row(&a, &b, &[]);
        }
        let x = rows.aux();
        rows.row(&[(1, x)], &[(1, x)], &[(1, x)]);
        let zero = rows.aux();
        rows.row(&[(3, zero)], &[(1, zero)], &[]);
        let one = rows.aux();
        rows.row(&[(1, One), (-1, one)], &[(1, One), (-1, one)], &[]);
    });
    assert_eq!(full, [false; 6]);
}

#[test]
fn rows_that_allow_other_values_show_nothing() {
    let full = full_sizes(|rows| {
        let two = rows.aux();
        rows.row(&[(2, One), (-1, two)], &[(1, two)], &[]);
        let any = rows.aux();
        rows.row(&[(1, any)], &[], &[]);
        rows.aux();
        let bit = rows.bit();
        let double = rows.aux();
        rows.row(&[(2, bit)], &[(1, One)], &[(1, double)]);
        let unless = rows.aux();
        rows.row(&[(1, unless)], &[(1, bit)], &[(1, bit)]);
        let minus_one = rows.aux();
        rows.row(&[(-1, One)], &[(1, bit)], &[(1, minus_one)]);
    });
    assert_eq!(full, [true, true, true, false, true, true, true]);
}

#[test]
fn what_is_copied_from_a_bit_is_a_bit() {
    let half = Fr::from(2).invert().unwrap();
    struct Scaled(Fr);
    impl Circuit<Fr> for Scaled {
        fn synthesize<CS: ConstraintSystem<Fr>>(self, cs: &mut CS) -> Result<(), SynthesisError> {
            let bit = AllocatedBit::alloc(cs.namespace(|| "bit"), None)?;
            let same = cs.alloc(|| "same", || Err(SynthesisError::AssignmentMissing))?;
            let bit = bit.get_variable();
            cs.enforce(|| "", |lc| lc + (self.0, bit), |lc| lc + CS::one(), |lc| lc + (self.0, same));
            let other = cs.alloc(|| "other", || Err(SynthesisError::AssignmentMissing))?;
            cs.enforce(|| "", |lc| lc + (self.0, bit), |lc| lc + CS::one(), |lc| lc + (self.0.double(), other));
            Ok(())
        }
    }
    let full = |scale| {
        let layout = Layout::derive(&R1cs::record(Scaled(scale), Flat).unwrap());
        (0..3).map(|aux| layout.is_full(aux)).collect::<Vec<_>>()
    };
    // Coefficients that aren't small integers take the way of field elements.
    assert_eq!(full(half), [false, false, true]);
    assert_eq!(full(Fr::from(3)), [false, false, true]);
    assert_eq!(full(Fr::from(1 << 50)), [false, false, true]);
}

#[test]
fn inputs_are_never_bits() {
    let full = full_sizes(|rows| {
        let input = rows.input();
        rows.row(&[(1, One), (-1, input)], &[(1, input)], &[]);
        let copy = rows.aux();
        rows.row(&[(1, input)], &[(1, One)], &[(1, copy)]);
        let bit = rows.bit();
        rows.row(&[(1, bit)], &[(1, One)], &[(1, input)]);
    });
    assert_eq!(full, [true, false]);
}

#[test]
fn order_of_rows_does_not_matter() {
    let full = full_sizes(|rows| {
        let names: Vec<_> = (0..5).map(|_| rows.aux()).collect();
        for pair in names.windows(2) {
            rows.row(&[(1, pair[1])], &[(1, One)], &[(1, pair[0])]);
        }
        rows.row(&[(1, names[4])], &[(1, names[4])], &[(1, names[4])]);
    });
    assert_eq!(full, [false; 5]);
}

#[test]
fn gadgets_over_bits() {
    struct Gadgets;
    impl Circuit<Fr> for Gadgets {
        fn synthesize<CS: ConstraintSystem<Fr>>(self, cs: &mut CS) -> Result<(), SynthesisError> {
            let bits: Vec<AllocatedBit> =
                (0..3).map(|i| AllocatedBit::alloc(cs.namespace(|| format!("{i}")), None)).collect::<Result<_, _>>()?;
            let mut conditional = AllocatedBit::alloc_conditionally(cs.namespace(|| "if"), None, &bits[0])?;
            conditional = AllocatedBit::alloc_conditionally(cs.namespace(|| "if if"), None, &conditional)?;
            let signs = |code: usize| -> Vec<Boolean> {
                let signed = |(i, bit): (usize, &AllocatedBit)| match code >> i & 1 {
                    0 => Boolean::Is(bit.clone()),
                    _ => Boolean::Not(bit.clone()),
                };
                bits.iter().enumerate().map(signed).collect()
            };
            let mut last = Boolean::Is(conditional);
            for code in 0..8 {
                let cs = &mut cs.namespace(|| format!("code {code}"));
                let [a, b, c] = <[Boolean; 3]>::try_from(signs(code)).unwrap_or_else(|_| unreachable!());
                last = Boolean::xor(cs.namespace(|| "xor"), &last, &a)?;
                last = Boolean::and(cs.namespace(|| "and"), &last, &b)?;
                last = Boolean::sha256_ch(cs.namespace(|| "ch"), &a, &last, &c)?;
                Boolean::sha256_ch(cs.namespace(|| "ch again"), &a, &b, &c)?;
                last = Boolean::sha256_maj(cs.namespace(|| "maj"), &last, &b, &c)?;
                Boolean::sha256_maj(cs.namespace(|| "maj again"), &a, &b, &c)?;
            }
            Ok(())
        }
    }
    let layout = Layout::derive(&R1cs::record(Gadgets, Flat).unwrap());
    assert_eq!(layout.full_count(), 0);
    assert!(layout.aux_count() > 60);
}

#[test]
fn numbers_and_their_bits() {
    struct Number;
    impl Circuit<Fr> for Number {
        fn synthesize<CS: ConstraintSystem<Fr>>(self, cs: &mut CS) -> Result<(), SynthesisError> {
            let missing = || Err(SynthesisError::AssignmentMissing);
            let number = AllocatedNum::alloc(cs.namespace(|| "number"), missing)?;
            number.to_bits_le_strict(cs.namespace(|| "bits"))?;
            let other = AllocatedNum::alloc(cs.namespace(|| "other"), missing)?;
            let bit = AllocatedBit::alloc(cs.namespace(|| "bit"), None)?.into();
            AllocatedNum::conditionally_reverse(cs.namespace(|| "reverse"), &number, &other, &bit)?;
            number.assert_nonzero(cs.namespace(|| "nonzero"))?;
            number.mul(cs.namespace(|| "product"), &other)?;
            Ok(())
        }
    }
    let layout = Layout::derive(&R1cs::record(Number, Flat).unwrap());
    // The two numbers, the two of the exchange, the inverse, the product.
    assert_eq!(layout.full_count(), 6);
    assert!(layout.is_full(0) && layout.aux_count() > 255 + 6);
}

#[test]
fn a_determined_fourth_bit_counts_only_with_its_row() {
    // maj of a, b, c by d = bc; and the same row over four bits that are independent.
    let maj = |rows: &mut Script, a, b, c, d| {
        let x = rows.aux();
        rows.row(&[(2, d), (-1, b), (-1, c)], &[(1, a)], &[(1, d), (-1, x)]);
    };
    let full = full_sizes(|rows| {
        let [a, b, c, d] = [(); 4].map(|()| rows.bit());
        let product = rows.product(b, c);
        maj(rows, a, b, c, product);
        maj(rows, a, b, c, d);
        let other = rows.product(a, d);
        maj(rows, a, b, c, other);
    });
    assert_eq!(full, [false, false, false, false, false, false, true, false, true]);
}

#[test]
fn five_bits_are_too_many() {
    let sum_is_zero_or_one = |count: usize| {
        full_sizes(|rows| {
            let bits: Vec<_> = (0..count).map(|_| rows.bit()).collect();
            let x = rows.aux();
            // x is the product of the first and (1 − 1), plus x: 0 whatever the bits are.
            let sum: Vec<_> = bits.iter().map(|bit| (1, *bit)).collect();
            rows.row(&sum, &[(1, x)], &[(-1, x)]);
        })
    };
    assert!(!sum_is_zero_or_one(4)[4]);
    assert!(sum_is_zero_or_one(5)[5]);
}

#[test]
fn equal_blocks_share_one_result() {
    let (layout, repeats) = in_blocks(|rows| {
        let shared = rows.bit();
        for _ in 0..5 {
            rows.0.push(Step::Block);
            let own = rows.bit();
            rows.product(own, shared);
            let number = rows.aux();
            rows.product(number, own);
        }
        rows.0.push(Step::End);
    });
    assert_eq!(repeats, [1, 5]);
    let expected: Vec<u32> = (0..5).flat_map(|t| [1 + 4 * t + 2, 1 + 4 * t + 3]).collect();
    assert_eq!(layout.full_positions().collect::<Vec<_>>(), expected);
}

#[test]
fn blocks_whose_ports_differ_are_solved_apart() {
    let (layout, repeats) = in_blocks(|rows| {
        let ports: Vec<_> = (0..6).map(|t| if t % 3 == 1 { rows.aux() } else { rows.bit() }).collect();
        for port in ports {
            rows.0.push(Step::Block);
            let own = rows.bit();
            rows.product(own, port);
        }
        rows.0.push(Step::End);
    });
    assert_eq!(repeats, [1, 6]);
    assert_eq!(layout.full_positions().collect::<Vec<_>>(), [1, 4, 9, 15]);
}

#[test]
fn a_port_that_is_an_input_is_no_bit() {
    let (layout, repeats) = in_blocks(|rows| {
        let ports = [rows.bit(), rows.input(), rows.bit(), rows.input()];
        for port in ports {
            rows.0.push(Step::Block);
            rows.row(&[(1, One), (-1, port)], &[(1, port)], &[]);
            let own = rows.bit();
            rows.product(own, port);
        }
        rows.0.push(Step::End);
    });
    assert_eq!(repeats, [1, 4]);
    assert_eq!(layout.full_positions().collect::<Vec<_>>(), [5, 9]);
}

#[test]
fn what_a_block_tells_of_outside_variables_reaches_rows_before_it() {
    let (layout, repeats) = in_blocks(|rows| {
        let [a, b, c, d] = [(); 4].map(|()| rows.aux());
        rows.product(a, b);
        rows.product(c, d);
        for port in [a, b, c] {
            rows.0.push(Step::Block);
            rows.row(&[(1, One), (-1, port)], &[(1, port)], &[]);
            rows.bit();
        }
        rows.0.push(Step::End);
        rows.product(c, d);
    });
    assert_eq!(repeats, [1, 3, 1]);
    assert_eq!(layout.full_positions().collect::<Vec<_>>(), [3, 5, 9]);
}

#[test]
fn a_determined_bit_stays_so_when_a_later_segment_adds_another() {
    let (layout, repeats) = in_blocks(|rows| {
        let mut late = Vec::new();
        for _ in 0..3 {
            rows.0.push(Step::Block);
            let [b, c] = [(); 2].map(|()| rows.bit());
            let d = rows.product(b, c);
            let a = rows.aux();
            let maj = rows.aux();
            rows.row(&[(2, d), (-1, b), (-1, c)], &[(1, a)], &[(1, d), (-1, maj)]);
            late.push(a);
        }
        rows.0.push(Step::End);
        late.truncate(2);
        late.into_iter().for_each(|a| rows.row(&[(1, One), (-1, a)], &[(1, a)], &[]));
    });
    assert_eq!(repeats, [3, 1]);
    assert_eq!(layout.full_positions().collect::<Vec<_>>(), [13, 14]);
}

#[test]
fn a_block_tells_of_the_block_before_it() {
    let (layout, repeats) = in_blocks(|rows| {
        let mut last = rows.bit();
        for _ in 0..4 {
            rows.0.push(Step::Block);
            let own = rows.aux();
            rows.row(&[(1, last)], &[(1, One)], &[(1, own)]);
            last = own;
        }
        rows.0.push(Step::End);
    });
    assert_eq!(repeats, [1, 4]);
    assert_eq!(layout.full_count(), 0);
}

#[test]
fn empty_circuits_have_empty_layouts() {
    assert_eq!(full_sizes(|_| {}), [false; 0]);
    let one_input = |rows: &mut Script| {
        rows.input();
    };
    assert_eq!(full_sizes(one_input), [false; 0]);
}
