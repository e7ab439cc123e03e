"""A node of the real ROS 2 that does what its lines say, for the check of services, parameters and latched topics: python robot.py.

call SERVICE COUNT        asks with the tolerances 1 to COUNT, eight calls at a time; says how many answers were right
serve SERVICE [SECONDS]   answers as `robot serve` of the bridge's examples does, after so long
unserve SERVICE           takes it back
flood SERVICE COUNT       asks so often at once, waits for a second, and says how many answers came
gone SERVICE              waits until it has no server
light SERVICE             asks a std_srvs/SetBool
act ACTION                serves test_msgs/Fibonacci as `robot act` of the bridge's examples does, and rejects orders above 1000
drive ACTION ORDER [WHAT] sends such a goal; says what became of it; `cancel` cancels it after two feedbacks, `stay` says where it runs
unact ACTION              takes it back
parameters NODE           lists, gets, describes and sets parameters; says what it was told
latch TOPIC VALUE         publishes a map, transient local, once
late TOPIC VALUE [stay]   subscribes to a map, transient local, waits for this value, says the last one, and goes if it is not to stay

Each line but `serve`, `unserve`, `act`, `unact` and `latch`, which say `done`, is answered by `result` and JSON.
"""

import json
import sys
import threading
import time

import rclpy
from action_msgs.msg import GoalStatusArray
from nav_msgs.msg import OccupancyGrid, Path
from nav_msgs.srv import GetPlan
from rcl_interfaces.msg import ParameterEvent
from rclpy.action import ActionClient, ActionServer, CancelResponse, GoalResponse
from rclpy.callback_groups import ReentrantCallbackGroup
from rclpy.executors import MultiThreadedExecutor
from rclpy.parameter import Parameter
from rclpy.parameter_client import AsyncParameterClient
from rclpy.qos import DurabilityPolicy, QoSProfile, ReliabilityPolicy
from std_srvs.srv import SetBool
from test_msgs.action import Fibonacci

SIDE, AT_A_TIME, PATIENCE = 300, 8, 20
FIBONACCI = [0, 1]
while len(FIBONACCI) < 31:
    FIBONACCI.append(FIBONACCI[-1] + FIBONACCI[-2])
LATCHED = QoSProfile(depth=1, reliability=ReliabilityPolicy.RELIABLE, durability=DurabilityPolicy.TRANSIENT_LOCAL)


