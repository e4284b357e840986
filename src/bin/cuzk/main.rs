//! `cuzk`: setup, proving and verification of Filecoin's proofs on the command line.

mod bench;
mod circuits;
mod files;
mod gen_vanilla;
mod info;
mod pool;
mod progress;
mod prove;
mod ready;
mod setup;
mod verify;
mod warm;

use std::process::ExitCode;

use clap::{Parser, Subcommand};
use cuzk::Result;

/// Proves Filecoin's PoRep, SnapDeals, WindowPoSt and WinningPoSt.
///
/// Exit codes: 0 success; 2 wrong usage; otherwise 10 + the status code: 11 INVALID, 12 UNSUPPORTED, 19 PARAMS_MISSING,
/// 20 PARAMS_CORRUPT, 21 PARAMS_UNKNOWN, 24 OUT_OF_MEMORY, 25 BAD_WITNESS, 26 SELF_CHECK, 27 INTERNAL.
#[derive(Parser)]
#[command(version, max_term_width = 120)]
struct Arguments {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Makes inputs: vanilla proofs with their public inputs.
    GenVanilla(gen_vanilla::GenVanilla),
    /// Makes an INSECURE SRS of a circuit, for tests alone.
    Setup(setup::Setup),
    /// Proves an input, and checks the proof before it is written.
    Prove(prove::Prove),
    /// Verifies a proof with filecoin-proofs' verifier.
    Verify(verify::Verify),
    /// Lists the circuits, and which SRS files are found for them.
    Info(info::Info),
    /// Prepares caches, so that the first proof waits for nothing.
    Warm(warm::Warm),
    /// Measures, and prints one table.
    Bench(bench::Bench),
}

fn main() -> ExitCode {
    match run(Arguments::parse().command) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("cuzk: {error}");
            ExitCode::from(10 + error.status() as u8)
        }
    }
}

fn run(command: Command) -> Result<()> {
    match command {
        Command::GenVanilla(command) => command.run(),
        Command::Setup(command) => command.run(),
        Command::Prove(command) => command.run(),
        Command::Verify(command) => command.run(),
        Command::Info(command) => command.run(),
        Command::Warm(command) => command.run(),
        Command::Bench(command) => command.run(),
    }
}
