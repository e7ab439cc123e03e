//! A compiler of C and C++ for the processor of another machine: Zig's, from PyPI, at one version for everybody.
//!
//! Why this one: what is deployed has to run on every image, whatever C library that has. So it carries musl, as programs in Rust do.
//! Debian's compilers have no C++ library for musl. Zig brings Clang, musl and the C++ library for both processors in one package.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::Command;

use super::tool::run;

/// Its version on PyPI. C++ of it and libhorus.a were tried together; `scripts/checks/languages/projects.py` does it again.
const VERSION: &str = "0.17.1";
/// Names another program in its place.
const VARIABLE: &str = "HORUS_ZIG";

/// The programs that CMake calls, and what Zig calls them.
const TOOLS: [(&str, &str); 4] = [("cc", "cc"), ("c++", "c++"), ("ar", "ar"), ("ranlib", "ranlib")];

/// Makes a file for CMake in `folder` that names the compiler for `machine`; gives the file.
pub fn toolchain(folder: &Path, machine: &str) -> Result<PathBuf, String> {
    let zig = find()?;
    let failed = |error: std::io::Error| format!("{}: {error}", folder.display());
    fs::create_dir_all(folder).map_err(failed)?;
    for (name, word) in TOOLS {
        // A compiler, not only a linker: it is told the processor, and that a program is wanted as it will run, without Zig's own checks.
        let options = if word.starts_with('c') {
            format!(" -target {machine}-linux-musl -fno-sanitize=undefined")
        } else {
            String::new()
        };
        let place = folder.join(name);
        let text = format!("#!/bin/sh\nexec {} {word}{options} \"$@\"\n", quoted(&zig));
        fs::write(&place, text)
            .and_then(|()| fs::set_permissions(&place, fs::Permissions::from_mode(0o755)))
            .map_err(failed)?;
    }
    let file = folder.join("toolchain.cmake");
    let at = folder.display();
    let text = format!(
        "set(CMAKE_SYSTEM_NAME Linux)\nset(CMAKE_SYSTEM_PROCESSOR {machine})\n\
         set(CMAKE_C_COMPILER \"{at}/cc\")\nset(CMAKE_CXX_COMPILER \"{at}/c++\")\n\
         set(CMAKE_AR \"{at}/ar\")\nset(CMAKE_RANLIB \"{at}/ranlib\")\n\
         set(CMAKE_EXE_LINKER_FLAGS_INIT -static)\n\
         # Libraries of this machine are not for that one.\n\
         set(CMAKE_FIND_ROOT_PATH_MODE_LIBRARY ONLY)\nset(CMAKE_FIND_ROOT_PATH_MODE_INCLUDE ONLY)\n\
         set(CMAKE_FIND_ROOT_PATH \"{at}/../horus\")\n"
    );
    fs::write(&file, text).map_err(failed)?;
    Ok(file)
}

/// The compiler: the one that `$HORUS_ZIG` names, or ours, which is fetched once.
fn find() -> Result<PathBuf, String> {
    if let Some(named) = std::env::var_os(VARIABLE).filter(|named| !named.is_empty()) {
        return Ok(named.into());
    }
    let caches = std::env::var_os("XDG_CACHE_HOME").filter(|place| !place.is_empty()).map(PathBuf::from);
    let caches = caches.or_else(|| Some(Path::new(&std::env::var_os("HOME")?).join(".cache")));
    let environment = caches.ok_or("neither $XDG_CACHE_HOME nor $HOME says where the compiler may be kept")?;
    let environment = environment.join(format!("horus/zig-{VERSION}"));
    let zig = environment.join("zig");
    if zig.is_file() {
        return Ok(zig);
    }
    println!("fetching the compiler Zig {VERSION} from PyPI: about 100 MB, once");
    let python = environment.join("bin/python");
    let fetched = run(Command::new("python3").args(["-m", "venv", "--clear"]).arg(&environment)).and_then(|()| {
        let pip = ["-m", "pip", "install", "--quiet", "--disable-pip-version-check", &format!("ziglang=={VERSION}")];
        run(Command::new(&python).args(pip))
    });
    fetched.map_err(|error| {
        format!(
            "{error}: C and C++ are built for another machine with Zig. Is the network there, and Python with venv (`apt install python3-venv`)? \
             Or name a Zig of yours in ${VARIABLE}"
        )
    })?;
    // Last, so that half a package is fetched once more.
    let text = format!("#!/bin/sh\nexec {} -m ziglang \"$@\"\n", quoted(&python));
    let written = fs::write(&zig, text).and_then(|()| fs::set_permissions(&zig, fs::Permissions::from_mode(0o755)));
    written.map_err(|error| format!("{}: {error}", zig.display()))?;
    Ok(zig)
}

/// A path as a word of the shell.
fn quoted(path: &Path) -> String {
    format!("'{}'", path.display().to_string().replace('\'', "'\\''"))
}