class Robot:
    def __init__(self):
        rclpy.init()
        self.node = rclpy.create_node("robot_of_ros")
        self.executor = MultiThreadedExecutor(4)
        self.executor.add_node(self.node)
        self.servers, self.publishers, self.clients, self.actions = {}, [], {}, {}
        threading.Thread(target=self.executor.spin, daemon=True).start()

    def client(self, type_, service: str):
        if service not in self.clients:
            self.clients[service] = self.node.create_client(type_, service)
            if not self.clients[service].wait_for_service(PATIENCE):
                raise SystemExit(f"no server of {service}")
        return self.clients[service]

    def call(self, service: str, count: str) -> dict:
        client, asked, right, number, end = self.client(GetPlan, service), [], 0, 0, time.monotonic() + PATIENCE
        while (number < int(count) or asked) and time.monotonic() < end:
            while number < int(count) and len(asked) < AT_A_TIME:
                number += 1
                asked.append((number, client.call_async(GetPlan.Request(tolerance=float(number)))))
            time.sleep(0.001)
            for one, future in [pair for pair in asked if pair[1].done()]:
                poses = future.result().plan.poses
                right += len(poses) == 1 and poses[0].pose.position.x == 2 * one
                asked.remove((one, future))
        return {"right": right, "unanswered": len(asked)}

    def flood(self, service: str, count: str) -> dict:
        client = self.client(GetPlan, service)
        futures = [client.call_async(GetPlan.Request(tolerance=1.0)) for _ in range(int(count))]
        time.sleep(1)
        answered = sum(future.done() for future in futures)
        for future in futures:
            client.remove_pending_request(future)
        return {"asked": len(futures), "answered": answered}

    def light(self, service: str) -> dict:
        future = self.client(SetBool, service).call_async(SetBool.Request(data=True))
        wait(future.done)
        return {"success": future.result().success, "message": future.result().message}

    def gone(self, service: str) -> dict:
        client = self.clients.pop(service)
        is_gone = wait(lambda: not client.service_is_ready())
        self.node.destroy_client(client)
        return {"gone": is_gone}

    def serve(self, service: str, seconds: str = "0") -> None:
        def answer(request, response):
            time.sleep(float(seconds))
            response.plan = Path()
            pose = response.plan.poses
            pose.append(type(request.start)())
            pose[0].pose.position.x = 2.0 * request.tolerance
            return response

        self.servers[service] = self.node.create_service(GetPlan, service, answer)

    def unserve(self, service: str) -> None:
        self.node.destroy_service(self.servers.pop(service))

    def act(self, action: str) -> None:
        def execute(goal):
            numbers, order = [0, 1], goal.request.order
            while order == 0 or order > 30 or len(numbers) <= order:
                if goal.is_cancel_requested:
                    goal.canceled()
                    return Fibonacci.Result(sequence=numbers)
                if order == 0:
                    goal.abort()
                    return Fibonacci.Result()
                if len(numbers) <= 30:
                    numbers.append(numbers[-1] + numbers[-2])
                goal.publish_feedback(Fibonacci.Feedback(sequence=numbers))
                time.sleep(0.02)
            goal.succeed()
            return Fibonacci.Result(sequence=numbers)

        self.servers[action] = ActionServer(
            self.node, Fibonacci, action, execute, callback_group=ReentrantCallbackGroup(), cancel_callback=lambda _: CancelResponse.ACCEPT,
            goal_callback=lambda goal: GoalResponse.REJECT if goal.order > 1000 else GoalResponse.ACCEPT,
        )  # fmt: skip

    def unact(self, action: str) -> None:
        self.servers.pop(action).destroy()

    def drive(self, action: str, order: str, what: str = "") -> dict:
        if action not in self.actions:
            self.actions[action] = ActionClient(self.node, Fibonacci, action)
            if not self.actions[action].wait_for_server(PATIENCE):
                raise SystemExit(f"no server of {action}")
        heard, states = [], {}

        def stand(array) -> None:
            states.update({bytes(one.goal_info.goal_id.uuid): one.status for one in array.status_list})

        status = self.node.create_subscription(GoalStatusArray, f"{action}/_action/status", stand, LATCHED)
        goal, hear = Fibonacci.Goal(order=int(order)), lambda message: heard.append(list(message.feedback.sequence))
        sent = self.actions[action].send_goal_async(goal, feedback_callback=hear)
        wait(sent.done)
        goal = sent.result()
        if not goal.accepted:
            return {"accepted": False}
        told, result = {"accepted": True}, goal.get_result_async()
        if what:
            wait(lambda: len(heard) > 1)
        if what == "cancel":
            asked = goal.cancel_goal_async()
            wait(asked.done)
            told["canceling"] = [bytes(one.goal_id.uuid) == bytes(goal.goal_id.uuid) for one in asked.result().goals_canceling]
        if what == "stay":
            print("runs", flush=True)
        wait(result.done)
        told["status"], told["sequence"] = result.result().status, list(result.result().result.sequence)
        told["heard"] = bool(heard) and all(one == FIBONACCI[: len(one)] for one in heard)
        told["seen"] = wait(lambda: states.get(bytes(goal.goal_id.uuid)) == told["status"]) or states.get(bytes(goal.goal_id.uuid))
        self.node.destroy_subscription(status)
        return told

    def parameters(self, name: str) -> dict:
        client, events = AsyncParameterClient(self.node, name), []
        subscription = self.node.create_subscription(ParameterEvent, "/parameter_events", lambda event: event.node == f"/{name}" and events.append(event), 10)
        told = {"there": client.wait_for_services(PATIENCE)}

        def asked(future):
            wait(future.done)
            return future.result()

        listed = asked(client.list_parameters()).result
        told["names"], told["prefixes"] = sorted(listed.names), sorted(listed.prefixes)
        told["within"] = sorted(asked(client.list_parameters(["spin"], 0)).result.names)
        names = ["drive.gain", "drive.mode", "spin.turns", "spin.armed", "no.such"]

        def values(them) -> list:
            return [None if value.type == 0 else rclpy.parameter.parameter_value_to_python(value) for value in asked(client.get_parameters(them)).values]

        told["values"] = values(names)
        told["types"] = list(asked(client.get_parameter_types(names)).types)
        gain, turns, model = asked(client.describe_parameters(["drive.gain", "spin.turns", "spin.model"])).descriptors
        told["gain"] = [gain.description, gain.additional_constraints, gain.read_only, [[one.from_value, one.to_value] for one in gain.floating_point_range]]
        told["turns"] = [[one.from_value, one.to_value] for one in turns.integer_range]
        told["model"] = model.read_only

        def changes(**all_) -> list:
            return [Parameter(key.replace("__", "."), value=value) for key, value in all_.items()]

        def said(results) -> list:
            return [[result.successful, result.reason] for result in results]

        told["set"] = said(asked(client.set_parameters(changes(drive__gain=1.5, spin__turns=99, spin__armed=True))).results)
        told["refused together"] = said([asked(client.set_parameters_atomically(changes(drive__gain=2.5, drive__mode="fast", spin__turns=-1))).result])
        told["after that"] = values(names)
        told["together"] = said([asked(client.set_parameters_atomically(changes(drive__gain=3.5, drive__mode="fast"))).result])
        told["at last"] = values(names)
        told["no list"] = said(asked(client.set_parameters(changes(drive__gain=[1.0, 2.0]))).results)
        wait(lambda: any(change.name == "drive.mode" for event in events for change in event.changed_parameters))
        told["events"] = sorted({change.name for event in events for change in event.changed_parameters})
        self.node.destroy_subscription(subscription)
        return told

    def latch(self, topic: str, value: str) -> None:
        grid = OccupancyGrid(data=[int(value)] * SIDE**2)
        grid.info.width = grid.info.height = SIDE
        publisher = self.node.create_publisher(OccupancyGrid, topic, LATCHED)
        publisher.publish(grid)
        self.publishers.append(publisher)

    def late(self, topic: str, value: str, what: str = "") -> dict:
        got = []
        subscription = self.node.create_subscription(OccupancyGrid, topic, got.append, LATCHED)
        # Those of the last seconds come before the newest.
        wait(lambda: got and got[-1].data[0] == int(value))
        if what != "stay":
            self.node.destroy_subscription(subscription)
        return {"value": got[-1].data[0] if got and len(set(got[-1].data)) == 1 else None, "width": got[-1].info.width if got else None}


def wait(is_so) -> bool:
    end = time.monotonic() + PATIENCE
    while not is_so() and time.monotonic() < end:
        time.sleep(0.01)
    return bool(is_so())


def main() -> None:
    robot = Robot()
    print("ready", flush=True)
    for line in sys.stdin:
        verb, *words = line.split()
        result = getattr(robot, verb)(*words)
        print("done" if result is None else f"result {json.dumps(result)}", flush=True)


main()
