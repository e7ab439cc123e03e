"""What all classes of messages have, and how they are made: of the text of a layout, or of a class with fields."""

import sys
import typing
from typing import Annotated, Any

from horus import _horus

# What a field of a class can be. For a type checker they are a float and integers.
f32 = Annotated[float, "f32"]
f64 = Annotated[float, "f64"]
u8, u16, u32, u64, u128 = (Annotated[int, name] for name in ("u8", "u16", "u32", "u64", "u128"))
i8, i16, i32, i64, i128 = (Annotated[int, name] for name in ("i8", "i16", "i32", "i64", "i128"))
PLAIN = {float: "f64", int: "i64"}
# What a class has by itself, and a class of messages has its own of.
OWN = {"__annotations__", "__dict__", "__weakref__", "__slots__", "__match_args__"}


def _has_these_methods(cls):
    """Gives the methods of a class to the one that the module made. Objects of a class that Python makes would each be looked at by its garbage collector."""
    for name, value in vars(cls).items():
        if name not in ("__dict__", "__weakref__"):
            setattr(_horus.Message, name, value)
    return _horus.Message


@_has_these_methods
class Message:
    """A message: its fields are attributes, by keyword or in their order when it is made, and zero otherwise."""

    __slots__ = ()

    @classmethod
    def from_bytes(cls, data):
        """The message of these bytes. Raises HorusError when they are not as many as it has."""
        return _horus.message_from_bytes(cls, data)

    @classmethod
    def layout(cls):
        """The text of the layout, as other languages have it."""
        return _horus.layout_text(cls)

    @classmethod
    def layout_hash(cls):
        """The hash of the layout, 64 bits: programs whose hashes differ mean other fields."""
        return _horus.layout_facts(cls)[0]

    @classmethod
    def dtype(cls):
        """NumPy's structured type of such a message."""
        import numpy

        return numpy.dtype(_horus.numpy_dtype(cls))

    def asdict(self):
        """The fields as a dict; messages inside as dicts, arrays as lists."""
        return {name: _plain(getattr(self, name)) for name in self.__match_args__}

    def __bytes__(self):
        return _horus.message_bytes(self)

    def __repr__(self):
        fields = ", ".join(f"{name}={_short(getattr(self, name))}" for name in self.__match_args__)
        return f"{type(self).__name__}({fields})"

    def __len__(self):
        return len(self.__match_args__)

    def __getitem__(self, index):
        names = self.__match_args__[index]
        return getattr(self, names) if isinstance(names, str) else tuple(getattr(self, name) for name in names)

    def __setitem__(self, index, value):
        setattr(self, self.__match_args__[index], value)

    def __iter__(self):
        return (getattr(self, name) for name in self.__match_args__)

    def __copy__(self):
        return _horus.message_from_bytes(type(self), bytes(self))

    def __deepcopy__(self, memo):
        return self.__copy__()

    def __reduce__(self):
        return _horus.message_from_bytes, (type(self), bytes(self))

    def __enter__(self):
        return self

    def __exit__(self, *_error):
        _horus.release(self)


def _plain(value):
    if isinstance(value, Message):
        return value.asdict()
    if isinstance(value, _horus.Array):
        return [_plain(item) for item in value]
    return value


def _short(value):
    """Enough of a value for people: an image has a million bytes."""
    if isinstance(value, _horus.Array) and len(value) > 16:
        return "[" + ", ".join(_short(item) for item in value[:4]) + f", ... {len(value)} in all]"
    return repr(value)


def from_layout(text, *, module=None, namespace=None):
    """A class of messages of the text of a layout: `message package/Name`, then `field type` on a line each. Raises HorusError for what is none."""
    words = text.split(None, 2)
    name = words[1].rsplit("/", 1)[-1] if len(words) > 1 else "Message"
    given = {"__module__": module or sys._getframe(1).f_globals.get("__name__", "__main__"), **(namespace or {})}
    given["TYPE_NAME"] = words[1] if len(words) > 1 else ""
    return _horus.make_class(text, name, given)


