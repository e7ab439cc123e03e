"""A ROS 2 service through rclpy, from process to process: ros2_service.py CALLS SECONDS prints the nanoseconds of each round trip.

The server is this script once more. Both ends sleep in rclpy's executor, as its users' do. A fifth of the calls comes before the first that is printed.
"""

import subprocess
import sys
import time

import rclpy
from rcl_interfaces.srv import GetParameterTypes

NAME = "horus_benchmark"
PATIENCE_SECONDS = 20


def serve() -> None:
    rclpy.init()
    node = rclpy.create_node("horus_benchmark_server")

    def answer(request, response):
        response.types = [len(request.names)]
        return response

    node.create_service(GetParameterTypes, NAME, answer)
    rclpy.spin(node)


def ask(calls: int, seconds: float) -> None:
    rclpy.init()
    node = rclpy.create_node("horus_benchmark_client")
    client = node.create_client(GetParameterTypes, NAME)
    if not client.wait_for_service(PATIENCE_SECONDS):
        sys.exit("the server does not start")
    request = GetParameterTypes.Request(names=[])
    times, ends = [], time.monotonic() + seconds
    for _ in range(calls):
        began = time.monotonic_ns()
        future = client.call_async(request)
        rclpy.spin_until_future_complete(node, future, timeout_sec=PATIENCE_SECONDS)
        times.append(time.monotonic_ns() - began)
        if not future.done() or list(future.result().types) != [0]:
            sys.exit("a call has no answer, or a wrong one")
        if time.monotonic() > ends:
            break
    for nanoseconds in times[len(times) // 5 :]:
        print(nanoseconds)


def main() -> None:
    if sys.argv[1] == "serve":
        serve()
        return
    with subprocess.Popen([sys.executable, __file__, "serve"]) as server:
        try:
            ask(int(sys.argv[1]), float(sys.argv[2]))
        finally:
            server.kill()


main()
