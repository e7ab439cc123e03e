"""A program of nodes, with the decorator that makes a node of a function."""

from horus import _horus, _params


class App:
    """A program of nodes. Its settings are those of `node.toml`, and it understands the options of every program of nodes: --describe, --releases N, --strict."""

    __slots__ = ("_inner",)

    def __init__(self, name, arguments=None):
        self._inner = _horus.App(name, arguments)

    @property
    def name(self):
        """The program's name."""
        return self._inner.name

    def input(self, carries, topic, **options):
        """
        An input of the next node, for messages of a class, bytes or dicts, with the options of docs/python.md. The topic need not be there yet. Raises
        HorusError when others mean another message by it.
        """
        return self._inner.input(carries, topic, **options)

    def output(self, carries, topic, **options):
        """An output of the next node: of a `latest` topic that holds 16 messages, unless the options say otherwise. Raises HorusError as `input` does."""
        return self._inner.output(carries, topic, **options)

    def param(self, name, default, **options):
        """
        A parameter of the next node, whose step reads its `value`: a bool, an int, a float or a str, with `unit`, `range=(least, greatest)`, `about` and
        `read_only`. Other programs set it while this one runs.
        """
        return self._inner.param(name, default, **options)

    def params(self, declared):
        """
        Parameters of the next node, one for each attribute of the class `declared` that has a default. Gives an object of the class whose attributes a step
        reads: all of one cycle are of one set.
        """
        return _params.declare(self._inner, declared)

    def param_group(self, group):
        """Has the members of a group alone set the parameters, if `node.toml` names no other one; who may use the program's topics may read them."""
        self._inner.param_group(str(group))

    def node(self, name=None, *, safe_state=None, **options):
        """
        Makes a node of the function below, or of an object with a `step` and perhaps a `safe_state`; its name is the function's. The options have the
        names of `node.toml`. Times are seconds, or a text such as "800 us". A wrong option raises TypeError or ValueError.
        """

        def add(work):
            step = getattr(work, "step", work)
            safe = safe_state if safe_state is not None else getattr(work, "safe_state", None)
            self._inner.add(name or getattr(work, "__name__", type(work).__name__.lower()), step, safe, options)
            return work

        return add

    def service(self, requests, answers, service, *, shared=False, group=None, clients=None, **options):
        """
        Makes a node of the function below, which serves a service and has its name: it is called with each request, in a cycle that the request releases.
        What it returns is the answer, and what a generator yields are its parts; None says that there is no answer. The options are those of `node`.
        Inputs and outputs that were opened before remain those of the next node. Raises HorusError when another server lives, unless all say `shared`.
        """

        def add(handler):
            self._inner.add_service(requests, answers, service, handler, _of_service(shared, group, clients), options)
            return handler

        return add

    def server(self, requests, answers, service, *, shared=False, group=None, clients=None):
        """
        The answering end of a service, for the next node, which serves it among its other work: `on=` with the service's name releases it by requests.
        Raises HorusError as `service` does.
        """
        return self._inner.server(requests, answers, service, **_of_service(shared, group, clients))

    def client(self, requests, answers, service, *, shared=False, group=None):
        """
        The asking end of a service, for the steps of the next node: one asks, and a later one looks. A server that is killed is told within about 0.3 s.
        Raises HorusError when others mean other messages by the service.
        """
        return self._inner.client(requests, answers, service, **_of_service(shared, group))

    def action(
        self, goals, feedbacks, results, action, *, preemption="refuse", at_once=1, client_gone="cancel", accept=None, cancel=None, group=None
    ):
        """
        The end of an action that works on goals, for the next node, whose steps call its `goal` or `drive`. The options are those of ActionServer. Raises
        HorusError when another server lives.
        """
        given = {} if group is None else {"group": group}
        return self._inner.action(goals, feedbacks, results, action, preemption, at_once, client_gone, accept, cancel, given)

    def action_client(self, goals, feedbacks, results, action, *, group=None):
        """
        The end of an action that sends goals, for the steps of the next node: one sends, and later ones look. Raises HorusError when others mean other
        messages by the action.
        """
        return self._inner.action_client(goals, feedbacks, results, action, {} if group is None else {"group": group})

    def chain(self, nodes, *, end_to_end):
        """Names nodes that hand data on to each other, the first one first; a graph that may take longer than `end_to_end` seconds is refused."""
        self._inner.chain(list(nodes), end_to_end)

    def releases(self, releases):
        """Ends the program after so many releases of each node."""
        self._inner.releases(releases)

    def grace(self, grace):
        """
        Has a second SIGTERM or Ctrl-C within this time of the first one change nothing: seconds, or a text such as "500 ms"; 1 s if neither this nor
        `node.toml` says otherwise.
        """
        self._inner.grace(grace)

    def strict(self):
        """Does not start unless the system grants everything that a node asks for."""
        self._inner.strict()

    def run(self):
        """
        Runs the nodes until SIGTERM or Ctrl-C, until they have used up their releases, or until one of them ends the program, and prints their accounts.
        Raises what a step raised, and HorusError when the nodes are refused.
        """
        self._inner.run()

    def _run_in_place(self, releases):
        self._inner.run_in_place(releases)


def _of_service(shared, group, clients=None):
    said = {"shared": shared, "group": group, "clients": clients}
    return {name: value for name, value in said.items() if value is not None}


def in_virtual_time(inner):
    """The app that a world lends to the function that declares its nodes."""
    app = App.__new__(App)
    app._inner = inner
    return app
