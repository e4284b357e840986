//! Our files and bellperson's.

use std::fs;
use std::path::Path;

use bellperson::groth16;
use blstrs::{Bls12, G1Affine, G2Affine};
use cuzk::srs::{Section, SrsFile, SrsWriter, VerifyingKey};
use cuzk::Status;

use crate::fixture::{bytes, file, foreign, load, open_bytes, parameters, points_of};

fn copy_sections(srs: &SrsFile, writer: &mut SrsWriter) {
    for section in [Section::H, Section::L, Section::A, Section::BG1] {
        let mut points = vec![G1Affine::default(); srs.count(section) as usize];
        srs.read_points(section, 0, &mut points).unwrap();
        writer.begin(section, points.len() as u64).unwrap();
        // In uneven parts, as they are computed.
        let (first, rest) = points.split_at(points.len() / 3);
        writer.points(first).unwrap();
        writer.points(rest).unwrap();
    }
    let mut points = vec![G2Affine::default(); srs.count(Section::BG2) as usize];
    srs.read_points(Section::BG2, 0, &mut points).unwrap();
    writer.begin(Section::BG2, points.len() as u64).unwrap();
    writer.points(&points).unwrap();
}

#[test]
fn we_read_what_bellperson_wrote() {
    let srs = open_bytes(bytes()).unwrap();
    let theirs = parameters();
    assert_eq!(srs.count(Section::Ic), theirs.vk.ic.len() as u64);
    assert_eq!(srs.vk().ic, theirs.vk.ic);
    assert_eq!(
        (srs.vk().alpha_g1, srs.vk().beta_g1, srs.vk().delta_g1),
        (theirs.vk.alpha_g1, theirs.vk.beta_g1, theirs.vk.delta_g1)
    );
    assert_eq!(
        (srs.vk().beta_g2, srs.vk().gamma_g2, srs.vk().delta_g2),
        (theirs.vk.beta_g2, theirs.vk.gamma_g2, theirs.vk.delta_g2)
    );
    for (section, points) in
        [(Section::H, &theirs.h), (Section::L, &theirs.l), (Section::A, &theirs.a), (Section::BG1, &theirs.b_g1)]
    {
        assert_eq!(srs.count(section), points.len() as u64);
        let mut ours = vec![G1Affine::default(); points.len()];
        srs.read_points(section, 0, &mut ours).unwrap();
        assert_eq!(&ours, &**points, "{section:?}");
        srs.read_points(section, 3, &mut ours[..2]).unwrap();
        assert_eq!(ours[..2], points[3..5], "{section:?}");
    }
    let mut b_g2 = vec![G2Affine::default(); theirs.b_g2.len()];
    srs.read_points(Section::BG2, 0, &mut b_g2).unwrap();
    assert_eq!(b_g2, **theirs.b_g2);
    let mut raw = vec![0; 2 * 192];
    srs.read(Section::BG2, 4, &mut raw).unwrap();
    assert_eq!(raw, bytes()[points_of(Section::BG2)][4 * 192..6 * 192]);
}

#[test]
fn bellperson_reads_what_we_wrote_and_the_bytes_are_its_own() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("ours.params");
    let srs = open_bytes(bytes()).unwrap();
    let mut writer = SrsWriter::create(&path, srs.vk()).unwrap();
    copy_sections(&srs, &mut writer);
    assert!(!path.exists(), "nothing stands under the name before the file is whole");
    writer.finish().unwrap();
    assert!(fs::read(&path).unwrap() == bytes());
    assert_eq!(fs::read_dir(dir.path()).unwrap().count(), 1, "the temporary name is gone");
    let theirs = groth16::Parameters::<Bls12>::read(fs::File::open(&path).unwrap(), true).unwrap();
    assert!(theirs == *parameters());
    load(&SrsFile::open(&path, &foreign()).unwrap()).unwrap();
}

