"""Classes of messages: fields, equality, copies, and those that a program makes itself."""

import copy
import dataclasses
import pickle
import subprocess
import sys
import unittest
from pathlib import Path
from typing import Annotated

import horus
from horus.messages import CmdVel, Imu, JointState, Pose3D, Vector3
from support import TESTS


@horus.message("example/Wheel")
class Wheel:
    """A wheel."""

    speed: horus.f64 = 1.5
    counts: horus.array(horus.i16, 3)
    code: horus.u8
    spare: horus.array(horus.u8, 1)

    def doubled(self):
        return 2 * self.speed


class Vectors(unittest.TestCase):
    def test_layouts_have_the_hashes_that_every_language_has(self):
        blocks = (TESTS.parent.parent / "layout-vectors.txt").read_text().split("\n\n")
        count = 0
        for block in blocks:
            lines = [line for line in block.splitlines() if line and not line.startswith("#")]
            if not lines:
                continue
            _, wanted, _, size, _, align = lines[0].split()
            made = horus.from_layout("\n".join(lines[1:]))
            self.assertEqual(f"{made.layout_hash():016x}", wanted, lines[1])
            self.assertEqual(len(bytes(made())), int(size), lines[1])
            count += 1
        self.assertGreater(count, 20)


class Fields(unittest.TestCase):
    def test_fields_are_zero_until_they_are_set_by_keyword_or_order(self):
        self.assertEqual(CmdVel(), CmdVel(0.0, 0.0))
        self.assertEqual(CmdVel(0.5, turn=-1), CmdVel(forward=0.5, turn=-1.0))
        self.assertEqual(repr(CmdVel(0.5)), "CmdVel(forward=0.5, turn=0.0)")

    def test_a_write_to_a_message_inside_changes_the_message(self):
        imu = Imu()
        imu.angular_velocity.y = 1.0
        imu.orientation_covariance[8] = 4
        self.assertEqual((imu.angular_velocity[1], imu.orientation_covariance[-1]), (1.0, 4.0))
        inside = imu.angular_velocity
        del imu
        inside.x = 3.0
        self.assertEqual(inside, Vector3(3.0, 1.0, 0.0))

    def test_a_message_inside_is_set_by_a_message_a_sequence_or_a_dict(self):
        pose = Pose3D(position=Vector3(1, 2, 3), orientation={"w": 1.0})
        pose.position = (4, 5, 6)
        self.assertEqual((pose.position.z, pose.orientation.w), (6.0, 1.0))
        self.assertEqual(pose.asdict()["position"], {"x": 4.0, "y": 5.0, "z": 6.0})

    def test_equality_is_that_of_numbers(self):
        self.assertNotEqual(CmdVel(float("nan")), CmdVel(float("nan")))
        self.assertEqual(CmdVel(0.0), CmdVel(-0.0))
        self.assertNotEqual(CmdVel(1), CmdVel(2))
        self.assertNotEqual(CmdVel(), Vector3())

    def test_a_copy_and_a_pickle_are_equal_and_of_their_own(self):
        imu = Imu(stamp_ns=7, angular_velocity=(1, 2, 3))
        for made in (copy.copy(imu), copy.deepcopy(imu), pickle.loads(pickle.dumps(imu)), Imu.from_bytes(bytes(imu))):
            self.assertEqual(made, imu)
            made.stamp_ns = 8
            self.assertEqual(imu.stamp_ns, 7)

    def test_numbers_keep_their_bits(self):
        made = horus.from_layout("message test/Wide\n a u128\n b i128\n c u64\n d i64\n e f32\n f u32\n spare [u8; 8]")
        message = made(a=2**128 - 1, b=-(2**127), c=2**64 - 1, d=-(2**63), e=0.5, f=2**32 - 1)
        self.assertEqual(list(message)[:6], [2**128 - 1, -(2**127), 2**64 - 1, -(2**63), 0.5, 2**32 - 1])

    def test_text_is_padded_with_zero_bytes(self):
        made = horus.from_layout("message test/Named\n name [u8; 8]")
        self.assertEqual(made(name="left").name.tobytes(), b"left\0\0\0\0")
        with self.assertRaisesRegex(ValueError, "name of test/Named: 9 bytes do not fit"):
            made(name="too long!")

    def test_arrays_of_arrays_and_of_messages_are_views(self):
        made = horus.from_layout("message test/Path\n matrix [[f32; 2]; 3]\n steps [test/Step; 2]\nmessage test/Step\n x f64")
        path = made(matrix=[[1, 2], [3, 4], [5, 6]])
        path.steps[1].x = 9
        path.matrix[0][1] = 7
        self.assertEqual(path.matrix.tolist(), [[1.0, 7.0], [3.0, 4.0], [5.0, 6.0]])
        self.assertEqual(path.steps[1].x, 9.0)
        self.assertEqual(memoryview(path.matrix).shape, (3, 2))

    def test_messages_match_patterns(self):
        match CmdVel(0.5, 0.25):
            case CmdVel(forward, turn):
                self.assertEqual((forward, turn), (0.5, 0.25))

    def test_arrays_are_sequences(self):
        wheel = Wheel(counts=[1, 2, 3])
        wheel.counts[0:2] = (8, 9)
        self.assertEqual((list(wheel.counts), wheel.counts[1:], len(wheel.counts), 9 in wheel.counts), ([8, 9, 3], [9, 3], 3, True))
        self.assertEqual(len(JointState().position), 16)


