//! Who a worker is: an id that stays with its data directory, and one of the process.

use std::path::Path;

use strata_store::RealFs;

use super::NodeError;

const FILE: &str = "worker-id";

/// See the module.
#[derive(Clone, Debug)]
pub(crate) struct Identity {
    /// Stays with the data directory: 32 hexadecimal digits.
    pub(crate) worker: String,
    /// Of this process: 32 hexadecimal digits.
    pub(crate) instance: String,
}

impl Identity {
    /// Reads the id, or makes one and keeps it.
    ///
    /// # Errors
    /// If the file is damaged or cannot be written.
    pub(crate) fn open(data_dir: &Path) -> Result<Identity, NodeError> {
        let path = data_dir.join(FILE);
        let failed = |why: String| NodeError::Identity { path: path.clone(), why };
        let worker = match std::fs::read_to_string(&path) {
            Ok(text) => {
                let text = text.trim_end();
                let is_id = text.len() == 32 && text.bytes().all(|b| b.is_ascii_hexdigit());
                if !is_id {
                    return Err(failed("not 32 hexadecimal digits".to_owned()));
                }
                text.to_owned()
            }
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
                let id = random()?;
                strata_store::write_durably(&RealFs, &path, format!("{id}\n").as_bytes())?;
                id
            }
            Err(error) => return Err(failed(error.to_string())),
        };
        Ok(Identity { worker, instance: random()? })
    }
}

fn random() -> Result<String, NodeError> {
    let mut bytes = [0; 16];
    getrandom::fill(&mut bytes).map_err(|error| NodeError::Identity {
        path: "random numbers".into(),
        why: error.to_string(),
    })?;
    Ok(bytes.iter().map(|byte| format!("{byte:02x}")).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_id_stays_and_the_instance_does_not() {
        let folder = tempfile::tempdir().unwrap();
        let (a, b) =
            (Identity::open(folder.path()).unwrap(), Identity::open(folder.path()).unwrap());
        assert_eq!(a.worker, b.worker);
        assert_ne!(a.instance, b.instance);
        std::fs::write(folder.path().join(FILE), "0123").unwrap();
        let error = Identity::open(folder.path()).unwrap_err().to_string();
        assert!(error.contains("worker-id: not 32 hexadecimal digits"), "{error}");
    }
}
