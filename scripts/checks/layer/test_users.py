"""The users of sysusers.d, in the words of BitBake's extrausers."""

import importlib.util
import unittest

from horus_appliance.paths import CONF, REPOSITORY

# lib/horus/conf.py, which BitBake imports from the layer.
SPECIFICATION = importlib.util.spec_from_file_location("layer_conf", REPOSITORY / "meta-horus/lib/horus/conf.py")
layer_conf = importlib.util.module_from_spec(SPECIFICATION)
SPECIFICATION.loader.exec_module(layer_conf)


class Users(unittest.TestCase):
    def test_every_file_of_conf_is_understood(self):
        files = list(CONF.glob("*/rootfs/usr/lib/sysusers.d/*.conf"))
        self.assertTrue(files)
        for path in files:
            self.assertTrue(layer_conf.user_commands(path.read_text()), path)

    def test_a_member_joins_a_group_that_is_made_where_it_is_missing(self):
        commands = layer_conf.user_commands('# a comment\nu horus - "HORUS nodes" /var/lib/horus\nm horus gpio\n')
        self.assertEqual(
            commands,
            [
                "useradd --system --user-group --no-create-home --shell /sbin/nologin --comment 'HORUS nodes' --home-dir /var/lib/horus horus;",
                "groupadd --system gpio;",
                "usermod --append --groups gpio horus;",
            ],
        )

    def test_what_is_not_understood_is_refused_by_its_line(self):
        for line in ("u horus 77 - /", "r - 500-900", "g gpio"):
            with self.assertRaisesRegex(ValueError, line):
                layer_conf.user_commands(line)
