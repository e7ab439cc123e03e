"""Hands conf/ to recipes, as its own reader (conf/horus_conf.py) tells it.

A file that was read is marked, so that BitBake parses again when it changes.
"""

import os
import re
import shlex
import tomllib

import horus_conf

REPOSITORY = str(horus_conf.CONF.parent)


def asked(d, question, *arguments, files=()):
    """The reader's answer; BitBake parses again when image.toml or one of `files` changes, and a mistake in conf/ ends the build."""
    import bb

    for path in (horus_conf.CONF / horus_conf.DESCRIPTION, *files):
        bb.parse.mark_dependency(d, str(path))
    try:
        return question(*arguments)
    except horus_conf.BadConf as reason:
        bb.fatal(str(reason))


def board_of(d):
    """The folder of conf/machine that image.toml gives to this build's MACHINE; empty where it knows none."""
    return asked(d, horus_conf.board_of, d.getVar("MACHINE"))


def board(d):
    """HORUS_BOARD, or an end with the remedy."""
    import bb

    name, known = d.getVar("HORUS_BOARD"), sorted(path.name for path in (horus_conf.CONF / "machine").iterdir())
    if name not in known:
        bb.fatal(
            "HORUS does not know the machine '%s': HORUS_BOARD is '%s', and conf/machine has %s. Set HORUS_BOARD to one of these in "
            "local.conf, or describe your board in conf/ (conf/README.md tells how)." % (d.getVar("MACHINE"), name or "", ", ".join(known))
        )
    return name


def command_line(d):
    """The kernel command line of this build's board, with or without conf/rt as HORUS_TREES says."""
    name = board(d)
    files = [*horus_conf.command_line_files(name, tuned=True), horus_conf.CONF / "machine" / name / "cpus"]
    return asked(d, horus_conf.kernel_command_line, name, "rt" in d.getVar("HORUS_TREES").split(), version(d), files=files)


def system_label(d):
    """The name of the partition that holds this version's system."""
    return asked(d, horus_conf.system_label, version(d), files=[horus_conf.CONF / "base/kernel/cmdline"])


def trees(d):
    """The trees of conf/ in an image with the options of HORUS_OPTIONS."""
    return " ".join(asked(d, horus_conf.trees, d.getVar("HORUS_OPTIONS").split()))


def all_trees(d):
    """The trees of conf/ that some image has."""
    return " ".join(asked(d, horus_conf.all_trees))


def tree_sources(d):
    """The folders of those trees below the repository, for SRC_URI."""
    places = [asked(d, horus_conf.tree_place, tree)[0] for tree in all_trees(d).split()]
    return " ".join("file://%s" % place.relative_to(REPOSITORY) for place in places)


def tree_files(d, tree):
    """Where the files of a tree go on the target, for FILES."""
    import bb

    source, _ = asked(d, horus_conf.tree_place, tree)
    for directory in (path for path in (source, *source.rglob("*")) if path.is_dir()):
        bb.parse.mark_dependency(d, str(directory))  # a file that is added or removed changes its directory
    return " ".join(sorted("/" + path for path in asked(d, horus_conf.tree_files, tree)))


def program_files(d):
    """Where the runtime's programs go on the target, for FILES."""
    return " ".join("/" + program.path for program in asked(d, horus_conf.programs))


def cargo_arguments(d):
    """What cargo is told to build the runtime's programs."""
    return " ".join(asked(d, horus_conf.cargo_arguments))


def module_arguments(d):
    """What cargo is told to build the compiled part of the Python module."""
    return " ".join(asked(d, horus_conf.module_arguments))


def runtime_sources(d):
    """The crates of the runtime's workspace, for SRC_URI: cargo wants to see each of them."""
    import bb

    path = os.path.join(REPOSITORY, "runtime", "Cargo.toml")
    bb.parse.mark_dependency(d, path)
    with open(path, "rb") as file:
        members = tomllib.load(file)["workspace"]["members"]
    return " ".join("file://runtime/%s" % member for member in members)


def vendor(d, field):
    """A field of os-release that says who answers for the image; empty where that is not said."""
    return asked(d, horus_conf.vendor).os_release().get(field, "")


def version(d):
    """The product's version: that of the runtime's workspace."""
    import bb

    path = os.path.join(REPOSITORY, "runtime", "Cargo.toml")
    bb.parse.mark_dependency(d, path)
    with open(path) as file:
        found = re.search(r'^version = "([^"]+)"', file.read(), re.MULTILINE)
    if not found:
        bb.fatal("%s has no line version = \"…\" in [workspace.package]. Restore it from git." % path)
    return found[1]


def users(d):
    """Commands for extrausers that make the users of conf/*/rootfs/usr/lib/sysusers.d: a read-only /etc cannot get them at boot."""
    import bb

    commands = []
    for path in sorted(horus_conf.CONF.glob("*/rootfs/usr/lib/sysusers.d/*.conf")):
        bb.parse.mark_dependency(d, str(path))
        try:
            commands += user_commands(path.read_text())
        except ValueError as error:
            bb.fatal("%s: %s" % (path, error))
    return " ".join(commands)


def user_commands(text):
    """Commands for extrausers that do what a file of sysusers.d says. A group that is not there is made, as systemd-sysusers does."""
    commands = []
    for words in (shlex.split(line, comments=True) for line in text.splitlines()):
        if len(words) == 5 and words[0] == "u" and words[2] == "-":
            commands.append(
                "useradd --system --user-group --no-create-home --shell /sbin/nologin --comment '%s' --home-dir %s %s;" % (words[3], words[4], words[1])
            )
        elif len(words) == 3 and words[0] == "m":
            commands += ["groupadd --system %s;" % words[2], "usermod --append --groups %s %s;" % (words[2], words[1])]
        elif words:
            raise ValueError('only lines of the forms  u NAME - "COMMENT" HOME  and  m NAME GROUP  are understood, not: ' + " ".join(words))
    return commands
