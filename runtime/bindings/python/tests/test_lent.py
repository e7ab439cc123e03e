"""Messages in their place, NumPy and DLPack: nothing is copied, and a hold ends with the last reference."""

import threading
import unittest

import horus
import numpy
from horus.messages import CmdVel, ImageVga, Imu, LaserScan, PointCloud100
from support import TopicsCase


def picture(value):
    image = ImageVga()
    image.begin(640, 480)[:] = value
    return image


class Arrays(TopicsCase):
    def test_an_image_is_an_array_over_its_own_bytes(self):
        image = picture(7)
        pixels, taken = image.to_numpy(), numpy.from_dlpack(image)
        pixels[3, 4] = (1, 2, 3)
        self.assertEqual((taken.shape, taken[3, 4].tolist(), taken[0, 0, 0]), ((480, 640, 3), [1, 2, 3], 7))
        self.assertTrue(numpy.shares_memory(pixels, taken))
        del image
        self.assertEqual(int(pixels.sum(dtype=int)), 7 * (480 * 640 - 1) * 3 + 6, "arrays keep the message")

    def test_each_encoding_has_its_shape(self):
        image = ImageVga()
        for encoding, shape, kind in (
            ("mono8", (4, 6), "uint8"), ("mono16", (4, 6), "uint16"), ("rgb8", (4, 6, 3), "uint8"), ("bgra8", (4, 6, 4), "uint8"),
            ("depth16", (4, 6), "uint16"), ("depth32", (4, 6), "float32"), ("yuyv", (4, 6, 2), "uint8"), ("nv12", (6, 6), "uint8"),
        ):  # fmt: skip
            with self.subTest(encoding=encoding):
                pixels = image.begin(6, 4, encoding)
                self.assertEqual((pixels.shape, pixels.dtype.name, image.encoding), (shape, kind, encoding))
        with self.assertRaisesRegex(ValueError, "one of mono8"):
            image.begin(1, 1, "hsv")
        with self.assertRaisesRegex(horus.HorusError, "does not fit"):
            image.begin(6400, 4800)

    def test_rows_with_gaps_are_strides(self):
        image = picture(0)
        image.width, image.stride = 630, 1920
        pixels = image.to_numpy()
        self.assertEqual((pixels.shape, pixels.strides), ((480, 630, 3), (1920, 3, 1)))
        self.assertEqual(numpy.from_dlpack(image).strides, (1920, 3, 1))

    def test_what_an_image_says_of_itself_is_not_believed(self):
        for field, value in (("height", 2**32 - 1), ("stride", 1), ("width", 2**32 - 1), ("encoding_code", 0), ("encoding_code", 99), ("length", 5)):
            image = picture(0)
            setattr(image, field, value)
            with self.subTest(field=field), self.assertRaises(horus.HorusError):
                image.to_numpy()
        image = picture(0)
        image.length = 2**32 - 1
        self.assertEqual(image.to_numpy().shape, (480, 640, 3))

    def test_a_cloud_is_its_points(self):
        cloud = PointCloud100(count=2)
        cloud.point[1] = (1, 2, 3)
        self.assertEqual(cloud.to_numpy().tolist(), [[0, 0, 0], [1, 2, 3]])
        self.assertEqual(numpy.from_dlpack(cloud).dtype, numpy.float32)
        cloud.count = 2**32 - 1
        self.assertEqual(cloud.to_numpy().shape, (100, 3), "no more than it has")

    def test_other_messages_are_structured_arrays(self):
        imu = Imu(stamp_ns=5)
        array = imu.to_numpy()
        array["angular_velocity"]["y"] = 2.5
        self.assertEqual((imu.angular_velocity.y, int(array["stamp_ns"]), Imu.dtype().itemsize), (2.5, 5, 304))
        scan = LaserScan()
        scan.range.to_numpy()[:] = 2.5
        self.assertEqual(scan.range[359], 2.5)
        self.assertEqual(numpy.asarray(imu.orientation_covariance).shape, (9,))
        self.assertEqual(numpy.from_dlpack(scan.range).sum(), 900.0)

    def test_a_vector_is_an_array_of_its_numbers(self):
        imu = Imu(angular_velocity=(1, 2, 3))
        turn = imu.angular_velocity
        self.assertEqual(numpy.dot(turn, [0.0, 1.0, 0.0]), 2.0)
        for array in (numpy.asarray(turn), numpy.from_dlpack(turn)):
            self.assertEqual((array.dtype, array.tolist()), (numpy.float64, [1.0, 2.0, 3.0]))
        numpy.asarray(turn)[1] = 5
        self.assertEqual(imu.angular_velocity.y, 5.0)
        self.assertEqual(memoryview(turn).tolist(), [1.0, 5.0, 3.0])
        self.assertEqual(len(bytes(turn)), 24)
        self.assertEqual(memoryview(imu).format, "B", "of fields of several kinds")

    def test_dlpack_refuses_what_it_has_no_word_for(self):
        for wrong in ({"stream": 1}, {"dl_device": (2, 0)}, {"copy": True}):
            with self.assertRaises(BufferError):
                picture(0).__dlpack__(**wrong)
        with self.assertRaisesRegex(TypeError, "no image, no cloud and no vector"):
            Imu().__dlpack__()
        self.assertEqual(picture(0).__dlpack_device__(), (1, 0))
        old, new = picture(0).__dlpack__(), picture(0).__dlpack__(max_version=(1, 0))
        self.assertIn('"dltensor"', repr(old))
        self.assertIn('"dltensor_versioned"', repr(new))
        del old, new  # capsules that were not taken


