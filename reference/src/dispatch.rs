//! One constraint system in front of all others.

use bellpepper_core::{Circuit, ConstraintSystem, LinearCombination, SynthesisError, Variable};
use blstrs::Scalar as Fr;

type Name<'a> = &'a mut dyn FnMut() -> String;
type Value<'a> = &'a mut dyn FnMut() -> Result<Fr, SynthesisError>;
type Terms<'a> = &'a mut dyn FnMut(LinearCombination<Fr>) -> LinearCombination<Fr>;

/// [`ConstraintSystem`]'s methods without type parameters. Every closure is called once at most.
trait Target: Send {
    fn alloc(&mut self, name: Name, value: Value) -> Result<Variable, SynthesisError>;
    fn alloc_input(&mut self, name: Name, value: Value) -> Result<Variable, SynthesisError>;
    fn enforce(&mut self, name: Name, a: Terms, b: Terms, c: Terms);
    fn push_namespace(&mut self, name: Name);
    fn pop_namespace(&mut self);
    fn is_witness_generator(&self) -> bool;
    fn extend_inputs(&mut self, values: &[Fr]);
    fn extend_aux(&mut self, values: &[Fr]);
    fn allocate_empty(&mut self, aux: usize, inputs: usize) -> (&mut [Fr], &mut [Fr]);
    fn inputs_slice(&self) -> &[Fr];
    fn aux_slice(&self) -> &[Fr];
}

/// Hands every call on to another constraint system.
///
/// It isn't extensible, whatever stands behind: a circuit that would synthesise in chunks does so in one sequence, and
/// the order of variables and rows is always the same.
pub struct Dispatch<'a>(&'a mut dyn Target);

impl Dispatch<'_> {
    /// Synthesises `circuit` into `cs`.
    pub fn synthesize<C, CS>(circuit: C, cs: &mut CS) -> Result<(), SynthesisError>
    where
        C: FnOnce(&mut Dispatch) -> Result<(), SynthesisError>,
        CS: ConstraintSystem<Fr>,
    {
        circuit(&mut Dispatch(&mut Behind(cs.get_root())))
    }
}

/// Synthesis of a circuit for [`Dispatch`] alone.
pub fn run<C: Circuit<Fr>>(circuit: C, cs: &mut Dispatch) -> Result<(), SynthesisError> {
    circuit.synthesize(cs)
}

struct Behind<'a, CS>(&'a mut CS);

impl<CS: ConstraintSystem<Fr>> Target for Behind<'_, CS> {
    fn alloc(&mut self, name: Name, value: Value) -> Result<Variable, SynthesisError> {
        self.0.alloc(name, value)
    }

    fn alloc_input(&mut self, name: Name, value: Value) -> Result<Variable, SynthesisError> {
        self.0.alloc_input(name, value)
    }

    fn enforce(&mut self, name: Name, a: Terms, b: Terms, c: Terms) {
        self.0.enforce(name, a, b, c);
    }

    fn push_namespace(&mut self, name: Name) {
        self.0.push_namespace(name);
    }

    fn pop_namespace(&mut self) {
        self.0.pop_namespace();
    }

    fn is_witness_generator(&self) -> bool {
        self.0.is_witness_generator()
    }

    fn extend_inputs(&mut self, values: &[Fr]) {
        self.0.extend_inputs(values);
    }

    fn extend_aux(&mut self, values: &[Fr]) {
        self.0.extend_aux(values);
    }

    fn allocate_empty(&mut self, aux: usize, inputs: usize) -> (&mut [Fr], &mut [Fr]) {
        self.0.allocate_empty(aux, inputs)
    }

    fn inputs_slice(&self) -> &[Fr] {
        self.0.inputs_slice()
    }

    fn aux_slice(&self) -> &[Fr] {
        self.0.aux_slice()
    }
}

/// `f` as a closure that may be called again, which nobody does.
fn once<A, R>(f: impl FnOnce(A) -> R) -> impl FnMut(A) -> R {
    let mut f = Some(f);
    move |argument| (f.take().expect("a constraint system calls a closure once"))(argument)
}

fn named<AR: Into<String>>(name: impl FnOnce() -> AR) -> impl FnMut() -> String {
    let mut name = once(|()| name().into());
    move || name(())
}

fn valued<R>(value: impl FnOnce() -> R) -> impl FnMut() -> R {
    let mut value = once(|()| value());
    move || value(())
}

impl ConstraintSystem<Fr> for Dispatch<'_> {
    type Root = Self;

    fn alloc<F, A, AR>(&mut self, name: A, value: F) -> Result<Variable, SynthesisError>
    where
        F: FnOnce() -> Result<Fr, SynthesisError>,
        A: FnOnce() -> AR,
        AR: Into<String>,
    {
        self.0.alloc(&mut named(name), &mut valued(value))
    }

    fn alloc_input<F, A, AR>(&mut self, name: A, value: F) -> Result<Variable, SynthesisError>
    where
        F: FnOnce() -> Result<Fr, SynthesisError>,
        A: FnOnce() -> AR,
        AR: Into<String>,
    {
        self.0.alloc_input(&mut named(name), &mut valued(value))
    }

    fn enforce<A, AR, LA, LB, LC>(&mut self, name: A, a: LA, b: LB, c: LC)
    where
        A: FnOnce() -> AR,
        AR: Into<String>,
        LA: FnOnce(LinearCombination<Fr>) -> LinearCombination<Fr>,
        LB: FnOnce(LinearCombination<Fr>) -> LinearCombination<Fr>,
        LC: FnOnce(LinearCombination<Fr>) -> LinearCombination<Fr>,
    {
        self.0.enforce(&mut named(name), &mut once(a), &mut once(b), &mut once(c));
    }

    fn push_namespace<NR, N>(&mut self, name: N)
    where
        NR: Into<String>,
        N: FnOnce() -> NR,
    {
        self.0.push_namespace(&mut named(name));
    }

    fn pop_namespace(&mut self) {
        self.0.pop_namespace();
    }

    fn get_root(&mut self) -> &mut Self {
        self
    }

    fn is_witness_generator(&self) -> bool {
        self.0.is_witness_generator()
    }

    fn extend_inputs(&mut self, values: &[Fr]) {
        self.0.extend_inputs(values);
    }

    fn extend_aux(&mut self, values: &[Fr]) {
        self.0.extend_aux(values);
    }

    fn allocate_empty(&mut self, aux: usize, inputs: usize) -> (&mut [Fr], &mut [Fr]) {
        self.0.allocate_empty(aux, inputs)
    }

    fn allocate_empty_inputs(&mut self, n: usize) -> &mut [Fr] {
        self.allocate_empty(0, n).1
    }

    fn allocate_empty_aux(&mut self, n: usize) -> &mut [Fr] {
        self.allocate_empty(n, 0).0
    }

    fn inputs_slice(&self) -> &[Fr] {
        self.0.inputs_slice()
    }

    fn aux_slice(&self) -> &[Fr] {
        self.0.aux_slice()
    }
}
