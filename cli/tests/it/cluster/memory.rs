//! Memory of a worker that receives more than fits its budget.

use strata_proto::v1;
use strata_proto::v1::exchange_service_client::ExchangeServiceClient;

use crate::cluster::harness::{Cluster, free_port};

/// Peak of the resident memory of a process, in MiB.
fn peak(pid: i32) -> u64 {
    let status = std::fs::read_to_string(format!("/proc/{pid}/status")).unwrap();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).unwrap();
    line.trim().trim_end_matches(" kB").parse::<u64>().unwrap() >> 10
}

/// Sends a batch of an epoch that is over.
async fn deliver(port: u16, bytes: usize) {
    let channel = tonic::transport::Endpoint::from_shared(format!("http://127.0.0.1:{port}"));
    let channel = channel.unwrap().connect().await.unwrap();
    let mut exchange =
        ExchangeServiceClient::new(channel).max_encoding_message_size(bytes + (1 << 20));
    let batch =
        v1::Batch { epoch: 1, sequence: 1, run: vec![7; bytes].into(), ..v1::Batch::default() };
    // The worker refuses it.
    if let Ok(answer) = exchange.deliver(tokio_stream::iter([batch])).await {
        answer.into_inner().message().await.unwrap_err();
    }
}

#[test]
fn concurrent_batches_take_the_memory_of_one() {
    const BYTES: usize = 63 << 20;
    let mut cluster = Cluster::empty("");
    let port = free_port();
    cluster.join("w1", &format!("--listen 127.0.0.1:{port}"));
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let pid = cluster.pid("w1").as_raw_nonzero().get();
    runtime.block_on(deliver(port, BYTES));
    let one = peak(pid);
    runtime.block_on(async {
        let calls: Vec<_> = (0..8).map(|_| tokio::spawn(deliver(port, BYTES))).collect();
        for call in calls {
            call.await.unwrap();
        }
    });
    let eight = peak(pid);
    println!("peak memory: {one} MiB after one batch, {eight} MiB after eight at a time");
    assert!(eight < one + (BYTES as u64 >> 20) + 32, "{one} MiB, then {eight} MiB");
    cluster.assert_no_panic();
}
