//! The `signpost` program: reads its arguments and hands over to [`signpost::cli`].

use std::process::ExitCode;

fn main() -> ExitCode {
    signpost::cli::main()
}
