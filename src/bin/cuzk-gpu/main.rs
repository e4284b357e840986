//! Tests and benches of the CUDA kernels on a machine with a GPU: `cuzk-gpu {test|bench|sanitize} [name …]`.
//!
//! One binary, so that it can be carried to a machine that has no Rust.

fn main() {
    eprintln!("cuzk-gpu: built without CUDA");
    std::process::exit(2);
}