class Own(unittest.TestCase):
    def test_a_class_with_fields_becomes_a_message_with_its_defaults_and_methods(self):
        self.assertEqual(Wheel.layout(), "message example/Wheel\n speed f64\n counts [i16; 3]\n code u8\n spare [u8; 1]")
        self.assertEqual((Wheel().speed, Wheel(speed=2).doubled(), Wheel.__doc__), (1.5, 4.0, "A wheel."))
        self.assertEqual(pickle.loads(pickle.dumps(Wheel(code=3))), Wheel(code=3))

    def test_a_dataclass_becomes_a_message(self):
        @horus.message("example/Pair")
        @dataclasses.dataclass
        class Pair:
            left: float = 0.5
            right: float = 0.0
            at: Vector3 = dataclasses.field(default_factory=lambda: Vector3(1, 2, 3))
            many: Annotated[horus.Array, horus.u32, 2] = (1, 2)

        self.assertEqual(Pair().asdict(), {"left": 0.5, "right": 0.0, "at": {"x": 1.0, "y": 2.0, "z": 3.0}, "many": [1, 2]})
        self.assertIn("at horus/Vector3\n many [u32; 2]\nmessage horus/Vector3\n x f64", Pair.layout())

    def test_the_same_layout_is_the_same_message(self):
        other = horus.from_layout(Wheel.layout())
        self.assertEqual(other(speed=3), Wheel(speed=3))


