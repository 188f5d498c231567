//! Files that arguments name: `-` is standard input or output.

use std::io;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};

use strata_store::{read_input, read_limited};

/// Whether standard input has been read.
static TAKEN: AtomicBool = AtomicBool::new(false);

/// The file to which an option's output is written; none if it is standard output.
pub fn output(file: Option<&Path>) -> Option<&Path> {
    file.filter(|file| !is_standard(file))
}

/// Whether a name means standard input or output.
pub fn is_standard(file: &Path) -> bool {
    file.as_os_str() == "-"
}

/// The name of an input in messages.
pub fn input_name(file: &Path) -> String {
    if is_standard(file) { "standard input".to_owned() } else { file.display().to_string() }
}

/// Reads a file or standard input, of at most `limit` bytes.
///
/// # Errors
/// The operating system's error; `FileTooLarge` if there are more bytes, `InvalidInput` if it is
/// not a regular file, or if standard input was read before.
pub fn read(file: &Path, limit: u64) -> io::Result<Vec<u8>> {
    if !is_standard(file) {
        return read_input(file, limit);
    }
    if TAKEN.swap(true, Ordering::Relaxed) {
        let why = "it can be read once, and two arguments are '-'";
        return Err(io::Error::new(io::ErrorKind::InvalidInput, why));
    }
    read_limited(io::stdin().lock(), limit)
}

/// Reads text from a file or standard input, of at most `limit` bytes.
///
/// # Errors
/// Those of [`read`]; `InvalidData` if it is not UTF-8.
pub(crate) fn read_text(file: &Path, limit: u64) -> io::Result<String> {
    String::from_utf8(read(file, limit)?).map_err(|error| {
        let why = format!("byte {} is not UTF-8", error.utf8_error().valid_up_to() + 1);
        io::Error::new(io::ErrorKind::InvalidData, why)
    })
}
