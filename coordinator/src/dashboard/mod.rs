//! Web page of Strata: a cluster, or one search, live in a browser.
//!
//! A [`Source`] provides the data; the coordinator and the embedded search implement it. A
//! [`Dashboard`] builds the routes for a source, and [`serve`] answers requests. The page itself is
//! HTML, CSS and JavaScript in `coordinator/assets`, which the program contains. The server draws
//! the charts, as SVG.
//!
//! A browser presents the cluster's token once and gets a *session*, which permits reading. Every
//! change needs the token again. `docs/dashboard.md` has the security model.

mod access;
mod alerts;
mod assets;
mod charts;
mod downloads;
mod job_data;
mod live;
pub mod model;
mod routes;
mod server;
mod session;
mod source;
mod state;
#[cfg(test)]
mod test_source;

pub use routes::Dashboard;
pub use server::{Peer, serve};
pub use source::{PlainPresenter, Presenter, Source, SourceError, Texts};
