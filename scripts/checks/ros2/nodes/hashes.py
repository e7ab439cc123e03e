"""The hashes that ROS 2's own generator computes for definitions: python hashes.py FOLDER SHARE, of FOLDER/PACKAGE/msg/NAME.msg.

Messages inside of them are those of SHARE. Lines `RIHS01_… PACKAGE/msg/NAME` on standard output.
"""

import json
import sys
import tempfile
from pathlib import Path

from rosidl_adapter.msg import convert_msg_to_idl
from rosidl_generator_type_description import generate_type_hash


def main() -> None:
    source, share = (Path(word).absolute() for word in sys.argv[1:])
    known = [f"{folder.name}:{folder}" for folder in share.iterdir() if (folder / "msg").is_dir()]
    for package in sorted(source.iterdir()):
        with tempfile.TemporaryDirectory() as place:
            idl = []
            for file in sorted((package / "msg").glob("*.msg")):
                made = convert_msg_to_idl(package, package.name, Path("msg") / file.name, Path(place) / "msg")
                idl.append(f"{place}:msg/{made.name}")
            arguments = Path(place) / "arguments.json"
            told = {"package_name": package.name, "output_dir": f"{place}/out", "idl_tuples": idl, "include_paths": known}
            arguments.write_text(json.dumps(told))
            for file in generate_type_hash(str(arguments)):
                top = json.loads(Path(file).read_text())["type_hashes"][0]
                print(top["hash_string"], top["type_name"], flush=True)


main()
