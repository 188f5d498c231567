//! Snapshot of a layer: its diagram as bytes, children before parents.
//!
//! All numbers are little-endian.
//!
//! 1. For each level above the leaf, upwards: the number of configurations (2 bytes) and their
//!    words (16 bytes each).
//! 2. The number of nodes (4 bytes), then the nodes. A node begins with its level (1 byte). A leaf
//!    has its current and previous states (8 bytes each). An inner node has the number of children
//!    (1 byte), and for each the configuration's index in its level's list (1 byte) and a reference
//!    (4 bytes).
//! 3. The reference of the top node.
//!
//! A reference is twice the number of a node, counted from 1, plus 1 for the flip; 0 is the empty
//! set. Nodes refer to earlier nodes only.

use rustc_hash::FxHashMap;
use strata_space::nested::NestedSpace;

use crate::symbolic::diagram::arena::Diagram;
use crate::symbolic::error::StepError;
use crate::symbolic::index::bits::{ConfigId, ConfigSet};
use crate::symbolic::index::space::ClassId;
use crate::symbolic::node::content::Child;
use crate::symbolic::node::record::LeafSets;
use crate::symbolic::node::reference::Ref;

/// The reason why a snapshot cannot be loaded.
#[derive(Debug, thiserror::Error)]
pub enum SnapshotError {
    /// The bytes are not a diagram of the space.
    #[error("not a diagram of this space: {what} at byte {at}")]
    Malformed {
        /// The error in the bytes.
        what: &'static str,
        /// Byte offset of the error.
        at: usize,
    },
    /// The diagram exceeds the memory budget or another limit.
    #[error(transparent)]
    Step(#[from] StepError),
}

type Result<T> = std::result::Result<T, SnapshotError>;

/// A snapshot being written.
#[derive(Default)]
struct Writer {
    nodes: Vec<u8>,
    count: u32,
    /// For each node written, by its number in the diagram, its number in the snapshot.
    numbers: FxHashMap<usize, u32>,
    /// For each level, the configurations in use, and their places.
    configs: Vec<(Vec<ConfigId>, FxHashMap<ConfigId, u8>)>,
}

impl Writer {
    fn reference<S: NestedSpace>(&mut self, diagram: &Diagram<S>, level: u8, set: Ref) -> u32 {
        if set == Ref::EMPTY {
            return 0;
        }
        let number = match self.numbers.get(&set.id()) {
            Some(known) => *known,
            None => self.node(diagram, level, set.id()),
        };
        number << 1 | u32::from(set.is_flipped())
    }

    fn node<S: NestedSpace>(&mut self, diagram: &Diagram<S>, level: u8, id: usize) -> u32 {
        if level == diagram.index.leaf_level() {
            let LeafSets { current, previous } = diagram.leaf(Ref::new(id as u32, false, false));
            self.nodes.push(level);
            self.nodes.extend(current.to_le_bytes());
            self.nodes.extend(previous.to_le_bytes());
        } else {
            let children: Vec<(u8, u32)> = diagram
                .stored_children(id)
                .map(|Child { config, set }| {
                    let set = self.reference(diagram, level - 1, set);
                    (self.config(level, config), set)
                })
                .collect();
            self.nodes.extend([level, children.len() as u8]);
            for (config, set) in children {
                self.nodes.push(config);
                self.nodes.extend(set.to_le_bytes());
            }
        }
        self.count += 1;
        self.numbers.insert(id, self.count);
        self.count
    }

    fn config(&mut self, level: u8, config: ConfigId) -> u8 {
        let (used, places) = &mut self.configs[usize::from(level)];
        *places.entry(config).or_insert_with(|| {
            used.push(config);
            (used.len() - 1) as u8
        })
    }
}

/// The layer of a top node, as bytes.
pub(crate) fn write<S: NestedSpace>(diagram: &Diagram<S>, top: Ref) -> Vec<u8> {
    let index = &diagram.index;
    let mut writer = Writer::default();
    writer.configs.resize_with(usize::from(index.top_level()) + 1, Default::default);
    let top = writer.reference(diagram, index.top_level(), top);
    let mut bytes = Vec::with_capacity(writer.nodes.len() + (1 << 14));
    for level in index.leaf_level() + 1..=index.top_level() {
        let (used, _) = &writer.configs[usize::from(level)];
        bytes.extend((used.len() as u16).to_le_bytes());
        for config in used {
            let word = index.space.encode_config(index.config(level, *config).config);
            bytes.extend(word.to_le_bytes());
        }
    }
    bytes.extend(writer.count.to_le_bytes());
    bytes.extend(writer.nodes);
    bytes.extend(top.to_le_bytes());
    bytes
}

/// A snapshot being read.
struct Reader<'a> {
    bytes: &'a [u8],
    at: usize,
}