class Refused(unittest.TestCase):
    def test_what_a_field_cannot_be_is_told_with_its_name_and_what_to_write(self):
        for of, words in ((bool, "horus.u8"), (str, "takes a text"), (list, "horus.array"), (complex, "a number such as horus.f64")):
            with self.assertRaisesRegex(TypeError, f"the field odd of Odd cannot be {of.__name__}.*{words}"):
                horus.message("example/Odd")(type("Odd", (), {"__annotations__": {"odd": of}}))

    def test_padding_is_told_before_the_field_that_it_moves(self):
        padded = type("Padded", (), {"__annotations__": {"flag": horus.u8, "value": horus.u64}})
        with self.assertRaisesRegex(horus.HorusError, r"7 bytes before the field `value` belong to no field.*spare \[u8; 7\]"):
            horus.message("example/Padded")(padded)

    def test_values_that_do_not_fit_are_told_with_their_field(self):
        wheel = Wheel()
        for name, value, error, words in (
            ("counts", [70000, 0, 0], OverflowError, "the field counts of example/Wheel: 70000 does not fit into i16"),
            ("counts", [1, 2], ValueError, "2 elements, and \\[i16; 3\\] has 3"),
            ("counts", 5, TypeError, "takes a sequence"),
            ("code", -1, OverflowError, "-1 does not fit into u8"),
            ("code", 1.5, TypeError, "the field code of example/Wheel"),
            ("speed", "fast", TypeError, "the field speed of example/Wheel"),
        ):
            with self.subTest(name=name, value=value), self.assertRaisesRegex(error, words):
                setattr(wheel, name, value)
        self.assertEqual(wheel, Wheel(), "what is refused changes nothing")

    def test_misspelt_fields_are_errors(self):
        with self.assertRaisesRegex(TypeError, "horus/CmdVel has no field foward: it has forward, turn"):
            CmdVel(foward=1)
        with self.assertRaises(AttributeError):
            CmdVel().foward = 1
        with self.assertRaisesRegex(TypeError, "given twice"):
            CmdVel(1.0, forward=2.0)
        with self.assertRaisesRegex(TypeError, "2 fields, and not 3"):
            CmdVel(1, 2, 3)
        with self.assertRaises(TypeError):
            del CmdVel().forward

    def test_what_is_no_class_of_messages_says_what_to_do(self):
        with self.assertRaisesRegex(TypeError, "@horus.message"):
            horus.Message()
        with self.assertRaisesRegex(TypeError, "package/Name"):
            horus.message(Wheel)
        with self.assertRaisesRegex(horus.HorusError, "15 bytes are no horus/CmdVel, which has 16"):
            CmdVel.from_bytes(bytes(15))
        with self.assertRaisesRegex(horus.HorusError, "line 2 of the layout: `bool` is no number"):
            horus.from_layout("message a/B\n x bool")

    def test_a_message_has_no_hash(self):
        with self.assertRaises(TypeError):
            hash(CmdVel())

    def test_a_broken_float_raises_its_own_exception(self):
        class Broken:
            def __float__(self):
                raise KeyError("own")

        with self.assertRaises(KeyError):
            CmdVel(forward=Broken())


class Stubs(unittest.TestCase):
    def test_the_package_brings_its_messages(self):
        said = subprocess.run([sys.executable, "-c", "import horus; print(horus.messages.CmdVel(1))"], capture_output=True, text=True, check=True).stdout
        self.assertEqual(said, "CmdVel(forward=1.0, turn=0.0)\n")

    def test_the_stubs_of_the_messages_are_current(self):
        from horus import _stubs

        there = Path(horus.__file__).with_name("messages.pyi").read_text()
        self.assertEqual(there, _stubs.of_field_messages(), "write it anew: python3 -m horus._stubs > python/horus/messages.pyi")

    def test_each_message_says_what_it_is_and_in_which_units_its_fields_are(self):
        from horus import _documented

        self.assertIn("forward: Speed forward, metres per second along the body's x axis; negative is backward.", CmdVel.__doc__)
        for name in horus.messages.__all__:
            told = dict(line.split(": ", 1) for line in getattr(horus.messages, name).__doc__.split("\n\n", 1)[1].splitlines())
            self.assertEqual(list(told), list(getattr(horus.messages, name).__match_args__))
        there = Path(horus.__file__).with_name("messages.pyi").read_text()
        self.assertEqual(_documented.documented("".join(f"class {name}: ...\n" for name in horus.messages.__all__), horus.messages)[1], [])
        self.assertIn("metres per second squared along the sensor's axes", there)

    def test_what_is_public_has_a_docstring_and_the_stub_has_the_same(self):
        from horus import _documented

        there = Path(horus.__file__).with_name("__init__.pyi").read_text()
        made, bare = _documented.documented(there, horus)
        self.assertEqual(bare, [], "each says what it does, in which units, and what it raises")
        self.assertEqual(there, made, "write it anew: python3 -m horus._documented python/horus/__init__.pyi")

    def test_a_docstring_that_is_missing_or_another_one_is_found(self):
        from horus import _documented

        planted = 'class App:\n    """Another."""\n    def run(self) -> None: ...\n    def forgotten(self) -> None: ...\nclass Strange: ...\n'
        made, bare = _documented.documented(planted, horus)
        self.assertEqual(bare, ["App.forgotten", "Strange"])
        self.assertIn(horus.App.__doc__.split(".")[0], made)
        self.assertNotIn("Another", made)


if __name__ == "__main__":
    unittest.main()
