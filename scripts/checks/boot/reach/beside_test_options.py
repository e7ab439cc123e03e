"""The image with all options has what they need, and nothing else."""

import json
import re
import unittest

from horus_appliance.image import mkosi, sizes

# With CPython, NumPy, the libraries of linear algebra and the bridge: four fifths of what a slot holds (conf/base, repart.d). The rest is for the next release's.
FULL_ROOT_LIMIT = 512 * 2**20 * 4 // 5
# What the option python may add: the interpreter, NumPy, and libraries that these are linked with.
OF_PYTHON = r"python3|blas|lapack|gfortran|quadmath|media-types|readline|libffi|libbz2|libsqlite3|libexpat|libncurses|libuuid|liblzma|netbase|tzdata"


class Options(unittest.TestCase):
    def test_options_add_an_interpreter_arrays_and_the_bridge_and_nothing_else(self):
        plain, full = (
            {package["name"] for package in json.loads((mkosi.build(variant).directory / f"horus_{mkosi.version()}.manifest").read_text())["packages"]}
            for variant in ("appliance", "full")
        )
        self.assertLessEqual({"python3", "python3-numpy"}, full - plain)
        self.assertEqual([name for name in sorted(full - plain) if not re.search(OF_PYTHON, name)], [])
        self.assertLess(sizes.root_bytes(mkosi.build("full")), FULL_ROOT_LIMIT)
