//! `use` declarations, flattened into one path for each imported name.

use syn::ext::IdentExt;
use syn::{ItemUse, UseTree, Visibility};

/// One name that a `use` declaration imports.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Use {
    /// Segments of the path, without `r#` prefixes; for a glob, the segments before the star.
    pub segments: Vec<String>,
    /// The path starts with `::`, so it names another crate.
    pub is_external: bool,
    /// The name it has in the importing module; `None` for a glob and for `as _`.
    pub name: Option<String>,
    /// All names of the path are imported.
    pub is_glob: bool,
    /// The declaration is `pub` without a restriction such as `pub(crate)`.
    pub is_public: bool,
    /// Line of the last segment, from 1.
    pub line: usize,
}

/// Lists the names that a declaration imports.
pub fn flatten(item: &ItemUse) -> Vec<Use> {
    let mut flattened = Flattened {
        is_external: item.leading_colon.is_some(),
        is_public: matches!(item.vis, Visibility::Public(_)),
        prefix: Vec::new(),
        uses: Vec::new(),
    };
    flattened.tree(&item.tree);
    flattened.uses
}

struct Flattened {
    is_external: bool,
    is_public: bool,
    prefix: Vec<String>,
    uses: Vec<Use>,
}

impl Flattened {
    fn tree(&mut self, tree: &UseTree) {
        match tree {
            UseTree::Path(path) => {
                self.prefix.push(path.ident.unraw().to_string());
                self.tree(&path.tree);
                self.prefix.pop();
            }
            UseTree::Name(name) => {
                let ident = name.ident.unraw().to_string();
                self.push(&ident, Some(ident.clone()), name.ident.span().start().line);
            }
            UseTree::Rename(rename) => {
                let name = Some(rename.rename.unraw().to_string()).filter(|name| name != "_");
                let ident = rename.ident.unraw().to_string();
                self.push(&ident, name, rename.ident.span().start().line);
            }
            UseTree::Glob(glob) => {
                let line = glob.star_token.spans[0].start().line;
                self.add(self.prefix.clone(), None, true, line);
            }
            UseTree::Group(group) => group.items.iter().for_each(|item| self.tree(item)),
        }
    }

    /// Adds a path whose last segment is `ident`; `self` in a group means the group's prefix.
    fn push(&mut self, ident: &str, name: Option<String>, line: usize) {
        let mut segments = self.prefix.clone();
        let mut name = name;
        if ident != "self" || segments.is_empty() {
            segments.push(ident.to_owned());
        } else if name.as_deref() == Some("self") {
            name = segments.last().cloned();
        }
        self.add(segments, name, false, line);
    }

    fn add(&mut self, segments: Vec<String>, name: Option<String>, is_glob: bool, line: usize) {
        let Self { is_external, is_public, .. } = *self;
        self.uses.push(Use { segments, is_external, name, is_glob, is_public, line });
    }
}
