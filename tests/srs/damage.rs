//! Damaged files and other things in a file's place: each gives a typed error that names file, place, expected and
//! found.

use std::fs::{self, File, Permissions};
use std::io;
use std::os::unix::fs::{symlink, PermissionsExt};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::atomic::{AtomicUsize, Ordering};

use blstrs::{G1Affine, G2Affine};
use cuzk::error::FileFault;
use cuzk::srs::{FileStat, Point, ReadAt, Section, SrsCheck, SrsFile, VK_POINTS_BYTES};
use cuzk::{Error, Result, Status};

use crate::fixture::{bytes, file, foreign, load, open_bytes, points_of};

fn corrupt<T>(result: Result<T>) -> FileFault {
    match result.err().expect("an error") {
        Error::ParamsCorrupt(fault) => fault,
        other => panic!("{other}"),
    }
}

/// Open, and load every section.
fn open_and_load(path: &Path) -> Result<()> {
    load(&SrsFile::open(path, &foreign())?)
}

#[test]
fn a_file_of_the_wrong_length_is_refused_before_its_points_are_looked_at() {
    let dir = tempfile::tempdir().unwrap();
    let whole = bytes();
    let mut cuts = vec![0, 1, 863, 864, whole.len() - 1, whole.len() + 1];
    for section in Section::ALL {
        let points = points_of(section);
        cuts.extend([points.start - 4, points.start, points.end].iter().flat_map(|at| [at - 1, *at, at + 1]));
    }
    // The second half of b_g2: where a check against G1's size would still be content.
    let b_g2 = points_of(Section::BG2);
    cuts.push(b_g2.start + b_g2.len() * 3 / 4);
    cuts.retain(|cut| *cut != whole.len());
    for cut in cuts {
        let mut content = whole.to_vec();
        content.resize(cut, 0);
        let path = file(dir.path(), "cut.params", &content);
        let fault = corrupt(SrsFile::open(&path, &foreign()));
        assert_eq!(fault.file, path);
        assert_eq!(fault.found, format!("{cut} bytes"));
        let expected: usize =
            fault.expected.trim_start_matches("at least ").trim_end_matches(" bytes").parse().unwrap();
        assert!(if cut < whole.len() { cut < expected && expected <= whole.len() } else { expected == whole.len() });
        let good = file(dir.path(), "good.params", whole);
        open_and_load(&good).expect("a bad file leaves no trace");
    }
}

#[test]
fn an_srs_of_zeros_is_refused() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("sparse.params");
    File::create(&path).unwrap().set_len(1024).unwrap();
    let fault = corrupt(SrsFile::open(&path, &foreign()));
    assert_eq!((fault.file, fault.found), (path, "1024 bytes".into()));
    // Six counts of 0 and nothing else: the sizes agree.
    let path = file(dir.path(), "empty.params", &[0; 864 + 24]);
    let fault = corrupt(SrsFile::open(&path, &foreign()));
    assert_eq!((fault.section, &*fault.expected, &*fault.found), ("ic", "at least 1 point", "0 points"));
}

#[test]
fn a_count_that_the_file_cannot_hold_is_refused() {
    for section in Section::ALL {
        let mut content = bytes().to_vec();
        let at = points_of(section).start - 4;
        content[at..at + 4].fill(0xff);
        let fault = corrupt(open_bytes(&content));
        let expected = (at as u64 + 4) + 0xffff_ffff * section.point_bytes();
        assert_eq!(fault.section, section.name());
        assert_eq!(fault.expected, format!("at least {expected} bytes"));
        assert_eq!(fault.found, format!("{} bytes", content.len()));
    }
}

