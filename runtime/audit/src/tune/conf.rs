//! What the files of `conf/` want, read as the image recipes read them (`conf/horus_conf.py`); no machine is looked at here.

use std::collections::BTreeSet;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use crate::load::load;

/// The profile's kernel parameters, below `conf`.
const COMMAND_LINE: &str = "rt/kernel/cmdline";
/// The rules that prove the profile, below `conf`.
pub const RULES: &str = "rt/audit";

/// Everything that the profile wants.
pub struct Conf {
    /// Files to install, those of `rt` first.
    pub files: Vec<Installed>,
    /// Values of the running kernel, by their names for people.
    pub values: Vec<Wanted>,
    /// Kernel parameters; `{housekeeping}` and `{isolated}` are not filled in yet.
    pub parameters: Vec<String>,
    /// Units that start with the machine.
    pub enabled: Vec<String>,
    /// Units that must not run.
    pub disabled: Vec<String>,
    /// The setting `housekeeping=` of the board, without its name.
    pub housekeeping: Option<String>,
    /// What of the board's folder is not applied, and why.
    pub left_out: Vec<String>,
}

/// A file of a `rootfs`.
pub struct Installed {
    /// Where the image has it.
    pub path: String,
    /// Its bytes.
    pub bytes: Vec<u8>,
    /// Whether it is a program.
    pub is_program: bool,
}

/// A value of the running kernel.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Wanted {
    /// As people know it: `vm.swappiness`, or a path.
    pub name: String,
    /// Its file, in which `*` stands for any name.
    pub path: String,
    /// What is to be written.
    pub value: String,
}

impl Conf {
    /// Reads the profile in `directory`, for the board of that folder of `machine`.
    ///
    /// # Errors
    /// When a file is missing or has a line that is not understood; the sentence names it.
    pub fn read(directory: &Path, board: Option<String>) -> Result<Self, String> {
        let mut conf = Self {
            files: Vec::new(),
            values: Vec::new(),
            parameters: parameters(&directory.join(COMMAND_LINE))?,
            enabled: Vec::new(),
            disabled: Vec::new(),
            housekeeping: None,
            left_out: Vec::new(),
        };
        conf.tree(&directory.join("rt/rootfs"))?;
        if let Some(board) = board {
            conf.board(directory, &board)?;
        }
        for at in 0..conf.files.len() {
            conf.understand(at)?;
        }
        Ok(conf)
    }

    /// What only this board wants. Its parameters are taken when a rule of the audit proves them: the others name its consoles.
    fn board(&mut self, directory: &Path, name: &str) -> Result<(), String> {
        let folder = directory.join("machine").join(name);
        if name.contains('/') || !folder.is_dir() {
            return Err(format!("there is no folder {}: choose one of its neighbours with --board", named(&folder)));
        }
        let loaded = load(&directory.join(RULES));
        let proven: BTreeSet<&str> = loaded.rules.iter().flat_map(|rule| &rule.proves).map(String::as_str).collect();
        let of_board = parameters(&folder.join("cmdline"))?;
        self.parameters
            .extend(of_board.into_iter().filter(|word| proven.contains(format!("cmdline:{}", name_of(word)).as_str())));
        let split = lines(&folder.join("cpus"))?;
        self.housekeeping = split.iter().find_map(|line| Some(line.strip_prefix("housekeeping=")?.to_owned()));
        if folder.join("rootfs").is_dir() {
            self.tree(&folder.join("rootfs"))?;
        }
        if folder.join("config.txt").is_file() {
            let file = named(&folder.join("config.txt"));
            self.left_out.push(format!(
                "the firmware's settings are yours: take over from {file} into /boot/firmware/config.txt what you want"
            ));
        }
        Ok(())
    }

    /// Adds the files below `directory`, in the order of their names.
    fn tree(&mut self, directory: &Path) -> Result<(), String> {
        let mut waiting = vec![directory.to_owned()];
        let mut found: Vec<PathBuf> = Vec::new();
        while let Some(next) = waiting.pop() {
            let entries = fs::read_dir(&next).map_err(|error| format!("{}: {error}", named(&next)))?;
            for path in entries.filter_map(|entry| Some(entry.ok()?.path())) {
                if path.is_dir() { waiting.push(path) } else { found.push(path) }
            }
        }
        found.sort();
        for path in found {
            let unread = |error| format!("{}: {error}", named(&path));
            let below = path.strip_prefix(directory).expect("it was found there");
            let mode = fs::metadata(&path).map_err(unread)?.permissions().mode();
            let bytes = fs::read(&path).map_err(unread)?;
            self.files.push(Installed { path: format!("/{}", named(below)), bytes, is_program: mode & 0o100 != 0 });
        }
        Ok(())
    }

