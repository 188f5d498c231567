//! Memory of a worker that receives more than fits its budget.

use strata_proto::net::{FrameConnection, Security};
use strata_proto::v1;

use crate::cluster::harness::{Cluster, free_port};

/// Peak of the resident memory of a process, in MiB.
fn peak(pid: i32) -> u64 {
    let status = std::fs::read_to_string(format!("/proc/{pid}/status")).unwrap();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).unwrap();
    line.trim().trim_end_matches(" kB").parse::<u64>().unwrap() >> 10
}

/// Sends a batch of an epoch that is over.
async fn deliver(port: u16, bytes: usize) {
    let url = format!("http://127.0.0.1:{port}");
    let connection = Security::default().connect_frames(&url).await.unwrap();
    let FrameConnection { mut reader, mut writer } = connection;
    let welcome = reader.next::<v1::Reply>(1 << 20).await.unwrap();
    assert_eq!(welcome, v1::Reply::default());
    let run = vec![7; bytes].into();
    writer.add(&v1::Batch { epoch: 1, sequence: 1, run, ..v1::Batch::default() });
    writer.send().await.unwrap();
    let reply = reader.next::<v1::Reply>(1 << 20).await.unwrap();
    assert!(reply.refusal.is_some(), "{reply:?}");
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
