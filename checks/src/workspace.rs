//! The crates of the workspace and their folders.

use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use cargo_metadata::{Metadata, MetadataCommand};

/// A crate of the workspace.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Member {
    /// Name of the package, as `strata-store`.
    pub name: String,
    /// Folder of its manifest.
    pub folder: PathBuf,
}

/// Returns the folder of the workspace that this crate belongs to.
pub fn root() -> &'static Path {
    Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/.."))
}

/// Reads the manifests of a workspace.
///
/// # Errors
///
/// Fails if `cargo metadata` does.
pub fn metadata(root: &Path) -> Result<Metadata> {
    let mut command = MetadataCommand::new();
    command.manifest_path(root.join("Cargo.toml")).no_deps();
    command.exec().with_context(|| format!("cargo metadata of {}", root.display()))
}

/// Lists the crates of a workspace, by name.
///
/// # Errors
///
/// Fails if `cargo metadata` does.
pub fn members(root: &Path) -> Result<Vec<Member>> {
    let metadata = metadata(root)?;
    let mut members = Vec::new();
    for package in metadata.workspace_packages() {
        let manifest = package.manifest_path.as_std_path();
        let folder = manifest.parent().context("a manifest without a folder")?.to_path_buf();
        members.push(Member { name: package.name.to_string(), folder });
    }
    members.sort_by(|a, b| a.name.cmp(&b.name));
    Ok(members)
}
