//! A laptop with a robot, and a machine at the other end of a program in place of ssh.

use std::env::consts::ARCH;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

pub const HORUS: &str = env!("CARGO_BIN_EXE_horus");
const SYSTEMCTL: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/robot/systemctl.py");
/// What a program said last, by its unit: the line after `says:` in it.
const JOURNALCTL: &str = "#!/bin/sh\nfor word in \"$@\"; do case \"$word\" in _SYSTEMD_UNIT=horus-node@*)\nname=${word#_SYSTEMD_UNIT=horus-node@}; name=${name%.service}\nsed -n 's/.*says: //p' \"$FAKE_MACHINE\"/root/var/lib/horus/robot/current/programs/$name/* ;; esac; done\n";

/// Both of them.
pub struct Machine {
    folder: tempfile::TempDir,
    is_live: bool,
}

impl Machine {
    /// One on which systemd does nothing.
    pub fn new() -> Self {
        Self::made(false)
    }

    /// One on which a service manager answers that starts nothing.
    pub fn live() -> Self {
        Self::made(true)
    }

    fn made(is_live: bool) -> Self {
        let machine = Self { folder: tempfile::tempdir().unwrap(), is_live };
        for folder in ["root", "laptop", "bin", "states", "units", "topics"] {
            fs::create_dir(machine.path(folder)).unwrap();
        }
        machine.program("root/bin/sh", "");
        let root = machine.root();
        let rest = format!("--root '{}'{}", root.display(), if is_live { " --live" } else { "" });
        let ssh = format!(
            "#!/bin/sh\nshift 2\necho \"$1\" >> \"$FAKE_MACHINE/asked\"\ncase \"$1\" in\nuname*) echo ${{PROCESSOR:-{ARCH}}} ;;\n\
             systemd-run*robot*) exec '{HORUS}' robot install - {rest} ;;\n\
             systemd-run*) exec '{HORUS}' node install - --root '{}' ;;\n\
             'horus robot'*) set -- ${{1#horus robot}}; exec '{HORUS}' robot \"$@\" {rest} ;;\n*) exit 9 ;;\nesac\n",
            root.display()
        );
        machine.program("bin/ssh", &ssh);
        machine.program("bin/journalctl", JOURNALCTL);
        machine.program("bin/systemctl", &format!("#!/bin/sh\nexec python3 '{SYSTEMCTL}' \"$@\"\n"));
        machine
    }

    pub fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// The machine's files.
    pub fn root(&self) -> PathBuf {
        self.path("root")
    }

    /// The version that runs.
    pub fn current(&self) -> PathBuf {
        self.root().join("var/lib/horus/robot/current")
    }

    /// Writes a file of the laptop that may be executed.
    pub fn program(&self, name: &str, text: &str) {
        let path = self.path(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, text).unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
    }

    /// Writes a script of the laptop, which has this line.
    pub fn script(&self, name: &str, line: &str) {
        self.program(&format!("laptop/{name}"), &format!("#!/bin/sh\n# {line}\n"));
    }

    /// Writes the robot's file.
    pub fn file(&self, text: &str) {
        fs::write(self.path("laptop/robot.toml"), text).unwrap();
    }

    fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(HORUS);
        let path = format!("{}:{}", self.path("bin").display(), std::env::var("PATH").unwrap());
        command.args(arguments).current_dir(self.path("laptop")).env("PATH", path);
        command.env("FAKE_MACHINE", self.folder.path()).env("FAKE_HORUS", HORUS);
        command.env("HORUS_SHM_DIR", self.path("topics")).env("HORUS_JOURNAL", "print").env_remove("HORUS_NAMESPACE");
        command
    }

    /// Runs a command on the laptop.
    pub fn run(&self, arguments: &[&str], environment: &[(&str, &str)]) -> (i32, String) {
        said(&self.command(arguments).envs(environment.iter().copied()).output().unwrap())
    }

    /// Deploys the robot's file.
    pub fn deploy(&self) -> (i32, String) {
        self.run(&["deploy", "robot.toml", "robot.local", "--no-follow"], &[])
    }

    /// Runs `horus robot` on the machine.
    pub fn robot(&self, arguments: &[&str]) -> (i32, String) {
        let root = self.root();
        let mut words = vec!["robot"];
        words.extend(arguments);
        words.extend(["--root", root.to_str().unwrap()]);
        words.extend(self.is_live.then_some("--live"));
        self.run(&words, &[])
    }

    /// The units of the machine, which runs.
    pub fn running(&self) -> Vec<String> {
        let states = fs::read_dir(self.path("states")).unwrap().map(|file| file.unwrap().path());
        let is_active = |path: &PathBuf| fs::read_to_string(path).unwrap().starts_with("active ");
        let name = |path: PathBuf| path.file_name().unwrap().to_str().unwrap().to_owned();
        let mut names: Vec<_> = states.filter(is_active).map(name).collect();
        names.sort();
        names
    }

    /// What was started, in order.
    pub fn starts(&self) -> Vec<String> {
        let file = |number: usize| fs::read_to_string(self.path(&format!("starts.{number}"))).ok();
        (0..).map_while(file).collect()
    }

    /// What a file holds, if it is there.
    pub fn text(&self, path: &Path) -> Option<String> {
        fs::read_to_string(path).ok()
    }
}

/// How a command ended, and all that it said.
pub fn said(output: &Output) -> (i32, String) {
    let said = [&output.stdout[..], &output.stderr].concat();
    (output.status.code().unwrap(), String::from_utf8(said).unwrap())
}
