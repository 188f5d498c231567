//! Tabled kernel, for spaces whose moves are table look-ups.
//!
//! A region is expanded in these steps: it is added to an expansion batch ([`batch`]), and its data is
//! prefetched ([`regions`]). Its expansion is looked up by its inputs ([`memo`]), or computed ([`expand`],
//! [`marks`]) and summarised ([`summary`]). Then its exits are sent ([`exits`]).

mod batch;
mod exits;
mod expand;
mod expansion;
mod kernel;
mod marks;
mod memo;
mod region_index;
mod regions;
mod summary;

pub(crate) use kernel::{SharedCaches, TabledKernel};
