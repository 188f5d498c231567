//! Layers of a cluster's job, for tracing a path back through them.
//!
//! The workers look states up in their shards. Two kinds of searches need whole layers: one from both
//! ends the last two, where it met, and one whose moves cannot be undone all of them. The files of such
//! layers are transferred. They stay in memory if they are small, and are else written to the data
//! directory.

use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use strata_engine::explicit::{Candidate, Finder, Layers};
use strata_proto::net::convert;
use strata_proto::v1;
use strata_store::{
    EngineKind, KeptFile, Layer, RealFs, create_dir_durably, hold_temporary, remove_abandoned,
};
use tempfile::NamedTempFile;

use super::remote::Remote;
use crate::output::exit::{ExitCode, Failure};

/// Limit in bytes of the transferred files that are held in memory.
const IN_MEMORY: u64 = 256 << 20;

/// Prefix and suffix of the names of temporary files in the data directory, and the number of
/// random characters between them.
const PREFIX: &str = "path-";
const SUFFIX: &str = ".tmp";
const RANDOM: usize = 6;

/// The layers of a cluster's job.
pub(crate) struct RemoteLayers<'a> {
    remote: &'a Remote<'a>,
    job: &'a str,
    room: Room,
}

impl<'a> RemoteLayers<'a> {
    /// Layers of the job with this id. Files beyond [`IN_MEMORY`] bytes are written to the data
    /// directory, and removed once they are open.
    pub(crate) fn new(remote: &'a Remote<'a>, job: &'a str, data_dir: &Path) -> RemoteLayers<'a> {
        let room = Room { memory: IN_MEMORY, data_dir: data_dir.to_owned() };
        RemoteLayers { remote, job, room }
    }

    /// The reference to the layer at a depth, as calls take it.
    pub(crate) fn layer(&self, depth: u32) -> v1::LayerRef {
        v1::LayerRef { job: self.job.to_owned(), depth }
    }

    fn fetch(&mut self, depth: u32) -> Result<Vec<Layer>, Failure> {
        use v1::layer_part::Part;
        let mut parts = self.remote.fetch_layer(self.layer(depth))?;
        let mut files: Vec<ReceivedFile> = Vec::new();
        while let Some(v1::LayerPart { part }) = self.remote.next(&mut parts)? {
            match (part, files.last_mut()) {
                (Some(Part::File(file)), _) => {
                    let kept = convert::kept_from(file).map_err(unexpected)?;
                    files.push(self.room.receive(kept)?);
                }
                (Some(Part::Bytes(bytes)), Some(file)) => file.write(&bytes)?,
                _ => return Err(unexpected("received bytes without a file")),
            }
        }
        files.into_iter().map(|file| file.open(self.job, depth)).collect()
    }
}

impl Layers for RemoteLayers<'_> {
    type Error = Failure;

    fn open(&mut self, depth: u32) -> Result<Vec<Layer>, Failure> {
        self.fetch(depth)
    }

    fn any_of(
        &mut self,
        depth: u32,
        candidates: &[Candidate],
        _: &mut Finder,
    ) -> Result<Option<usize>, Failure> {
        let candidates = candidates.iter().map(|candidate| convert::candidate_to(*candidate));
        let layer = Some(self.layer(depth));
        let candidates = candidates.collect();
        let request = v1::LookUpRequest { layer, candidates, numbering: None };
        Ok(self.remote.look_up(request)?.index.map(|index| index as usize))
    }
}

/// Destination of received files: memory up to a limit, then a folder.
struct Room {
    /// Bytes left in memory.
    memory: u64,
    /// The folder of the files that do not fit.
    data_dir: PathBuf,
}

impl Room {
    /// Prepares a file to be received.
    fn receive(&mut self, kept: KeptFile) -> Result<ReceivedFile, Failure> {
        let left = kept.bytes;
        if let Some(memory) = self.memory.checked_sub(left) {
            self.memory = memory;
            let place = Place::Memory(Vec::with_capacity(left as usize));
            return Ok(ReceivedFile { kept, left, place });
        }
        let dir = &self.data_dir;
        let failed = |error: &dyn std::fmt::Display| {
            let (file, dir) = (&kept.file, dir.display());
            let message = format!("cannot write {file} to {dir}, see --data-dir: {error}");
            Failure::new(ExitCode::JobFailed, message)
        };
        create_dir_durably(&RealFs, dir).map_err(|error| failed(&error))?;
        let file = temporary_file(dir).map_err(|error| failed(&error))?;
        Ok(ReceivedFile { kept, left, place: Place::Disk(file) })
    }
}

/// A new file in a folder, for the owner only. Files of processes that were killed are removed first.
fn temporary_file(dir: &Path) -> io::Result<NamedTempFile> {
    let is_temporary = |name: &str| {
        let rest = name.strip_prefix(PREFIX).and_then(|rest| rest.strip_suffix(SUFFIX));
        rest.is_some_and(|random| {
            random.len() == RANDOM && random.bytes().all(|byte| byte.is_ascii_alphanumeric())
        })
    };
    remove_abandoned(dir, is_temporary)?;
    loop {
        let mut builder = tempfile::Builder::new();
        let builder = builder.prefix(PREFIX).suffix(SUFFIX).rand_bytes(RANDOM);
        let file = builder.tempfile_in(dir)?;
        if hold_temporary(file.as_file(), file.path())? {
            return Ok(file);
        }
    }
}

