//! Random circuits of repeated blocks, some disturbed in one repeat.

use bellpepper_core::Index;
use blstrs::Scalar as Fr;
use ff::Field;
use rand_core::RngCore;

use super::program::{one, Program, Terms};

pub fn below(rng: &mut impl RngCore, n: usize) -> usize {
    (rng.next_u64() % n as u64) as usize
}

fn pick<T: Copy>(rng: &mut impl RngCore, from: &[T]) -> T {
    from[below(rng, from.len())]
}

/// A variable as the block's template names it.
#[derive(Clone, Copy, Debug)]
enum Name {
    One,
    LocalAux(usize),
    LocalInput(usize),
    /// The same in all repeats.
    Fixed(Index),
    /// Another in each repeat.
    Port(usize),
    /// Aux variable of the repeat before; in the first, one that stands before the blocks.
    Before(usize),
}

#[derive(Debug)]
struct Template {
    aux: usize,
    inputs: usize,
    /// Aux variables allocated behind the rows, inside or outside the namespace.
    late_aux: usize,
    rows: Vec<[Vec<(Name, Fr)>; 3]>,
}

/// How one repeat differs from the others.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Disturbance {
    None,
    Coefficient,
    Column,
    RowMore,
    RowLess,
    TermMore,
    TermLess,
    ExplicitZero,
    AuxMore,
    InputMore,
    RowBetween,
    AuxBetween,
    NotProposed,
    Empty,
}

pub const DISTURBANCES: [Disturbance; 14] = [
    Disturbance::None,
    Disturbance::Coefficient,
    Disturbance::Column,
    Disturbance::RowMore,
    Disturbance::RowLess,
    Disturbance::TermMore,
    Disturbance::TermLess,
    Disturbance::ExplicitZero,
    Disturbance::AuxMore,
    Disturbance::InputMore,
    Disturbance::RowBetween,
    Disturbance::AuxBetween,
    Disturbance::NotProposed,
    Disturbance::Empty,
];

fn coefficient(rng: &mut impl RngCore) -> Fr {
    match below(rng, 8) {
        0 => Fr::ZERO,
        1 => -Fr::ONE,
        2 => Fr::from(rng.next_u64()),
        _ => Fr::ONE,
    }
}

fn random_terms(rng: &mut impl RngCore, known: &[Index]) -> Terms {
    (0..below(rng, 4)).map(|_| (pick(rng, known), coefficient(rng))).collect()
}

fn random_row(rng: &mut impl RngCore, program: &mut Program, known: &[Index]) {
    let [a, b, c] = [(); 3].map(|()| random_terms(rng, known));
    program.enforce(a, b, c);
}

fn template(rng: &mut impl RngCore, known: &[Index], port_count: usize) -> Template {
    let (aux, inputs) = (1 + below(rng, 5), below(rng, 3));
    let late_aux = below(rng, 2);
    let name = |rng: &mut _| match below(rng, 8) {
        0 => Name::One,
        1 if inputs > 0 => Name::LocalInput(below(rng, inputs)),
        2 => Name::Fixed(pick(rng, known)),
        3 => Name::Port(below(rng, port_count)),
        4 => Name::Before(below(rng, aux)),
        _ => Name::LocalAux(below(rng, aux)),
    };
    let terms =
        |rng: &mut _| -> Vec<(Name, Fr)> { (0..below(rng, 4)).map(|_| (name(rng), coefficient(rng))).collect() };
    let row_count = 1 + below(rng, 6);
    let rows = (0..row_count).map(|_| [terms(rng), terms(rng), terms(rng)]).collect();
    Template { aux, inputs, late_aux, rows }
}

