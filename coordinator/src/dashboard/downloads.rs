//! Downloads: the layers of a job as CSV or JSON, in parts.

use std::fmt::Write;
use std::sync::Arc;

use bytes::Bytes;
use tokio::sync::mpsc;
use tokio_stream::Stream;
use tokio_stream::wrappers::ReceiverStream;

use crate::dashboard::source::SourceError;
use crate::dashboard::state::{Shared, json};
use strata_store::LayerRecord;

/// Parts that wait for a slow reader.
const BUFFER: usize = 4;

/// Format of a download.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Format {
    /// A heading, then a line for each layer.
    Csv,
    /// A line with a JSON object for each layer.
    Json,
}

impl Format {
    /// The format of that name.
    pub(crate) fn parse(name: &str) -> Option<Format> {
        match name {
            "csv" => Some(Format::Csv),
            "json" => Some(Format::Json),
            _ => None,
        }
    }

    pub(crate) fn content_type(self) -> &'static str {
        match self {
            Format::Csv => "text/csv; charset=utf-8",
            Format::Json => "application/x-ndjson",
        }
    }

    fn ending(self) -> &'static str {
        match self {
            Format::Csv => "csv",
            Format::Json => "jsonl",
        }
    }

    fn heading(self) -> &'static str {
        match self {
            Format::Csv => {
                "depth,states,positions,orbits,generated,regions,bytes,digest,seconds,read_bytes,written_bytes,\
                 memo_hits,memo_misses,memo_miss_seconds\n"
            }
            Format::Json => "",
        }
    }

    fn write(self, layer: &LayerRecord, out: &mut String) {
        match self {
            Format::Csv => {
                let LayerRecord { depth, states, positions, generated, regions, .. } = layer;
                let LayerRecord { bytes, digest, seconds, read_bytes, written_bytes, .. } = layer;
                let LayerRecord { memo_hits, memo_misses, memo_miss_seconds, .. } = layer;
                let orbits = layer.orbits.map_or_else(String::new, |orbits| orbits.to_string());
                // Writing to a string cannot fail.
                let _ = writeln!(
                    out,
                    "{depth},{states},{positions},{orbits},{generated},{regions},{bytes},{digest},\
                     {seconds},{read_bytes},{written_bytes},{memo_hits},{memo_misses},{memo_miss_seconds}"
                );
            }
            Format::Json => {
                out.push_str(&json(layer));
                out.push('\n');
            }
        }
    }
}

/// The layers of a job as a download. Returns the name of the file, and its content. An error after
/// the first part ends the content with an error, so that the browser reports an incomplete file.
///
/// # Errors
/// Those of the source, for the first part.
pub(crate) async fn layers(
    shared: &Arc<Shared>,
    id: String,
    format: Format,
) -> Result<(String, impl Stream<Item = Result<Bytes, SourceError>> + Send + 'static), SourceError>
{
    let (job, first) = shared
        .blocking(move |source| {
            let job = source.job(&id)?.id;
            let first = source.layers(&job, 0)?;
            Ok((job, first))
        })
        .await?;
    let name = job.chars().filter(|c| c.is_ascii_alphanumeric() || "-_.".contains(*c));
    let name = format!("{}.{}", name.collect::<String>(), format.ending());
    let (sender, receiver) = mpsc::channel(BUFFER);
    let shared = Arc::clone(shared);
    tokio::spawn(async move {
        let mut text = format.heading().to_owned();
        let mut part = first;
        loop {
            part.iter().for_each(|layer| format.write(layer, &mut text));
            let bytes = Bytes::from(std::mem::take(&mut text));
            let Some(last) = part.last().map(|layer| layer.depth) else {
                let _ = sender.send(Ok(bytes)).await;
                return;
            };
            if sender.send(Ok(bytes)).await.is_err() {
                return;
            }
            let job = job.clone();
            match shared.blocking(move |source| source.layers(&job, last + 1)).await {
                Ok(next) => part = next,
                Err(error) => {
                    tracing::warn!("a download ended early: {error}");
                    let _ = sender.send(Err(error)).await;
                    return;
                }
            }
        }
    });
    Ok((name, ReceiverStream::new(receiver)))
}

#[cfg(test)]
mod tests {
    use strata_store::Weight;

    use super::*;

    #[test]
    fn lines_have_the_fields_of_the_heading() {
        let layer = LayerRecord {
            depth: 3,
            states: 10,
            positions: 20,
            orbits: Some(9),
            generated: 30,
            regions: 2,
            bytes: 7,
            digest: Weight([1, 2]),
            seconds: 0.5,
            read_bytes: 8,
            written_bytes: 9,
            memo_hits: 5,
            memo_misses: 4,
            memo_miss_seconds: 0.25,
            kept: Vec::new(),
        };
        let (mut csv, mut lines) = (String::new(), String::new());
        Format::Csv.write(&layer, &mut csv);
        Format::Json.write(&layer, &mut lines);
        assert_eq!(csv, "3,10,20,9,30,2,7,00000000000000010000000000000002,0.5,8,9,5,4,0.25\n");
        assert_eq!(csv.split(',').count(), Format::Csv.heading().split(',').count());
        let expected = "{\"depth\":3,\"states\":10,\"positions\":20,\"orbits\":9,\"generated\":30,\
                        \"regions\":2,\"bytes\":7,\
                        \"digest\":\"00000000000000010000000000000002\",\"seconds\":0.5,\"read_bytes\":8,\"written_bytes\":9,\
                        \"memo_hits\":5,\"memo_misses\":4,\"memo_miss_seconds\":0.25}\n";
        assert_eq!(lines, expected);
        assert_eq!(Format::parse("xml"), None);
    }
}
