//! Access to the file system: the trait, the real implementation, and one that injects faults.

pub(crate) mod abandoned;
pub(crate) mod durable;
pub(crate) mod faulty;
pub(crate) mod file_system;
pub(crate) mod reading;
pub(crate) mod real;
pub(crate) mod regular;

pub use abandoned::{hold_temporary, remove_abandoned};
pub use durable::{create_dir_durably, is_temporary, write_durably};
pub use faulty::FaultyFs;
pub use file_system::{Fs, FsFile, FsRead};
pub use real::RealFs;
pub use regular::{
    is_unusable_path, open_input, open_private, open_regular, read_input, read_limited,
};
