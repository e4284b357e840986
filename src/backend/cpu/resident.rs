//! A loaded circuit, and the memory of a proof.

use blstrs::{G1Affine, G2Affine, Scalar as Fr};

use super::curve::{Affine, G1, G2};
use super::digits::MAX_POINTS;
use super::ntt::{Domain, Scratch, MAX_LG_SIZE};
use super::ones::{QueryScratch, Tail};
use super::query::{read_section, stopped, Query};
use super::rows::Factors;
use super::workers::{grow, Tiles};
use crate::backend::Circuit;
use crate::error::{Error, Result};
use crate::srs::Section;

/// What `load` makes of a circuit.
pub(crate) struct Resident {
    pub domain: Domain,
    pub factors: Factors,
    /// H in bit-reversed order, infinity for the coefficient that is always 0.
    pub h: Vec<Affine<blst::blst_fp>>,
    pub l: Query<G1>,
    pub a: Query<G1>,
    pub b_g2: Query<G2>,
    #[cfg(feature = "testing")]
    pub b_g1: Option<Query<G1>>,
}

impl Resident {
    /// Sections that `load` reads.
    pub(crate) const SECTIONS: [Section; 4] = [Section::H, Section::L, Section::A, Section::BG2];

    /// Reads the sections and checks their points.
    pub(crate) fn load(tiles: &mut dyn Tiles, circuit: &Circuit) -> Result<Self> {
        let (r1cs, srs) = (circuit.r1cs(), circuit.srs());
        let lg_size = r1cs.lg_domain_size();
        if lg_size > MAX_LG_SIZE || r1cs.variable_count() >= MAX_POINTS {
            let size = format!("{} rows, {} variables", r1cs.row_count(), r1cs.variable_count());
            return Err(Error::Unsupported(format!("{} on the CPU: {size}", circuit.name())));
        }
        let (density_a, density_b) = (r1cs.density_a(), r1cs.density_b());
        let size = 1usize << lg_size;
        let reversed = move |i: usize| i.reverse_bits().checked_shr(usize::BITS - lg_size).unwrap_or(0);
        let mut in_order =
            |section: Section| read_section::<G1Affine>(tiles, srs, section, srs.count(section) as usize, &|i| i);
        let l = Query::of_all_aux(in_order(Section::L)?);
        let a = Query::new(in_order(Section::A)?, &density_a);
        let h = read_section::<G1Affine>(tiles, srs, Section::H, size, &reversed)?;
        let b_g2 = read_section::<G2Affine>(tiles, srs, Section::BG2, srs.count(Section::BG2) as usize, &|i| i)?;
        Ok(Resident {
            domain: Domain::new(lg_size),
            factors: Factors::of(r1cs),
            h,
            l,
            a,
            b_g2: Query::new(b_g2, &density_b),
            #[cfg(feature = "testing")]
            b_g1: None,
        })
    }

    /// Reads query B in G1, too.
    #[cfg(feature = "testing")]
    pub(crate) fn with_b_g1(mut self, tiles: &mut dyn Tiles, circuit: &Circuit) -> Result<Self> {
        let (srs, section) = (circuit.srs(), Section::BG1);
        let points = read_section::<G1Affine>(tiles, srs, section, srs.count(section) as usize, &|i| i)?;
        self.b_g1 = Some(Query::new(points, &circuit.r1cs().density_b()));
        Ok(self)
    }

    /// Bytes in memory.
    pub(crate) fn bytes(&self) -> usize {
        let points = size_of_val(&self.h[..]) + self.l.bytes() + self.a.bytes() + self.b_g2.bytes();
        #[cfg(feature = "testing")]
        let points = points + self.b_g1.as_ref().map_or(0, Query::bytes);
        points + self.domain.bytes()
    }
}

/// Memory of one proof, kept for the next.
pub(crate) struct Workspace {
    /// Each of the largest domain so far. One holds a, then h; the other b, then a ∘ b.
    vectors: [Vec<Fr>; 2],
    pub ntt: Scratch,
    pub tail: Tail,
    pub g1: QueryScratch<G1>,
    pub g2: QueryScratch<G2>,
}

impl Workspace {
    pub(crate) fn new() -> Self {
        Workspace {
            vectors: Default::default(),
            ntt: Scratch::default(),
            tail: Tail::default(),
            g1: QueryScratch::new(),
            g2: QueryScratch::new(),
        }
    }

    /// Points of the largest domain it has room for.
    pub(crate) fn size(&self) -> usize {
        self.vectors[0].len()
    }

    /// Makes room for a domain of `size` points. OUT_OF_MEMORY leaves it small but whole.
    pub(crate) fn grow(&mut self, size: usize) -> Result<()> {
        let zero = Fr::from(blst::blst_fr::default());
        self.vectors.iter_mut().try_for_each(|vector| grow(vector, size, zero)).map_err(stopped)
    }

    /// The vectors for `size` points, and the rest.
    #[allow(clippy::type_complexity)]
    pub(crate) fn parts(
        &mut self,
        size: usize,
    ) -> ([&mut [Fr]; 2], &mut Scratch, &mut Tail, &mut QueryScratch<G1>, &mut QueryScratch<G2>) {
        let vectors = self.vectors.each_mut().map(|vector| &mut vector[..size]);
        (vectors, &mut self.ntt, &mut self.tail, &mut self.g1, &mut self.g2)
    }

    /// Bytes held.
    pub(crate) fn bytes(&self) -> usize {
        self.vectors.iter().map(|vector| size_of_val(&vector[..])).sum::<usize>()
            + self.tail.bytes()
            + self.g1.msm.bytes()
            + self.g2.msm.bytes()
    }
}
