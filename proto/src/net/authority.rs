//! Certificates of a new cluster: an authority, a certificate for all nodes, one for clients.

use std::fmt::Display;
use std::fs::{File, OpenOptions, Permissions};
use std::io::{self, Write};
use std::os::unix::fs::{OpenOptionsExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use rcgen::{
    BasicConstraints, CertificateParams, CertifiedIssuer, DnType, ExtendedKeyUsagePurpose, IsCa,
    KeyPair, KeyUsagePurpose, date_time_ymd,
};
use rustls::pki_types::ServerName;
use strata_store::{Fs, RealFs};

use crate::net::error::NetError;
use crate::net::security::{Security, TlsFiles};

/// Names and addresses at which a node is reached from its own machine.
const LOCAL_NAMES: [&str; 3] = ["localhost", "127.0.0.1", "::1"];

const DAY: Duration = Duration::from_secs(24 * 60 * 60);

/// Time for which the certificates are valid: ten years.
const VALIDITY: Duration = DAY.saturating_mul(3650);

/// Paths of a cluster's TLS files, which are in one folder.
#[derive(Clone, Debug)]
pub struct ClusterCertificates {
    /// The authority's certificate, for all nodes and clients.
    pub ca: PathBuf,
    /// The authority's key. No node needs it.
    pub ca_key: PathBuf,
    /// The certificate of all nodes, for listening and connecting.
    pub node: PathBuf,
    /// The key of `node`.
    pub node_key: PathBuf,
    /// The certificate of clients. A node cannot listen with it.
    pub client: PathBuf,
    /// The key of `client`.
    pub client_key: PathBuf,
}

impl ClusterCertificates {
    /// The paths in a folder. Neither the folder nor the files need exist.
    #[must_use]
    pub fn of(dir: &Path) -> Self {
        Self {
            ca: dir.join("ca.pem"),
            ca_key: dir.join("ca-key.pem"),
            node: dir.join("node.pem"),
            node_key: dir.join("node-key.pem"),
            client: dir.join("client.pem"),
            client_key: dir.join("client-key.pem"),
        }
    }

    /// Creates the folder if necessary, and the files. `names` are the host names and addresses of
    /// the nodes besides `localhost`, `127.0.0.1` and `::1`; `*.` may replace the first label of a
    /// name. Only the owner can read the keys.
    ///
    /// # Errors
    /// [`NetError::Exists`] if a file exists; none is replaced. [`NetError::HostName`] for a name
    /// that is neither a host name nor an address, [`NetError::File`] if a file cannot be written,
    /// [`NetError::Certificate`] if no certificate can be made.
    pub fn create(dir: &Path, names: &[String]) -> Result<Self, NetError> {
        let files = Self::of(dir);
        let names = all_names(names)?;
        if let Some(path) = files.all().into_iter().find(|path| path.symlink_metadata().is_ok()) {
            return Err(NetError::Exists { path: path.clone() });
        }
        let contents = Contents::generate(names)?;
        create_folder(&RealFs, dir)?;
        for (path, mode, text) in [
            (&files.ca_key, SECRET, &contents.ca_key),
            (&files.node_key, SECRET, &contents.node_key),
            (&files.client_key, SECRET, &contents.client_key),
            (&files.node, PUBLIC, &contents.node),
            (&files.client, PUBLIC, &contents.client),
            (&files.ca, PUBLIC, &contents.ca),
        ] {
            write_new(path, mode, text).map_err(|error| match error.kind() {
                io::ErrorKind::AlreadyExists => NetError::Exists { path: path.clone() },
                _ => NetError::file(path)(error),
            })?;
        }
        File::open(dir).and_then(|dir| dir.sync_all()).map_err(NetError::file(dir))?;
        Ok(files)
    }

    /// Whether one of the files exists.
    #[must_use]
    pub fn exist(&self) -> bool {
        self.all().into_iter().any(|path| path.exists())
    }

    /// Checks that a node and a client can use the files.
    ///
    /// # Errors
    /// Those of [`Security::open`].
    pub fn check(&self) -> Result<(), NetError> {
        for (cert, key) in [(&self.node, &self.node_key), (&self.client, &self.client_key)] {
            let (cert, key, ca) = (Some(cert.clone()), Some(key.clone()), Some(self.ca.clone()));
            Security::open(None, &TlsFiles { cert, key, ca })?;
        }
        Ok(())
    }

    fn all(&self) -> [&PathBuf; 6] {
        let Self { ca, ca_key, node, node_key, client, client_key } = self;
        [ca, ca_key, node, node_key, client, client_key]
    }
}

/// Permissions of a key file.
const SECRET: u32 = 0o600;

/// Permissions of a certificate file.
const PUBLIC: u32 = 0o644;

/// The files' contents in PEM format.
struct Contents {
    ca: String,
    ca_key: String,
    node: String,
    node_key: String,
    client: String,
    client_key: String,
}

impl Contents {
    fn generate(names: Vec<String>) -> Result<Self, NetError> {
        use ExtendedKeyUsagePurpose::{ClientAuth, ServerAuth};
        let mut params = params("Strata authority", Vec::new())?;
        params.is_ca = IsCa::Ca(BasicConstraints::Constrained(0));
        params.key_usages = vec![KeyUsagePurpose::KeyCertSign, KeyUsagePurpose::CrlSign];
        let issuer = CertifiedIssuer::self_signed(params, new_key()?).map_err(certificate)?;
        let (node, node_key) = signed("Strata node", names, vec![ServerAuth, ClientAuth], &issuer)?;
        let (client, client_key) = signed("Strata client", Vec::new(), vec![ClientAuth], &issuer)?;
        let (ca, ca_key) = (issuer.pem(), issuer.key().serialize_pem());
        Ok(Self { ca, ca_key, node, node_key, client, client_key })
    }
}

/// A certificate and its key.
fn signed(
    subject: &str,
    names: Vec<String>,
    usages: Vec<ExtendedKeyUsagePurpose>,
    issuer: &CertifiedIssuer<'_, KeyPair>,
) -> Result<(String, String), NetError> {
    let mut params = params(subject, names)?;
    params.is_ca = IsCa::ExplicitNoCa;
    params.key_usages = vec![KeyUsagePurpose::DigitalSignature];
    params.extended_key_usages = usages;
    params.use_authority_key_identifier_extension = true;
    let key = new_key()?;
    let signed = params.signed_by(&key, issuer).map_err(certificate)?;
    Ok((signed.pem(), key.serialize_pem()))
}

fn params(subject: &str, names: Vec<String>) -> Result<CertificateParams, NetError> {
    let mut params = CertificateParams::new(names).map_err(certificate)?;
    params.distinguished_name.remove(DnType::CommonName);
    params.distinguished_name.push(DnType::CommonName, subject);
    let now = SystemTime::now().duration_since(UNIX_EPOCH).map_err(certificate)?;
    // Clocks of the nodes may be behind.
    params.not_before = date_time_ymd(1970, 1, 1) + now.saturating_sub(DAY);
    params.not_after = date_time_ymd(1970, 1, 1) + now.saturating_add(VALIDITY);
    Ok(params)
}

fn new_key() -> Result<KeyPair, NetError> {
    KeyPair::generate().map_err(certificate)
}

fn certificate(error: impl Display) -> NetError {
    NetError::Certificate { why: error.to_string() }
}

/// The local names and the given ones, each once.
fn all_names(given: &[String]) -> Result<Vec<String>, NetError> {
    let mut names: Vec<String> = LOCAL_NAMES.map(str::to_owned).to_vec();
    for name in given {
        let host = name.strip_prefix("*.").unwrap_or(name);
        if ServerName::try_from(host).is_err() {
            return Err(NetError::HostName { name: name.clone() });
        }
        if !names.contains(name) {
            names.push(name.clone());
        }
    }
    Ok(names)
}

/// Creates a folder and the missing ones above it, durably. Their permissions follow the umask,
/// unlike those of data folders: other users may need the certificates, and each key file has its
/// own permissions.
fn create_folder(fs: &dyn Fs, dir: &Path) -> Result<(), NetError> {
    let missing: Vec<&Path> = dir.ancestors().take_while(|dir| !dir.exists()).collect();
    std::fs::create_dir_all(dir).map_err(NetError::file(dir))?;
    for folder in missing.into_iter().rev() {
        // It exists, so this makes its name durable.
        strata_store::create_dir_durably(fs, folder)
            .map_err(|error| NetError::file(folder)(io::Error::other(error)))?;
    }
    Ok(())
}

fn write_new(path: &Path, mode: u32, text: &str) -> io::Result<()> {
    let mut file = OpenOptions::new().write(true).create_new(true).mode(mode).open(path)?;
    // The umask may have removed permissions.
    file.set_permissions(Permissions::from_mode(mode))?;
    file.write_all(text.as_bytes())?;
    file.sync_all()
}

#[cfg(test)]
mod tests {
    use std::fs;

    use strata_store::FaultyFs;

    use super::*;

    fn mode(path: &Path) -> u32 {
        path.metadata().unwrap().permissions().mode() & 0o777
    }

    #[test]
    fn only_the_owner_can_read_the_keys() {
        let folder = tempfile::tempdir().unwrap();
        let dir = folder.path().join("new/tls");
        let files = ClusterCertificates::create(&dir, &["node-1".to_owned()]).unwrap();
        files.check().unwrap();
        for key in [&files.ca_key, &files.node_key, &files.client_key] {
            assert_eq!(mode(key), 0o600, "{}", key.display());
        }
        for cert in [&files.ca, &files.node, &files.client] {
            assert_eq!(mode(cert), 0o644, "{}", cert.display());
        }
    }

    #[test]
    fn the_names_of_new_folders_are_durable() {
        let parent = tempfile::tempdir().unwrap();
        let create = |syncs: u64| {
            let fs = FaultyFs::new();
            fs.fail_after(syncs);
            create_folder(&fs, &parent.path().join(format!("{syncs}/new/tls")))
        };
        for syncs in 0..3 {
            assert!(create(syncs).is_err(), "{syncs} of 3 names are synced");
        }
        create(3).unwrap();
    }

    #[test]
    fn existing_files_are_not_replaced() {
        let folder = tempfile::tempdir().unwrap();
        let files = ClusterCertificates::of(folder.path());
        assert!(!files.exist());
        fs::write(&files.client_key, "mine").unwrap();
        assert!(files.exist() && files.check().is_err());
        let error = ClusterCertificates::create(folder.path(), &[]).unwrap_err();
        assert!(matches!(&error, NetError::Exists { path } if *path == files.client_key));
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1);
        assert_eq!(fs::read_to_string(&files.client_key).unwrap(), "mine");
    }

    #[test]
    fn names_are_host_names_or_addresses() {
        let names = |given: &[&str]| {
            all_names(&given.iter().map(|name| (*name).to_owned()).collect::<Vec<_>>())
        };
        let all = names(&["worker-1", "10.0.0.7", "fd00::1", "*.a.svc", "localhost"]).unwrap();
        assert_eq!(all.len(), 7);
        assert_eq!(all[3..], ["worker-1", "10.0.0.7", "fd00::1", "*.a.svc"]);
        for wrong in ["", "*", "*.", "a b", "https://a", "a:7070", "-a", "a*b"] {
            let error = names(&[wrong]).unwrap_err();
            assert!(matches!(&error, NetError::HostName { name } if name == wrong), "{error:?}");
        }
    }
}
