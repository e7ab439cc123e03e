//! A machine as tests make one: its files, a key, bundles, and a program in systemd-sysupdate's place.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;

use base64::Engine as _;
use ring::rand::SystemRandom;
use ring::signature::{Ed25519KeyPair, KeyPair as _};
use sha2::{Digest as _, Sha256};
use tempfile::TempDir;

use crate::key;
use crate::machine::Machine;

pub const BOARD: &str = "generic-x86-64";
/// The board's kernel image and system, as small as they can be and be damaged anywhere.
pub const PARTS: [&[u8]; 2] = [&[7; 9_000], &[9; 20_000]];

/// In systemd-sysupdate's place: puts the staged kernel image where the boot loader counts it.
const SYSUPDATE: &str = r#"#!/bin/sh
root=$(dirname "$0")/../../..
cp "$root"/var/lib/horus/update/staged/*_"$3".efi "$root/boot/EFI/Linux/horus_$3+3-0.efi"
"#;

/// A pair of keys.
pub fn pair() -> Ed25519KeyPair {
    let pkcs8 = Ed25519KeyPair::generate_pkcs8(&SystemRandom::new()).unwrap();
    Ed25519KeyPair::from_pkcs8(pkcs8.as_ref()).unwrap()
}

/// The public half as openssl writes it.
pub fn pem(pair: &Ed25519KeyPair) -> String {
    let der = [&[0x30, 0x2a, 0x30, 0x05, 0x06, 0x03, 0x2b, 0x65, 0x70, 0x03, 0x21, 0x00], pair.public_key().as_ref()]
        .concat();
    let body = base64::engine::general_purpose::STANDARD.encode(der);
    format!("-----BEGIN PUBLIC KEY-----\n{body}\n-----END PUBLIC KEY-----\n")
}

/// A machine that runs `version`, and takes updates by the key of `pair`.
pub fn machine(version: &str, pair: &Ed25519KeyPair) -> (TempDir, Machine) {
    let root = tempfile::tempdir().unwrap();
    let write = |path: &str, text: &str| {
        let path = root.path().join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, text).unwrap();
    };
    write("usr/lib/os-release", &format!("ID=horus\nIMAGE_VERSION=\"1\"\nVARIANT_ID={BOARD}\n"));
    write(&format!("{}/ours.pub", key::PLACE), &pem(pair));
    write(&format!("boot/EFI/Linux/horus_{version}.efi"), "kernel");
    write("usr/lib/systemd/systemd-sysupdate", SYSUPDATE);
    let program = root.path().join("usr/lib/systemd/systemd-sysupdate");
    fs::set_permissions(program, fs::Permissions::from_mode(0o755)).unwrap();
    start(root.path(), version, "b0");
    let machine = Machine::at(root.path());
    drop(machine.lock().unwrap());
    (root, machine)
}

/// The machine starts a version, in a boot of this name.
pub fn start(root: &Path, version: &str, boot: &str) {
    fs::create_dir_all(root.join("proc/sys/kernel/random")).unwrap();
    fs::write(root.join("proc/cmdline"), format!("root=PARTLABEL=horus_{version} ro quiet\n")).unwrap();
    fs::write(root.join("proc/sys/kernel/random/boot_id"), format!("{boot}\n")).unwrap();
}

/// The files of a bundle in their order, with their names.
pub fn files(board: &str, version: &str, pair: &Ed25519KeyPair) -> Vec<(String, Vec<u8>)> {
    let names = [".efi", ".root.xz"].map(|end| format!("horus_{board}_{version}{end}"));
    let lines = names.iter().zip(PARTS).map(|(name, part)| format!("{:x}  {name}\n", Sha256::digest(part)));
    let list: Vec<u8> = lines.collect::<String>().into_bytes();
    let signature = pair.sign(&list).as_ref().to_vec();
    let mut files = vec![("SHA256SUMS".to_owned(), list), ("SHA256SUMS.sig".to_owned(), signature)];
    files.extend(names.into_iter().zip(PARTS.map(<[u8]>::to_vec)));
    files
}

/// An archive of files.
pub fn archive(files: &[(String, Vec<u8>)]) -> Vec<u8> {
    let mut archive = tar::Builder::new(Vec::new());
    for (name, bytes) in files {
        let mut header = tar::Header::new_ustar();
        header.set_size(bytes.len() as u64);
        archive.append_data(&mut header, name, &bytes[..]).unwrap();
    }
    archive.into_inner().unwrap()
}

/// A bundle for the machine.
pub fn bundle(version: &str, pair: &Ed25519KeyPair) -> Vec<u8> {
    archive(&files(BOARD, version, pair))
}
