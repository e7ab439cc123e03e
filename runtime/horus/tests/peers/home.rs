//! Where a peer lives: in which namespaces.

use std::path::Path;
use std::process::{Command, Stdio};

/// Where a peer lives.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Home {
    /// Where its parent lives.
    Here,
    /// In a PID namespace with a `/proc` of its own, as in a container.
    Pids,
    /// In a PID and a user namespace.
    Users,
    /// In a time namespace whose boot was a day earlier, and by whose clock messages are stamped.
    Time,
    /// In a mount namespace without `/proc`.
    WithoutProc,
}

impl Home {
    /// All but here.
    pub const ELSEWHERE: [Self; 4] = [Self::Pids, Self::Users, Self::Time, Self::WithoutProc];

    /// The command that runs `program` there; its arguments follow.
    ///
    /// The program is never process 1 of its namespace: that one cannot kill itself. When the command is killed, so is all
    /// that it started.
    pub fn command(self, program: &Path) -> Command {
        let mut unshare = Command::new("unshare");
        if !rustix::process::geteuid().is_root() {
            unshare.arg("--map-root-user");
        }
        let script = match self {
            Self::Here => return Command::new(program),
            Self::Pids => {
                unshare.args(["--pid", "--fork", "--kill-child", "--mount-proc"]);
                r#""$@""#
            }
            Self::Users => {
                unshare.args(["--map-root-user", "--pid", "--fork", "--kill-child", "--mount-proc"]);
                r#""$@""#
            }
            Self::Time => {
                unshare.args(["--time", "--boottime", "86400", "--monotonic", "86400", "--fork", "--kill-child"]);
                r#""$@""#
            }
            Self::WithoutProc => {
                unshare.args(["--mount", "--fork", "--kill-child"]);
                r#"umount -l /proc && "$@""#
            }
        };
        // What follows the program's end keeps the shell from becoming the program.
        unshare.args(["sh", "-c", &format!("{script}; exit $?"), "sh"]).arg(program);
        unshare
    }

    /// Whether this machine lets this user make such namespaces; says so if not.
    pub fn is_possible(self) -> bool {
        let tried = self.command(Path::new("true")).stdout(Stdio::null()).stderr(Stdio::null()).status();
        let possible = tried.is_ok_and(|status| status.success());
        if !possible {
            println!("skipped {self:?}: this machine does not let this user make such a namespace");
        }
        possible
    }
}
