"""Classes of messages that are dataclasses, and those whose arrays are said by their defaults, as type checkers read them."""

import copy
import dataclasses
import pickle
import unittest
from typing import ClassVar

import horus
from horus.messages import Pose2D
from support import TopicsCase


@horus.message("test/Arm")
@dataclasses.dataclass(order=True)
class Arm(horus.Message):
    LONGEST: ClassVar[float] = 2.0
    reach: horus.f64 = 0.5
    joints: horus.Array[int] = horus.array(horus.i16, 4)
    at: Pose2D = dataclasses.field(default_factory=lambda: Pose2D(x=1.0))

    def __post_init__(self):
        self.reach = min(self.reach, self.LONGEST)


@horus.message("test/Slotted")
@dataclasses.dataclass(slots=True)
class Slotted:
    number: horus.i32 = 7
    list: horus.Array[int] = horus.array(horus.u8, 4)

    def __hash__(self):
        return self.number


class Dataclasses(TopicsCase):
    def test_a_dataclass_stays_one(self):
        self.assertTrue(dataclasses.is_dataclass(Arm))
        self.assertEqual([field.name for field in dataclasses.fields(Arm)], ["reach", "joints", "at"])
        arm = dataclasses.replace(Arm(joints=[1, 2, 3, 4]), reach=1.0)
        self.assertEqual((arm.reach, list(arm.joints), arm.at.x), (1.0, [1, 2, 3, 4], 1.0))
        self.assertEqual(dataclasses.asdict(arm) | {"at": None}, {"reach": 1.0, "joints": [1, 2, 3, 4], "at": None})
        self.assertEqual(repr(arm), "Arm(reach=1.0, joints=[1, 2, 3, 4], at=Pose2D(stamp_ns=0, x=1.0, y=0.0, yaw=0.0))")
        self.assertLess(Arm(0.25), Arm(0.5))
        self.assertEqual(pickle.loads(pickle.dumps(arm)), arm)

    def test_what_follows_a_dataclass_s_init_is_called_for_what_a_program_makes_and_not_for_what_comes(self):
        self.assertEqual([Arm(9.0).reach, Arm().reach, Arm(0.1, at=(0, 1, 2, 3)).reach], [2.0, 0.5, 0.1])
        with self.assertRaisesRegex(TypeError, "has no field length"):
            Arm(length=1)
        sent, seen = horus.Publisher(Arm, "a"), horus.Subscriber(Arm, "a")
        arm = Arm()
        arm.reach = 9.0
        sent.send(arm)
        self.assertEqual(seen.recv().reach, 9.0)

    def test_a_dataclass_keeps_its_defaults_when_it_has_slots_and_its_own_hash(self):
        self.assertEqual((Slotted().number, list(Slotted(list=b"abcd").list), hash(Slotted(3))), (7, [97, 98, 99, 100], 3))

    def test_a_dataclass_whose_objects_cannot_be_written_is_refused_when_it_is_made(self):
        for option in ("frozen", "unsafe_hash"):
            with self.assertRaisesRegex(TypeError, f"Frozen cannot be a message: .* so it has no hash. Leave {option}=True out"):

                @horus.message("test/Frozen")
                @dataclasses.dataclass(**{option: True})
                class Frozen:
                    x: horus.f64

    def test_an_array_is_said_by_its_default(self):
        self.assertEqual(Arm.layout().splitlines()[1:4], [" reach f64", " joints [i16; 4]", " at horus/Pose2D"])
        with self.assertRaisesRegex(TypeError, r"the field many of Short does not say how long it is: write many: horus.Array\[int\] = horus.array\("):

            @horus.message("test/Short")
            class Short:
                many: horus.Array[float]

    def test_a_copy_of_an_array_is_a_list(self):
        joints = Arm(joints=[1, 2, 3, 4]).joints
        self.assertEqual([copy.copy(joints), copy.deepcopy(joints), pickle.loads(pickle.dumps(joints))], [[1, 2, 3, 4]] * 3)


if __name__ == "__main__":
    unittest.main()
