"""The battery: how full it is, four times a second, and a service that swaps it for a full one.

Python, because nothing here is in a hurry. What must hold a deadline is in Rust or C++.
"""

import horus
from horus.messages import BatteryState, Odometry

CAPACITY = 2.0  # Ah
CELLS = 6
FULL_VOLTS, EMPTY_VOLTS = 4.2, 3.3  # of a cell
AT_REST, FOR_A_METRE_A_SECOND = 0.4, 3.0  # A
PERIOD_S = 0.25  # odom holds the 12 messages that come meanwhile


@horus.message("robot/Swap")
class Swap(horus.Message):
    """Asks for another battery."""

    level: horus.f64 = 1.0  # how full it is, 0 to 1


@horus.message("robot/Swapped")
class Swapped(horus.Message):
    """The battery was swapped."""

    before: horus.f64 = 0.0  # how full the old one was, 0 to 1


class Battery:
    """What is left of the charge, and who asks for another battery. Both are looked at in one step, so nothing needs a lock."""

    def __init__(self, app):
        self.odom, self.states = app.input(Odometry, "odom"), app.output(BatteryState, "battery")
        self.requests = app.server(Swap, Swapped, "battery.swap")
        self.level = 1.0

    def swap(self, request):
        before, self.level = self.level, min(1.0, max(0.0, request.level))
        return Swapped(before)

    def step(self, cycle):
        while self.requests.serve(self.swap):
            pass
        odom = self.odom.latest()
        amperes = AT_REST + FOR_A_METRE_A_SECOND * abs(odom.linear.x if odom is not None else 0.0)
        self.level = max(0.0, self.level - amperes * PERIOD_S / 3600 / CAPACITY)
        volts = CELLS * (EMPTY_VOLTS + self.level * (FULL_VOLTS - EMPTY_VOLTS))
        charge = self.level * CAPACITY
        self.states.set(BatteryState(stamp_ns=cycle.release_ns, voltage=volts, current=-amperes, charge=charge, capacity=CAPACITY, level=self.level))


def nodes(app):
    # A service that is asked once a day is not stale.
    app.node("battery", period=PERIOD_S, on_miss="count", stale_after={"battery.swap": "86400 s"})(Battery(app))


if __name__ == "__main__":
    app = horus.App("robot-battery")
    nodes(app)
    app.run()
