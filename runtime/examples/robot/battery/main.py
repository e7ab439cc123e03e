"""The battery: how full it is, four times a second, and a service that swaps it for a full one.

Python, because nothing here is in a hurry. What must hold a deadline is in Rust or C++.
"""

import threading

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
    """What is left of the charge. A step of the node and the thread of the service use it; both only for a moment."""

    def __init__(self):
        self.level = 1.0
        self.lock = threading.Lock()

    def drain(self, amperes):
        with self.lock:
            self.level = max(0.0, self.level - amperes * PERIOD_S / 3600 / CAPACITY)
            return self.level

    def swap(self, request):
        with self.lock:
            before, self.level = self.level, min(1.0, max(0.0, request.level))
        return Swapped(before)


def nodes(app, battery):
    odom, states = app.input(Odometry, "odom"), app.output(BatteryState, "battery")

    @app.node("battery", period=PERIOD_S, on_miss="count")
    def step(cycle):
        moving = odom.latest()
        amperes = AT_REST + FOR_A_METRE_A_SECOND * abs(moving.linear.x if moving is not None else 0.0)
        level = battery.drain(amperes)
        volts = CELLS * (EMPTY_VOLTS + level * (FULL_VOLTS - EMPTY_VOLTS))
        states.set(BatteryState(stamp_ns=cycle.release_ns, voltage=volts, current=-amperes, charge=level * CAPACITY, capacity=CAPACITY, level=level))


def serve(server, battery):
    while True:
        server.serve(battery.swap, "1 s")


if __name__ == "__main__":
    battery = Battery()
    app = horus.App("robot-battery")
    nodes(app, battery)
    server = horus.Server(Swap, Swapped, "battery.swap")
    # The node's thread has a deadline, so the service has a thread of its own. It ends with the program.
    threading.Thread(target=serve, args=(server, battery), daemon=True).start()
    app.run()
