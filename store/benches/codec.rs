//! Benchmark of the block codec: encoding and decoding per state, and starting a cursor in the
//! middle of a block.
//!
//! The regions resemble those of Panex: about 55 states with the same lowest bit, gaps of mostly 1
//! to 60 between the other bits, and repeated contents.

use std::hint::black_box;

use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use strata_store::{
    BlockEncoder, EncodeOptions, EntryKey, FileKind, KeyRange, Layer, LayerCursor, LayerHeader,
    LayerTotals, LayerWriter, Result, Word,
};

/// Regions as (key, range of `locals`), and the locals of all regions.
struct Data {
    regions: Vec<(EntryKey, std::ops::Range<usize>)>,
    locals: Vec<u32>,
}

fn data(regions: usize) -> Data {
    let mut seed = 42_u64;
    let mut random = move |below: u64| {
        seed = seed.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        (seed >> 33) % below
    };
    let mut data = Data { regions: Vec::new(), locals: Vec::new() };
    let mut region = 0_u128;
    for _ in 0..regions {
        region += 1 + u128::from(random(1 << 20));
        let start = data.locals.len();
        let repeated = (random(3) > 0).then(|| random(200) as usize + 1);
        let earlier = repeated.and_then(|back| data.regions.len().checked_sub(back));
        if let Some(earlier) = earlier {
            data.locals.extend_from_within(data.regions[earlier].1.clone());
        } else {
            let side = random(2) as u32;
            let mut value = random(60) as u32;
            for _ in 0..20 + random(70) {
                data.locals.push(2 * value + side);
                value += 1 + if random(12) == 0 { random(400) } else { random(60) } as u32;
            }
        }
        data.regions.push((EntryKey { shard: 0, region }, start..data.locals.len()));
    }
    data
}

fn encode(data: &Data, encoder: &mut BlockEncoder) -> Result<Layer> {
    let header = LayerHeader::new(FileKind::Layer, "bench", 1, 0);
    let writer = LayerWriter::memory(header)?;
    for (key, range) in &data.regions {
        encoder.push(&writer, *key, Word::of(&data.locals[range.clone()]))?;
    }
    let part = encoder.finish(&writer)?;
    let totals = LayerTotals {
        regions: data.regions.len() as u64,
        states: data.locals.len() as u64,
        ..LayerTotals::default()
    };
    writer.seal(vec![part], totals)
}

fn decode(layer: &Layer, cursor: &mut LayerCursor) -> Result<u64> {
    let mut sum = 0;
    cursor.start(layer, KeyRange::ALL)?;
    while cursor.key().is_some() {
        sum += cursor.locals().expect("the layer is intact").len() as u64;
        cursor.advance()?;
    }
    Ok(sum)
}

fn codec(c: &mut Criterion) {
    for (name, regions) in [("wide", 40_000), ("narrow", 20)] {
        let data = data(regions);
        let mut group = c.benchmark_group(name);
        group.throughput(Throughput::Elements(data.locals.len() as u64));
        for zstd_level in [-3, 1] {
            let options = EncodeOptions { zstd_level, ..EncodeOptions::default() };
            let Ok(mut encoder) = BlockEncoder::new(options) else { continue };
            let Ok(mut cursor) = LayerCursor::new() else { continue };
            group.bench_function(format!("encode/zstd{zstd_level}"), |b| {
                b.iter(|| encode(black_box(&data), &mut encoder));
            });
            let Ok(layer) = encode(&data, &mut encoder) else { continue };
            group.bench_function(format!("decode/zstd{zstd_level}"), |b| {
                b.iter(|| decode(black_box(&layer), &mut cursor));
            });
            let Some(middle) = layer.split_keys(2).first().copied() else { continue };
            group.bench_function(format!("start/zstd{zstd_level}"), |b| {
                b.iter(|| cursor.start(black_box(&layer), KeyRange::from(middle)));
            });
        }
    }
}

criterion_group!(benches, codec);
criterion_main!(benches);
