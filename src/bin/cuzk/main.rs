//! `cuzk`: setup, proving and verification of Filecoin's proofs on the command line.

mod bench;
mod circuits;
mod gen_vanilla;
mod info;
mod output;
mod pool;
mod progress;
mod prove;
mod ready;
mod setup;
mod verify;
mod warm;

use std::process::ExitCode;

use clap::{Parser, Subcommand};
use cuzk::{Error, Result};

use crate::output::note;

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
    die_of_a_closed_pipe();
    env_logger::Builder::from_env(env_logger::Env::default().default_filter_or("warn")).format_target(false).init();
    let command = Arguments::parse().command;
    // filecoin-proofs panics over an environment variable or a settings file that it can't read.
    let result = std::panic::catch_unwind(|| run(command)).unwrap_or_else(|panic| {
        let said = panic.downcast_ref::<String>().cloned();
        let said = said.or_else(|| panic.downcast_ref::<&str>().map(|said| (*said).to_owned()));
        Err(Error::Internal(format!("a panic: {}", said.unwrap_or_default())))
    });
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            note(format_args!("cuzk: {error}"));
            if let Some(advice) = advice(&error) {
                note(format_args!("      {advice}"));
            }
            ExitCode::from(10 + error.status() as u8)
        }
    }
}

/// `cuzk info | head -1` ends quietly, as other tools do, and not with a panic.
fn die_of_a_closed_pipe() {
    // SAFETY: sets the default action before any thread runs.
    unsafe { libc::signal(libc::SIGPIPE, libc::SIG_DFL) };
}

/// What the user can do.
fn advice(error: &Error) -> Option<&'static str> {
    Some(match error {
        Error::ParamsMissing(_) => {
            "Name its directory with --params, or make an insecure one for tests with `cuzk setup`."
        }
        Error::ParamsCorrupt(_) => "Remove the file and fetch it, or make it, again.",
        Error::ParamsUnknown { .. } => "If it is meant to be one made for tests, add --allow-unknown-params.",
        Error::OutOfMemory { .. } => "`cuzk info` lists what each circuit needs.",
        Error::BadWitness { .. } | Error::SelfCheck(_) => {
            "The vanilla proofs were checked, so that memory or processor are to be suspected: try again, and test them."
        }
        _ => return None,
    })
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
