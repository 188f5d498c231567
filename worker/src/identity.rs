//! Identity of a worker: the ids of its data directory and of its process.

use std::path::Path;

use strata_proto::net::protocol;
use strata_proto::platform::Platform;
use strata_store::StoreError;

use crate::error::NodeError;

const FILE: &str = "worker-id";

/// The two ids with which a worker registers.
#[derive(Clone, Debug)]
pub(crate) struct Identity {
    /// Id of the data directory, stored in it: 32 hexadecimal digits.
    pub(crate) worker: String,
    /// Id of the process: 32 hexadecimal digits.
    pub(crate) instance: String,
}

impl Identity {
    /// Whether a file name in the data directory is that of an id that is being written.
    pub(crate) fn is_temporary(name: &str) -> bool {
        strata_store::is_temporary(name, FILE)
    }

    /// Reads the id of a data directory; creates it at the first start.
    ///
    /// # Errors
    /// [`NodeError::Identity`] if the file is damaged, [`NodeError::Store`] if it cannot be read or
    /// written, [`NodeError::Net`] without random numbers.
    pub(crate) fn open(platform: &dyn Platform, data_dir: &Path) -> Result<Identity, NodeError> {
        let (fs, path) = (platform.fs(), data_dir.join(FILE));
        let worker = match fs.read(&path) {
            Ok(bytes) => {
                let text = String::from_utf8_lossy(&bytes);
                let text = text.trim_end();
                if !protocol::is_id(text) {
                    let why = "not 32 hexadecimal digits".to_owned();
                    return Err(NodeError::Identity { path, why });
                }
                text.to_owned()
            }
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
                let id = protocol::random_id(platform)?;
                strata_store::write_durably(&*fs, &path, format!("{id}\n").as_bytes())?;
                id
            }
            Err(source) => return Err(StoreError::Io { op: "read", path, source }.into()),
        };
        Ok(Identity { worker, instance: protocol::random_id(platform)? })
    }
}

#[cfg(test)]
mod tests {
    use strata_proto::platform::System;
    use tokio::runtime::Handle;

    use super::*;

    #[tokio::test]
    async fn the_worker_id_survives_restarts_and_the_instance_id_changes() {
        let folder = tempfile::tempdir().unwrap();
        let system = System::new(&Handle::current());
        let open = || Identity::open(&*system, folder.path());
        let (a, b) = (open().unwrap(), open().unwrap());
        assert_eq!(a.worker, b.worker);
        assert_ne!(a.instance, b.instance);
        std::fs::write(folder.path().join(FILE), "0123").unwrap();
        let error = open().unwrap_err().to_string();
        assert!(error.contains("worker-id: not 32 hexadecimal digits"), "{error}");
    }
}