#[test]
fn counts_that_no_srs_has_are_refused() {
    // Points are taken from the end of a section, so that the sizes agree.
    let without_last = |sections: &[Section]| {
        let mut content = bytes().to_vec();
        for section in sections.iter().rev() {
            let points = points_of(*section);
            content.drain(points.end - section.point_bytes() as usize..points.end);
            let count = (points.len() as u64 / section.point_bytes() - 1) as u32;
            content[points.start - 4..points.start].copy_from_slice(&count.to_be_bytes());
        }
        corrupt(open_bytes(&content))
    };
    let fault = without_last(&[Section::H]);
    assert_eq!((fault.section, &*fault.expected), ("h", "one point less than a power of two"));
    let fault = without_last(&[Section::BG1]);
    assert_eq!((fault.section, &*fault.expected, &*fault.found), ("b_g2", "9 points, as in b_g1", "10 points"));
    let mut content = bytes()[..points_of(Section::L).end].to_vec();
    content.extend([0; 12]);
    let fault = corrupt(open_bytes(&content));
    assert_eq!((fault.section, &*fault.expected), ("a", "at least 10 points, one per input"));
}

/// An SRS whose counts ask for 768 GiB and whose points are all zero.
#[derive(Debug)]
struct Huge;

impl Huge {
    const COUNT: u64 = 0xffff_ffff;
    const SIZE: u64 = VK_POINTS_BYTES + 24 + 2 * Self::COUNT * 96;
}

impl ReadAt for Huge {
    fn stat(&self) -> io::Result<FileStat> {
        Ok(FileStat { size: Self::SIZE, ..FileStat::default() })
    }

    fn read_exact_at(&self, out: &mut [u8], offset: u64) -> io::Result<()> {
        assert!(out.len() < 1 << 20, "a count alone must not make anyone ask for so much");
        out.fill(0);
        let ic = VK_POINTS_BYTES;
        let a = VK_POINTS_BYTES + 12 + Self::COUNT * 96;
        if offset == ic || offset == a {
            out.fill(0xff);
        } else if offset == 0 {
            out[..VK_POINTS_BYTES as usize].copy_from_slice(&bytes()[..VK_POINTS_BYTES as usize]);
        }
        Ok(())
    }
}

#[test]
fn a_huge_sparse_file_takes_no_memory() {
    let fault = corrupt(SrsFile::from_source(Path::new("huge"), Box::new(Huge), &foreign()));
    assert_eq!((fault.section, fault.index), ("ic", Some(0)));
    assert_eq!(fault.expected, "a point on the curve");
}

#[test]
fn what_is_no_readable_file_is_refused_at_once() {
    let dir = tempfile::tempdir().unwrap();
    let path = |name: &str| dir.path().join(name);
    fs::create_dir(path("directory")).unwrap();
    assert!(Command::new("mkfifo").arg(path("fifo")).status().unwrap().success());
    let _socket = std::os::unix::net::UnixListener::bind(path("socket")).unwrap();
    symlink(path("loop"), path("loop")).unwrap();
    for (name, found) in [("directory", "a directory"), ("fifo", "a FIFO"), ("socket", "a socket")] {
        let fault = corrupt(SrsFile::open(&path(name), &foreign()));
        assert_eq!((fault.file, &*fault.expected, &*fault.found), (path(name), "a regular file", found));
    }
    let fault = corrupt(SrsFile::open(Path::new("/dev/zero"), &foreign()));
    assert_eq!((&*fault.expected, &*fault.found), ("a regular file", "a device"));
    let fault = corrupt(SrsFile::open(&path("loop"), &foreign()));
    assert_eq!((fault.file, &*fault.expected), (path("loop"), "a readable file"));
    for absent in [path("absent"), path("fifo").join("below a file")] {
        let error = SrsFile::open(&absent, &foreign()).unwrap_err();
        assert_eq!(error.status(), Status::ParamsMissing);
        assert!(error.to_string().contains(&*absent.to_string_lossy()), "{error}");
    }
}

