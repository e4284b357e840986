//! Recorded circuits on disk. Layout of a file in docs/FORMATS.md.
//!
//! A file is written under a temporary name, flushed and renamed, so that a reader sees none or a whole one, and of two
//! writers the last wins. It is read with `pread`: a file that is cut while it is read is an error, never a signal.

use std::fs::{self, File, OpenOptions};
use std::io::{self, BufWriter, Read, Seek, SeekFrom, Write};
use std::os::unix::fs::{FileExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

use blake2b_simd::State;

use super::codec::{decode, digest, encode, hasher, Source};
use super::validate::Flaw;
use super::R1cs;
use crate::error::{Error, FileFault, Result};
use crate::files::NewFile;

/// First bytes of a cache file.
const MAGIC: [u8; 8] = *b"cuzkR1CS";
/// Version of the layout. Changes with every change of the bytes or of what they mean.
const FORMAT_VERSION: u32 = 1;
/// Magic, format version, length of the key, length of the body, structural hash.
const FIXED_BYTES: usize = 8 + 4 + 4 + 8 + 32;
/// Digest behind the key, of everything before it.
const CHECK_BYTES: usize = 32;
/// A name has at most this many bytes.
const MAX_NAME_BYTES: usize = 200;

/// A folder of recorded circuits.
#[derive(Clone, Debug)]
pub struct Cache {
    dir: PathBuf,
}

impl Cache {
    /// The cache in `dir`, which is made when the first circuit is stored.
    pub fn new(dir: impl Into<PathBuf>) -> Self {
        Cache { dir: dir.into() }
    }

    /// Where the circuit `name` is kept.
    pub fn path(&self, name: &str) -> PathBuf {
        let readable: String = name.chars().take(64).map(|c| if is_plain(c) { c } else { '_' }).collect();
        let hash = blake2b_simd::Params::new().hash_length(8).hash(name.as_bytes());
        self.dir.join(format!("r1cs-{readable}-{}.bin", hash.to_hex()))
    }

    /// The circuit `name` from its file, or from `record`, which is then stored. A file that is damaged, of another
    /// version or circuit, or without the hash `pinned`, is named in a warning and replaced; so is one that can't be
    /// written. Safe against other processes that do the same.
    /// Errors: those of `record`; INVALID for a name that is empty or too long; INTERNAL if a fresh recording hasn't the
    /// hash `pinned`: the circuit is not the one that the SRS was made for.
    pub fn load_or_record(
        &self,
        name: &str,
        pinned: Option<[u8; 32]>,
        record: impl FnOnce() -> Result<R1cs>,
    ) -> Result<R1cs> {
        match self.load(name, pinned) {
            Ok(Some(r1cs)) => return Ok(r1cs),
            Ok(None) => {}
            Err(error @ Error::Invalid { .. }) => return Err(error),
            Err(error) => log::warn!("R1CS cache: {error}; {name} is recorded anew"),
        }
        let r1cs = record()?;
        if let Some(pinned) = pinned {
            let found = r1cs.structural_hash();
            if found != pinned {
                let (found, pinned) = (hex(&found), hex(&pinned));
                return Err(Error::Internal(format!("the circuit {name} has changed: hash {found}, not {pinned}")));
            }
        }
        if let Err(error) = self.store(name, &r1cs) {
            let why = if let Error::Internal(why) = error { why } else { error.to_string() };
            log::warn!("R1CS cache: {why}; {name} will be recorded again");
        }
        Ok(r1cs)
    }

    /// The circuit `name` from its file; `None` if there is no file.
    /// Errors: INVALID for a name that is empty or too long; PARAMS_CORRUPT names file, section, expected and found.
    pub fn load(&self, name: &str, pinned: Option<[u8; 32]>) -> Result<Option<R1cs>> {
        let key = key(name)?;
        let path = self.path(name);
        let result = match open(&path) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            Err(error) => Err(Flaw::new("", None, "a file that can be read", error)),
            Ok(file) => file_len(&file).and_then(|len| parse(FileReader { file, offset: 0 }, len, &key, pinned)),
        };
        result.map(Some).map_err(|flaw| {
            let Flaw { section, index, expected, found } = flaw;
            Error::ParamsCorrupt(FileFault { file: path, section, index, expected, found })
        })
    }

    /// Writes the file of circuit `name`, replacing one that is there. Errors: INVALID for a name that is empty or too
    /// long, INTERNAL if the file can't be written; nothing is left behind then.
    pub fn store(&self, name: &str, r1cs: &R1cs) -> Result<()> {
        let key = key(name)?;
        let path = self.path(name);
        self.write(&path, &key, r1cs).map_err(|error| Error::Internal(format!("{}: {error}", path.display())))
    }

    fn write(&self, path: &Path, key: &str, r1cs: &R1cs) -> io::Result<()> {
        fs::create_dir_all(&self.dir)?;
        let (new, file) = NewFile::create(path)?;
        write_file(file, key, r1cs)?;
        new.replace()
    }
}

/// Reads a whole cache file that is in memory, as [`Cache::load`] does. Errors: PARAMS_CORRUPT; INVALID for the name.
pub fn decode_file(bytes: &[u8], name: &str, pinned: Option<[u8; 32]>) -> Result<R1cs> {
    parse(bytes, bytes.len() as u64, &key(name)?, pinned).map_err(|flaw| {
        let Flaw { section, index, expected, found } = flaw;
        Error::ParamsCorrupt(FileFault { file: PathBuf::from(name), section, index, expected, found })
    })
}

