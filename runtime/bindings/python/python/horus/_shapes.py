"""Methods of messages that are more than their fields: images, clouds, commands."""

from horus import _horus

ENCODINGS = ("mono8", "mono16", "rgb8", "bgr8", "rgba8", "bgra8", "depth16", "depth32", "yuyv", "nv12", "jpeg")
IMAGE_FIELDS = ("stamp_ns", "width", "height", "stride", "encoding_code", "length", "camera", "data")


def methods(text):
    """The methods of a message of this layout."""
    name, fields = text.split(None, 2)[1], [line.split(None, 1)[0] for line in text.splitlines()[1:]]
    if fields == list(IMAGE_FIELDS):
        return {"begin": begin, "encoding": property(encoding)}
    if name == "horus/CmdVel":
        return {"stop": classmethod(stop)}
    return {}


def stop(cls):
    """Neither forward nor a turn."""
    return cls()


def begin(self, width, height, encoding="rgb8"):
    """Describes a picture whose rows follow each other without gap, and gives its pixels as a NumPy array, to be written."""
    if encoding not in ENCODINGS or encoding == "jpeg":
        raise ValueError(f"the encoding is one of {', '.join(ENCODINGS[:-1])}, and not {encoding}")
    _horus.begin_image(self, width, height, ENCODINGS.index(encoding) + 1)
    return self.to_numpy()


def encoding(self):
    """The name of the encoding; None for a code that means nothing."""
    code = self.encoding_code
    return ENCODINGS[code - 1] if 1 <= code <= len(ENCODINGS) else None
