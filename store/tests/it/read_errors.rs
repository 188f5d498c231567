//! Tests of files that cannot be read: unreadable sectors, and files that are cut while they are open.
//! Each fault must be an error with file and offset, and must not end the process.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use strata_store::{
    BlockEncoder, EncodeOptions, EntryKey, ExpectedFile, FaultyFs, FileKind, Fs, KeyRange, Layer,
    LayerCursor, LayerHeader, LayerTotals, LayerWriter, StoreError, Word,
};

const EIO: i32 = 5;

/// A layer of several blocks, each of more than a page.
fn write(fs: &Arc<dyn Fs>, path: &Path) -> Layer {
    let header = LayerHeader::new(FileKind::Layer, "job", 3, 1);
    let writer = LayerWriter::file(Arc::clone(fs), path, header).unwrap();
    let options = EncodeOptions { block_bytes: 9_000, ..EncodeOptions::default() };
    let mut encoder = BlockEncoder::new(options).unwrap();
    let (regions, states) = (20, 2_000);
    for region in 0..regions {
        // Incompressible gaps, different in each region.
        let noise = |i: u32| {
            let word = (i + region as u32 * states).wrapping_mul(0x9e37_79b1);
            (word ^ word >> 15).wrapping_mul(0x85eb_ca6b) >> 24
        };
        let locals: Vec<u32> = (0..states).map(|i| i * 300 + noise(i)).collect();
        encoder.push(&writer, EntryKey { shard: 0, region }, Word::of(&locals)).unwrap();
    }
    let part = encoder.finish(&writer).unwrap();
    let (regions, states) = (regions as u64, regions as u64 * u64::from(states));
    writer.seal(vec![part], LayerTotals { regions, states, ..LayerTotals::default() }).unwrap()
}

fn open(fs: &Arc<dyn Fs>, path: &Path, layer: &Layer) -> Result<Layer, StoreError> {
    let (bytes, seal) = (layer.file_bytes(), layer.seal());
    let expect = ExpectedFile { job: "job", kind: FileKind::Layer, depth: 3, bytes, seal };
    Layer::open(Arc::clone(fs), path, &expect)
}

/// Reads all regions with a cursor, which must be at the end after an error.
fn read(cursor: &mut LayerCursor, layer: &Layer) -> Result<usize, StoreError> {
    let mut states = 0;
    let mut read = || {
        cursor.start(layer, KeyRange::ALL)?;
        while cursor.key().is_some() {
            states += cursor.locals()?.len();
            cursor.advance()?;
        }
        Ok(())
    };
    let done = read();
    assert_eq!(cursor.key(), None);
    done.map(|()| states)
}

/// Reads a layer in each way.
fn failures(cursor: &mut LayerCursor, layer: &Layer) -> [StoreError; 3] {
    [
        read(cursor, layer).unwrap_err(),
        layer.check_blocks().unwrap_err(),
        layer.verify(&mut |_, _| {}).unwrap_err(),
    ]
}

struct Files {
    _dir: tempfile::TempDir,
    faulty: FaultyFs,
    path: PathBuf,
    /// The layer as it was written, as it was opened, and closed.
    layers: [Layer; 3],
}

impl Files {
    fn new() -> Files {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("layer");
        let faulty = FaultyFs::new();
        let fs: Arc<dyn Fs> = Arc::new(faulty.clone());
        let sealed = write(&fs, &path);
        let (opened, closed) =
            (open(&fs, &path, &sealed).unwrap(), open(&fs, &path, &sealed).unwrap());
        closed.close();
        assert!(sealed.blocks().len() > 4 && sealed.file_bytes() > 16 << 10);
        Files { _dir: dir, faulty, path, layers: [sealed, opened, closed] }
    }

    fn set_len(&self, len: u64) {
        std::fs::File::options().write(true).open(&self.path).unwrap().set_len(len).unwrap();
    }
}

