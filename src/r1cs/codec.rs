//! The stored form of an [`R1cs`] as bytes: what the structural hash is over and what a cache file holds. Layout in
//! docs/FORMATS.md. Every R1CS has one encoding, and whatever decodes encodes to the same bytes again.

use std::io::{self, Read, Write};

use blake2b_simd::State;
use blstrs::Scalar as Fr;

use super::validate::Flaw;
use super::{Column, Matrix, R1cs, Segment};
use crate::error::{Error, Result};

/// A row of this length or longer has its length among the long ones.
const LONG: u32 = u8::MAX as u32;
/// Elements converted at a time.
const CHUNK: usize = 1 << 13;

/// blake2b-256 as it is used for the stored form.
pub(super) fn hasher() -> State {
    blake2b_simd::Params::new().hash_length(32).personal(b"cuzk r1cs").to_state()
}

/// The digest of `state`.
pub(super) fn digest(state: &State) -> [u8; 32] {
    let mut digest = [0; 32];
    digest.copy_from_slice(state.finalize().as_bytes());
    digest
}

impl R1cs {
    /// blake2b-256 of the stored form (rows, blocks, dictionary and counts). Two circuits with one hash are the same
    /// circuit; one circuit recorded with other proposals has another hash.
    pub fn structural_hash(&self) -> [u8; 32] {
        let mut state = hasher();
        encode(self, &mut state).expect("a hash takes any bytes");
        digest(&state)
    }

    /// Decodes and validates the body of a cache file. Errors: INVALID names the first flaw.
    pub fn from_body(bytes: &[u8]) -> Result<R1cs> {
        let mut source = Source::new(bytes, bytes.len() as u64);
        let r1cs = decode(&mut source).map_err(|flaw| Error::invalid("r1cs", flaw.to_string()))?;
        r1cs.validate()?;
        Ok(r1cs)
    }

    /// The body of a cache file.
    pub fn to_body(&self) -> Vec<u8> {
        let mut bytes = Vec::new();
        encode(self, &mut bytes).expect("a vector takes any bytes");
        bytes
    }
}

/// Writes the stored form.
pub(super) fn encode(r1cs: &R1cs, to: &mut impl Write) -> io::Result<()> {
    put(to, [r1cs.input_count, r1cs.aux_count], u32::to_le_bytes)?;
    put(to, [r1cs.constraint_count], u64::to_le_bytes)?;
    put(to, [r1cs.dictionary.len() as u32, r1cs.segments.len() as u32], u32::to_le_bytes)?;
    put(to, r1cs.dictionary.iter(), Fr::to_bytes_le)?;
    r1cs.segments.iter().try_for_each(|segment| encode_segment(segment, to))
}

fn encode_segment(s: &Segment, to: &mut impl Write) -> io::Result<()> {
    put(to, [s.first_row], u64::to_le_bytes)?;
    let counts = [s.row_count, s.repeat_count, s.aux_base, s.aux_stride, s.input_base, s.input_stride, s.port_count];
    put(to, counts, u32::to_le_bytes)?;
    for matrix in s.matrices() {
        let long = lengths(matrix).filter(|length| *length >= LONG).count();
        put(to, [matrix.columns.len(), long, matrix.escapes.len()], |n| (n as u32).to_le_bytes())?;
    }
    put(to, s.ports.iter().copied(), u32::to_le_bytes)?;
    for matrix in s.matrices() {
        put(to, lengths(matrix), |length| [length.min(LONG) as u8])?;
        put(to, lengths(matrix).filter(|length| *length >= LONG), u32::to_le_bytes)?;
        put(to, matrix.columns.iter(), |column| column.0.to_le_bytes())?;
        put(to, matrix.coefficients.iter().copied(), u16::to_le_bytes)?;
        put(to, matrix.escapes.iter(), |(at, _)| at.to_le_bytes())?;
        put(to, matrix.escapes.iter(), |(_, value)| value.to_bytes_le())?;
    }
    Ok(())
}

