//! Macros that forward the methods of puzzles from files and of families to their field `graph`.
//!
//! Both kinds of puzzles use the same macros, so that they forward the same methods. The lint
//! `clippy::missing_trait_methods` on the implementations of [`KeySpace`](strata_space::KeySpace) reports a
//! provided method that is not forwarded.

/// Methods of [`Puzzle`](strata_space::Puzzle) that forward to the graph.
macro_rules! puzzle_methods_of_graph {
    () => {
        fn ends(&self) -> Option<[String; 2]> {
            self.graph.ends()
        }

        fn positions_along(
            &self,
            space: &dyn ::strata_space::StateSpace,
            chain: &::strata_space::Chain,
        ) -> Option<Vec<String>> {
            self.graph.positions_along(space, chain)
        }

        fn moves_between(&self, path: &[String]) -> Option<Vec<String>> {
            self.graph.moves_between(path)
        }

        fn position_text(&self, given: &str) -> Result<String, ::strata_space::SpaceError> {
            self.graph.position_text(given)
        }

        fn check_explicit(&self) -> Result<(), ::strata_space::SpaceError> {
            self.graph.check_explicit()
        }

        fn advice(&self) -> Option<String> {
            self.graph.advice()
        }

        fn dense_size(
            &self,
        ) -> Result<::strata_space::dense::DenseSize, ::strata_space::SpaceError> {
            self.graph.dense_size()
        }

        fn dense(
            &self,
        ) -> Result<
            ::std::sync::Arc<dyn ::strata_space::dense::DenseSpace>,
            ::strata_space::SpaceError,
        > {
            self.graph.dense()
        }
    };
}

/// All methods of [`KeySpace`](strata_space::KeySpace), forwarded to a graph with keys of a type.
macro_rules! key_space_of_graph {
    ($key:ty) => {
        type Key = $key;

        fn seeds(&self) -> Vec<::strata_space::Seed<$key>> {
            self.graph.seeds()
        }

        fn key_bits(&self) -> u32 {
            self.graph.key_bits()
        }

        fn goal(&self) -> Option<$key> {
            self.graph.goal()
        }

        fn is_undirected(&self) -> bool {
            self.graph.is_undirected()
        }

        fn successors(&self, key: $key, out: &mut Vec<$key>) {
            self.graph.successors(key, out);
        }

        fn local_bits(&self) -> Option<u32> {
            self.graph.local_bits()
        }

        fn high_parts(&self) -> Option<u64> {
            self.graph.high_parts()
        }

        fn all_successors(&self, keys: &[$key], to: &mut impl ::strata_space::SuccessorSink<$key>) {
            self.graph.all_successors(keys, to);
        }

        fn count_successors(&self, keys: &[$key]) -> u64 {
            self.graph.count_successors(keys)
        }

        fn digest(&self, keys: &[$key]) -> ::strata_space::Digest {
            self.graph.digest(keys)
        }

        #[inline]
        fn positions(&self, key: $key) -> Option<u64> {
            // The graph has another method of this name.
            ::strata_space::KeySpace::positions(&self.graph, key)
        }

        fn text(&self, key: $key) -> String {
            self.graph.text(key)
        }

        fn parse(&self, text: &str) -> Option<$key> {
            self.graph.parse(text)
        }
    };
}

pub(super) use {key_space_of_graph, puzzle_methods_of_graph};
