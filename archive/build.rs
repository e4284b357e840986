//! Names the build: `CUZK_BUILD_ID` is set by scripts/archive.sh, which hashes the sources.

fn main() {
    println!("cargo:rerun-if-env-changed=CUZK_BUILD_ID");
    println!("cargo:rerun-if-changed=build.rs");
    let id = std::env::var("CUZK_BUILD_ID").unwrap_or_else(|_| "unnamed".into());
    println!("cargo:rustc-env=CUZK_BUILD_ID={id}");
}
