"""Reading recipes and kas files as BitBake and kas do, in the environment of yocto/tools."""

import shutil
from unittest import mock

from checks.layer import bb_reader, kas_files, parse
from checks.layer.bb_reader import LAYER, Layer, ParseFailed
from horus_appliance.in_directory import InDirectory

MAIN = """header: {version: 14}
machine: genericx86-64
repos:
  horus: {layers: {meta-horus: }}
  bitbake: {url: "https://git.openembedded.org/bitbake", branch: "2.18"}
"""
LOCK = "header: {version: 14}\noverrides: {repos: {bitbake: {commit: " + "a" * 40 + "}}}\n"


class KasFiles(InDirectory):
    def said_of(self, main: str = MAIN, lock: str = LOCK, fragment: str = "") -> str:
        self.write("kas.yml", main)
        self.write("kas.lock.yml", lock)
        if fragment:
            self.write("meta-horus/kas/board.yml", fragment)
        return "\n".join(kas_files.problems(self.root))

    def test_sound_files_pass(self):
        self.assertEqual(self.said_of(), "")

    def test_what_kas_would_refuse_is_named(self):
        with self.assertLogs(level="ERROR") as logged:
            self.assertIn("kas.yml", self.said_of(MAIN.replace("machine:", "machines:")))
            self.assertIn("not valid YAML: Error in line 6", self.said_of(MAIN + "  - x"))
            self.assertIn("kas.yml", self.said_of("text"))
        self.assertIn("'machines' was unexpected", "\n".join(logged.output))

    def test_a_repository_of_a_fragment_that_is_not_pinned_is_named_with_the_command(self):
        fragment = "header: {version: 14}\nrepos: {meta-x: {url: 'https://example.org/x', branch: main}}\n"
        self.assertIn("'meta-x' of meta-horus/kas/board.yml is not pinned. Run: kas lock --update kas.yml:", self.said_of(fragment=fragment))

    def test_a_short_commit_and_one_that_nobody_names(self):
        self.assertIn("which is no commit", self.said_of(lock=LOCK.replace("a" * 40, "a" * 39)))
        self.assertIn("'old' is in no kas file", self.said_of(lock=LOCK.replace("{bitbake", "{old: {commit: " + "b" * 40 + "}, bitbake")))

    def test_a_commit_beside_the_lock_a_missing_lock_and_a_missing_include(self):
        self.assertIn("the one place for it", self.said_of(MAIN.replace('branch: "2.18"', f"commit: {'a' * 40}")))
        self.assertIn("includes 'kas/none.yml'", self.said_of(MAIN.replace("{version: 14}", "{version: 14, includes: [kas/none.yml]}")))
        (self.root / "kas.lock.yml").unlink()
        self.assertIn("kas.lock.yml:", "\n".join(kas_files.problems(self.root)))


class Recipes(InDirectory):
    """A copy of the layer in which one thing is wrong."""

    def setUp(self):
        super().setUp()
        self.layer = Layer("genericx86-64")

    def said_of(self, text: str) -> str:
        path = self.write("recipes-x/x/x_1.0.bb", text)
        (path.parent / "files").mkdir(exist_ok=True)
        (path.parent / "files" / "there").write_text("text\n")
        try:
            return "\n".join(parse.problems_of(self.layer.recipe(path), path))
        except ParseFailed as error:
            return str(error)

    def test_a_sound_recipe_passes(self):
        text = 'LICENSE = "MIT"\nLIC_FILES_CHKSUM = "file://there;md5=e1cbb0c3879af8347246f12c559a86b5"\nSRC_URI = "file://there"\ninherit allarch\n'
        self.assertEqual(self.said_of(text), "")
        self.assertIn("Did the licence change", self.said_of(text.replace("md5=e1", "md5=e2")))

    def test_a_line_that_is_none_is_named_with_its_number(self):
        said = self.said_of('LICENSE = "MIT"\nthis is no line\n')
        self.assertIn("x_1.0.bb:2", said)

    def test_a_class_that_is_not_known_and_a_function_that_fails(self):
        self.assertIn("sytemd", self.said_of('LICENSE = "MIT"\ninherit sytemd\n'))
        self.assertIn("x_1.0.bb", self.said_of('LICENSE = "MIT"\npython () {\n    d.nothing()\n}\n'))

    def test_a_file_that_is_nowhere_and_no_licence(self):
        self.assertIn("file://gone is nowhere", self.said_of('LICENSE = "MIT"\nSRC_URI = "file://gone"\n'))
        self.assertIn("LICENSE is ''", self.said_of('SUMMARY = "x"\n'))
        self.assertIn("without LIC_FILES_CHKSUM", self.said_of('LICENSE = "MIT"\nSRC_URI = "file://there"\n'))

    def test_a_download_without_a_checksum(self):
        for address, said in (("crate://crates.io/a/1.0", "has no sha256sum"), ("https://example.org/a.tar.gz", "from elsewhere")):
            self.assertIn(said, self.said_of(f'LICENSE = "MIT"\nSRC_URI = "{address}"\n'))

    def test_a_link_out_of_a_folder_that_is_copied_alone(self):
        folder = self.root / "recipes-x/x/files/folder"
        folder.mkdir(parents=True)
        (folder / "link").symlink_to("../there")
        self.assertIn("a link that leads out", self.said_of('LICENSE = "MIT"\nSRC_URI = "file://folder"\n'))

    def test_an_unknown_board_is_an_error_that_says_what_to_do(self):
        with self.assertRaisesRegex(ParseFailed, "HORUS does not know the machine 'no-such-board'"):
            layer = Layer("no-such-board")
            with bb_reader.refusals(LAYER):
                layer.data.getVar("HORUS_COMMAND_LINE")

    def test_a_recipe_that_is_skipped_is_no_recipe_that_passes(self):
        text = 'LICENSE = "MIT"\npython () {\n    raise bb.parse.SkipRecipe("not here")\n}\n'
        self.assertIn("is left out: not here", self.said_of(text))

    def test_a_mistake_in_the_distribution_is_found(self):
        copy = self.root / "meta-horus"
        shutil.copytree(LAYER, copy)
        with (copy / "conf/distro/horus.conf").open("a") as file:
            file.write("\nrequire conf/distro/include/no-such-file.inc\n")
        with mock.patch.object(bb_reader, "LAYER", copy), self.assertRaisesRegex(ParseFailed, "no-such-file.inc"):
            Layer("genericx86-64")

    def test_a_command_line_that_is_not_that_of_conf_is_found_on_every_kind_of_board(self):
        for machine, setting in (
            ("genericx86-64", 'UKI_CMDLINE:forcevariable = "surprise"'), ("raspberrypi5", 'HORUS_COMMAND_LINE:forcevariable = "surprise"'),
            ("jetson-orin-nano-devkit", 'KERNEL_ARGS:append = " surprise"'),
        ):  # fmt: skip
            self.assertEqual(parse.command_line_problems(Layer(machine)), [])
            self.assertIn("surprise", parse.command_line_problems(Layer(machine, setting))[0])
