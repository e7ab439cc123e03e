"""Topics of values: what they carry beyond numbers, texts, lists and dicts, and what any other reader of MessagePack has of it."""

import collections
import dataclasses
import enum
import fractions
import unittest
from datetime import datetime, timedelta, timezone

import horus
import msgpack
import numpy
from horus import _horus
from horus.messages import CmdVel, Imu
from support import TopicsCase


class Colour(enum.Enum):
    RED = "red"


@dataclasses.dataclass
class Place:
    x: float
    names: tuple


def there_and_back(value):
    return _horus.decode_value(_horus.encode_value(value))


class Values(TopicsCase):
    def test_what_has_a_form_in_messagepack_comes_back_in_that_form(self):
        trip = [Place(1.0, ("a", "b")), CmdVel(0.5, 0.25)]
        for value, back in (
            ((1, (2,)), [1, [2]]), ({3}, [3]), (frozenset(("x",)), ["x"]), (range(3), [0, 1, 2]), (collections.deque([1, None]), [1, None]), ({1: 2}.keys(), [1]),
            (Colour.RED, "red"), (enum.IntEnum("Number", {"ONE": 1}).ONE, 1), (bytearray(b"ab"), b"ab"), (memoryview(b"abcd")[::2], b"ac"),
            (trip, [{"x": 1.0, "names": ["a", "b"]}, CmdVel(0.5, 0.25).asdict()]), (collections.OrderedDict(a=1), {"a": 1}),
            (collections.ChainMap({"a": 1}), {"a": 1}), (fractions.Fraction(1, 2), 0.5), (numpy.bool_(True), True), (numpy.float32(0.5), 0.5),
            (numpy.float64(0.1), 0.1), (numpy.uint64(2**64 - 1), 2**64 - 1), (numpy.str_("t"), "t"),
        ):  # fmt: skip
            with self.subTest(value=value):
                data = _horus.encode_value(value)
                self.assertEqual((_horus.decode_value(data), msgpack.unpackb(data, strict_map_key=False)), (back, back))

    def test_times_are_those_of_messagepack(self):
        zone = timezone(timedelta(hours=-5))
        for time in (
            datetime(1970, 1, 1, tzinfo=timezone.utc), datetime(2026, 11, 24, 7, 5, 3, tzinfo=zone), datetime(2026, 11, 24, 7, 5, 3, 999999, zone),
            datetime(1, 1, 1, 1, tzinfo=timezone.utc), datetime(1969, 12, 31, 23, 59, 59, 1, timezone.utc), datetime.max.replace(tzinfo=timezone.utc),
        ):  # fmt: skip
            data = _horus.encode_value(time)
            self.assertEqual((there_and_back(time), msgpack.unpackb(data, timestamp=3)), (time, time))
            self.assertEqual(data, msgpack.packb(time, datetime=True))
        for no_time in (b"\xd7\xff" + b"\xff" * 8, b"\xd4\xff\0", b"\xc7\x0c\xff" + b"\0" * 4 + b"\x7f" * 8):
            with self.assertRaisesRegex(horus.HorusError, "no value of MessagePack: a time"):
                _horus.decode_value(no_time)

    def test_arrays_keep_their_type_and_shape(self):
        for array in (
            numpy.arange(6, dtype=">i4").reshape(2, 3), numpy.eye(3)[::2, ::-1], numpy.array(7, numpy.uint8), numpy.zeros((0, 4), numpy.float16),
            numpy.array([1 + 2j]), numpy.array([True, False]), numpy.arange(300, dtype=numpy.uint8), numpy.arange(70000, dtype=numpy.int64),
        ):  # fmt: skip
            back = there_and_back({"a": array})["a"]
            self.assertEqual((back.dtype, back.shape), (array.dtype, array.shape))
            numpy.testing.assert_array_equal(back, array)
            back[...] = 0  # it is the receiver's own
        received = there_and_back(Imu(orientation_covariance=range(9)))
        self.assertEqual(received["orientation_covariance"].tolist(), [float(k) for k in range(9)])

    def test_another_reader_has_the_parts_of_an_array(self):
        code, data = msgpack.unpackb(_horus.encode_value(numpy.array([[1, 2]], "<u2")))
        self.assertEqual((code, msgpack.unpackb(data)), (1, ["<u2", [1, 2], b"\1\0\2\0"]))
        sent = msgpack.packb({"a": msgpack.ExtType(1, msgpack.packb(["<u2", [2], b"\1\0\2\0"]))})
        self.assertEqual(_horus.decode_value(sent)["a"].tolist(), [1, 2])

    def test_without_numpy_an_array_is_a_view_of_its_bytes(self):
        data = _horus.encode_value(numpy.array([[1.5, 2.5]]))
        code, said, complained = self.run_program(f"""
            import sys
            sys.modules["numpy"] = None
            import horus, array
            from horus import _horus
            view = _horus.decode_value({data!r})
            print(view.tolist(), view.shape, _horus.encode_value(array.array("d", [1.5, 2.5])).endswith(bytes(view)))
            try:
                _horus.decode_value(_horus.encode_value(memoryview(b"")[0:0].cast("d")))
            except horus.HorusError as error:
                print(error)
        """)
        self.assertEqual((code, complained), (0, ""))
        self.assertEqual(said.splitlines()[0], "[[1.5, 2.5]] (1, 2) True")
        self.assertIn("install numpy to read it", said)

    def test_what_has_no_form_is_told(self):
        class Tensor:
            def __array__(self, dtype=None, copy=None):
                return numpy.array([object()])

        endless = Place(1.0, ())
        endless.names = endless
        for value, error, words in (
            (datetime(2026, 1, 1), ValueError, r"has no time zone.*datetime.now\(timezone.utc\)"), (numpy.array(["x"]), TypeError, "array of '1w' cannot be sent"),
            (numpy.array([object()]), TypeError, "array of 'O'"), (Tensor(), TypeError, "array of 'O'"), (numpy.complex64(1), TypeError, "complex64 cannot be sent"),
            (numpy.array(["2026-01-01"], "M8[s]"), TypeError, "array cannot be sent"), (numpy.zeros(1, [("a", "f8")]), TypeError, "array of 'T"),
            (endless, ValueError, "contains itself"), (1j, TypeError, "complex.*cannot be sent"), (Place, TypeError, "cannot be sent"), (object(), TypeError, "a dataclass"),
        ):  # fmt: skip
            with self.subTest(value=value), self.assertRaisesRegex(error, words):
                _horus.encode_value({"a": value})

    def test_an_array_that_a_peer_made_wrong_is_refused(self):
        for parts in (
            5, [], ["<f8", [1]], ["<f8", [2], bytes(8)], ["<O8", [1], bytes(8)], ["<f8", [-1, -1], bytes(8)], ["<f8", [True], bytes(8)], ["", [1], b""],
            [b"<f8", [1], bytes(8)], ["<f8", [1] * 33, bytes(8)], ["<f8", [2**60, 2**60], bytes(8)], ["<f8", [msgpack.ExtType(1, b"")], bytes(8)],
        ):  # fmt: skip
            with self.subTest(parts=parts), self.assertRaisesRegex(horus.HorusError, "no value of MessagePack"):
                _horus.decode_value(msgpack.packb(msgpack.ExtType(1, msgpack.packb(parts))))
        nested = b""
        for _ in range(2000):
            nested = msgpack.packb(msgpack.ExtType(1, nested))
        with self.assertRaisesRegex(horus.HorusError, "inside of another"):
            _horus.decode_value(nested)
        with self.assertRaisesRegex(horus.HorusError, "an extension of type 7, which none of HORUS has"):
            _horus.decode_value(msgpack.packb(msgpack.ExtType(7, b"")))


if __name__ == "__main__":
    unittest.main()
