//! Bundles that are taken, and all that is not.

use ring::signature::Ed25519KeyPair;

use super::*;
use crate::testing::{BOARD, archive, bundle, files, machine, pair, pem};

const FREE: u64 = 1 << 30;

/// Takes a bundle on a machine that runs 0.1.0, and gives what it left in the folder, too.
fn take(bytes: &[u8], pair: &Ed25519KeyPair, free: u64) -> Result<(Bundle, Vec<String>), BundleError> {
    let (_root, machine) = machine(pair);
    let keys = machine.keys().unwrap();
    let rules = Rules { board: BOARD, running: "0.1.0", keys: &keys };
    let folder = tempfile::tempdir().unwrap();
    let bundle = unpack(bytes, folder.path(), &rules, free, &mut |_| {})?;
    assert_eq!(verify(folder.path(), &rules).unwrap(), bundle);
    let mut names: Vec<_> =
        fs::read_dir(folder.path()).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    names.sort();
    Ok((bundle, names))
}

/// Why a bundle is not taken.
fn refused(bytes: &[u8], pair: &Ed25519KeyPair) -> String {
    take(bytes, pair, FREE).unwrap_err().to_string()
}

#[test]
fn a_newer_version_for_this_board_is_taken_with_all_its_files() {
    let pair = pair();
    let (bundle, names) = take(&bundle("0.2.0", &pair), &pair, FREE).unwrap();
    assert_eq!((bundle.version.as_str(), bundle.signer.as_str(), bundle.bytes), ("0.2.0", "ours", 29_000));
    let expected =
        ["SHA256SUMS", "SHA256SUMS.sig", "horus_generic-x86-64_0.2.0.efi", "horus_generic-x86-64_0.2.0.root.xz"];
    assert_eq!(names, expected);
}

#[test]
fn a_disk_that_begins_with_a_bundle_is_one() {
    let pair = pair();
    let mut disk = bundle("0.2.0", &pair);
    disk.resize(1 << 20, 0);
    assert_eq!(take(&disk, &pair, FREE).unwrap().0.version, "0.2.0");
}

#[test]
fn another_board_an_older_version_and_the_same_are_refused_with_what_to_do() {
    let pair = pair();
    let other = archive(&files("jetson-orin-nano", "0.2.0", &pair));
    assert!(refused(&other, &pair).contains("for jetson-orin-nano, and this machine is generic-x86-64"));
    assert!(refused(&bundle("0.0.9", &pair), &pair).contains("rollback"));
    assert!(refused(&bundle("0.1.0", &pair), &pair).contains("runs already"));
}

#[test]
fn a_foreign_key_is_refused_and_a_second_one_of_the_image_is_not() {
    let (ours, foreign) = (pair(), pair());
    assert!(refused(&bundle("0.2.0", &foreign), &ours).contains("it has ours in"));
    let (root, machine) = machine(&ours);
    fs::write(root.path().join(crate::key::PLACE).join("next.pub"), pem(&foreign)).unwrap();
    let keys = machine.keys().unwrap();
    let rules = Rules { board: BOARD, running: "0.1.0", keys: &keys };
    let folder = tempfile::tempdir().unwrap();
    let taken = unpack(&bundle("0.2.0", &foreign)[..], folder.path(), &rules, FREE, &mut |_| {}).unwrap();
    assert_eq!(taken.signer, "next");
}

/// One byte of each 512 is another one: of headers, list, signature, files and padding.
#[test]
fn a_changed_byte_anywhere_is_found_or_changes_nothing() {
    let pair = pair();
    let whole = bundle("0.2.0", &pair);
    for at in (17..whole.len()).step_by(512) {
        let mut changed = whole.clone();
        changed[at] ^= 0x20;
        if let Ok((taken, names)) = take(&changed, &pair, FREE) {
            // Behind the end of a file, where an archive has nothing.
            assert_eq!((taken.version.as_str(), names.len()), ("0.2.0", 4), "{at}");
            assert_eq!(whole[at], 0, "{at}");
        }
    }
}