class Borrowed(TopicsCase):
    def ends(self, **options):
        return horus.Subscriber(ImageVga, "camera"), horus.Publisher(ImageVga, "camera", **(options or {"latest": 2}))

    def test_a_borrowed_image_is_held_until_the_last_array_of_it_is_gone(self):
        seen, sent = self.ends()
        sent.send(picture(1))
        image = seen.borrow()
        pixels = image.to_numpy()
        taken = numpy.from_dlpack(image)
        view = memoryview(image.data)
        self.assertFalse(pixels.flags.writeable or taken.flags.writeable or not view.readonly)
        for use in (seen.try_recv, seen.borrow, seen.close):
            with self.assertRaisesRegex(horus.HorusError, "still in use"):
                use()
        sent.send(picture(2))
        sent.send(picture(3))
        self.assertEqual(pixels[0, 0, 0], 1, "its publisher passes the slot over")
        del image, pixels
        self.assertEqual(taken[0, 0, 0], 1)
        del taken
        self.assertEqual(view[0], 1)
        del view
        self.assertIn(seen.recv().to_numpy()[0, 0, 0], (2, 3))

    def test_a_capsule_keeps_the_hold_until_it_or_who_took_it_is_gone(self):
        class Taken:  # hands on a capsule, as consumers before DLPack 1.0 and those after ask for it
            def __init__(self, capsule):
                self.capsule = capsule

            def __dlpack__(self, **_asked):
                return self.capsule

            def __dlpack_device__(self):
                return (1, 0)

        seen, sent = self.ends()
        for number, (version, name) in enumerate(((None, '"dltensor"'), ((1, 0), '"dltensor_versioned"'))):
            for is_taken in (False, True):
                sent.send(picture(number + 1))
                held = seen.borrow().__dlpack__(max_version=version)
                self.assertIn(name, repr(held))
                if is_taken:
                    held = numpy.from_dlpack(Taken(held))
                    self.assertEqual(held[1, 1, 1], number + 1)
                with self.assertRaisesRegex(horus.HorusError, "still in use"):
                    seen.try_recv()
                del held
                self.assertIsNone(seen.try_recv())

    def test_a_with_block_ends_the_hold_and_what_is_used_after_it_is_an_error(self):
        seen, sent = self.ends()
        sent.send(picture(1))
        with seen.borrow() as image:
            part = image.data
            self.assertEqual(image.to_numpy()[0, 0, 0], 1)
        with self.assertRaisesRegex(ValueError, "has ended"):
            _ = image.width
        self.assertEqual(part[0], 1, "a view keeps the hold")
        with self.assertRaises(horus.HorusError):
            seen.try_recv()
        del part
        self.assertIsNone(seen.try_recv())

    def test_a_buffer_of_the_message_itself_keeps_the_hold_too(self):
        seen, sent = self.ends()
        sent.send(picture(9))
        with seen.borrow() as image:
            raw = numpy.ndarray((len(bytes(image)),), "u1", image)
        self.assertEqual(raw[32], 9)

    def test_a_borrowed_message_cannot_be_written(self):
        seen, sent = self.ends()
        sent.send(picture(1))
        image = seen.borrow()
        for write in (lambda: setattr(image, "width", 3), lambda: image.data.__setitem__(0, 1), lambda: image.begin(2, 2)):
            with self.assertRaisesRegex(TypeError, "received in its place"):
                write()

    def test_all_slots_held_is_said_and_not_waited_for(self):
        # Both say so: who needs less than is there takes what is there.
        _first, sent = horus.Subscriber(ImageVga, "camera", latest=1), horus.Publisher(ImageVga, "camera", latest=1)
        sent.send(picture(1))
        image = _first.borrow()
        self.assertFalse(sent.try_send(picture(2)) and sent.try_send(picture(3)))
        with self.assertRaisesRegex(horus.HorusError, "full"):
            sent.send(picture(3))
        del image
        sent.send(picture(3))

    def test_small_messages_are_copied(self):
        seen, sent = horus.Subscriber(CmdVel, "a"), horus.Publisher(CmdVel, "a")
        sent.send(CmdVel(1))
        sent.send(CmdVel(2))
        first, second = seen.borrow(), seen.borrow()
        first.turn = 3
        self.assertEqual((first, second), (CmdVel(1, 3), CmdVel(2)))

    def test_an_end_goes_with_its_object_while_something_is_lent(self):
        seen, sent = self.ends()
        sent.send(picture(5))
        pixels = seen.borrow().to_numpy()
        del seen, sent
        self.assertEqual(int(pixels.sum(dtype=int)), 5 * 480 * 640 * 3)

    def test_waiting_for_what_never_comes_ends(self):
        seen, _ = self.ends()
        self.assertIsNone(seen.try_borrow())
        self.assertIsNone(seen.borrow(timeout=0.01))
        with self.assertRaisesRegex(TypeError, "received by a copy"):
            horus.Subscriber(bytes, "b").try_borrow()