def message(type_name):
    """
    Makes a class of messages of a class with annotated fields: horus.f64, horus.array(horus.i16, 3), or another class of messages. The name, such as
    "package/Name", is what all programs know the message by. Raises TypeError for a field that is none.
    """
    if not isinstance(type_name, str):
        raise TypeError('write @horus.message("package/Name"): the name is what all programs know the message by')

    def make(cls):
        _may_be_dataclass(cls)
        hints = {name: _declared(cls, name, of) for name, of in typing.get_type_hints(cls, include_extras=True).items() if not _is_class_variable(of)}
        inner = {}
        lines = [f"message {type_name}", *(f" {name} {_type_text(cls, name, of, inner)}" for name, of in hints.items())]
        made = from_layout("\n".join(lines + list(inner.values())), module=cls.__module__, namespace=_kept(cls, hints))
        made.__name__, made.__qualname__ = cls.__name__, cls.__qualname__
        template = made.__new__(made, **_defaults(cls, hints))  # without an `__init__` of its own
        if any(bytes(template)):
            _horus.set_template(made, template)
        return made

    return make


def array(of, length):
    """What a field of `length` of the same is: ticks: horus.Array[int] = horus.array(horus.i16, 4)."""
    return Annotated[_horus.Array, of, length]


def _may_be_dataclass(cls):
    """A message keeps what a dataclass has, but for what a message cannot have."""
    params = cls.__dict__.get("__dataclass_params__")
    for option in ("frozen", "unsafe_hash"):
        if getattr(params, option, False):
            raise TypeError(f"{cls.__name__} cannot be a message: a message's fields can be written, so it has no hash. Leave {option}=True out of its dataclass")


def _is_class_variable(of):
    return of is typing.ClassVar or typing.get_origin(of) is typing.ClassVar


def _declared(cls, name, of):
    """What a field is: for an array it is said by its default."""
    default = cls.__dict__.get(name)
    if _is_slot(default):
        default = cls.__dict__["__dataclass_fields__"][name].default if "__dataclass_fields__" in cls.__dict__ else None
    return default if _is_array(default) else of


def _is_array(of):
    return typing.get_origin(of) is Annotated and typing.get_args(of)[0] is _horus.Array


def _kept(cls, hints):
    """What of a class is not a field: its methods and constants."""
    kept = {name: value for name, value in cls.__dict__.items() if name not in hints and name not in OWN}
    if "__dataclass_fields__" in kept:
        # A message is made of its fields before, as any other is. What has a field is no key.
        kept = {name: value for name, value in kept.items() if name != "__init__" and (name, value) != ("__hash__", None)}
        if (after := getattr(cls, "__post_init__", None)) is not None:
            kept |= {"__post_init__": after, "__init__": lambda self, *_given, **_named: self.__post_init__()}
    return kept


def _defaults(cls, hints):
    """What fields begin with, where that is said."""
    found = {name: cls.__dict__[name] for name in hints if name in cls.__dict__ and not _is_slot(cls.__dict__[name])}
    for name, field in cls.__dict__.get("__dataclass_fields__", {}).items():
        if callable(field.default_factory):
            found[name] = field.default_factory()
        elif type(field.default) is not type(field.default_factory) and name in hints:
            found[name] = field.default  # of a dataclass with slots, it is not in the class
    return {name: value for name, value in found.items() if not _is_array(value)}


def _is_slot(value: Any) -> bool:
    return type(value).__name__ == "member_descriptor"


def _type_text(cls, name, of, inner):
    """A field's type as a layout writes it; `inner` gets the texts of messages inside."""
    if isinstance(of, type) and issubclass(of, Message):
        for section in ("\nmessage " + of.layout().removeprefix("message ")).split("\nmessage ")[1:]:
            inner.setdefault(section.split(None, 1)[0], f"message {section}")
        return of.TYPE_NAME
    if typing.get_origin(of) is Annotated:
        base, *said = typing.get_args(of)
        if len(said) == 2:
            return f"[{_type_text(cls, name, said[0], inner)}; {said[1]}]"
        if len(said) == 1 and isinstance(said[0], str):
            return said[0]
        of = base
    if of in PLAIN:
        return PLAIN[of]
    if _horus.Array in (of, typing.get_origin(of)):
        raise TypeError(f"the field {name} of {cls.__name__} does not say how long it is: write {name}: horus.Array[int] = horus.array(horus.i16, 4)")
    remedy = {bool: "horus.u8 for it: 0 and 1", str: "horus.array(horus.u8, 32), which takes a text", list: "horus.array(horus.f64, 8)"}.get(
        of, "a number such as horus.f64, horus.array(horus.i16, 3), or a class of messages"
    )
    raise TypeError(f"the field {name} of {cls.__name__} cannot be {getattr(of, '__name__', of)}: write {remedy}")
