//! Model of windows of layers: workers that synchronise among themselves.
//!
//! The coordinator grants a *window*, layers that workers make without asking again. Each layer ends in a
//! barrier: messages that carry exits, and sums over the workers so far, reach every worker over at
//! most two hops of a [`Grid`](grid::Grid). All workers compute the same sums, so all end a window at the
//! same layer. [`Barrier`](barrier::Barrier) is a worker's side of it, without network, time and files;
//! [`Model`](model::Model) explores what a cluster of them may do, with lost connections, crashes, stops
//! and ranges of shards that move from one owner to another.

mod barrier;
mod grid;
mod model;
mod tests;
