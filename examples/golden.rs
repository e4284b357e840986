//! `make golden`: bellperson's proofs of testdata's PoRep and SnapDeals update for chosen blinding, which
//! tests/oracle_filecoin.rs compares ours with. Takes ten minutes of two cores.

#[path = "../tests/golden_support/mod.rs"]
mod golden_support;

use std::fmt::Write;

use golden_support::{bellperson_proofs, checked, root, srs};

fn main() {
    let pool = rayon::ThreadPoolBuilder::new().build().unwrap();
    for name in ["update", "porep"] {
        let checked = checked(name);
        let id = checked.circuit();
        let srs = srs(id, &id.record().unwrap(), &pool);
        let mut text = String::new();
        for proof in bellperson_proofs(&checked, &srs) {
            writeln!(text, "{}", hex::encode(proof)).unwrap();
        }
        let path = root("testdata/golden").join(name).with_extension("hex");
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(&path, text).unwrap();
        println!("{}", path.display());
    }
}
