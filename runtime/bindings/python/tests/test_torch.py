"""PyTorch takes messages without a copy, by DLPack. The tests are skipped where it is not installed."""

import unittest

import horus
import numpy
from horus.messages import ImageVga, LaserScan, PointCloud100
from support import TopicsCase

try:
    import torch
except ImportError:
    torch = None


@unittest.skipUnless(torch, "PyTorch is not installed; `./scripts/test --long` has it")
class Tensors(TopicsCase):
    def test_a_tensor_is_over_the_bytes_of_the_message(self):
        image = ImageVga()
        pixels = image.begin(640, 480)
        pixels[3, 4] = (1, 2, 3)
        tensor = torch.from_dlpack(image)
        self.assertEqual((tuple(tensor.shape), tensor.dtype, tensor.device.type), ((480, 640, 3), torch.uint8, "cpu"))
        self.assertEqual(tensor[3, 4].tolist(), [1, 2, 3])
        self.assertEqual(tensor.data_ptr(), pixels.__array_interface__["data"][0], "nothing was copied")
        tensor[0, 0] = 7
        self.assertEqual(pixels[0, 0].tolist(), [7, 7, 7])
        del image, pixels
        self.assertEqual(int(tensor.sum()), 27, "the tensor keeps the message")

    def test_each_kind_of_number_is_taken(self):
        cloud, scan = PointCloud100(count=2), LaserScan()
        cloud.point[1] = (1, 2, 3)
        scan.range.to_numpy()[:] = 2.5
        self.assertEqual(torch.from_dlpack(cloud).tolist(), [[0, 0, 0], [1, 2, 3]])
        self.assertEqual(float(torch.from_dlpack(scan.range).sum()), 900.0)
        for encoding, kind in (("mono8", torch.uint8), ("depth32", torch.float32)):
            image = ImageVga()
            image.begin(6, 4, encoding)
            self.assertEqual(torch.from_dlpack(image).dtype, kind)

    def test_a_borrowed_image_is_held_until_its_tensor_is_gone(self):
        frames, camera = horus.Subscriber(ImageVga, "camera"), horus.Publisher(ImageVga, "camera", latest=2)
        with camera.loan() as image:
            image.begin(640, 480)[:] = 5
        tensor = torch.from_dlpack(frames.borrow())
        with self.assertRaisesRegex(horus.HorusError, "lent"):
            frames.try_recv()
        self.assertEqual(int(tensor.sum()), 5 * 640 * 480 * 3)
        del tensor
        self.assertIsNone(frames.try_recv())

    def test_a_tensor_in_a_dict_comes_back_as_an_array_of_numpy(self):
        seen, sent = horus.Subscriber(dict, "weights"), horus.Publisher(dict, "weights")
        sent.send({"w": torch.eye(2)[:, :1], "one": torch.tensor([7])})
        got = seen.recv()
        numpy.testing.assert_array_equal(got["w"], numpy.array([[1], [0]], numpy.float32))
        self.assertEqual((got["one"].dtype, got["one"].tolist()), (numpy.int64, [7]))
        with self.assertRaisesRegex(RuntimeError, "detach"):
            sent.send({"w": torch.ones(2, requires_grad=True)})


if __name__ == "__main__":
    unittest.main()