impl Reader<'_> {
    fn malformed<T>(&self, what: &'static str) -> Result<T> {
        Err(SnapshotError::Malformed { what, at: self.at })
    }

    fn take<const N: usize>(&mut self) -> Result<[u8; N]> {
        let Some(taken) = self.bytes.get(self.at..).and_then(|rest| rest.first_chunk()) else {
            return self.malformed("unexpected end");
        };
        self.at += N;
        Ok(*taken)
    }

    fn byte(&mut self) -> Result<u8> {
        Ok(self.take::<1>()?[0])
    }

    fn word(&mut self) -> Result<u32> {
        Ok(u32::from_le_bytes(self.take()?))
    }
}

/// The nodes of a snapshot. They stay encoded, because decoded nodes would take many times the memory.
struct Nodes<'a> {
    bytes: &'a [u8],
    /// Numbers of the configurations, by level and place.
    configs: Vec<Vec<ConfigId>>,
    /// Byte offsets of the nodes, by number.
    starts: Vec<usize>,
}

/// A layer that is being rebuilt from its nodes.
struct Builder<'a, S: NestedSpace> {
    diagram: &'a mut Diagram<S>,
    nodes: Nodes<'a>,
    /// For each node, by number: its class and its set, once it has been built.
    built: Vec<Option<(ClassId, Ref)>>,
}

/// Bytes of memory per node of a snapshot while it is read, in addition to those of the diagram.
const NODE_BYTES: usize = size_of::<usize>() + size_of::<Option<(ClassId, Ref)>>();

/// The fewest bytes of an encoded node: an inner node with one child.
const LEAST_NODE: usize = 7;

/// Adds the layer of a snapshot to the diagram. Returns its top node.
///
/// `limit` is the most memory, in bytes, of the snapshot together with the lists that are needed to read
/// it. It is checked before the lists are allocated, because a snapshot can state any number of nodes.
///
/// # Errors
/// [`SnapshotError`] if the bytes are not a diagram of the space, or exceed `limit` or another limit.
pub(crate) fn read<S: NestedSpace>(
    diagram: &mut Diagram<S>,
    bytes: &[u8],
    limit: usize,
) -> Result<Ref> {
    let mut reader = Reader { bytes, at: 0 };
    let configs = read_configs(diagram, &mut reader)?;
    let count = reader.word()? as usize;
    if count > (bytes.len() - reader.at) / LEAST_NODE {
        return reader.malformed("more nodes than bytes");
    }
    if bytes.len() + count * NODE_BYTES > limit {
        return Err(StepError::Memory { budget: limit }.into());
    }
    let mut nodes = Nodes { bytes, configs, starts: Vec::with_capacity(count) };
    let mut children = Vec::new();
    for _ in 0..count {
        let start = reader.at;
        nodes.parse(diagram, &mut reader, &mut children)?;
        nodes.starts.push(start);
    }
    let top = reader.word()?;
    if reader.at != bytes.len() {
        return reader.malformed("unexpected bytes after the top node");
    }
    let level = diagram.index.top_level();
    nodes.check_reference(&reader, level, top)?;
    let class = diagram.index.root_class()?;
    let mut builder = Builder { diagram, nodes, built: vec![None; count] };
    let top = builder.build(level, class, top)?;
    match top {
        Some(top) if diagram.index.space.counts_orbits() && !top.is_self_mirrored() => {
            reader.malformed("a layer that is not its own flip")
        }
        Some(top) => {
            diagram.finish_layer(top)?;
            Ok(top)
        }
        None => reader.malformed("a node of two classes"),
    }
}

