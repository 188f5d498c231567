//! Fuzz target for specifications of searches: an accepted specification, once completed, stays the
//! same, and opens in bounded memory.
//!
//! An input is the name of a space and its parameters, one a line: `name=value`.

use strata_proto::net::{convert, limits};
use strata_proto::v1;
use strata_run::catalogue::{Parameters, Registry};

use super::support::must;
use crate::fuzz::mutate;
use crate::fuzz::rng::Rng;
use crate::fuzz::target::{Finding, Outcome, Target};

/// Specifications.
pub(super) struct Specs {
    registry: Registry,
}

impl Specs {
    pub(super) fn new() -> Specs {
        Specs { registry: Registry::shipped() }
    }
}

fn split(text: &str) -> (String, Parameters) {
    let mut lines = text.lines();
    let name = lines.next().unwrap_or_default().to_owned();
    let pairs = lines.filter_map(|line| line.split_once('='));
    (name, pairs.map(|(name, value)| (name.to_owned(), value.to_owned())).collect())
}

/// Opens a space, then opens it again with its completed parameters, and compares the two.
fn check_space(registry: &Registry, name: &str, given: &Parameters) -> Result<Outcome, Finding> {
    let space = match registry.open(name, given) {
        Ok(space) => space,
        Err(error) => return Ok(Outcome::refused(error)),
    };
    let parameters = space.parameters();
    let again = registry.open(name, &parameters);
    let again = again.map_err(|error| format!("complete as {parameters:?}, but {error}"))?;
    if again.parameters() != parameters || again.label() != space.label() {
        return Err(format!("{parameters:?} became {:?}", again.parameters()));
    }
    if again.finish() != space.finish() || again.ends() != space.ends() {
        return Err(format!("{parameters:?} has other ends"));
    }
    // A job's id begins with the label.
    strata_store::check_name("label", &space.label()).map_err(|error| error.to_string())?;
    space.distance_name();
    let own = space.state_space();
    let mut moves = Vec::new();
    for seed in own.seeds() {
        own.moves(seed, &mut moves);
        own.text(seed);
        own.weight(seed);
    }
    // In a directed graph there need not be a way back by one move.
    moves.retain(|_| own.is_undirected());
    for next in moves {
        let mut back = Vec::new();
        own.moves(next, &mut back);
        if !own.seeds().iter().any(|seed| back.contains(seed)) {
            return Err(format!("no way back from {}", own.text(next)));
        }
    }
    Ok(Outcome::Accepted)
}

impl Target for Specs {
    fn name(&self) -> &'static str {
        "specs"
    }

    fn seeds(&self) -> Vec<Vec<u8>> {
        [
            "hanoi\ndiscs=4",
            "hanoi\ndiscs=21\npegs=8\nexhaust=true",
            "panex\nlevel=3",
            "panex\nlevel=5\nk=2\ns=4\nsymmetry=off\ncentre-top=allow\nexhaust=false",
            "panex\nlevel=2\nk=1\nstart=b2 / - / o1 b1 o2\ngoal=b1 b2 / - / o1 o2",
            "panex\nlevel=3\nk=1\nstart=exchanged\ngoal=towers\nsymmetry=on",
            "tiles\nsize=2x3",
            "tiles\nsize=3x3\nexhaust=true\nk=2",
            "tiles\nsize=2x3\nstart=1 _ 3 / 4 5 2\ngoal=sorted\nsymmetry=off",
            "tiles\nsize=3x2\nmoves=any\nchoices=all",
            "puzzle\nfile=a = (1,2,3)\\nb = (1,2)(4,5)\ninverses=true\ngoal=3 1 2 ? ?",
            "puzzle\nfile=Set A 3 2\\nMove x1\\nA\\n2 3 1\\n0 1 0\\nEnd\nmetric=quarter\nstart=x1",
            "pancake\nn=6\nexhaust=true",
            "burnt-pancake\nn=4\ngoal=2 1 ? ? / ? ? 0 0",
            "topspin\nn=7\nk=4\nstart=s1 s3",
            "lrx\nn=5\ngoal=X L2",
        ]
        .map(|text| text.as_bytes().to_vec())
        .into_iter()
        .filter(|input| {
            let (name, given) = split(&String::from_utf8_lossy(input));
            self.registry.open(&name, &given).is_ok()
        })
        .collect()
    }

    fn mutate(&self, input: &mut Vec<u8>, other: &[u8], rng: &mut Rng) {
        let words = [
            "hanoi",
            "panex",
            "tiles",
            "puzzle\nfile=",
            "pancake",
            "lrx",
            "\nn=",
            "\nmoves=",
            "\nlevel=",
            "\ndiscs=",
            "\npegs=",
            "\nsize=",
            "\nk=",
            "\ns=",
            "\nexhaust=true",
            "\nstart=",
            "\ngoal=",
            "\nsymmetry=on",
            "\nsymmetry=off",
            "3x3",
            "2x5",
            "towers",
            "exchanged",
            "sorted",
            "allow",
            "b1",
            "o2",
            "_",
        ];
        mutate::text(input, other, &words, rng);
    }

    fn check(&mut self, input: &[u8]) -> Result<Outcome, Finding> {
        let (name, given) = split(&String::from_utf8_lossy(input));
        // As from a message; what the conversion refuses never reaches the catalogue.
        let message = v1::JobSpec {
            space: name.clone(),
            parameters: given.clone().into_iter().collect(),
            shards: 4,
            engine: String::new(),
        };
        let spec = convert::spec_from(Some(message));
        // As from the command line.
        let flags: Vec<(&str, String)> =
            given.iter().map(|(name, value)| (name.as_str(), value.clone())).collect();
        if let Ok(completed) = self.registry.parameters(&name, &[], &flags)
            && completed.iter().any(|(name, value)| given.get(name) != Some(value))
        {
            return Err(format!("{given:?} were read as {completed:?}"));
        }
        let outcome = check_space(&self.registry, &name, &given)?;
        if outcome == Outcome::Accepted {
            let spec = spec.map_err(|error| format!("not as a message: {error}"));
            // Values that are too long or have control characters are refused in messages, but
            // accepted elsewhere.
            if spec.is_err()
                && !given.values().any(|value| {
                    value.len() > limits::PARAMETER_LEN || value.contains(char::is_control)
                })
            {
                must(spec);
            }
        }
        Ok(outcome)
    }

    fn memory(&self, _: usize) -> usize {
        1 << 30
    }

    fn test_runs(&self) -> u64 {
        120
    }
}