class Loaned(TopicsCase):
    def setUp(self):
        super().setUp()
        self.seen, self.sent = horus.Subscriber(ImageVga, "camera"), horus.Publisher(ImageVga, "camera", latest=4)

    def test_a_loan_is_sent_at_the_end_of_its_block(self):
        with self.sent.loan() as image:
            image.begin(640, 480)[:] = 6
            image.stamp_ns = 5
        received = self.seen.recv()
        self.assertEqual((received.stamp_ns, received.to_numpy()[9, 9, 1]), (5, 6))

    def test_a_block_that_fails_sends_nothing(self):
        with self.assertRaises(ZeroDivisionError), self.sent.loan():
            raise ZeroDivisionError
        self.assertIsNone(self.seen.try_recv())
        self.sent.send(picture(1))

    def test_an_array_that_outlives_the_block_is_an_error_and_nothing_is_sent(self):
        with self.assertRaisesRegex(horus.HorusError, "1 arrays or parts of it are still in use"), self.sent.loan() as image:
            pixels = image.begin(2, 2)
        self.assertIsNone(self.seen.try_recv())
        with self.assertRaisesRegex(horus.HorusError, "is lent to be written"):
            self.sent.send(picture(1))
        pixels[:] = 1
        del pixels
        self.sent.send(picture(1))

    def test_a_loan_waits_for_room_where_it_is_told_how_long(self):
        sent, seen = horus.Publisher(Imu, "full", reliable=2), horus.Subscriber(Imu, "full", reliable=2)
        for number in range(2):
            sent.send(Imu(stamp_ns=number))
        for limit in (None, "5 ms"):
            with self.assertRaisesRegex(horus.HorusError, "the topic is full"), sent.loan(limit):
                self.fail("there was no room")
        reading = threading.Timer(0.05, seen.recv)
        reading.start()
        with sent.loan(timeout=30) as imu:
            imu.stamp_ns = 2
        reading.join()
        self.assertEqual([seen.recv(1).stamp_ns for _ in range(2)], [1, 2])

    def test_a_loan_inside_of_a_loan_is_an_error(self):
        with self.sent.loan(), self.assertRaisesRegex(horus.HorusError, "is lent"), self.sent.loan():
            pass
        with self.assertRaisesRegex(TypeError, "sent by a copy"), horus.Publisher(bytes, "b").loan():
            pass


if __name__ == "__main__":
    unittest.main()
