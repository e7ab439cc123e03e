"""One member of a ring of programs in several languages, which pass the same messages on: ring.py pass IN OUT COUNT, hold TOPIC, changed TOPIC."""

import sys

import horus


@horus.message("example/Token")
class Token:
    number: horus.u64
    value: horus.f64
    small: horus.array(horus.i16, 3)
    hops: horus.u8
    spare: horus.array(horus.u8, 1)


@horus.message("example/Token")
class ChangedToken:
    number: horus.u64
    worth: horus.f64
    small: horus.array(horus.i16, 3)
    hops: horus.u8
    spare: horus.array(horus.u8, 1)


def wrong_field(token, k):
    """The first field that is not what message k has; None when all are."""
    expected = {"number": k, "value": k * 0.5, "small": [k % 1000, -(k % 1000), 7], "spare": [0x5A]}
    return next((name for name, value in expected.items() if getattr(token, name) != value), None)


def pass_on(source, target, count):
    tokens, onwards = horus.Subscriber(Token, source, reliable=64), horus.Publisher(Token, target, reliable=64)
    print("ready", flush=True)
    for k in range(count):
        token = tokens.recv()
        if field := wrong_field(token, k):
            print(f"message {k}: the field {field} is {getattr(token, field)}", flush=True)
            return 1
        token.hops += 1
        onwards.send(token)
    return 0


def hold(topic):
    with horus.Publisher(Token, topic, reliable=64):
        print("ready", flush=True)
        sys.stdin.read()
    return 0


def changed(topic):
    try:
        horus.Subscriber(ChangedToken, topic, reliable=64)
    except horus.HorusError as error:
        print(error, flush=True)
        return 3
    return 0


if __name__ == "__main__":
    what, *rest = sys.argv[1:]
    sys.exit({"pass": lambda: pass_on(rest[0], rest[1], int(rest[2])), "hold": lambda: hold(rest[0]), "changed": lambda: changed(rest[0])}[what]())
