//! Command line of the verifier: checks the certificate in a file. Exit codes as of `strata`.

fn main() {
    let file = std::env::args_os().nth(1).unwrap_or_default();
    let certificate = std::fs::read_to_string(&file);
    let (code, text) = match certificate.map(|text| strata_panex_proof_verifier::verify(&text)) {
        Ok(Ok(report)) => return println!("X(n) = U(n) for every n >= 5: {report:?}"),
        Ok(Err(failure)) => (12, format!("not proven: {failure}")),
        Err(error) => (2, format!("usage: strata-panex-proof-verifier FILE ({error})")),
    };
    eprintln!("{text}");
    std::process::exit(code)
}
