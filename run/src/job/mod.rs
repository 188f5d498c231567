//! Jobs: requests, folders, histories, and runs.

pub(crate) mod cancel;
pub(crate) mod checker;
pub(crate) mod dense;
pub(crate) mod event;
pub(crate) mod files;
pub(crate) mod folder;
pub(crate) mod history;
pub(crate) mod layers;
pub(crate) mod request;
pub(crate) mod session;
pub mod verify;
