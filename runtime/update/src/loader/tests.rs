//! A boot partition whose loader counts as systemd-boot does.

use proptest::prelude::*;
use tempfile::TempDir;

use super::*;

/// A boot partition with these kernel images.
fn partition(names: &[&str]) -> (TempDir, Loader) {
    let boot = tempfile::tempdir().unwrap();
    fs::create_dir_all(boot.path().join(PLACE)).unwrap();
    for name in names {
        fs::write(boot.path().join(PLACE).join(name), name).unwrap();
    }
    let loader = Loader::at(boot.path());
    (boot, loader)
}

/// A start: the loader counts it, and then the version runs.
fn start(loader: &Loader) -> String {
    let found = loader.found().unwrap().remove(0);
    if let Some(tries) = found.image.tries {
        let counted = Tries { left: tries.left.saturating_sub(1), done: tries.done + 1 };
        loader.rename(&found, Some(counted)).unwrap();
    }
    found.image.version
}

fn names(loader: &Loader) -> Vec<String> {
    loader.images().unwrap().iter().map(KernelImage::name).collect()
}

#[test]
fn a_name_with_nothing_behind_it_is_none_and_makes_way() {
    let (_boot, loader) = partition(&["horus_0.1.0.efi", "horus_0.2.0+2-1.efi"]);
    fs::write(loader.folder.join("horus_0.2.0+3.efi"), "").unwrap();
    assert_eq!(names(&loader), ["horus_0.2.0+2-1.efi", "horus_0.1.0.efi"]);
    loader.renew("0.2.0").unwrap();
    assert_eq!(names(&loader), ["horus_0.2.0+3.efi", "horus_0.1.0.efi"]);
    assert_eq!(fs::read_to_string(loader.folder.join("horus_0.2.0+3.efi")).unwrap(), "horus_0.2.0+2-1.efi");
}

#[test]
fn names_are_read_as_the_loader_writes_them() {
    let image = |version: &str, tries: Option<(u32, u32)>| {
        let tries = tries.map(|(left, done)| Tries { left, done });
        Some(KernelImage { version: version.to_owned(), tries })
    };
    for (name, expected) in [
        ("horus_0.1.0.efi", image("0.1.0", None)),
        ("horus_0.2.0+3.efi", image("0.2.0", Some((3, 0)))),
        ("horus_0.2.0+2-1.efi", image("0.2.0", Some((2, 1)))),
        ("horus_0.2.0-rc+1+0-3.efi", image("0.2.0-rc+1", Some((0, 3)))),
        // What is no count belongs to the version.
        ("horus_1+git.efi", image("1+git", None)),
        ("horus_1+2-3-4.efi", image("1+2-3-4", None)),
        ("horus_1+99999999999.efi", image("1+99999999999", None)),
        ("horus_1+.efi", image("1+", None)),
        ("horus_.efi", None),
        ("horus_+3.efi", None),
        ("debian_0.1.0.efi", None),
        ("horus_0.1.0.efi.part", None),
    ] {
        let read = KernelImage::from_name(name);
        assert_eq!(read, expected, "{name}");
        assert!(read.is_none_or(|read| read.name() == name), "{name}");
    }
}

#[test]
fn a_version_that_is_not_kept_gives_way_to_the_old_one_after_its_starts() {
    let (_boot, loader) = partition(&["horus_0.1.0.efi", "horus_0.2.0+3.efi", "readme.txt"]);
    let started: Vec<_> = (0..5).map(|_| start(&loader)).collect();
    assert_eq!(started, ["0.2.0", "0.2.0", "0.2.0", "0.1.0", "0.1.0"]);
    assert_eq!(names(&loader), ["horus_0.1.0.efi", "horus_0.2.0+0-3.efi"]);
}

#[test]
fn a_version_that_is_kept_stays_and_one_that_is_given_up_is_left_at_once() {
    let (_boot, loader) = partition(&["horus_0.1.0.efi", "horus_0.2.0+3.efi"]);
    assert_eq!(start(&loader), "0.2.0");
    loader.keep("0.2.0").unwrap();
    loader.keep("0.2.0").unwrap();
    assert_eq!(names(&loader), ["horus_0.2.0.efi", "horus_0.1.0.efi"]);
    loader.give_up("0.2.0").unwrap();
    assert_eq!(start(&loader), "0.1.0");
    assert_eq!(names(&loader), ["horus_0.1.0.efi", "horus_0.2.0+0.efi"]);
    // Nothing is left but this one.
    let error = loader.give_up("0.1.0").unwrap_err().to_string();
    assert!(error.contains("0.1.0 is the only one that starts") && error.contains("nothing was changed"), "{error}");
    // A version that was given up can be kept all the same, by whoever knows better.
    loader.keep("0.2.0").unwrap();
    assert_eq!(start(&loader), "0.2.0");
}

