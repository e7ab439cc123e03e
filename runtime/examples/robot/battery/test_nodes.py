"""The battery in virtual time: python3 -m unittest"""

import unittest

import horus
from horus.messages import BatteryState, Odometry

from main import Swap, Swapped, nodes


class Battery(unittest.TestCase):
    def test_it_is_drained_by_driving_and_swapped_when_asked(self):
        told = []

        def both(app):
            nodes(app)
            client, asked = app.client(Swap, Swapped, "battery.swap"), []

            @app.node(period="1 s")
            def asks(cycle):
                if cycle.number == 30:
                    asked.append(client.ask(Swap(0.5)))
                elif asked and not told and (swapped := asked[0].try_answer()) is not None:
                    told.append(swapped.before)

        world = horus.World(both)
        odom = Odometry()
        odom.linear.x = 1.0
        world.publish("odom", odom)
        world.run_for("20 s")
        drained = world.last(BatteryState, "battery").level
        self.assertTrue(0.98 < drained < 1.0, drained)
        world.run_for("20 s")
        self.assertTrue(0.97 < told[0] < drained, told)
        self.assertLess(world.last(BatteryState, "battery").level, 0.5)


if __name__ == "__main__":
    unittest.main()