#[test]
fn a_vk_file_is_the_head_of_the_params_file() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("ours.vk");
    let srs = open_bytes(bytes()).unwrap();
    srs.vk().write(&path).unwrap();
    let written = fs::read(&path).unwrap();
    assert_eq!(written, bytes()[..points_of(Section::Ic).end]);
    assert_eq!(&VerifyingKey::read(&path).unwrap(), srs.vk());
    assert_eq!(srs.vk().digest(), srs.vk_digest());
    assert_eq!(srs.vk_digest(), &blake2b_simd::blake2b(&written).to_hex()[..32]);
    let theirs = groth16::VerifyingKey::<Bls12>::read(&written[..]).unwrap();
    assert!(theirs == parameters().vk);
    assert_eq!(srs.vk().write(&path).unwrap_err().status(), Status::Invalid, "never overwritten");
    for cut in [0, 1, 863, 864, 867, 868, written.len() - 1] {
        let short = file(dir.path(), "short.vk", &written[..cut]);
        let error = VerifyingKey::read(&short).unwrap_err();
        assert_eq!(error.status(), Status::ParamsCorrupt);
        assert!(error.to_string().contains(&format!("found {cut} bytes")), "{error}");
    }
}

#[test]
fn an_existing_file_is_never_overwritten() {
    let dir = tempfile::tempdir().unwrap();
    let srs = open_bytes(bytes()).unwrap();
    let path = file(dir.path(), "taken.params", b"precious");
    let error = SrsWriter::create(&path, srs.vk()).unwrap_err();
    assert_eq!(error.status(), Status::Invalid);
    assert!(error.to_string().contains("taken.params"), "{error}");

    let path = dir.path().join("raced.params");
    let mut writer = SrsWriter::create(&path, srs.vk()).unwrap();
    copy_sections(&srs, &mut writer);
    file(dir.path(), "raced.params", b"precious");
    assert_eq!(writer.finish().unwrap_err().status(), Status::Invalid);
    assert_eq!(fs::read(&path).unwrap(), b"precious");
    assert_eq!(fs::read_dir(dir.path()).unwrap().count(), 2, "no temporary file is left");
}

#[test]
fn an_unfinished_file_leaves_nothing_behind() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("ours.params");
    let srs = open_bytes(bytes()).unwrap();
    let mut writer = SrsWriter::create(&path, srs.vk()).unwrap();
    writer.begin(Section::H, 2).unwrap();
    drop(writer);
    assert_eq!(fs::read_dir(dir.path()).unwrap().count(), 0);
    let nowhere = Path::new("/nonexistent/ours.params");
    assert_eq!(SrsWriter::create(nowhere, srs.vk()).unwrap_err().status(), Status::Invalid);
}

#[test]
fn a_writer_that_is_used_out_of_order_says_so() {
    let dir = tempfile::tempdir().unwrap();
    let srs = open_bytes(bytes()).unwrap();
    let mut writer = SrsWriter::create(&dir.path().join("ours.params"), srs.vk()).unwrap();
    let g1 = srs.vk().alpha_g1;
    let invalid = |result: cuzk::Result<()>, says: &str| {
        let error = result.unwrap_err();
        assert_eq!(error.status(), Status::Invalid);
        assert!(error.to_string().contains(says), "{error}");
    };
    invalid(writer.points(&[g1]), "0 places of section ic");
    invalid(writer.begin(Section::L, 1), "l out of order");
    invalid(writer.begin(Section::H, 1 << 32), "4294967296 points");
    writer.begin(Section::H, 1).unwrap();
    invalid(writer.points(&[srs.vk().beta_g2]), "section h is of the other group");
    invalid(writer.points(&[g1, g1]), "2 points for 1 places of section h");
    invalid(writer.begin(Section::L, 1), "1 missing in section h");
    writer.points(&[g1]).unwrap();
    invalid(writer.finish(), "none behind h");
}
