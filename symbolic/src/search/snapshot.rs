//! A layer as bytes and back: the nodes below its top, from the leaves up.
//!
//! All numbers are little-endian. First, for each level above the leaf, the number of its
//! configurations (2 bytes) and their words (16 bytes each). Then the number of nodes (4 bytes) and
//! the nodes: level (1 byte); of a leaf its current and previous states (8 bytes each); of others
//! the number of entries (1 byte), and of each the configuration's place in its level's list (1
//! byte) and a reference (4 bytes). Last the reference of the top. A reference is twice the number of a node, from
//! 1, or 0 for the empty set; plus 1 if the flip is meant. Nodes only refer to nodes before them.

use rustc_hash::FxHashMap;
use strata_space::nested::NestedSpace;

use crate::diagram::arena::Diagram;
use crate::error::StepError;
use crate::index::bits::{ConfigId, Configs};
use crate::index::space::ClassId;
use crate::node::content::Entry;
use crate::node::record::LeafSets;
use crate::node::reference::Ref;

/// Why bytes are not a layer.
#[derive(Debug, thiserror::Error)]
pub enum SnapshotError {
    /// They do not read as one.
    #[error("no layer of this space: {what} at byte {at}")]
    Malformed {
        /// What is wrong.
        what: &'static str,
        /// Where.
        at: usize,
    },
    /// It does not fit.
    #[error(transparent)]
    Step(#[from] StepError),
}

type Result<T> = std::result::Result<T, SnapshotError>;

/// A layer being written.
#[derive(Default)]
struct Writer {
    nodes: Vec<u8>,
    count: u32,
    /// By number in the diagram.
    numbers: FxHashMap<usize, u32>,
    /// By level: configurations in use, and their places.
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
        if level == diagram.levels.leaf() {
            let LeafSets { current, previous } = diagram.leaf(Ref::new(id as u32, false, false));
            self.nodes.push(level);
            self.nodes.extend(current.to_le_bytes());
            self.nodes.extend(previous.to_le_bytes());
        } else {
            let entries: Vec<(u8, u32)> = diagram
                .stored(id)
                .map(|Entry { config, below }| {
                    let below = self.reference(diagram, level - 1, below);
                    (self.config(level, config), below)
                })
                .collect();
            self.nodes.extend([level, entries.len() as u8]);
            for (config, below) in entries {
                self.nodes.push(config);
                self.nodes.extend(below.to_le_bytes());
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

/// The bytes of a layer.
pub(crate) fn write<S: NestedSpace>(diagram: &Diagram<S>, top: Ref) -> Vec<u8> {
    let levels = &diagram.levels;
    let mut writer = Writer::default();
    writer.configs.resize_with(usize::from(levels.top()) + 1, Default::default);
    let top = writer.reference(diagram, levels.top(), top);
    let mut bytes = Vec::with_capacity(writer.nodes.len() + (1 << 14));
    for level in levels.leaf() + 1..=levels.top() {
        let (used, _) = &writer.configs[usize::from(level)];
        bytes.extend((used.len() as u16).to_le_bytes());
        for config in used {
            let word = levels.space.encode(levels.config(level, *config).config);
            bytes.extend(word.to_le_bytes());
        }
    }
    bytes.extend(writer.count.to_le_bytes());
    bytes.extend(writer.nodes);
    bytes.extend(top.to_le_bytes());
    bytes
}

/// Bytes being read.
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
            return self.malformed("it ends too early");
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

/// A node of the file.
enum Draft {
    Leaf(LeafSets),
    /// Configurations and references.
    Inner(u8, Vec<(ConfigId, u32)>),
}

/// A layer being read.
struct Builder<'a, S: NestedSpace> {
    diagram: &'a mut Diagram<S>,
    drafts: Vec<Draft>,
    /// By number: what has been made of it, not flipped, and in which class.
    made: Vec<Option<(ClassId, Ref)>>,
}

/// The top of the layer whose bytes are given, which is added to the diagram.
pub(crate) fn read<S: NestedSpace>(diagram: &mut Diagram<S>, bytes: &[u8]) -> Result<Ref> {
    let mut reader = Reader { bytes, at: 0 };
    let configs = read_configs(diagram, &mut reader)?;
    let count = reader.word()?;
    let mut drafts: Vec<Draft> = Vec::new();
    for number in 1..=count {
        let draft = read_node(diagram, &mut reader, &configs, &drafts)?;
        debug_assert_eq!(drafts.len() + 1, number as usize);
        drafts.push(draft);
    }
    let top = reader.word()?;
    if reader.at != bytes.len() {
        return reader.malformed("there is more than a layer");
    }
    let level = diagram.levels.top();
    check_reference(&reader, diagram.levels.leaf(), &drafts, level, top)?;
    let class = diagram.levels.root()?;
    let made = drafts.iter().map(|_| None).collect();
    let mut builder = Builder { diagram, drafts, made };
    match builder.build(level, class, top)? {
        Some(top) => {
            diagram.settle(top)?;
            Ok(top)
        }
        None => reader.malformed("a node is in two classes"),
    }
}

/// By level, the numbers of the configurations.
fn read_configs<S: NestedSpace>(
    diagram: &mut Diagram<S>,
    reader: &mut Reader<'_>,
) -> Result<Vec<Vec<ConfigId>>> {
    let levels = &mut diagram.levels;
    let mut configs = vec![Vec::new(); usize::from(levels.top()) + 1];
    for level in levels.leaf() + 1..=levels.top() {
        for _ in 0..u16::from_le_bytes(reader.take()?) {
            let word = u128::from_le_bytes(reader.take()?);
            let Some(config) = levels.space.decode(word) else {
                return reader.malformed("a configuration is none");
            };
            let number = levels.number(level, config)?;
            configs[usize::from(level)].push(number);
        }
    }
    Ok(configs)
}

fn read_node<S: NestedSpace>(
    diagram: &Diagram<S>,
    reader: &mut Reader<'_>,
    configs: &[Vec<ConfigId>],
    drafts: &[Draft],
) -> Result<Draft> {
    let leaf = diagram.levels.leaf();
    let level = reader.byte()?;
    if level == leaf {
        let [current, previous] = [reader.take()?, reader.take()?].map(u64::from_le_bytes);
        let states = diagram.levels.space.leaf_states();
        if (current | previous).checked_shr(states.into()).unwrap_or(0) != 0 {
            return reader.malformed("a leaf state is none");
        }
        return Ok(Draft::Leaf(LeafSets { current, previous }));
    }
    if !(leaf..=diagram.levels.top()).contains(&level) {
        return reader.malformed("there is no such level");
    }
    let mut entries = Vec::new();
    for _ in 0..reader.byte()? {
        let config = usize::from(reader.byte()?);
        let Some(config) = configs[usize::from(level)].get(config) else {
            return reader.malformed("there is no such configuration");
        };
        let below = reader.word()?;
        check_reference(reader, leaf, drafts, level - 1, below)?;
        entries.push((*config, below));
    }
    entries.sort_unstable();
    if entries.windows(2).any(|pair| pair[0].0 == pair[1].0) {
        return reader.malformed("a configuration comes twice");
    }
    Ok(Draft::Inner(level, entries))
}

/// Checks that a reference is to a node of a level that has been read, or to the empty set.
fn check_reference(
    reader: &Reader<'_>,
    leaf: u8,
    drafts: &[Draft],
    level: u8,
    reference: u32,
) -> Result<()> {
    let number = (reference >> 1) as usize;
    let fits = match number.checked_sub(1).map(|at| drafts.get(at)) {
        None => reference == 0,
        Some(None) => false,
        Some(Some(Draft::Leaf(_))) => level == leaf,
        Some(Some(Draft::Inner(own, _))) => *own == level,
    };
    if fits { Ok(()) } else { reader.malformed("a reference leads nowhere") }
}

impl<S: NestedSpace> Builder<'_, S> {
    /// The set of a reference, in a class; None if its node is already in another one.
    fn build(&mut self, level: u8, class: ClassId, reference: u32) -> Result<Option<Ref>> {
        let Some(at) = (reference >> 1).checked_sub(1).map(|at| at as usize) else {
            return Ok(Some(Ref::EMPTY));
        };
        let flipped = reference & 1 == 1;
        let own_class = if flipped { self.diagram.levels.flip_class(class) } else { class };
        if let Some((class, made)) = self.made[at] {
            return Ok((class == own_class).then_some(made.flip_if(flipped)));
        }
        let made = match &self.drafts[at] {
            Draft::Leaf(sets) => self.diagram.intern_leaf(own_class, *sets)?,
            Draft::Inner(_, entries) => {
                let entries = entries.clone();
                let base = self.diagram.made.len();
                let mut configs = Configs::default();
                for (config, below) in entries {
                    let inner = self.diagram.levels.inner(own_class, config)?;
                    let Some(below) = self.build(level - 1, inner, below)? else {
                        return Ok(None);
                    };
                    if below != Ref::EMPTY {
                        configs.insert(config);
                        self.diagram.made.push(below.word());
                    }
                }
                self.diagram.intern((level, own_class), configs, base)?
            }
        };
        self.made[at] = Some((own_class, made));
        Ok(Some(made.flip_if(flipped)))
    }
}
