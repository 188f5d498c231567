//! The cluster's token: a secret in a file of every node and client.

use std::fmt;
use std::fs::{self, File, OpenOptions, Permissions};
use std::io::{self, Read, Write};
use std::os::unix::fs::{OpenOptionsExt, PermissionsExt};
use std::path::Path;
use std::sync::Arc;

use subtle::ConstantTimeEq;
use tonic::metadata::{Ascii, MetadataValue};

use crate::net::error::NetError;

const MIN_LEN: usize = 16;
const MAX_LEN: usize = 4096;

/// Random bytes of a new token, written as twice as many hexadecimal digits.
const RANDOM_BYTES: usize = 32;

/// Random bytes in the name of a token file that is being created.
const TEMPORARY_BYTES: usize = 8;

/// Permissions of a token file. The group can read it, because nodes may run as different users of
/// one group.
const MODE: u32 = 0o640;

/// The secret that all nodes and clients of a cluster share. `Debug` hides it.
#[derive(Clone)]
pub struct Token {
    secret: Arc<str>,
    /// The header that presents the token. It is built when the token is parsed, so presenting the
    /// token cannot fail.
    header: MetadataValue<Ascii>,
}

impl fmt::Debug for Token {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Token(..)")
    }
}

impl Token {
    /// Reads a token file. A newline at its end is not part of the token.
    ///
    /// # Errors
    /// [`NetError::File`] if it cannot be read, [`NetError::Token`] unless it holds 16 to 4096
    /// printable ASCII characters without spaces.
    pub fn read(path: &Path) -> Result<Self, NetError> {
        let mut bytes = Vec::new();
        // Two bytes more than the longest token: the newline, and one to detect a longer file.
        let limit = MAX_LEN as u64 + 2;
        let file = strata_store::open_input(path).map_err(NetError::file(path))?;
        file.take(limit).read_to_end(&mut bytes).map_err(NetError::file(path))?;
        let secret = bytes.strip_suffix(b"\n").unwrap_or(&bytes);
        Self::parse(secret).map_err(|why| NetError::token(path, why))
    }

    /// Reads a token file, or creates one with a random token if there is none. Concurrent callers
    /// get the same token. An existing file is never replaced.
    ///
    /// # Errors
    /// Those of [`Token::read`], and [`NetError::File`] if the file cannot be written.
    pub fn create(path: &Path) -> Result<Self, NetError> {
        remove_leftovers(path);
        let exists = fs::exists(path).map_err(NetError::file(path))?;
        if !exists {
            make(path).map_err(NetError::file(path))?;
        }
        // Another process may have created the file first, so the token is read from it.
        Self::read(path)
    }

    /// A random token and its secret: 64 hexadecimal digits.
    ///
    /// # Errors
    /// If the operating system provides no random numbers.
    pub fn random() -> io::Result<(Self, String)> {
        let secret = random_hex::<RANDOM_BYTES>()?;
        Ok((Self::parse(secret.as_bytes()).map_err(io::Error::other)?, secret))
    }

    /// Whether a presented secret is the token. The running time depends only on the length of
    /// `presented`.
    #[must_use]
    pub fn matches(&self, presented: &[u8]) -> bool {
        self.secret.as_bytes().ct_eq(presented).into()
    }

    pub(crate) fn secret(&self) -> &str {
        &self.secret
    }

    pub(crate) fn header(&self) -> MetadataValue<Ascii> {
        self.header.clone()
    }

    /// Checks a secret. The error does not quote it.
    fn parse(secret: &[u8]) -> Result<Self, String> {
        match secret.len() {
            0 => return Err("it is empty".into()),
            1..MIN_LEN => return Err(format!("it has fewer than {MIN_LEN} characters")),
            MIN_LEN..=MAX_LEN => (),
            _ => return Err(format!("it has more than {MAX_LEN} characters")),
        }
        let unfit = || "it has characters that are not printable ASCII, or spaces".to_owned();
        if !secret.iter().all(u8::is_ascii_graphic) {
            return Err(unfit());
        }
        let secret = str::from_utf8(secret).map_err(|_| unfit())?;
        let mut header =
            MetadataValue::try_from(format!("Bearer {secret}")).map_err(|_| unfit())?;
        // Keeps it out of debug output and of header compression tables.
        header.set_sensitive(true);
        Ok(Self { secret: secret.into(), header })
    }

    #[cfg(test)]
    pub(crate) fn for_tests(secret: &str) -> Self {
        Self::parse(secret.as_bytes()).unwrap()
    }
}

