//! Shell quoting of the words of a command.

/// The word, quoted for a POSIX shell if necessary.
pub(crate) fn quoted(word: &str) -> String {
    let harmless = |c: char| c.is_ascii_alphanumeric() || "_-./:=@%+,".contains(c);
    if !word.is_empty() && word.chars().all(harmless) {
        word.to_owned()
    } else {
        format!("'{}'", word.replace('\'', r"'\''"))
    }
}
