//! The units of a robot say what its file says, and systemd has nothing against them.

use std::fs;
use std::path::Path;
use std::process::Command;

use crate::machine::Machine;

const ROBOT: &str = r#"
version = "0.2.0"

[programs.sim]
run = "sim"
restart = "always"
ready_within = "1500 ms"

[programs.nav]
run = "nav.sh"
after = ["sim"]
restart = "no"
namespace = "lab"
rename = { odom = "wheels.odom", cmd = "base.cmd" }
args = ["--map", "a \"b\" c", "$HOME", "50%", ";", "C:\\maps", ""]
env = { LEVEL = "2 %n", QUOTE = "say \"it\"" }

[programs.lights]
run = "nav.sh"
after = ["nav"]
ready = "start"

[groups]
drive = ["nav"]
"#;

fn generated() -> Machine {
    let machine = Machine::new();
    machine.script("nav.sh", "");
    machine.program("laptop/sim/sim", "#!/bin/sh\n");
    fs::write(
        machine.path("laptop/sim/node.toml"),
        "program = \"sim\"\nnetwork = true\ndevices = [\"/dev/ttyACM0\"]\n",
    )
    .unwrap();
    machine.file(ROBOT);
    let (status, said) = machine.deploy();
    assert_eq!(status, 0, "{said}");
    let (root, units) = (machine.root(), machine.path("units"));
    let words = ["node", "generate", units.to_str().unwrap(), "--root", root.to_str().unwrap()];
    assert_eq!(machine.run(&words, &[]), (0, String::new()));
    machine
}

/// The lines of a program's unit.
fn lines(machine: &Machine, name: &str) -> Vec<String> {
    let file = machine.path(&format!("units/horus-node@{name}.service.d/50-robot.conf"));
    fs::read_to_string(file).unwrap().lines().map(str::to_owned).collect()
}

#[test]
fn each_program_is_a_service_each_group_a_target_and_so_is_all_of_it() {
    let machine = generated();
    let place = machine.current().display().to_string();
    let has = |name: &str, line: &str| {
        let lines = lines(&machine, name);
        assert!(lines.iter().any(|found| found == line), "{line}\n{}", lines.join("\n"));
    };
    for line in [
        "Description=HORUS robot 0.2.0, program nav",
        "PartOf=horus-robot.target",
        "PartOf=horus-robot@drive.target",
        "After=horus-node@sim.service",
        "Type=notify",
        "ExecStart=",
        &format!(
            "ExecStart={place}/programs/nav/nav.sh \"--map\" \"a \\\"b\\\" c\" \"$$HOME\" \"50%%\" \";\" \"C:\\\\maps\" \"\""
        ),
        "Environment=",
        "Environment=\"LEVEL=2 %%n\"",
        "Environment=\"QUOTE=say \\\"it\\\"\"",
        "Environment=\"HORUS_NAMESPACE=lab\"",
        "Environment=\"HORUS_RENAME=cmd=base.cmd,odom=wheels.odom\"",
        &format!("WorkingDirectory={place}/programs/nav"),
        "WatchdogSec=0",
        "Restart=no",
        "RestartMode=direct",
    ] {
        has("nav", line);
    }
    for line in [
        "Restart=always",
        "TimeoutStartSec=1500ms",
        "DeviceAllow=/dev/ttyACM0 rw",
        "PrivateNetwork=no",
        &format!("Environment=\"HORUS_NODE_FILE={place}/programs/sim/node.toml\""),
    ] {
        has("sim", line);
    }
    // The order is also that of ends, and nav may have ended by then.
    has("lights", "After=horus-node@nav.service");
    has("lights", "After=horus-node@sim.service");
    for name in ["nav", "lights"] {
        let wants = lines(&machine, name).into_iter().find(|line| line.starts_with("Wants="));
        assert_eq!(wants, None, "a start of {name} by its rule would start what a person stopped");
    }
    // Where the file says nothing, a program of the machine is started again.
    has("lights", "Restart=on-failure");
    has("lights", "Type=exec");
    assert!(
        !lines(&machine, "sim").iter().any(|line| line.starts_with("WatchdogSec")),
        "a program of nodes is watched"
    );
    let group = fs::read_to_string(machine.path("units/horus-robot@drive.target")).unwrap();
    assert!(group.contains("Wants=horus-node@nav.service\nWants=horus-node@sim.service\n"), "{group}");
    let whole = fs::read_to_string(machine.path("units/horus-robot.target.d/50-robot.conf")).unwrap();
    assert_eq!(whole.matches("Wants=").count(), 3, "{whole}");
}

#[test]
fn systemd_has_nothing_against_them() {
    if Command::new("systemd-analyze").arg("--version").output().is_err() {
        println!("not tried: there is no systemd-analyze; `apt install systemd` brings it");
        return;
    }
    let machine = generated();
    let own = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../conf/horus/rootfs/usr/lib/systemd/system");
    let path = format!("{}:{}:/usr/lib/systemd/system", machine.path("units").display(), own.display());
    let names = ["sim", "nav", "lights"].map(|name| format!("horus-node@{name}.service"));
    let verified = |more: &str| {
        let mut command = Command::new("systemd-analyze");
        command.args(["verify", "--man=no", "--recursive-errors=no", "horus-robot.target", "horus-robot@drive.target"]);
        let output = command.args(&names).env("SYSTEMD_UNIT_PATH", &path).output().unwrap();
        let said = String::from_utf8(output.stderr).unwrap();
        // A systemd before 254 does not know it, and says that it goes on without.
        let of_ours = |line: &&str| line.contains("horus-") && line.contains(more) && !line.contains("RestartMode");
        said.lines().filter(of_ours).map(str::to_owned).collect::<Vec<_>>()
    };
    assert_eq!(verified(""), [""; 0]);
    // It would have told.
    let file = machine.path("units/horus-node@nav.service.d/50-robot.conf");
    let text = fs::read_to_string(&file).unwrap();
    fs::write(&file, text.replace("Restart=no", "Restrat=no")).unwrap();
    assert_eq!(verified("Restrat").len(), 1);
}

#[test]
fn a_robot_that_makes_no_sense_has_no_units_and_the_boot_and_the_command_say_why() {
    let machine = generated();
    let file = machine.current().join("robot.toml");
    fs::write(&file, "[programs.nav]\nrun = \"programs/nav/nav.sh\"\nafter = [\"nav\"]\n").unwrap();
    let (root, units) = (machine.root(), machine.path("none"));
    let root = root.to_str().unwrap();
    assert_eq!(machine.run(&["node", "generate", units.to_str().unwrap(), "--root", root], &[]).0, 0);
    assert!(!units.exists());
    let (status, said) = machine.run(&["node", "settle", "--root", root], &[]);
    assert!(status == 0 && said.contains("the robot does not start: ") && said.contains("nav -> nav"), "{said}");
    let (status, said) = machine.robot(&["list"]);
    assert!(status == 0 && said.contains("installed, and it does not start: "), "{said}");
}