    /// Takes values and units out of a file whose folder says what it holds.
    fn understand(&mut self, at: usize) -> Result<(), String> {
        let file = &self.files[at];
        let text = String::from_utf8_lossy(&file.bytes).into_owned();
        let path = file.path.clone();
        let folder = Path::new(&path).parent().and_then(Path::file_name).and_then(|name| name.to_str());
        for line in settings(&text) {
            let bad = || format!("conf: {path}: '{line}' is not understood; correct the line");
            match folder {
                Some("sysctl.d") => {
                    let (key, value) = line.split_once('=').ok_or_else(bad)?;
                    let name = key.trim().trim_start_matches('-').to_owned();
                    let path = format!("/proc/sys/{}", name.replace('.', "/"));
                    self.values.push(Wanted { name, path, value: value.trim().to_owned() });
                }
                Some("tmpfiles.d") => {
                    let words: Vec<&str> = line.split_whitespace().collect();
                    if !words.first().ok_or_else(bad)?.starts_with('w') {
                        continue; // files and directories are not tuning; tmpfiles makes them at the next start
                    }
                    let (path, value) = (words.get(1).ok_or_else(bad)?, words.get(6..).unwrap_or_default().join(" "));
                    self.values.push(Wanted { name: (*path).to_owned(), path: (*path).to_owned(), value });
                }
                Some("system-preset") => match line.split_once(' ').ok_or_else(bad)? {
                    ("enable", unit) => self.enabled.push(unit.trim().to_owned()),
                    ("disable", unit) => self.disabled.push(unit.trim().to_owned()),
                    _ => return Err(bad()),
                },
                _ => {}
            }
        }
        Ok(())
    }
}

/// The profile's directory: `named`, or that of this machine, or `conf/` of the repository above the program itself. Never one above the
/// working directory: what stands there is not for root to obey.
///
/// # Errors
/// When there is none; what to name instead.
pub fn directory(named: Option<&Path>) -> Result<PathBuf, String> {
    if let Some(directory) = named {
        return Ok(directory.to_owned());
    }
    let installed = PathBuf::from("/usr/share/horus/conf");
    let program = std::env::current_exe().unwrap_or_default();
    let built = program.ancestors().skip(1).map(|above| above.join("conf"));
    let is_profile = |directory: &PathBuf| directory.join(COMMAND_LINE).is_file();
    [installed].into_iter().chain(built).find(is_profile).ok_or_else(|| {
        "there is no profile in /usr/share/horus/conf: name the directory conf of the source with --conf".to_owned()
    })
}

/// The name of a kernel parameter.
pub fn name_of(parameter: &str) -> &str {
    parameter.split('=').next().unwrap_or(parameter)
}

/// The kernel parameters of a file, one a line. They end up in files that shells and boot loaders read, so that only plain
/// characters are taken.
fn parameters(file: &Path) -> Result<Vec<String>, String> {
    let found = lines(file)?;
    let plain = |c: char| c.is_ascii_alphanumeric() || "_-.,:=/+%{}".contains(c);
    match found.iter().find(|parameter| !parameter.chars().all(plain)) {
        Some(odd) => Err(format!("{}: '{odd}' is not one plain kernel parameter; write one a line", named(file))),
        None => Ok(found),
    }
}

/// The lines of a file that say something; what follows `#` is the reason for people.
fn lines(file: &Path) -> Result<Vec<String>, String> {
    let text = fs::read_to_string(file).map_err(|error| format!("{}: {error}; restore it from git", named(file)))?;
    let lines = text.lines().map(|line| line.split('#').next().unwrap_or_default().trim().to_owned());
    Ok(lines.filter(|line| !line.is_empty()).collect())
}

/// The lines of a configuration file that are no comments.
fn settings(text: &str) -> Vec<&str> {
    text.lines().map(str::trim).filter(|line| !line.is_empty() && !line.starts_with(['#', ';'])).collect()
}

/// `path` for people: without what stands for `/`.
fn named(path: &Path) -> String {
    path.display().to_string()
}