/// A file that is being received.
struct ReceivedFile {
    kept: KeptFile,
    /// Bytes to come.
    left: u64,
    place: Place,
}

enum Place {
    Memory(Vec<u8>),
    Disk(NamedTempFile),
}

impl ReceivedFile {
    /// Adds the next bytes.
    fn write(&mut self, bytes: &[u8]) -> Result<(), Failure> {
        let left = self.left.checked_sub(bytes.len() as u64);
        self.left = left.ok_or_else(|| {
            let KeptFile { file, bytes, .. } = &self.kept;
            unexpected(format!("received more than the {bytes} bytes of {file}"))
        })?;
        match &mut self.place {
            Place::Memory(content) => content.extend_from_slice(bytes),
            Place::Disk(file) => file.write_all(bytes).map_err(|error| {
                let path = file.path().display();
                Failure::new(ExitCode::JobFailed, format!("cannot write {path}: {error}"))
            })?,
        }
        Ok(())
    }

    /// The layer in the file, after checks.
    fn open(self, job: &str, depth: u32) -> Result<Layer, Failure> {
        let expect = self.kept.expect(job, depth, EngineKind::Explicit);
        Ok(match self.place {
            Place::Memory(content) => Layer::from_content(content, &self.kept.file, &expect)?,
            // The memory map of the layer outlives the file's name.
            Place::Disk(file) => Layer::open(Arc::new(RealFs), file.path(), &expect)?,
        })
    }
}

fn unexpected(error: impl std::fmt::Display) -> Failure {
    Failure::new(ExitCode::Unexpected, error.to_string())
}

#[cfg(test)]
mod tests {
    use strata_store::{
        BlockEncoder, EncodeOptions, EntryKey, FileKind, Hex64, LayerHeader, LayerTotals,
        LayerWriter, Word,
    };

    use super::*;

    const JOB: &str = "panex-6";
    const DEPTH: u32 = 41;

    /// A layer of one region, and its record.
    fn layer(states: u32) -> (Vec<u8>, KeptFile) {
        let header = LayerHeader::new(FileKind::Layer, JOB, DEPTH, 0);
        let writer = LayerWriter::memory(header).unwrap();
        let mut encoder = BlockEncoder::new(EncodeOptions::default()).unwrap();
        let locals: Vec<u32> = (0..states).collect();
        encoder.push(&writer, EntryKey { shard: 0, region: 7 }, Word::of(&locals)).unwrap();
        let totals = LayerTotals { regions: 1, states: states.into(), ..LayerTotals::default() };
        let part = encoder.finish(&writer).unwrap();
        let layer = writer.seal(vec![part], totals).unwrap();
        let (bytes, seal) = (layer.file_bytes(), Hex64(layer.seal()));
        let kept = KeptFile { worker: 0, file: format!("layer-{states}.strata"), bytes, seal };
        (layer.image().unwrap().to_vec(), kept)
    }

    #[test]
    fn files_that_do_not_fit_the_memory_are_written_to_the_data_directory() {
        let folder = tempfile::tempdir().unwrap();
        let data_dir = folder.path().join("data");
        let ((small, kept), (other, other_kept)) = (layer(3), layer(5));
        let mut room = Room { memory: small.len() as u64, data_dir: data_dir.clone() };
        let mut first = room.receive(kept).unwrap();
        assert!(!data_dir.exists());
        std::fs::create_dir(&data_dir).unwrap();
        std::fs::write(data_dir.join("path-aB3dE6.tmp"), "of a killed process").unwrap();
        let mut second = room.receive(other_kept).unwrap();
        let files = || std::fs::read_dir(&data_dir).unwrap().count();
        assert_eq!(files(), 1);
        small.chunks(10).for_each(|bytes| first.write(bytes).unwrap());
        other.chunks(10).for_each(|bytes| second.write(bytes).unwrap());
        let layers = [first, second].map(|file| file.open(JOB, DEPTH).unwrap());
        assert_eq!(files(), 0);
        assert_eq!(layers.each_ref().map(|layer| layer.totals().states), [3, 5]);
        assert_eq!(layers.each_ref().map(|layer| layer.image().is_some()), [true, false]);
        let mut finder = Finder::new().unwrap();
        let candidate = |local| (EntryKey { shard: 0, region: 7 }, local);
        assert_eq!(finder.any_of(&layers[1..], &[candidate(9), candidate(4)]).unwrap(), Some(1));
    }

    #[test]
    fn received_files_of_a_wrong_length_are_refused() {
        let (content, kept) = layer(3);
        let room = || Room { memory: 1 << 20, data_dir: PathBuf::new() };
        let mut short = room().receive(kept.clone()).unwrap();
        short.write(&content[1..]).unwrap();
        assert_eq!(short.open(JOB, DEPTH).unwrap_err().code, ExitCode::Corrupt);
        let mut long = room().receive(kept).unwrap();
        long.write(&content).unwrap();
        let message = long.write(&[0]).unwrap_err().to_string();
        assert!(message.contains("more than the"), "{message}");
    }

    #[test]
    fn an_unwritable_data_directory_is_named_in_the_error() {
        let folder = tempfile::tempdir().unwrap();
        let data_dir = folder.path().join("file");
        std::fs::write(&data_dir, "").unwrap();
        let failure = Room { memory: 0, data_dir }.receive(layer(3).1).err().unwrap();
        assert!(failure.to_string().contains("/file, see --data-dir: "), "{failure}");
    }
}
