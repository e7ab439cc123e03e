"""The messages of the field: velocities, poses, IMU, scans, clouds, images. docs/topics.md has their units."""

from horus import _horus, _shapes
from horus._message import from_layout

__all__ = []

for _text in _horus.field_messages():
    _class = from_layout(_text, module=__name__, namespace=_shapes.methods(_text))
    globals()[_class.__name__] = _class
    __all__.append(_class.__name__)