fn is_plain(c: char) -> bool {
    c.is_ascii_alphanumeric() || matches!(c, '-' | '.')
}

fn hex(digest: &[u8; 32]) -> String {
    digest.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// What a file says it is: circuit and crate version. (The format's version stands before it.)
fn key(name: &str) -> Result<String> {
    if name.is_empty() || name.len() > MAX_NAME_BYTES {
        return Err(Error::invalid("name", format!("{} bytes; 1 to {MAX_NAME_BYTES} are allowed", name.len())));
    }
    Ok(format!("cuzk {} {name}", env!("CARGO_PKG_VERSION")))
}

/// Opens without waiting for a writer if `path` is a pipe.
fn open(path: &Path) -> io::Result<File> {
    OpenOptions::new().read(true).custom_flags(libc::O_NONBLOCK | libc::O_CLOEXEC).open(path)
}

fn file_len(file: &File) -> Result<u64, Flaw> {
    let metadata = file.metadata().map_err(|error| Flaw::new("", None, "a file", error))?;
    match metadata.is_file() {
        true => Ok(metadata.len()),
        false => Err(Flaw::new("", None, "a regular file", format!("{:?}", metadata.file_type()))),
    }
}

/// Reads from `offset` on with `pread`.
struct FileReader {
    file: File,
    offset: u64,
}

impl Read for FileReader {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let len = self.file.read_at(buffer, self.offset)?;
        self.offset += len as u64;
        Ok(len)
    }
}

/// Magic, versions, lengths, structural hash and key, with their digest.
fn header(key: &str, body_len: u64, hash: [u8; 32]) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(header_len(key));
    bytes.extend_from_slice(&MAGIC);
    bytes.extend_from_slice(&FORMAT_VERSION.to_le_bytes());
    bytes.extend_from_slice(&(key.len() as u32).to_le_bytes());
    bytes.extend_from_slice(&body_len.to_le_bytes());
    bytes.extend_from_slice(&hash);
    bytes.extend_from_slice(key.as_bytes());
    let check = digest(hasher().update(&bytes));
    bytes.extend_from_slice(&check);
    bytes
}

fn header_len(key: &str) -> usize {
    FIXED_BYTES + key.len() + CHECK_BYTES
}

/// Writes and flushes the file. The header comes last: it holds the hash of what follows it.
fn write_file(file: File, key: &str, r1cs: &R1cs) -> io::Result<()> {
    let mut body = Body { file: BufWriter::new(file), len: 0, state: hasher() };
    body.file.write_all(&vec![0; header_len(key)])?;
    encode(r1cs, &mut body)?;
    let Body { file, len, state } = body;
    let mut file = file.into_inner().map_err(io::IntoInnerError::into_error)?;
    file.seek(SeekFrom::Start(0))?;
    file.write_all(&header(key, len, digest(&state)))?;
    file.sync_all()
}

/// Counts and hashes what it writes.
struct Body<W> {
    file: W,
    len: u64,
    state: State,
}

impl<W: Write> Write for Body<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let len = self.file.write(bytes)?;
        self.state.update(&bytes[..len]);
        self.len += len as u64;
        Ok(len)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.file.flush()
    }
}

/// Reads a file of `len` bytes that has to have `key`, and the hash `pinned` if there is one.
fn parse(mut reader: impl Read, len: u64, key: &str, pinned: Option<[u8; 32]>) -> Result<R1cs, Flaw> {
    let size = |expected: String| Flaw::new("", None, expected, format!("{len} bytes"));
    let min_len = header_len(key) as u64;
    if len < min_len {
        return Err(size(format!("at least {min_len} bytes")));
    }
    let mut found = vec![0; header_len(key)];
    reader.read_exact(&mut found).map_err(|error| Flaw::new("header", None, format!("{min_len} bytes"), error))?;
    let (fixed, found_key) = found[..found.len() - CHECK_BYTES].split_at(FIXED_BYTES);
    if fixed[..8] != MAGIC {
        return Err(Flaw::new("header", None, "a file of the R1CS cache", format!("{:02x?}", &fixed[..8])));
    }
    if fixed[8..12] != FORMAT_VERSION.to_le_bytes() {
        let version = u32::from_le_bytes([fixed[8], fixed[9], fixed[10], fixed[11]]);
        return Err(Flaw::new("header", None, format!("format version {FORMAT_VERSION}"), version));
    }
    let key_len = u32::from_le_bytes([fixed[12], fixed[13], fixed[14], fixed[15]]);
    if key_len as usize != key.len() || found_key != key.as_bytes() {
        let found_key = String::from_utf8_lossy(found_key).into_owned();
        return Err(Flaw::new("header", None, format!("{key:?}"), format!("{found_key:?} ({key_len} bytes)")));
    }
    let body_len = u64::from_le_bytes(fixed[16..24].try_into().expect("8 bytes"));
    let hash: [u8; 32] = fixed[24..56].try_into().expect("32 bytes");
    if found != header(key, body_len, hash) {
        return Err(Flaw::new("header", None, "its digest", "another"));
    }
    if len - min_len != body_len {
        return Err(size(format!("{} bytes", min_len.saturating_add(body_len))));
    }
    let mut source = Source::new(reader, body_len);
    let r1cs = decode(&mut source)?;
    for expected in [Some(hash), pinned].into_iter().flatten() {
        if source.digest() != expected {
            return Err(Flaw::new("", None, format!("hash {}", hex(&expected)), hex(&source.digest())));
        }
    }
    r1cs.find_flaw()?;
    Ok(r1cs)
}
