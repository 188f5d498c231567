//! Environment of a journal: file access, random numbers and the time of day.

use std::fmt;
use std::io;
use std::path::Path;
use std::sync::Arc;
use std::time::{SystemTime, UNIX_EPOCH};

use redb::{Builder, Database, DatabaseError};
use strata_proto::net::{NetError, protocol};
use strata_proto::platform::Platform;

/// Characters that are hard to confuse.
const LETTERS: &[u8; 32] = b"abcdefghijklmnopqrstuvwxyz234567";

/// Random characters of a name.
const COUNT: usize = 6;

/// Opens an existing database file.
type Open = dyn Fn(&Builder, &Path) -> Result<Database, DatabaseError> + Send + Sync;

/// Draws a random number.
type Draw = dyn Fn() -> io::Result<u128> + Send + Sync;

/// Reads the time of day.
type Clock = dyn Fn() -> SystemTime + Send + Sync;

/// How a journal opens its file, draws random numbers and reads the time.
#[derive(Clone)]
pub struct JournalSetup {
    open: Arc<Open>,
    random: Arc<Draw>,
    clock: Arc<Clock>,
}

impl JournalSetup {
    /// Opens files through the operating system, and takes random numbers and the time from a
    /// platform.
    #[must_use]
    pub fn on(platform: &Arc<dyn Platform>) -> JournalSetup {
        let (platform, clock) = (Arc::clone(platform), Arc::clone(platform));
        JournalSetup {
            random: Arc::new(move || platform.random()),
            clock: Arc::new(move || clock.wall_time()),
            ..JournalSetup::default()
        }
    }

    /// Replaces the function that opens an existing file.
    #[must_use]
    pub fn open_with(
        self,
        open: impl Fn(&Builder, &Path) -> Result<Database, DatabaseError> + Send + Sync + 'static,
    ) -> JournalSetup {
        JournalSetup { open: Arc::new(open), ..self }
    }

    /// Replaces the clock.
    #[must_use]
    pub fn with_clock(
        self,
        clock: impl Fn() -> SystemTime + Send + Sync + 'static,
    ) -> JournalSetup {
        JournalSetup { clock: Arc::new(clock), ..self }
    }

    /// The time in seconds since 1970.
    pub(super) fn seconds(&self) -> u64 {
        (self.clock)().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_secs())
    }

    pub(super) fn open(&self, builder: &Builder, path: &Path) -> Result<Database, DatabaseError> {
        (self.open)(builder, path)
    }

    /// A random id: 32 hexadecimal digits.
    pub(super) fn id(&self) -> Result<String, NetError> {
        Ok(protocol::id_of((self.random)().map_err(NetError::random)?))
    }

    /// Six random characters of [`LETTERS`].
    pub(super) fn letters(&self) -> Result<String, NetError> {
        let bits = (self.random)().map_err(NetError::random)?;
        let letter = |place| char::from(LETTERS[(bits >> (5 * place)) as usize % 32]);
        Ok((0..COUNT).map(letter).collect())
    }

    /// Whether a text has the form of [`Self::letters`].
    pub(super) fn are_letters(text: &str) -> bool {
        text.len() == COUNT && text.bytes().all(|byte| LETTERS.contains(&byte))
    }
}

impl Default for JournalSetup {
    fn default() -> JournalSetup {
        JournalSetup {
            open: Arc::new(|builder, path| builder.open(path)),
            random: Arc::new(strata_proto::platform::random),
            clock: Arc::new(SystemTime::now),
        }
    }
}

impl fmt::Debug for JournalSetup {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("JournalSetup").finish_non_exhaustive()
    }
}