#[test]
fn a_version_that_reaches_its_programs_is_counted_from_the_beginning() {
    let (_boot, loader) = partition(&["horus_0.1.0.efi", "horus_0.2.0+3.efi"]);
    for _ in 0..5 {
        assert_eq!(start(&loader), "0.2.0");
        loader.renew("0.2.0").unwrap();
    }
    assert_eq!(names(&loader), ["horus_0.2.0+3.efi", "horus_0.1.0.efi"]);
    let started: Vec<_> = (0..4).map(|_| start(&loader)).collect();
    assert_eq!(started, ["0.2.0", "0.2.0", "0.2.0", "0.1.0"], "three in a row that do not");
    loader.keep("0.2.0").unwrap();
    loader.renew("0.2.0").unwrap();
    assert_eq!(names(&loader), ["horus_0.2.0.efi", "horus_0.1.0.efi"], "what is kept is not counted");
}

#[test]
fn a_name_that_an_installer_wrote_otherwise_is_found() {
    for change in [Loader::keep, Loader::give_up, Loader::renew] {
        let (_boot, loader) = partition(&["horus_0.1.0.efi", "horus_0.2.0+3-0.efi"]);
        change(&loader, "0.2.0").unwrap();
        assert_eq!(loader.images().unwrap().len(), 2);
    }
    let (boot, loader) = partition(&["horus_0.2.0+03-0.efi"]);
    loader.keep("0.2.0").unwrap();
    assert!(boot.path().join(PLACE).join("horus_0.2.0.efi").exists());
}

#[test]
fn two_names_for_one_content_are_one_version() {
    let (_boot, loader) = partition(&["horus_0.1.0.efi", "horus_0.2.0.efi", "horus_0.2.0+2-1.efi"]);
    loader.keep("0.2.0").unwrap();
    assert_eq!(loader.images().unwrap().len(), 3, "nothing is removed");
    assert_eq!(start(&loader), "0.2.0");
    loader.give_up("0.2.0").unwrap();
    assert_eq!(start(&loader), "0.1.0");
    // As both would be called.
    let (_boot, loader) =
        partition(&["horus_0.1.0.efi", "horus_0.2.0.efi", "horus_0.2.0+3.efi", "horus_0.2.0+0-1.efi"]);
    loader.give_up("0.2.0").unwrap();
    assert_eq!(names(&loader).len(), 4, "nothing is replaced");
    assert_eq!(start(&loader), "0.1.0");
}

#[test]
fn what_is_not_there_is_told_with_what_is() {
    let (boot, loader) = partition(&["horus_0.1.0.efi"]);
    for refused in [loader.keep("0.3.0"), loader.give_up("0.3.0"), loader.renew("0.3.0")] {
        let error = refused.unwrap_err().to_string();
        assert!(error.contains("version 0.3.0") && error.contains("there is 0.1.0"), "{error}");
    }
    let error = Loader::at(&boot.path().join("none")).images().unwrap_err().to_string();
    assert!(error.contains("findmnt /boot"), "{error}");
}

proptest! {
    /// Whatever is on the partition, and whatever is kept and given up: something starts, and it is what was said last.
    #[test]
    fn some_version_always_starts(
        counts in prop::collection::vec(prop::option::of((0_u32..4, 0_u32..4)), 1..5),
        steps in prop::collection::vec((0_usize..4, 0_usize..5), 0..20),
    ) {
        let image = |(number, tries): (usize, &Option<(u32, u32)>)| {
            KernelImage { version: format!("0.{number}.0"), tries: tries.map(|(left, done)| Tries { left, done }) }.name()
        };
        let files: Vec<_> = counts.iter().enumerate().map(image).collect();
        let (_boot, loader) = partition(&files.iter().map(String::as_str).collect::<Vec<_>>());
        for (step, number) in steps {
            let version = format!("0.{}.0", number % files.len());
            match step {
                0 => drop(start(&loader)),
                1 => loader.keep(&version).unwrap(),
                2 => loader.renew(&version).unwrap(),
                _ => match loader.give_up(&version) {
                    Ok(()) => prop_assert_ne!(&loader.images().unwrap()[0].version, &version),
                    Err(error) => prop_assert!(matches!(error, LoaderError::OnlyOne { .. }), "{}", error),
                },
            }
            prop_assert_eq!(loader.images().unwrap().len(), files.len());
        }
    }
}
