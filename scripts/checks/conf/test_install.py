"""conf/install installs what image.toml says, and both recipes leave the installing to it."""

import re
import subprocess

from horus_appliance.image import overlay
from horus_appliance.in_directory import InDirectory
from horus_appliance.paths import CONF, REPOSITORY

import horus_conf


class Installer(InDirectory):
    def run_installer(self, *arguments: str, status: int = 0) -> str:
        """What the installer says."""
        done = subprocess.run([CONF / "install", "--destdir", self.root / "root", *arguments], capture_output=True, text=True, check=False)
        self.assertEqual(done.returncode, status, done.stderr)
        return done.stderr

    def install(self, *arguments: str) -> dict:
        """The files below a new root, with their modes, after the installer ran."""
        self.run_installer(*arguments)
        root = self.root / "root"
        return {str(path.relative_to(root)): path.stat().st_mode & 0o777 for path in root.rglob("*") if path.is_file()}

    def test_each_variant_is_its_trees_file_by_file(self):
        for variant, trees in horus_conf.variants().items():
            self.root = self.root / variant
            wanted = {path: source for tree in trees for path, source in horus_conf.tree_files(tree).items()}
            found = self.install(*trees)
            self.assertEqual(set(found), set(wanted))
            for path, source in wanted.items():
                self.assertEqual((self.root / "root" / path).read_bytes(), source.read_bytes())
            self.assertEqual("usr/lib/sysctl.d/60-horus-rt.conf" in found, "rt" in trees)
            self.assertIn("usr/lib/horus/audit/kernel.toml", found)

    def test_modes_do_not_depend_on_the_umask_of_the_clone_or_of_the_caller(self):
        found = self.install("base", "rt")
        self.assertEqual((found["usr/lib/systemd/system/var.mount"], found["usr/lib/horus/tune-cpus"]), (0o644, 0o755))
        self.assertEqual({path.stat().st_mode & 0o777 for path in (self.root / "root").rglob("*") if path.is_dir()}, {0o755})

    def test_a_board_brings_its_own_files_or_none(self):
        self.assertIn("usr/lib/systemd/system/horus-jetson-clocks.service", self.install("machine/jetson-orin-nano"))
        self.root = self.root / "other"
        self.assertEqual(self.install("machine/raspberrypi4"), {})

    def test_programs_come_from_cargos_directory_and_a_missing_one_is_named_with_the_command_that_builds_it(self):
        for program in horus_conf.programs():
            self.write(f"release/{program.name}", program.name).chmod(0o700)
        found = self.install("--programs", str(self.root / "release"))
        self.assertEqual(found, {program.path: 0o755 for program in horus_conf.programs()})
        self.assertEqual((self.root / "root/usr/bin/horus").read_text(), "horus")
        self.assertIn("cargo build --release --package horus-cli", self.run_installer("--programs", str(self.root / "nothing"), status=2))

    def test_the_python_module_goes_where_its_python_looks_with_what_cargo_compiled(self):
        self.write("release/lib_horus.so", "compiled")
        found = self.install("--module", str(self.root / "release"), "--site", "usr/lib/python3/dist-packages")
        self.assertLessEqual({"__init__.py", "_horus.abi3.so", "messages.py", "py.typed"}, {path.removeprefix("usr/lib/python3/dist-packages/horus/") for path in found})
        self.assertEqual(set(found.values()), {0o644})
        self.assertIn("cargo build --release --package horus-python", self.run_installer("--module", str(self.root), "--site", "site", status=2))
        self.assertIn("go together", self.run_installer("--site", "site", status=2))

    def test_the_bridge_comes_from_a_workspace_of_its_own_which_is_named_where_it_is_missing(self):
        self.write("release/horus-bridge", "bridge").chmod(0o700)
        self.assertEqual(self.install("--bridge", str(self.root / "release")), {"usr/bin/horus-bridge": 0o755})
        said = self.run_installer("--bridge", str(self.root / "nothing"), status=2)
        self.assertRegex(said, "cargo build --release, in .*runtime/bridge")

    def test_a_tree_that_is_not_there_is_refused(self):
        self.assertIn("machine/toaster", self.run_installer("machine/toaster", status=2))


class Recipes(InDirectory):
    """No recipe installs a file of conf/ or a program of the runtime by itself."""

    def test_the_layers_recipes_call_the_installer_and_install_nothing_else(self):
        installers = {"libhorus": "runtime/bindings/c/package/install --prefix ${D}${prefix} "}
        for recipe in ("horus/horus", "horus/libhorus", "horus/python3-horus", "horus-bridge/horus-bridge", "horus-board/horus-board", "horus-conf/horus-conf"):
            text = (REPOSITORY / f"meta-horus/recipes-horus/{recipe}.bb").read_text()
            lines = re.search(r"^do_install\(\) \{\n(.*?)^\}", text, re.MULTILINE | re.DOTALL)[1].strip().splitlines()
            self.assertEqual(len(lines), 1, lines)
            installer = installers.get(recipe.partition("/")[2], "conf/install --destdir ${D} ")
            self.assertTrue(lines[0].startswith("${S}/" + installer), lines[0])

    def test_the_debian_recipe_calls_it(self):
        with open(overlay.__file__) as file:
            self.assertIn('CONF / "install"', file.read())