#[test]
fn an_unreadable_sector_is_an_error_with_file_and_offset() {
    let files = Files::new();
    let mut cursor = LayerCursor::new().unwrap();
    for layer in &files.layers {
        let states = layer.totals().states as usize;
        for block in layer.blocks() {
            let last = block.offset + u64::from(block.stored_len) - 1;
            files.faulty.fail_reads_at("layer", last);
            for error in failures(&mut cursor, layer) {
                let StoreError::Read { path, offset, source } = &error else { panic!("{error}") };
                assert_eq!((path, *offset), (&files.path, block.offset));
                assert_eq!(source.raw_os_error(), Some(EIO));
                assert!(!error.is_corrupt() && !error.is_disk_full());
                let text = format!("{} at offset {offset}: ", path.display());
                assert!(error.to_string().contains(&text), "{error}");
            }
            // The fault of a disk may be transient.
            files.faulty.heal();
            assert_eq!(read(&mut cursor, layer).unwrap(), states);
        }
    }
}

#[test]
fn an_unreadable_index_is_an_error_with_file_and_offset() {
    let files = Files::new();
    let fs: Arc<dyn Fs> = Arc::new(files.faulty.clone());
    let sealed = &files.layers[0];
    let footer = sealed.blocks().iter().map(|block| block.offset + u64::from(block.stored_len));
    let footer = footer.max().unwrap();
    for at in [0, footer, footer + 100, sealed.file_bytes() - 1] {
        files.faulty.fail_reads_at("layer", at);
        let error = open(&fs, &files.path, sealed).unwrap_err();
        let StoreError::Read { path, offset, .. } = &error else { panic!("{error}") };
        assert!(*path == files.path && *offset <= at, "{error}");
    }
}

/// Through a memory map, the reads would end the process with SIGBUS.
#[test]
fn a_file_that_is_cut_while_it_is_open_is_corrupt() {
    let files = Files::new();
    let mut cursor = LayerCursor::new().unwrap();
    let blocks = files.layers[0].blocks().to_vec();
    let bytes = std::fs::read(&files.path).unwrap();
    for (cut, block) in blocks.iter().enumerate().rev() {
        for len in [block.offset + u64::from(block.stored_len) - 1, block.offset] {
            files.set_len(len);
            for layer in &files.layers {
                let [by_cursor, by_check, by_verify] = failures(&mut cursor, layer);
                for error in [by_cursor, by_check] {
                    let StoreError::Corrupt { file, offset, .. } = &error else {
                        panic!("{error}")
                    };
                    assert_eq!((file, *offset), (&files.path, block.offset), "block {cut}");
                    assert!(error.to_string().contains("the end of the file"), "{error}");
                }
                assert!(by_verify.is_corrupt(), "{by_verify}");
            }
        }
    }
    files.set_len(0);
    for layer in &files.layers {
        assert!(failures(&mut cursor, layer).iter().all(StoreError::is_corrupt));
    }
    std::fs::write(&files.path, bytes).unwrap();
    for layer in &files.layers {
        assert_eq!(read(&mut cursor, layer).unwrap() as u64, layer.totals().states);
    }
}

#[test]
fn files_are_read_without_a_memory_map() {
    let files = Files::new();
    let mut cursor = LayerCursor::new().unwrap();
    for layer in &files.layers {
        cursor.start(layer, KeyRange::ALL).unwrap();
        let maps = std::fs::read_to_string("/proc/self/maps").unwrap();
        assert!(!maps.contains(files.path.to_str().unwrap()), "{maps}");
    }
}

#[test]
fn many_layers_that_are_closed_take_no_descriptors() {
    let files = Files::new();
    let fs: Arc<dyn Fs> = Arc::new(files.faulty.clone());
    let open_files = || std::fs::read_dir("/proc/self/fd").unwrap().count();
    let before = open_files();
    let layers: Vec<Layer> = (0..200)
        .map(|_| {
            let layer = open(&fs, &files.path, &files.layers[0]).unwrap();
            layer.close();
            layer
        })
        .collect();
    // Other tests of the process open a few.
    assert!(open_files() < before + 100);
    let mut cursor = LayerCursor::new().unwrap();
    for layer in &layers[..3] {
        assert_eq!(read(&mut cursor, layer).unwrap() as u64, layer.totals().states);
    }
}
