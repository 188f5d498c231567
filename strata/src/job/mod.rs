//! Jobs: what is searched, its folder, its history, and a run of it.

pub(crate) mod cancel;
pub(crate) mod event;
pub(crate) mod folder;
pub(crate) mod history;
pub(crate) mod layers;
pub(crate) mod request;
pub(crate) mod session;
pub mod verify;
