"""How messages are made, called and freed: CPython has several ways for each, and a program may come by any of them."""

import copy
import ctypes
import gc
import inspect
import pickle
import sys
import unittest

import horus
from horus.messages import CmdVel, Imu, Pose2D
from support import TopicsCase


class Below(CmdVel):
    """Has attributes of its own: objects of it are the garbage collector's, and are made by `tp_new`."""


class BelowWithSlots(CmdVel):
    __slots__ = ()


class Begun(CmdVel):
    __slots__ = ()

    def __init__(self, forward):
        self.turn = 2 * forward


@horus.message("test/Counted")
class Counted:
    left: horus.i32
    right: horus.i32 = 7

    def __init__(self, left=1, **rest):
        self.right = self.right + left


class Made(TopicsCase):
    EVERY_WAY = (CmdVel, Below, BelowWithSlots)

    def test_every_way_to_make_a_message_fills_it_alike(self):
        name = "".join(["for", "ward"])  # another object than the name in a program
        for kind in self.EVERY_WAY:
            self.assertEqual(kind(), CmdVel())
            for made in (kind(0.5, 2), kind(0.5, turn=2), kind(turn=2, forward=0.5), kind(**{name: 0.5, "turn": 2}), kind(*[0.5], **{"turn": 2.0})):
                self.assertEqual((type(made), made.forward, made.turn), (kind, 0.5, 2.0))

    def test_every_way_refuses_the_same_arguments_in_the_same_words(self):
        for given, named, said in (
            ((1, 2, 3), {}, "horus/CmdVel has 2 fields, and not 3"),
            ((1,), {"forward": 1}, "forward is given twice: horus/CmdVel"),
            ((), {"speed": 1}, "horus/CmdVel has no field speed: it has forward, turn"),
            (("fast",), {}, "the field forward of horus/CmdVel: must be real number, not str"),
            ((), {"turn": None}, "the field turn of horus/CmdVel: must be real number, not NoneType"),
        ):
            for kind in self.EVERY_WAY:
                with self.assertRaises(TypeError) as refused:
                    kind(*given, **named)
                self.assertEqual(str(refused.exception), said)

    def test_a_class_is_called_without_a_tuple_and_a_dict_unless_it_begins_its_objects_itself(self):
        function = ctypes.pythonapi.PyVectorcall_Function
        function.argtypes, function.restype = [ctypes.py_object], ctypes.c_void_p
        self.assertEqual([bool(function(kind)) for kind in (CmdVel, Imu, Below, Begun, Counted)], [True, True, False, False, False])

    def test_a_class_that_begins_its_objects_itself_is_let(self):
        self.assertEqual(Begun(0.5), CmdVel(0.5, 1.0))
        self.assertEqual(Counted().asdict(), {"left": 0, "right": 8})
        self.assertEqual(Counted(3, right=1).asdict(), {"left": 3, "right": 4})

    def test_what_a_field_raises_while_it_is_asked_for_its_number_leaves_nothing_behind(self):
        class Broken:
            def __float__(self):
                raise KeyError("mine")

        before = sys.getrefcount(CmdVel)
        for kind in self.EVERY_WAY:
            for _ in range(100):
                with self.assertRaises(KeyError):
                    kind(1, turn=Broken())
        gc.collect()
        self.assertLess(sys.getrefcount(CmdVel) - before, 10)

    def test_a_descriptor_is_told_its_name(self):
        class Told:
            def __set_name__(self, owner, name):
                self.told = owner, name

        told = Told()
        made = horus.from_layout("message test/Told\n a u8", namespace={"extra": told})
        self.assertEqual(told.told, (made, "extra"))

    def test_a_message_whose_class_was_set_to_another_one_has_none_of_its_fields(self):
        message = CmdVel(1)
        message.__class__ = Pose2D
        for use in (lambda: message.yaw, lambda: setattr(message, "x", 1), lambda: repr(message), lambda: horus.Publisher(Pose2D, "a").try_send(message)):
            with self.assertRaisesRegex(TypeError, "set to another one|carries horus/Pose2D"):
                use()
        with self.assertRaises(TypeError):
            message.__class__ = Below


