"""The one program of a script that makes no App of its own: named as the script."""

import sys
from pathlib import Path

from horus._app import App

_program = None


def program():
    """The script's App."""
    global _program
    if _program is None:
        _program = App(Path(sys.argv[0] or "python").stem or "python")
    return _program


def input(carries, topic, **options):
    """As App.input, of the script's program."""
    return program().input(carries, topic, **options)


def output(carries, topic, **options):
    """As App.output, of the script's program."""
    return program().output(carries, topic, **options)


def node(name=None, **options):
    """As App.node, of the script's program."""
    return program().node(name, **options)


def service(requests, answers, service, **options):
    """As App.service, of the script's program."""
    return program().service(requests, answers, service, **options)


def server(requests, answers, service, **options):
    """As App.server, of the script's program."""
    return program().server(requests, answers, service, **options)


def client(requests, answers, service, **options):
    """As App.client, of the script's program."""
    return program().client(requests, answers, service, **options)


def action(goals, feedbacks, results, action, **options):
    """As App.action, of the script's program."""
    return program().action(goals, feedbacks, results, action, **options)


def action_client(goals, feedbacks, results, action, **options):
    """As App.action_client, of the script's program."""
    return program().action_client(goals, feedbacks, results, action, **options)


def run():
    """As App.run, of the script's program."""
    program().run()