/// A program with `repeats` blocks of one template, the one at `at` disturbed.
pub fn blocks(rng: &mut impl RngCore, repeats: usize, at: usize, how: Disturbance) -> Program {
    let mut program = Program::new();
    let mut known = vec![one()];
    for _ in 0..8 {
        known.push(program.aux());
    }
    for _ in 0..below(rng, 4) {
        known.push(program.input());
        random_row(rng, &mut program, &known);
    }
    let port_count = 1 + below(rng, 3);
    let template = template(rng, &known, port_count);
    let mut before: Vec<Index> = (0..template.aux).map(|i| known[1 + i]).collect();
    let proposed = pick(rng, &["block", "start"]);
    let late_inside = below(rng, 2) == 0;
    for repeat in 0..repeats {
        let how = if repeat == at { how } else { Disturbance::None };
        let ports: Vec<Index> = (0..port_count).map(|_| pick(rng, &known)).collect();
        let name = if how == Disturbance::NotProposed { "other" } else { proposed };
        let late = if late_inside { template.late_aux } else { 0 };
        program.inside(name, |program| {
            before = one_block(rng, program, &template, &before, &ports, how);
            program.many_aux(late);
        });
        program.many_aux(template.late_aux - late);
        match how {
            Disturbance::RowBetween => random_row(rng, &mut program, &known),
            Disturbance::AuxBetween => program.many_aux(1),
            _ => {}
        }
    }
    for _ in 0..below(rng, 3) {
        random_row(rng, &mut program, &known);
    }
    program
}

/// Adds one repeat; returns its aux variables.
fn one_block(
    rng: &mut impl RngCore,
    program: &mut Program,
    template: &Template,
    before: &[Index],
    ports: &[Index],
    how: Disturbance,
) -> Vec<Index> {
    let aux: Vec<Index> = (0..template.aux).map(|_| program.aux()).collect();
    let inputs: Vec<Index> = (0..template.inputs).map(|_| program.input()).collect();
    match how {
        Disturbance::AuxMore => program.many_aux(1),
        Disturbance::InputMore => {
            program.input();
        }
        _ => {}
    }
    let index = |name: &Name| match *name {
        Name::One => one(),
        Name::LocalAux(i) => aux[i],
        Name::LocalInput(i) => inputs[i],
        Name::Fixed(index) => index,
        Name::Port(i) => ports[i],
        Name::Before(i) => before[i],
    };
    let victim = below(rng, template.rows.len());
    let matrix = below(rng, 3);
    for (at, row) in template.rows.iter().enumerate() {
        let mut row = row.clone().map(|terms| terms.iter().map(|(name, k)| (index(name), *k)).collect::<Terms>());
        if at == victim {
            disturb(rng, &mut row[matrix], how, &aux);
        }
        let [a, b, c] = row;
        match how {
            Disturbance::RowLess if at == victim => {}
            Disturbance::Empty => {}
            _ => program.enforce(a, b, c),
        }
    }
    if how == Disturbance::RowMore {
        random_row(rng, program, &aux);
    }
    aux
}

fn disturb(rng: &mut impl RngCore, terms: &mut Terms, how: Disturbance, local: &[Index]) {
    match how {
        Disturbance::TermMore => terms.push((pick(rng, local), Fr::from(77))),
        Disturbance::ExplicitZero => terms.push((pick(rng, local), Fr::ZERO)),
        _ => {}
    }
    let Some(at) = terms.len().checked_sub(1) else { return };
    match how {
        Disturbance::Coefficient => terms[at].1 += Fr::from(5),
        Disturbance::Column => terms[at].0 = pick(rng, local),
        Disturbance::TermLess => terms.truncate(at),
        _ => {}
    }
}

/// Rows and allocations at random, namespaces that propose blocks anywhere.
pub fn noise(rng: &mut impl RngCore) -> Program {
    let mut program = Program::new();
    let mut known = vec![one()];
    let mut open = 0;
    for _ in 0..60 {
        match below(rng, 8) {
            0 => known.push(program.aux()),
            1 => known.push(program.input()),
            2 | 3 => {
                program.steps.push(super::program::Step::Push(pick(rng, &["block", "start", "other"])));
                open += 1;
            }
            4 | 5 if open > 0 => {
                program.steps.push(super::program::Step::Pop);
                open -= 1;
            }
            _ => random_row(rng, &mut program, &known),
        }
    }
    (0..open).for_each(|_| program.steps.push(super::program::Step::Pop));
    program
}