class Freed(TopicsCase):
    def test_messages_are_none_of_the_garbage_collectors(self):
        sent, seen = horus.Publisher(Imu, "a"), horus.Subscriber(Imu, "a")
        sent.send(Imu())
        for message in (CmdVel(), BelowWithSlots.__base__(), seen.recv(), seen.try_recv(), Imu().angular_velocity):
            self.assertFalse(gc.is_tracked(message))

    def test_a_message_with_attributes_that_lead_to_itself_is_freed(self):
        gc.collect()
        ended = []

        class End:
            def __del__(self):
                ended.append(True)

        message = Below(1)
        message.itself, message.end = message, End()
        del message
        gc.collect()
        self.assertEqual(ended, [True])

    def test_nothing_is_left_of_messages_that_are_gone(self):
        sent, seen = horus.Publisher(Imu, "a"), horus.Subscriber(Imu, "a")

        def use(times):
            for number in range(times):
                sent.send(Imu(stamp_ns=number, angular_velocity=(1, 2, 3)))
                message = seen.recv()
                _ = message.angular_velocity.x, message == Imu(), copy.copy(message), pickle.dumps(message), repr(message), Below(2), message.orientation_covariance[0]
                seen.try_recv()

        use(100)
        gc.collect()
        before = [sys.getallocatedblocks(), *(sys.getrefcount(kind) for kind in (CmdVel, Imu, Below))]
        use(5000)
        gc.collect()
        after = [sys.getallocatedblocks(), *(sys.getrefcount(kind) for kind in (CmdVel, Imu, Below))]
        for one, other in zip(before, after, strict=True):
            self.assertLess(abs(one - other), 500)


class Called(TopicsCase):
    def test_arguments_have_names_and_what_is_wrong_with_them_is_told(self):
        sent, seen = horus.Publisher(CmdVel, "a", reliable=2), horus.Subscriber(CmdVel, "a", reliable=2)
        sent.send(message=CmdVel(1))
        sent.send(CmdVel(2), timeout=None)
        self.assertEqual([seen.recv(timeout=1).forward, seen.recv(None).forward, seen.recv(0.001)], [1.0, 2.0, None])
        for call, said in (
            (lambda: sent.send(), "no message is given"),
            (lambda: sent.send(timeout=1), "no message is given"),
            (lambda: sent.send(CmdVel(), 1, 2), r"send\(\) takes 2 arguments without a name, and 3 are given"),
            (lambda: sent.send(CmdVel(), message=CmdVel()), r"send\(\) is given message twice"),
            (lambda: sent.send(CmdVel(), limit=1), r"send\(\) has no argument limit: it has message, timeout"),
            (lambda: seen.try_recv(1), r"try_recv\(\) takes 0 arguments"),
            (lambda: horus.Publisher.send(seen, CmdVel()), "descriptor 'send'"),
        ):
            with self.assertRaisesRegex(TypeError, said):
                call()

    def test_none_is_a_value_and_no_missing_message(self):
        sent, seen = horus.Publisher(dict, "a", reliable=8), horus.Subscriber(dict, "a", reliable=8)
        sent.send(None)
        sent.send(None, timeout=1)
        sent.send(message=None)
        self.assertTrue(sent.try_send(None))
        self.assertEqual([seen.wait(0) and seen.try_recv() for _ in range(4)], [None] * 4)
        self.assertFalse(seen.wait(0))

    def test_methods_have_signatures_and_say_what_they_do(self):
        for method, signature in (
            (horus.Publisher.send, "(self, /, message, timeout=None)"),
            (horus.Subscriber.recv, "(self, /, timeout=None)"),
            (horus.Input.latest, "(self, /)"),
            (horus.Output.set, "(self, /, message)"),
            (horus.Message.to_numpy, "(self, /)"),
        ):
            self.assertEqual(str(inspect.signature(method)), signature)
            self.assertGreater(len(method.__doc__), 20)

    def test_messages_of_a_class_below_are_sent(self):
        sent, seen = horus.Publisher(CmdVel, "a"), horus.Subscriber(CmdVel, "a")
        for message in (Below(1), BelowWithSlots(2)):
            sent.send(message)
            self.assertEqual((type(seen.recv()), message), (CmdVel, message))


if __name__ == "__main__":
    unittest.main()
