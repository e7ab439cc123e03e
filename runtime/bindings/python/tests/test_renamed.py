"""Keyword arguments that have another name now."""

import unittest

import horus
from horus.messages import CmdVel
from support import TopicsCase

OF_NODES = {"min_gap": "min_inter_arrival", "policy": "scheduling_policy", "silence": "stale_after"}
OF_TOPICS = {"waiting": "wait_strategy"}


class Renamed(TopicsCase):
    def test_each_old_name_is_refused_and_the_new_one_is_named(self):
        for old, new in OF_NODES.items():
            with self.subTest(old=old), self.assertRaisesRegex(TypeError, f"^{old} is called {new}$"):
                horus.App("program", []).node("a", **{old: "1 ms"})(lambda cycle: None)
        for old, new in OF_TOPICS.items():
            for end in (horus.Publisher, horus.Subscriber):
                with self.subTest(old=old, end=end), self.assertRaisesRegex(TypeError, f"^{old} is called {new}$"):
                    end(CmdVel, "a", **{old: "spin"})


if __name__ == "__main__":
    unittest.main()