/// Creates a token file. The token is written and synced under a temporary name; a hard link then
/// gives the file its final name. Linking fails if that name exists, so the first complete file
/// stays.
fn make(path: &Path) -> io::Result<()> {
    let name = path.file_name().ok_or(io::ErrorKind::InvalidInput)?.to_string_lossy();
    let folder = folder_of(path);
    let (temporary, linked) = loop {
        let random = random_hex::<TEMPORARY_BYTES>()?;
        let temporary = folder.join(format!(".{name}.{random}.tmp"));
        match write_new(&temporary, &random_hex::<RANDOM_BYTES>()?) {
            // Another process has removed it as a leftover before it was locked.
            Ok(None) => {}
            Ok(Some(_held)) => {
                let linked = fs::hard_link(&temporary, path);
                break (temporary, linked);
            }
            Err(error) => break (temporary, Err(error)),
        }
    };
    // The temporary file may not exist. If it cannot be removed, the next start removes it.
    let _ = fs::remove_file(&temporary);
    match linked {
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => Ok(()),
        Err(error) => Err(error),
        Ok(()) => File::open(folder)?.sync_all(),
    }
}

/// Removes temporary files of processes that were killed while they created a token.
fn remove_leftovers(path: &Path) {
    let Some(name) = path.file_name().map(|name| name.to_string_lossy()) else { return };
    let is_temporary = |other: &str| {
        let rest = other.strip_prefix('.').and_then(|rest| rest.strip_prefix(&*name));
        let rest = rest.and_then(|rest| rest.strip_prefix('.'));
        let random = rest.and_then(|rest| rest.strip_suffix(".tmp")).unwrap_or_default();
        random.len() == 2 * TEMPORARY_BYTES && random.bytes().all(|byte| byte.is_ascii_hexdigit())
    };
    // One that stays is harmless: no node uses its token. The folder may not be readable.
    let _ = strata_store::remove_abandoned(folder_of(path), is_temporary);
}

/// The folder of a file.
fn folder_of(path: &Path) -> &Path {
    match path.parent() {
        Some(folder) if !folder.as_os_str().is_empty() => folder,
        _ => Path::new("."),
    }
}

/// Writes a token to a new file, durably. Returns the file, which is locked; `None` if another
/// process has removed it as a leftover.
fn write_new(path: &Path, secret: &str) -> io::Result<Option<File>> {
    let mut file = OpenOptions::new().write(true).create_new(true).mode(MODE).open(path)?;
    if !strata_store::hold_temporary(&file, path)? {
        return Ok(None);
    }
    // The umask may have removed the group's permission.
    file.set_permissions(Permissions::from_mode(MODE))?;
    file.write_all(secret.as_bytes())?;
    file.write_all(b"\n")?;
    file.sync_all()?;
    Ok(Some(file))
}

