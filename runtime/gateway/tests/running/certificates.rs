//! An authority of the test's own, what it signs, and what it does not.

use std::path::{Path, PathBuf};

use horus_gateway::client::Identity;
use horus_gateway::tls::Files;
use rcgen::{BasicConstraints, CertificateParams, DnType, IsCa, Issuer, KeyPair, date_time_ymd};
use tempfile::TempDir;

/// When a certificate counts.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Counts {
    Now,
    NoLonger,
    NotYet,
}

/// A directory of certificates: those of one authority.
pub struct Authority {
    directory: TempDir,
    issuer: Issuer<'static, KeyPair>,
}

impl Authority {
    /// A new one, which no program trusts yet.
    pub fn new(name: &str) -> Self {
        let directory = tempfile::tempdir().unwrap();
        let mut params = CertificateParams::new([]).unwrap();
        params.distinguished_name.push(DnType::CommonName, name);
        params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        let key = KeyPair::generate().unwrap();
        let certificate = params.self_signed(&key).unwrap();
        std::fs::write(directory.path().join("ca.crt"), certificate.pem()).unwrap();
        Self { directory, issuer: Issuer::new(params, key) }
    }

    /// Its own certificate.
    pub fn certificate(&self) -> PathBuf {
        self.directory.path().join("ca.crt")
    }

    /// Signs one for `name`, which is a host's name or its address; the files of it.
    pub fn sign(&self, name: &str, counts: Counts) -> Files {
        let mut params = CertificateParams::new([name.to_owned()]).unwrap();
        params.distinguished_name.push(DnType::CommonName, name);
        (params.not_before, params.not_after) = match counts {
            Counts::Now => (date_time_ymd(2020, 1, 1), date_time_ymd(2120, 1, 1)),
            Counts::NoLonger => (date_time_ymd(2020, 1, 1), date_time_ymd(2021, 1, 1)),
            Counts::NotYet => (date_time_ymd(2119, 1, 1), date_time_ymd(2120, 1, 1)),
        };
        let key = KeyPair::generate().unwrap();
        let certificate = params.signed_by(&key, &self.issuer).unwrap();
        let number = std::fs::read_dir(self.directory.path()).unwrap().count();
        let place = |ending: &str| self.directory.path().join(format!("{number}.{ending}"));
        std::fs::write(place("crt"), certificate.pem()).unwrap();
        write_key(&place("key"), &key.serialize_pem());
        Files { certificate: place("crt"), key: place("key"), authority: self.certificate() }
    }

    /// What a client of it is.
    pub fn client(&self, counts: Counts) -> Identity {
        self.sign("laptop", counts).client().unwrap()
    }
}

/// The setting `listen` of a gateway with these files.
pub fn listen(files: &Files) -> String {
    let Files { certificate, key, authority } = files;
    format!(
        "listen = [{{ tcp = \"127.0.0.1:0\", tls = {{ certificate = {certificate:?}, key = {key:?}, clients = {authority:?} }} }}]\n"
    )
}

fn write_key(path: &Path, text: &str) {
    use std::os::unix::fs::PermissionsExt;
    std::fs::write(path, text).unwrap();
    std::fs::set_permissions(path, std::fs::Permissions::from_mode(0o600)).unwrap();
}