fn lengths(matrix: &Matrix) -> impl Iterator<Item = u32> + '_ {
    matrix.row_starts.windows(2).map(|pair| pair[1] - pair[0])
}

/// Writes `bytes(x)` of each of `values`.
fn put<T, const N: usize>(
    to: &mut impl Write,
    values: impl IntoIterator<Item = T>,
    bytes: impl Fn(T) -> [u8; N],
) -> io::Result<()> {
    let mut values = values.into_iter();
    let mut buffer = Vec::with_capacity(CHUNK * N);
    loop {
        buffer.clear();
        values.by_ref().take(CHUNK).for_each(|value| buffer.extend_from_slice(&bytes(value)));
        if buffer.is_empty() {
            return Ok(());
        }
        to.write_all(&buffer)?;
    }
}

/// Bytes to decode. Knows how many there are, so that nothing is allocated for counts that can't be true.
pub(super) struct Source<R> {
    reader: R,
    remaining: u64,
    state: State,
}

impl<R: Read> Source<R> {
    /// `len` bytes of `reader`.
    pub(super) fn new(reader: R, len: u64) -> Self {
        Source { reader, remaining: len, state: hasher() }
    }

    /// Hash of what was taken so far.
    pub(super) fn digest(&self) -> [u8; 32] {
        digest(&self.state)
    }

    /// The next `count` elements of `N` bytes, each made by `value`.
    fn take<T, const N: usize>(
        &mut self,
        section: &'static str,
        count: usize,
        value: impl Fn([u8; N]) -> T,
    ) -> Result<Vec<T>, Flaw> {
        let needed = count as u64 * N as u64;
        if needed > self.remaining {
            return Err(Flaw::new(section, None, format!("{needed} bytes"), format!("{} bytes", self.remaining)));
        }
        let mut values = Vec::with_capacity(count);
        let mut buffer = vec![0; count.min(CHUNK) * N];
        while values.len() < count {
            let bytes = &mut buffer[..(count - values.len()).min(CHUNK) * N];
            self.reader
                .read_exact(bytes)
                .map_err(|error| Flaw::new(section, values.len() as u64, format!("{} bytes", self.remaining), error))?;
            self.state.update(bytes);
            self.remaining -= bytes.len() as u64;
            let element = |bytes: &[u8]| bytes.try_into().expect("chunks of N bytes");
            values.extend(bytes.chunks_exact(N).map(|bytes| value(element(bytes))));
        }
        Ok(values)
    }

    fn u32s<const N: usize>(&mut self, section: &'static str) -> Result<[u32; N], Flaw> {
        let values = self.take(section, N, u32::from_le_bytes)?;
        Ok(values.try_into().expect("N were taken"))
    }

    fn u64(&mut self, section: &'static str) -> Result<u64, Flaw> {
        Ok(self.take(section, 1, u64::from_le_bytes)?[0])
    }

    fn scalars(&mut self, section: &'static str, count: usize) -> Result<Vec<Fr>, Flaw> {
        let bytes = self.take(section, count, |bytes: [u8; 32]| bytes)?;
        let values = bytes.iter().map(|bytes| Option::<Fr>::from(Fr::from_bytes_le(bytes)));
        let flaw =
            |at| Flaw::new(section, at, "an integer below r, little-endian", format!("{:02x?}", bytes[at as usize]));
        (0u64..).zip(values).map(|(at, value)| value.ok_or_else(|| flaw(at))).collect()
    }
}

