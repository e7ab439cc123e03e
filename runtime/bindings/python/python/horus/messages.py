"""The messages of the field: velocities, poses, IMU, scans, clouds, images. Each says its units: help(horus.messages.Imu)."""

from horus import _horus, _shapes
from horus._message import from_layout
from horus._texts import TEXTS

__all__ = []

for _text in _horus.field_messages():
    _about, _fields = TEXTS[_text.split(None, 2)[1].removeprefix("horus/")]
    _doc = "\n".join((_about, "", *(f"{line.split()[0]}: {_fields[line.split()[0]]}" for line in _text.split("\nmessage ")[0].splitlines()[1:])))
    _class = from_layout(_text, module=__name__, namespace={**_shapes.methods(_text), "__doc__": _doc})
    globals()[_class.__name__] = _class
    __all__.append(_class.__name__)
