//! Command line of the verifier: checks the certificate in a file. Exit codes as of `strata`.

use std::process::ExitCode;

use strata_panex_proof_verifier::verify;

fn main() -> ExitCode {
    let file = std::env::args_os().nth(1).unwrap_or_default();
    let (code, text) = match std::fs::read_to_string(&file).map(|text| verify(&text)) {
        Ok(Ok(report)) => {
            println!("X(n) = U(n) for every n >= 5: {report:#?}");
            return ExitCode::SUCCESS;
        }
        Ok(Err(failure)) => (12, format!("not proven: {failure}")),
        Err(error) => (2, format!("usage: strata-panex-proof-verifier FILE ({error})")),
    };
    eprintln!("{text}");
    ExitCode::from(code)
}
