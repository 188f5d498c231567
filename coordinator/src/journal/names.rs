//! Unique names of workers.
//!
//! A worker without a given name has its host's name. If a host has several workers, the name of
//! each also has its port.

use std::collections::{BTreeMap, HashSet};
use std::hash::Hash;

use crate::entry::{WorkerEntry, WorkerNumber};

/// Name that a worker requests.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WorkerName<'a> {
    /// The name.
    pub name: &'a str,
    /// Whether a user has given the name; otherwise it is the host's name.
    pub is_given: bool,
}

impl<'a> From<&'a str> for WorkerName<'a> {
    /// A given name.
    fn from(name: &'a str) -> WorkerName<'a> {
        WorkerName { name, is_given: true }
    }
}

/// A worker that registers.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Registration<'a> {
    /// The id in its data directory.
    pub(crate) id: &'a str,
    /// The name that it requests.
    pub(crate) name: WorkerName<'a>,
    /// The URL at which other workers reach it.
    pub(crate) address: &'a str,
}

/// Names that a registration assigns.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Names {
    /// The name of the worker that registers.
    pub(super) own: String,
    /// Other workers that get another name.
    pub(super) renamed: Vec<(WorkerNumber, String)>,
}

/// Names worker `number`, which registers, and renames known workers where necessary.
///
/// If another worker has the same name, and it is gone or has the same address as the new worker,
/// the other worker's number is appended to its name. Otherwise the new worker's number is appended
/// to the new name.
pub(super) fn assign(
    known: &BTreeMap<WorkerNumber, WorkerEntry>,
    number: WorkerNumber,
    worker: &Registration<'_>,
    is_alive: impl Fn(WorkerNumber) -> bool,
) -> Names {
    let others = || known.values().filter(|other| other.number != number);
    let mut names: BTreeMap<WorkerNumber, String> =
        others().map(|other| (other.number, other.name.clone())).collect();
    let mut own = worker.name.name.to_owned();
    if !worker.name.is_given {
        let host = worker.name.name;
        let same_host = || {
            others().filter(|other| {
                other.host.as_deref() == Some(host) && other.address != worker.address
            })
        };
        if same_host().next().is_some() {
            own = with_port(host, worker.address);
            for other in same_host().filter(|other| other.name == host) {
                names.insert(other.number, with_port(host, &other.address));
            }
        }
    }
    let is_replaced = |other: &WorkerNumber| {
        !is_alive(*other) || known.get(other).is_some_and(|other| other.address == worker.address)
    };
    // Each step makes a name longer, and names that end in different numbers differ.
    loop {
        // Ports may repeat, too: hosts of one name may have different addresses.
        if let Some(double) = first_double(&names) {
            number_name(&mut names, double);
        } else if let Some(other) = holder(&names, &own) {
            if is_replaced(&other) {
                number_name(&mut names, other);
            } else {
                own = format!("{own}#{number}");
            }
        } else {
            break;
        }
    }
    let is_new = |(number, name): &(WorkerNumber, String)| {
        known.get(number).is_some_and(|other| other.name != *name)
    };
    Names { own, renamed: names.into_iter().filter(is_new).collect() }
}

fn holder(names: &BTreeMap<WorkerNumber, String>, name: &str) -> Option<WorkerNumber> {
    names.iter().find(|(_, other)| *other == name).map(|(number, _)| *number)
}

/// The first worker that has the name of a worker with a smaller number. Takes linear time: each
/// registration calls it.
fn first_double<N: Hash + Eq>(names: &BTreeMap<WorkerNumber, N>) -> Option<WorkerNumber> {
    let mut smaller = HashSet::with_capacity(names.len());
    names.iter().find(|(_, name)| !smaller.insert(*name)).map(|(number, _)| *number)
}

/// Appends the number of a worker to its name.
fn number_name(names: &mut BTreeMap<WorkerNumber, String>, number: WorkerNumber) {
    if let Some(name) = names.get_mut(&number) {
        *name = format!("{name}#{number}");
    }
}

