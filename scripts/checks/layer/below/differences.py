"""The list of what a build with --substitutes has in place of what `kas build` has: docs/data/yocto/substitutes.md, made from the layer itself."""

import re
from pathlib import Path

from checks.layer.below import substitutes
from horus_appliance.paths import REPOSITORY

LIST = REPOSITORY / "docs" / "data" / "yocto" / "substitutes.md"
COMMAND = "./scripts/check-layer --differences"
COMPILER_LIBS = "machine-compiler-libs"
BRANCH = "+git"  # behind the version of a recipe that follows the branch of a release
# Told in words or tables of their own.
ELSEWHERE = re.compile(r"PREFERRED_R?PROVIDER_|ASSUME_PROVIDED$|IMAGE_INSTALL:remove$")


def render(layer: Path = substitutes.LAYER) -> str:
    """The text of the list."""
    settings = substitutes.settings(layer)
    parts = [
        "# What stands in for what in an image that was built with `--substitutes`",
        f"Made by `{COMMAND}` from [meta-horus/tests/substitutes](../../../meta-horus/tests/substitutes). `kas build` has none of this.",
        "## Sources\nWhere the version is another one, or Debian left files out, the licence's checksum and a patch that fits only nearly give a warning in place of an error.",
        table(("Recipe", "Wanted", "Used", "Why"), [source_row(name, entry) for name, entry in sorted(substitutes.sources(layer).items())] + stand_rows(layer)),
        "## Binaries of the machine in the image",
        table(("Recipe", "Wanted", "Used", "Why"), library_rows(settings)),
        *named("Not built, because nothing of it is in the image", assumed(settings, "nothing in the image")),
        *named("Not in the image", [word for setting in settings if setting.variable == "IMAGE_INSTALL:remove" for word in setting.value.split()]),
        *named("The machine's compiler in place of these", assumed(settings, "compiler")),
        *named("The machine's programs in place of these", substitutes.natives(layer)),
        *changes(layer),
        "## Settings",
        "\n".join(["```", *(f'{entry.variable} {entry.operator} "{entry.value}"' for entry in settings if not ELSEWHERE.match(entry.variable)), "```"]),
    ]
    return "\n\n".join(part for part in parts if part) + "\n"


def table(heads: tuple, rows: list) -> str:
    """A table of Markdown."""
    lines = [heads, tuple("---" for _ in heads), *rows]
    return "\n".join(f"| {' | '.join(cell.replace('|', chr(92) + '|') for cell in line)} |" for line in lines)


def named(heading: str, names: list) -> list:
    """A part that is a list of names."""
    return [f"## {heading}\n{', '.join(f'`{name}`' for name in dict.fromkeys(names))}"] if names else []


def assumed(settings: list, section: str) -> list:
    """What a part of the configuration declares to be there already."""
    return [word for setting in settings if setting.variable == "ASSUME_PROVIDED" and section in setting.section for word in setting.value.split()]


def source_row(name: str, entry: dict) -> tuple:
    """The row of a recipe that is made of another source."""
    wanted = entry.get("wanted") or (version_of(entry["url"]) if "rev" not in entry else "") or "as the recipe names it"
    return name, wanted, used(entry), "; ".join([reason(entry), *changed(entry)])


def used(entry: dict) -> str:
    """Version and place of what a recipe is made of."""
    revision = entry.get("rev") or entry.get("settings", {}).get("SRCREV", "")
    if "url" not in entry:
        return f"{entry.get('version', '')} {'commit ' + revision[:10] if revision else ''}".strip()
    address = entry["url"].partition(";")[0]
    if "rev" in entry:
        page = re.sub(r"^git://|\.git$", "", address)
        return f"{entry.get('version', '')} commit [{revision[:10]}](https://{page})".strip()
    version = entry.get("version") or entry.get("wanted", "").removesuffix(BRANCH) or version_of(address)
    return f"{version}, [{address.rsplit('/', 1)[1]}]({address})"


def reason(entry: dict) -> str:
    """Why a row is there, in the words of the four kinds of differences."""
    wanted, version = entry.get("wanted", ""), entry.get("version", "")
    if version and version != wanted:
        return "older version" if numbers(version) < numbers(wanted) else "newer version"
    if "url" not in entry:
        return "another commit of the same repository" if "SRCREV" in entry.get("settings", {}) else "the same source"
    if "rev" in entry:
        return "the same version, from its repository in place of its archive"
    if entry.get("same"):
        return "the same bytes, from Debian's archive"
    file = entry["url"].rsplit("/", 1)[1]
    if wanted.endswith(BRANCH):
        return "the release itself, without what its branch got since"
    if file.endswith(".deb"):
        return "the file of Debian's package"
    return f"the same version, as Debian packs it{', without the files that Debian leaves out' if re.search(r'dfsg|[+]ds', file) else ''}"


def changed(entry: dict) -> list:
    """What else is another way: patches and settings."""
    dropped, found = entry.get("drop", []), []
    if ".patch" in dropped:
        found.append("without its patches")
    elif dropped:
        found.append(f"without the patches {', '.join(f'`{word}`' for word in dropped)}")
    if kept := entry.get("keep"):
        found.append(f"its other source, {', '.join(kept)}, is its own")
    if license_text := entry.get("license"):
        found.append(f"licence: {license_text}")
    # The commit stands in the row already.
    if names := [name for name in entry.get("settings", {}) if name != "SRCREV"]:
        found.append(f"sets {', '.join(f'`{name}`' for name in names)}")
    return found


def stand_rows(layer: Path) -> list:
    """Rows of recipes of the layer's own."""
    rows = []
    for stand in substitutes.stands(layer):
        kind = "older version" if numbers(stand.version) < numbers(stand.wanted) else "newer version"
        rows.append((stand.instead_of, stand.wanted, f"{stand.version}, recipe `{stand.name}`", f"{kind}; {stand.why}"))
    return rows


def library_rows(settings: list) -> list:
    """Rows of the compiler's libraries, which are in the image as Debian compiled them."""
    found = [re.fullmatch(r"PREFERRED_R?PROVIDER_([^/:]+)", entry.variable) for entry in settings if entry.value == COMPILER_LIBS]
    names = dict.fromkeys(match[1] for match in found if match)
    return [(name, "as the recipe compiles it", f"recipe `{COMPILER_LIBS}`", "binaries of Debian's gcc") for name in names]


def changes(layer: Path) -> list:
    """A part on recipes that are appended to."""
    found = substitutes.appends(layer)
    return ["## Recipes that are changed", table(("Recipe", "How"), found)] if found else []


def version_of(address: str) -> str:
    """The version in the name of an archive of Debian's."""
    found = re.search(r"_([^_/]+?)(?:\.orig)?\.tar\.\w+$", address)
    return found[1] if found else ""


def numbers(version: str) -> tuple:
    """A version as numbers that compare."""
    return tuple(int(part) for part in re.findall(r"\d+", version))


def write(target: Path = LIST) -> None:
    """Writes the list."""
    target.parent.mkdir(parents=True, exist_ok=True)
    target.write_text(render())


def problems() -> list:
    """Whether the committed list is what the layer says now."""
    if LIST.is_file() and LIST.read_text() == render():
        return []
    return [f"{LIST.relative_to(REPOSITORY)} does not agree with {substitutes.LAYER.relative_to(REPOSITORY)}. Run {COMMAND} and commit its result."]