/// Reads the stored form, all of `source`. What it returns is not validated, except that its encoding is what was read.
pub(super) fn decode<R: Read>(source: &mut Source<R>) -> Result<R1cs, Flaw> {
    let [input_count, aux_count] = source.u32s("header")?;
    let constraint_count = source.u64("header")?;
    let [dictionary_len, segment_count] = source.u32s("header")?;
    let dictionary = source.scalars("dictionary", dictionary_len as usize)?;
    let mut segments = Vec::new();
    for _ in 0..segment_count {
        segments.push(decode_segment(source)?);
    }
    if source.remaining > 0 {
        return Err(Flaw::new("segment", None, "the end", format!("{} bytes more", source.remaining)));
    }
    Ok(R1cs { input_count, aux_count, constraint_count, dictionary, segments })
}

fn decode_segment<R: Read>(source: &mut Source<R>) -> Result<Segment, Flaw> {
    let first_row = source.u64("segment")?;
    let [row_count, repeat_count, aux_base, aux_stride, input_base, input_stride, port_count] =
        source.u32s("segment")?;
    let mut counts = [[0; 3]; 3];
    for counts in &mut counts {
        *counts = source.u32s("segment")?;
    }
    let port_entries = u64::from(repeat_count) * u64::from(port_count);
    let port_entries =
        usize::try_from(port_entries).ok().filter(|n| *n as u64 <= source.remaining / 4).ok_or_else(|| {
            Flaw::new("ports", None, format!("{port_entries} ports"), format!("{} bytes", source.remaining))
        })?;
    let ports = source.take("ports", port_entries, u32::from_le_bytes)?;
    let [a, b, c] = counts;
    let a = decode_matrix(source, row_count, a)?;
    let b = decode_matrix(source, row_count, b)?;
    let c = decode_matrix(source, row_count, c)?;
    Ok(Segment {
        first_row,
        row_count,
        repeat_count,
        aux_base,
        aux_stride,
        input_base,
        input_stride,
        port_count,
        ports,
        a,
        b,
        c,
    })
}

fn decode_matrix<R: Read>(
    source: &mut Source<R>,
    row_count: u32,
    [non_zeros, long_count, escape_count]: [u32; 3],
) -> Result<Matrix, Flaw> {
    let row_starts = decode_row_starts(source, row_count as usize, long_count as usize)?;
    let end = row_starts[row_starts.len() - 1];
    if end != non_zeros {
        return Err(Flaw::new("row lengths", None, format!("{non_zeros} in all"), end));
    }
    let columns = source.take("columns", non_zeros as usize, |bytes| Column(u32::from_le_bytes(bytes)))?;
    let coefficients = source.take("coefficients", non_zeros as usize, u16::from_le_bytes)?;
    let at = source.take("escapes", escape_count as usize, u32::from_le_bytes)?;
    let values = source.scalars("escapes", escape_count as usize)?;
    Ok(Matrix { row_starts, columns, coefficients, escapes: at.into_iter().zip(values).collect() })
}

fn decode_row_starts<R: Read>(source: &mut Source<R>, row_count: usize, long_count: usize) -> Result<Vec<u32>, Flaw> {
    let section = "row lengths";
    let short = source.take(section, row_count, |[byte]: [u8; 1]| byte)?;
    let long = source.take(section, long_count, u32::from_le_bytes)?;
    if let Some(at) = long.iter().position(|length| *length < LONG) {
        return Err(Flaw::new(section, at as u64, "a length of 255 or more", long[at]));
    }
    let mut long = long.into_iter();
    let mut row_starts = Vec::with_capacity(row_count + 1);
    let mut end = 0u32;
    row_starts.push(0);
    for (row, length) in (0u64..).zip(short) {
        let length = match u32::from(length) {
            LONG => long.next().ok_or_else(|| Flaw::new(section, row, "a long length", "none"))?,
            length => length,
        };
        end = end.checked_add(length).ok_or_else(|| Flaw::new(section, row, "at most 2^32 - 1 non-zeros", "more"))?;
        row_starts.push(end);
    }
    match long.next() {
        None => Ok(row_starts),
        Some(length) => Err(Flaw::new(section, None, "no further long length", length)),
    }
}