/// The host's name with the port of an address.
fn with_port(host: &str, address: &str) -> String {
    let authority = address.split_once("://").map_or(address, |(_, rest)| rest);
    match authority.rsplit_once(':') {
        Some((_, port)) if port.bytes().all(|b| b.is_ascii_digit()) => format!("{host}:{port}"),
        _ => format!("{host}:{authority}"),
    }
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;
    use std::collections::BTreeSet;
    use std::hash::Hasher;

    use proptest::prelude::*;

    use super::*;

    /// Workers by number, as registrations leave them.
    #[derive(Default)]
    struct Known(BTreeMap<WorkerNumber, WorkerEntry>);

    impl Known {
        /// Registers a worker on 10.0.0.1, or at an address.
        fn register(&mut self, number: u16, name: &str, is_given: bool, port: &str, alive: &[u16]) {
            let address = match port.contains(':') {
                true => format!("http://{port}"),
                false => format!("http://10.0.0.1:{port}"),
            };
            let name = WorkerName { name, is_given };
            let worker = Registration { id: "", name, address: &address };
            let names = assign(&self.0, number, &worker, |number| alive.contains(&number));
            for (other, name) in names.renamed {
                self.0.get_mut(&other).unwrap().name = name;
            }
            let host = (!is_given).then(|| name.name.to_owned());
            let (id, name) = (number.to_string(), names.own);
            let entry = WorkerEntry { number, id, name, address, first_seen: 0, host };
            self.0.insert(number, entry);
        }

        fn names(&self) -> Vec<&str> {
            self.0.values().map(|worker| &*worker.name).collect()
        }
    }

    #[test]
    fn workers_of_one_host_have_its_name_and_their_ports() {
        let mut known = Known::default();
        known.register(0, "box", false, "7071", &[]);
        known.register(1, "other", false, "7071", &[0]);
        assert_eq!(known.names(), ["box", "other"]);
        known.register(2, "box", false, "7072", &[0, 1]);
        assert_eq!(known.names(), ["box:7071", "other", "box:7072"]);
        // Names stay when workers come back.
        known.register(0, "box", false, "7071", &[1, 2]);
        known.register(2, "box", false, "7072", &[0, 1]);
        assert_eq!(known.names(), ["box:7071", "other", "box:7072"]);
    }

    #[test]
    fn a_worker_with_a_new_data_directory_keeps_the_name() {
        let mut known = Known::default();
        known.register(0, "box", false, "7071", &[]);
        known.register(1, "box", false, "7071", &[0]);
        assert_eq!(known.names(), ["box#0", "box"]);
        let mut known = Known::default();
        known.register(0, "w1", true, "7071", &[]);
        known.register(1, "w1", true, "9999", &[]);
        assert_eq!(known.names(), ["w1#0", "w1"]);
    }

    #[test]
    fn a_given_name_that_a_live_worker_has_gets_a_number() {
        let mut known = Known::default();
        known.register(0, "w1", true, "7071", &[]);
        known.register(1, "w1", true, "7072", &[0]);
        assert_eq!(known.names(), ["w1", "w1#1"]);
        // A given name and a host's may be equal.
        known.register(2, "w1", false, "7073", &[0, 1]);
        assert_eq!(known.names(), ["w1", "w1#1", "w1#2"]);
        known.register(3, "w1#3", true, "7074", &[0, 1, 2]);
        known.register(3, "w1", true, "7074", &[0, 1, 2]);
        assert_eq!(known.names()[3], "w1#3");
    }

    #[test]
    fn workers_of_equal_host_names_and_ports_get_different_names() {
        let mut known = Known::default();
        known.register(0, "box", false, "10.0.0.1:7071", &[]);
        known.register(1, "box", false, "10.0.0.2:7071", &[0]);
        assert_eq!(known.names(), ["box:7071", "box:7071#1"]);
        known.register(2, "box", false, "[fe80::1]", &[0, 1]);
        assert_eq!(known.names()[2], "box:[fe80::1]");
    }

    /// A name that counts how often names are compared.
    struct Counted<'a>(u32, &'a Cell<usize>);

    impl PartialEq for Counted<'_> {
        fn eq(&self, other: &Self) -> bool {
            self.1.set(self.1.get() + 1);
            self.0 == other.0
        }
    }

    impl Eq for Counted<'_> {}

    impl Hash for Counted<'_> {
        fn hash<H: Hasher>(&self, state: &mut H) {
            self.0.hash(state);
        }
    }

    #[test]
    fn a_registration_does_not_compare_all_pairs_of_names() {
        const WORKERS: u16 = 4096;
        let compared = Cell::new(0);
        let name = |number: u16| (number, Counted(number.into(), &compared));
        let mut names: BTreeMap<WorkerNumber, Counted<'_>> = (0..WORKERS).map(name).collect();
        assert_eq!(first_double(&names), None);
        names.insert(WORKERS, Counted(7, &compared));
        assert_eq!(first_double(&names), Some(WORKERS));
        assert!(compared.get() < usize::from(WORKERS), "{} comparisons", compared.get());
    }

    proptest! {
        #[test]
        fn names_are_unique(
            steps in prop::collection::vec((0..6_u16, 0..3_u8, any::<bool>(), 0..3_u8, any::<u8>()), 1..30),
        ) {
            let mut known = Known::default();
            for (number, name, is_given, port, alive) in steps {
                let alive: Vec<u16> = (0..6).filter(|bit| alive >> bit & 1 == 1).collect();
                let name = ["a", "a:1", "a#2"][usize::from(name)];
                known.register(number, name, is_given, &port.to_string(), &alive);
                let names = known.names();
                let distinct: BTreeSet<&str> = names.iter().copied().collect();
                prop_assert_eq!(distinct.len(), names.len(), "{:?}", names);
            }
        }
    }
}
