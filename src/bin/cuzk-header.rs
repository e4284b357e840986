//! Writes the C header to the path that is named: `cuzk-header headers/cuzk.h`.

fn main() -> std::io::Result<()> {
    let path = std::env::args_os().nth(1).expect("usage: cuzk-header FILE");
    std::fs::write(path, cuzk::ffi::header()?)
}
