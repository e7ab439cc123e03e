"""Parameters: declared as the attributes of a class, and those of other programs."""

from horus import _horus

NAMES = {"unit", "range", "about", "read_only"}


class _Declared:
    """A default with what is said of it."""

    __slots__ = ("default", "options")

    def __init__(self, default, options):
        self.default, self.options = default, options


def param(default, *, unit="", range=None, about="", read_only=False):
    """
    The default of a parameter in a class for `App.params`, with its unit, the least and the greatest value, and a sentence without its end. A read-only
    one changes at the program's start alone.
    """
    return _Declared(default, {"unit": unit, "range": range, "about": about, "read_only": read_only})


def declare(inner, cls):
    """An object of `cls` whose attributes are parameters of the next node."""
    handles = {}
    for name in _names(cls):
        said = getattr(cls, name)
        default, options = (said.default, said.options) if isinstance(said, _Declared) else (said, {})
        handles[name] = inner.param(name, default, **options)
    if not handles:
        raise TypeError(f"{cls.__name__} has no parameters: give it attributes with defaults, such as gain = 0.8")
    # A property of the class reads the handle, so that an attribute costs what a call of one costs.
    made = {name: property(lambda _self, handle=handle: handle.value, _refuse(name)) for name, handle in handles.items()}
    made["__slots__"] = ()
    made["__doc__"] = cls.__doc__
    return object.__new__(type(cls.__name__, (cls,), made))


def _names(cls):
    """Attributes that are neither methods nor private, those of base classes first, each once."""
    names = {}
    for base in reversed(cls.__mro__[:-1]):
        for name, value in vars(base).items():
            if not name.startswith("_") and (isinstance(value, (_Declared, bool, int, float, str))):
                names[name] = None
        for name in getattr(base, "__annotations__", {}):
            if not name.startswith("_") and not hasattr(cls, name):
                raise TypeError(f"parameter {name} of {cls.__name__} has no default: write {name} = 0.8, or {name} = horus.param(0.8, unit=...)")
    return list(names)


def _refuse(name):
    def refuse(_self, _value):
        raise AttributeError(f"a step reads parameter {name}: others set it, by `horus param set` or horus.params(...)")

    return refuse


def params(name):
    """The parameters of a program that runs, "nav", or of one of its nodes, "nav/drive". Raises HorusError when there are none."""
    return Params(name)


class Params:
    """
    The parameters of a program that runs, or of one of its nodes. `params.gain` is a value, `params.gain = 1.2` sets it, and the methods do the rest. What
    is refused raises HorusError, and changes nothing.
    """

    __slots__ = ("_inner",)

    def __init__(self, name):
        object.__setattr__(self, "_inner", _horus.Params(name))

    def list(self):
        """All of them at one moment."""
        return self._inner.list()

    def get(self, name):
        """One of them, with what it may be and where its value came from: "gain", or "drive.gain" where several nodes have it."""
        return self._inner.get(name)

    def set(self, values=None, **named):
        """Sets several, all of them or none: `set(gain=1.2, turn=3)`, or `set({"drive.gain": 1.2})`."""
        self._inner.set({**(values or {}), **named})

    def watch(self):
        """Changes from now on, as they come: an iterator that ends when the program ends."""
        return self._inner.watch()

    def save(self, *names):
        """Has the program save these, so that it begins with them when it starts again; without names those that were set. Says in which file."""
        return self._inner.save(list(names))

    def load(self, *names):
        """Has the program set these to what is saved, without names all; all of them or none. Says of which file."""
        return self._inner.load(list(names))

    def forget(self, *names):
        """Has the program drop what is saved of these, without names all; their values stay until it ends. Says of which file."""
        return self._inner.forget(list(names))

    def __getattr__(self, name):
        if name.startswith("_"):
            raise AttributeError(name)
        return self._inner.get(name).value

    def __setattr__(self, name, value):
        self._inner.set({name: value})