#[test]
fn a_file_without_read_permission_is_refused() {
    let dir = tempfile::tempdir().unwrap();
    fs::set_permissions(dir.path(), Permissions::from_mode(0o755)).unwrap();
    let path = file(dir.path(), "secret.params", bytes());
    fs::set_permissions(&path, Permissions::from_mode(0o000)).unwrap();
    let opened = std::thread::scope(|scope| {
        let open = || {
            // SAFETY: changes the file system identity of this thread alone, which ends behind the call. Root reads
            // everything; for others it has no effect.
            unsafe { libc::setfsuid(65534) };
            SrsFile::open(&path, &foreign())
        };
        scope.spawn(open).join().unwrap()
    });
    let fault = corrupt(opened);
    assert_eq!((fault.file, &*fault.expected), (path, "a readable file"));
    assert!(fault.found.contains("denied"), "{}", fault.found);
}

#[test]
fn a_file_cut_by_another_process_is_an_error_not_a_signal() {
    let dir = tempfile::tempdir().unwrap();
    let path = file(dir.path(), "cut.params", bytes());
    let srs = SrsFile::open(&path, &foreign()).unwrap();
    srs.check_unchanged().unwrap();
    let cut = points_of(Section::A).start + 5 * 96 + 1;
    let done = Command::new("truncate").arg("-s").arg(cut.to_string()).arg(&path).status().unwrap();
    assert!(done.success());
    let fault = corrupt(load(&srs));
    assert_eq!((fault.file, fault.section), (path, "a"));
    assert_eq!((fault.expected, fault.found), (format!("{} bytes", bytes().len()), format!("{cut} bytes")));
    assert_eq!(corrupt(srs.check_unchanged()).section, "");
    open_bytes(bytes()).and_then(|srs| load(&srs)).unwrap();
}

/// A file that loses its second half just before its `countdown`th read.
#[derive(Debug)]
struct Shrinking {
    path: PathBuf,
    file: File,
    countdown: AtomicUsize,
}

impl ReadAt for Shrinking {
    fn stat(&self) -> io::Result<FileStat> {
        self.file.stat()
    }

    fn read_exact_at(&self, out: &mut [u8], offset: u64) -> io::Result<()> {
        if self.countdown.fetch_sub(1, Ordering::Relaxed) == 0 {
            File::options().write(true).open(&self.path)?.set_len(bytes().len() as u64 / 2)?;
        }
        ReadAt::read_exact_at(&self.file, out, offset)
    }
}

#[test]
fn a_file_cut_at_any_moment_of_its_load_is_an_error() {
    let dir = tempfile::tempdir().unwrap();
    let mut failed = 0;
    for countdown in 0.. {
        let path = file(dir.path(), "shrinking.params", bytes());
        let source = Shrinking { file: File::open(&path).unwrap(), path, countdown: countdown.into() };
        let loaded =
            SrsFile::from_source(&source.path.clone(), Box::new(source), &foreign()).and_then(|srs| load(&srs));
        match loaded {
            Ok(()) => break,
            Err(error) => assert_eq!(error.status(), Status::ParamsCorrupt, "{error}"),
        }
        failed += 1;
    }
    // Six counts, two parts of the vk, then h, l, a, b_g1 and b_g2: each read but those of the first half fails or is
    // followed by one that does.
    assert_eq!(failed, 13);
}

/// The bytes of the fixture with one point replaced or changed.
fn with_point(at: usize, change: impl FnOnce(&mut [u8])) -> Vec<u8> {
    let mut content = bytes().to_vec();
    change(&mut content[at..]);
    content
}