#[test]
fn a_bundle_that_is_cut_off_anywhere_is_refused_as_such() {
    let pair = pair();
    let whole = bundle("0.2.0", &pair);
    let end = whole.len() - 2 * 512; // the archive's own end, which adds nothing
    for at in (0..end - 512).step_by(512) {
        let error = take(&whole[..at], &pair, FREE).unwrap_err();
        assert!(matches!(error, BundleError::CutOff(_)), "{at}: {error}");
    }
}

#[test]
fn files_in_another_order_with_other_names_or_beside_those_of_a_bundle_are_refused() {
    let pair = pair();
    let files = files(BOARD, "0.2.0", &pair);
    let mut swapped = files.clone();
    swapped.swap(2, 3);
    let mut escaping = files.clone();
    escaping[2].0 = "x/../horus_generic-x86-64_0.2.0.efi".to_owned();
    let mut more = files.clone();
    more.push(("more".to_owned(), Vec::new()));
    for (files, part) in [
        (&swapped, "where horus_generic-x86-64_0.2.0.efi is to be"),
        (&escaping, "no archive"),
        (&more, "more files"),
        (&files[..3].to_vec(), "ends before"),
        (&Vec::new(), "ends before SHA256SUMS"),
    ] {
        let bytes = if files == &escaping { with_name(&escaping) } else { archive(files) };
        let said = refused(&bytes, &pair);
        assert!(said.contains(part) || files == &escaping && said.contains("is to be"), "{said}");
    }
}

/// An archive whose names are written as they are, without the care that the library takes.
fn with_name(files: &[(String, Vec<u8>)]) -> Vec<u8> {
    let mut archive = tar::Builder::new(Vec::new());
    for (name, bytes) in files {
        let mut header = tar::Header::new_ustar();
        header.set_size(bytes.len() as u64);
        header.as_mut_bytes()[..name.len()].copy_from_slice(name.as_bytes());
        header.set_cksum();
        archive.append(&header, &bytes[..]).unwrap();
    }
    archive.into_inner().unwrap()
}

#[test]
fn names_that_were_signed_by_mistake_are_refused() {
    let pair = pair();
    let long = "0".repeat(31);
    for version in ["../../etc", "0 2", "", ".2", "1~rc1", &long] {
        let mut files = files(BOARD, "0.2.0", &pair);
        let list = format!("{0}  horus_{BOARD}_{version}.efi\n{0}  horus_{BOARD}_{version}.root.xz\n", "0".repeat(64));
        files[0].1 = list.clone().into_bytes();
        files[1].1 = pair.sign(list.as_bytes()).as_ref().to_vec();
        assert!(refused(&archive(&files), &pair).contains("no update"), "{version}");
    }
}

#[test]
fn a_disk_without_room_is_told_before_it_is_full() {
    let pair = pair();
    let said = take(&bundle("0.2.0", &pair), &pair, 28_999).unwrap_err();
    assert!(matches!(said, BundleError::NoRoom { .. }), "{said}");
}

#[test]
fn what_was_damaged_on_the_disk_is_found_before_it_is_written() {
    let pair = pair();
    let (_root, machine) = machine(&pair);
    let keys = machine.keys().unwrap();
    let rules = Rules { board: BOARD, running: "0.1.0", keys: &keys };
    let folder = tempfile::tempdir().unwrap();
    unpack(&bundle("0.2.0", &pair)[..], folder.path(), &rules, FREE, &mut |_| {}).unwrap();
    let root = folder.path().join("horus_generic-x86-64_0.2.0.root.xz");
    let mut bytes = fs::read(&root).unwrap();
    bytes[12_345] ^= 1;
    fs::write(&root, bytes).unwrap();
    assert!(matches!(verify(folder.path(), &rules), Err(BundleError::Damaged(name)) if name.ends_with(".root.xz")));
}