/// Numbers of the configurations, by level and place.
fn read_configs<S: NestedSpace>(
    diagram: &mut Diagram<S>,
    reader: &mut Reader<'_>,
) -> Result<Vec<Vec<ConfigId>>> {
    let index = &mut diagram.index;
    let mut configs = vec![Vec::new(); usize::from(index.top_level()) + 1];
    for level in index.leaf_level() + 1..=index.top_level() {
        for _ in 0..u16::from_le_bytes(reader.take()?) {
            let word = u128::from_le_bytes(reader.take()?);
            let Some(config) = index.space.decode_config(word) else {
                return reader.malformed("no configuration of the level");
            };
            let number = index.number_config(level, config)?;
            configs[usize::from(level)].push(number);
        }
    }
    Ok(configs)
}

impl Nodes<'_> {
    /// Reads and checks the node at the reader's position. For a leaf, returns its states. For an inner
    /// node, returns None and puts its children, as (configuration, reference), into `children`, in the
    /// order of their configurations.
    fn parse<S: NestedSpace>(
        &self,
        diagram: &Diagram<S>,
        reader: &mut Reader<'_>,
        children: &mut Vec<(ConfigId, u32)>,
    ) -> Result<Option<LeafSets>> {
        children.clear();
        let leaf = diagram.index.leaf_level();
        let level = reader.byte()?;
        if level == leaf {
            let [current, previous] = [reader.take()?, reader.take()?].map(u64::from_le_bytes);
            let states = diagram.index.space.leaf_states();
            if (current | previous).checked_shr(states.into()).unwrap_or(0) != 0 {
                return reader.malformed("no leaf state of the space");
            }
            return Ok(Some(LeafSets { current, previous }));
        }
        if !(leaf..=diagram.index.top_level()).contains(&level) {
            return reader.malformed("no such level");
        }
        let count = reader.byte()?;
        if count == 0 {
            return reader.malformed("a node without children");
        }
        for _ in 0..count {
            let config = usize::from(reader.byte()?);
            let Some(config) = self.configs[usize::from(level)].get(config) else {
                return reader.malformed("no such configuration number");
            };
            let below = reader.word()?;
            self.check_reference(reader, level - 1, below)?;
            children.push((*config, below));
        }
        children.sort_unstable();
        if children.windows(2).any(|pair| pair[0].0 == pair[1].0) {
            return reader.malformed("a repeated configuration");
        }
        Ok(None)
    }

    /// Checks that a reference is that of an earlier node of the level, or of the empty set.
    fn check_reference(&self, reader: &Reader<'_>, level: u8, reference: u32) -> Result<()> {
        let number = (reference >> 1) as usize;
        let fits = match number.checked_sub(1).map(|at| self.starts.get(at)) {
            None => reference == 0,
            Some(None) => false,
            Some(Some(start)) => self.bytes.get(*start) == Some(&level),
        };
        if fits { Ok(()) } else { reader.malformed("a reference to no earlier node of the level") }
    }
}

impl<S: NestedSpace> Builder<'_, S> {
    /// Builds the set of a reference in a class; None if its node has been built with another class.
    fn build(&mut self, level: u8, class: ClassId, reference: u32) -> Result<Option<Ref>> {
        let Some(at) = (reference >> 1).checked_sub(1).map(|at| at as usize) else {
            return Ok(Some(Ref::EMPTY));
        };
        let flipped = reference & 1 == 1;
        let own_class = if flipped { self.diagram.index.flip_class(class) } else { class };
        if let Some((class, built)) = self.built[at] {
            return Ok((class == own_class).then_some(built.flip_if(flipped)));
        }
        let mut reader = Reader { bytes: self.nodes.bytes, at: self.nodes.starts[at] };
        let mut children = Vec::new();
        let built = match self.nodes.parse(self.diagram, &mut reader, &mut children)? {
            Some(sets) => self.diagram.intern_leaf(own_class, sets)?,
            None => {
                let base = self.diagram.child_words.len();
                let mut configs = ConfigSet::default();
                for (config, below) in children {
                    let inner = self.diagram.index.inner_class(own_class, config)?;
                    let Some(below) = self.build(level - 1, inner, below)? else {
                        return Ok(None);
                    };
                    if below != Ref::EMPTY {
                        configs.insert(config);
                        self.diagram.child_words.push(below.word());
                    }
                }
                self.diagram.intern(level, own_class, configs, base)?
            }
        };
        self.built[at] = Some((own_class, built));
        Ok(Some(built.flip_if(flipped)))
    }
}