fn random_hex<const N: usize>() -> io::Result<String> {
    let mut bytes = [0; N];
    getrandom::fill(&mut bytes)?;
    Ok(bytes.iter().map(|byte| format!("{byte:02x}")).collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::Barrier;

    const SECRET: &str = "correct-horse-battery-staple";

    fn read(content: &[u8]) -> Result<Token, NetError> {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("token");
        fs::write(&path, content).unwrap();
        Token::read(&path)
    }

    #[test]
    fn tokens_are_read() {
        for end in ["", "\n"] {
            let token = read(format!("{SECRET}{end}").as_bytes()).unwrap();
            assert!(token.matches(SECRET.as_bytes()));
            assert!(!token.matches(format!("{SECRET}\n").as_bytes()));
            assert!(!token.matches(b""));
            assert!(!token.matches(&SECRET.as_bytes()[1..]));
            assert!(!token.matches(SECRET.to_uppercase().as_bytes()));
        }
        for len in [MIN_LEN, MAX_LEN] {
            assert!(read(&vec![b'x'; len]).unwrap().matches(&vec![b'x'; len]));
            assert!(read(&[&vec![b'~'; len][..], b"\n"].concat()).is_ok());
        }
    }

    #[test]
    fn invalid_content_is_refused_and_not_quoted() {
        let spaced = format!("{SECRET} {SECRET}");
        let twice = format!("{SECRET}\n\n");
        let long = "x".repeat(MAX_LEN + 1);
        let longer = format!("{long}\n\n\n");
        let cases: [(&[u8], &str); 10] = [
            (b"", "it is empty"),
            (b"\n", "it is empty"),
            (b"fifteen-letters", "it has fewer than 16 characters"),
            (b"fifteen-letters\n", "it has fewer than 16 characters"),
            (spaced.as_bytes(), "or spaces"),
            (twice.as_bytes(), "not printable"),
            (b"correct-horse-battery\r\n", "not printable"),
            (b"correct-horse-batt\xc3\xa9ry", "not printable"),
            (long.as_bytes(), "it has more than 4096 characters"),
            (longer.as_bytes(), "it has more than 4096 characters"),
        ];
        for (content, why) in cases {
            let error = read(content).unwrap_err();
            assert!(matches!(error, NetError::Token { .. }), "{error:?}");
            let text = format!("{error} {error:?}");
            assert!(text.contains(why) && text.contains("/token"), "{text}");
            let shown = String::from_utf8_lossy(content);
            let quoted = !shown.trim().is_empty() && text.contains(shown.trim());
            assert!(!quoted && !text.contains("correct"), "{text}");
        }
    }

    #[test]
    fn missing_files_and_folders_are_named() {
        let folder = tempfile::tempdir().unwrap();
        for path in [folder.path().join("none"), folder.path().to_path_buf()] {
            let error = Token::read(&path).unwrap_err();
            assert!(matches!(&error, NetError::File { path: named, .. } if *named == path));
            assert!(error.to_string().contains(path.to_str().unwrap()), "{error}");
        }
        let device = Token::read(Path::new("/dev/zero")).unwrap_err();
        assert!(device.to_string().ends_with("it is not a regular file"), "{device}");
        assert!(matches!(Token::create(folder.path()), Err(NetError::File { .. })));
        let nowhere = folder.path().join("no/token");
        assert!(matches!(Token::create(&nowhere), Err(NetError::File { .. })));
    }

    #[test]
    fn debug_output_does_not_show_the_secret() {
        let token = Token::for_tests(SECRET);
        assert_eq!(format!("{token:?}"), "Token(..)");
        assert_eq!(format!("{token:#?}"), "Token(..)");
        assert!(!format!("{:?}", token.header()).contains(SECRET));
    }

    #[test]
    fn random_tokens_differ() {
        let ((one, secret), (other, _)) = (Token::random().unwrap(), Token::random().unwrap());
        assert!(one.matches(secret.as_bytes()) && !other.matches(secret.as_bytes()));
        assert_eq!(secret.len(), 2 * RANDOM_BYTES);
    }

    #[test]
    fn a_created_token_is_not_replaced() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("token");
        let token = Token::create(&path).unwrap();
        let text = fs::read_to_string(&path).unwrap();
        assert_eq!(text.len(), 2 * RANDOM_BYTES + 1);
        assert!(text.trim_end().bytes().all(|b| b.is_ascii_hexdigit()));
        assert!(token.matches(text.trim_end().as_bytes()));
        assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o7777, MODE);
        assert!(Token::create(&path).unwrap().matches(text.trim_end().as_bytes()));
        assert_eq!(fs::read_to_string(&path).unwrap(), text);
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1);
        let other = folder.path().join("other");
        assert!(!Token::create(&other).unwrap().matches(text.trim_end().as_bytes()));
    }

    #[test]
    fn the_leftovers_of_a_killed_creator_are_removed() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("token");
        for token_exists in [false, true] {
            let left = folder.path().join(".token.0123456789abcdef.tmp");
            fs::write(&left, SECRET).unwrap();
            fs::write(folder.path().join(".token.mine.tmp"), SECRET).unwrap();
            assert_eq!(path.exists(), token_exists);
            Token::create(&path).unwrap();
            assert!(!left.exists());
            assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 2);
        }
    }

    #[test]
    fn a_file_that_another_process_is_creating_is_not_removed() {
        let folder = tempfile::tempdir().unwrap();
        let other = folder.path().join(".token.0123456789abcdef.tmp");
        let held = write_new(&other, SECRET).unwrap().unwrap();
        let create = || Token::create(&folder.path().join("token")).unwrap();
        create();
        assert!(other.exists());
        drop(held);
        create();
        assert!(!other.exists());
    }

    #[test]
    fn a_file_without_a_token_is_not_replaced() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("token");
        fs::write(&path, "short").unwrap();
        assert!(matches!(Token::create(&path), Err(NetError::Token { .. })));
        assert_eq!(fs::read_to_string(&path).unwrap(), "short");
    }

    #[test]
    fn concurrent_creators_agree() {
        for _ in 0..20 {
            let folder = tempfile::tempdir().unwrap();
            let path = folder.path().join("token");
            let start = Barrier::new(8);
            let tokens: Vec<Token> = std::thread::scope(|scope| {
                let create = || {
                    start.wait();
                    Token::create(&path).unwrap()
                };
                let creators: Vec<_> = (0..8).map(|_| scope.spawn(create)).collect();
                creators.into_iter().map(|creator| creator.join().unwrap()).collect()
            });
            let secret = fs::read(&path).unwrap();
            let secret = secret.strip_suffix(b"\n").unwrap();
            assert!(tokens.iter().all(|token| token.matches(secret)));
            assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1);
        }
    }
}
