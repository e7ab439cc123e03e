"""Hands conf/ to recipes: the same reader as the Debian recipe's (scripts/horus_appliance/conf.py), so there is one.

A file that was read is marked, so that BitBake parses again when it changes.
"""

import glob
import os
import re
import sys

REPOSITORY = os.path.realpath(os.path.join(os.path.dirname(__file__), "..", "..", ".."))
if os.path.join(REPOSITORY, "scripts") not in sys.path:
    sys.path.append(os.path.join(REPOSITORY, "scripts"))


def board(d):
    """The folder of conf/machine for this build's MACHINE, or an end with the remedy."""
    import bb

    name = d.getVar("HORUS_BOARD")
    if not name or not os.path.isdir(os.path.join(REPOSITORY, "conf", "machine", name)):
        known = ", ".join(sorted(os.listdir(os.path.join(REPOSITORY, "conf", "machine"))))
        bb.fatal(
            "HORUS does not know the machine '%s': HORUS_BOARD is '%s', and conf/machine has %s. Set HORUS_BOARD to one of these in "
            "local.conf, or describe your board there (conf/README.md tells how)." % (d.getVar("MACHINE"), name or "", known)
        )
    return name


def command_line(d):
    """The kernel command line of this build's board, with or without conf/rt as HORUS_TREES says."""
    import bb
    from horus_appliance import conf
    from horus_appliance.console import CannotRun

    name = board(d)
    for path in ("base/kernel/cmdline", "rt/kernel/cmdline", "machine/%s/cmdline" % name, "machine/%s/cpus" % name):
        bb.parse.mark_dependency(d, os.path.join(REPOSITORY, "conf", path))
    try:
        return conf.kernel_command_line(name, "rt" in d.getVar("HORUS_TREES").split())
    except CannotRun as reason:
        bb.fatal(str(reason))


def tree_files(d, tree):
    """Where the files of conf/<tree>/rootfs go on the target, for FILES."""
    import bb

    root = os.path.join(REPOSITORY, "conf", tree, "rootfs")
    found = []
    for directory, _, names in os.walk(root):
        bb.parse.mark_dependency(d, directory)  # a file that is added or removed changes its directory
        found += ["/" + os.path.relpath(os.path.join(directory, name), root) for name in names]
    return " ".join(sorted(found))


def conffiles(d, tree):
    """Those of a tree's files that a package manager must not overwrite: what lies below /etc."""
    return " ".join(path for path in tree_files(d, tree).split() if path.startswith("/etc/"))


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
    import shlex

    import bb

    commands = []
    for path in sorted(glob.glob(os.path.join(REPOSITORY, "conf", "*", "rootfs", "usr", "lib", "sysusers.d", "*.conf"))):
        bb.parse.mark_dependency(d, path)
        with open(path) as file:
            lines = [shlex.split(line, comments=True) for line in file]
        for words in (words for words in lines if words):
            if words[0] != "u" or words[2] != "-" or len(words) != 5:
                bb.fatal("%s: only lines of the form  u NAME - \"COMMENT\" HOME  are understood, not: %s" % (path, " ".join(words)))
            commands.append(
                "useradd --system --user-group --no-create-home --shell /sbin/nologin --comment '%s' --home-dir %s %s;"
                % (words[3], words[4], words[1])
            )
    return " ".join(commands)