#[test]
fn a_flipped_bit_is_found_at_load_with_section_and_index() {
    let vk =
        [("alpha_g1", 0), ("beta_g1", 96), ("beta_g2", 192), ("gamma_g2", 384), ("delta_g1", 576), ("delta_g2", 672)];
    for (index, (name, at)) in vk.into_iter().enumerate() {
        let fault = corrupt(open_bytes(&with_point(at, |point| point[90] ^= 4)));
        assert_eq!((fault.section, fault.index), ("vk", Some(index as u64)));
        assert_eq!(fault.expected, format!("a point on the curve as {name}"));
    }
    for section in Section::ALL {
        let count = points_of(section).len() as u64 / section.point_bytes();
        for index in [0, count / 2, count - 1] {
            let at = points_of(section).start + (index * section.point_bytes()) as usize;
            let content = with_point(at + section.point_bytes() as usize / 2, |point| point[17] ^= 1);
            let fault = corrupt(open_bytes(&content).and_then(|srs| load(&srs)));
            assert_eq!((fault.section, fault.index), (section.name(), Some(index)));
            assert_eq!(&*fault.expected, "a point on the curve");
        }
    }
}

/// The encoding of a point that is on the curve and outside the subgroup.
fn outside_subgroup<P: Point>(uncompress: impl Fn(u8) -> Option<P>) -> Vec<u8> {
    let point = (1..=255).filter_map(uncompress).find(|point| !point.in_subgroup()).expect("most points are outside");
    let mut bytes = vec![0; P::BYTES];
    point.encode(&mut bytes);
    bytes
}

fn g1_outside() -> Vec<u8> {
    outside_subgroup(|x| {
        let mut bytes = [0; 48];
        (bytes[0], bytes[47]) = (0x80, x);
        Option::<G1Affine>::from(G1Affine::from_compressed_unchecked(&bytes))
    })
}

fn g2_outside() -> Vec<u8> {
    outside_subgroup(|x| {
        let mut bytes = [0; 96];
        (bytes[0], bytes[95]) = (0x80, x);
        Option::<G2Affine>::from(G2Affine::from_compressed_unchecked(&bytes))
    })
}

#[test]
fn a_point_outside_the_subgroup_is_found_when_it_is_looked_for() {
    for (name, at, point) in [("alpha_g1", 0, g1_outside()), ("delta_g2", 672, g2_outside())] {
        let fault = corrupt(open_bytes(&with_point(at, |to| to[..point.len()].copy_from_slice(&point))));
        assert_eq!(fault.expected, format!("a point of the prime-order subgroup as {name}"));
    }
    for section in Section::ALL {
        let point = if section == Section::BG2 { g2_outside() } else { g1_outside() };
        let at = points_of(section).start + 7 * point.len();
        let content = with_point(at, |to| to[..point.len()].copy_from_slice(&point));
        let verified = open_bytes(&content).and_then(|srs| {
            load(&srs).expect("it is on the curve");
            srs.verify(SrsCheck::Subgroup, None, &mut |_| std::ops::ControlFlow::Continue(()))
        });
        let fault = corrupt(verified);
        assert_eq!((fault.section, fault.index), (section.name(), Some(7)));
        assert_eq!(&*fault.expected, "a point of the prime-order subgroup");
    }
}

#[test]
fn infinity_and_compressed_points_are_refused() {
    for (flag, expected) in [(0x40, "a point other than infinity"), (0x80, "an uncompressed point")] {
        for section in Section::ALL {
            let size = section.point_bytes() as usize;
            let content = with_point(points_of(section).start, |point| {
                point[..size].fill(0);
                point[0] = flag;
            });
            let fault = corrupt(open_bytes(&content).and_then(|srs| load(&srs)));
            assert_eq!((fault.section, fault.index), (section.name(), Some(0)));
            assert_eq!(&*fault.expected, expected);
        }
    }
}

#[test]
fn a_read_outside_a_section_is_refused() {
    let srs = open_bytes(bytes()).unwrap();
    let count = srs.count(Section::L);
    for (first, bytes) in [(count, 96), (count - 1, 192), (u64::MAX, 96), (0, 95)] {
        let error = srs.read(Section::L, first, &mut vec![0; bytes]).unwrap_err();
        assert_eq!(error.status(), Status::Invalid);
    }
    srs.read(Section::L, count, &mut []).unwrap();
    srs.read(Section::L, count - 1, &mut [0; 96]).unwrap();
}
