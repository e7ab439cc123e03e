# Gives recipes the sources that sources.toml names in place of their own, before they are finished, so that no recipe is copied.
def horus_substitutes_table(d):
    import tomllib
    path = d.expand("${HORUS_SUBSTITUTES_LAYER}/sources.toml")
    bb.parse.mark_dependency(d, path)
    with open(path, "rb") as file:
        return tomllib.load(file)

def horus_substitutes_options(entry, folder):
    """How a source is unpacked to the folder where the recipe looks for its own."""
    if "options" in entry:
        return ";name=substitute" + entry["options"]
    where = entry.get("subdir", folder)
    if "rev" in entry:
        return f";name=substitute;destsuffix={where}"
    return f";name=substitute;downloadfilename={entry['url'].rsplit('/', 1)[1]};subdir={where};striplevel={entry.get('strip', 1)}"

python horus_substitutes_apply() {
    table = horus_substitutes_table(e.data)
    d = e.data
    entry = table.get(d.getVar("PN")) or table.get(d.getVar("BPN"))
    if not entry:
        return
    if "version" in entry:
        # Files of the recipe lie in a folder of its own version, too.
        d.prependVar("FILESEXTRAPATHS", d.expand("${FILE_DIRNAME}/${BPN}-${PV}:"))
        d.setVar("PV", entry["version"])
    if "version" in entry or "license" in entry:
        d.setVar("ERROR_QA:remove", "license-checksum patch-fuzz")
        d.setVar("WARN_QA:append", " license-checksum patch-fuzz")
    if "settings" in entry:
        for name, value in entry["settings"].items():
            if "[" in name:
                d.setVarFlag(*name.rstrip("]").split("["), value)
            else:
                d.setVar(name, value)
    if not {"url", "drop"} & set(entry):
        return
    dropped = entry.get("drop", [])
    source = d.getVar("S")
    unpacked = d.getVar("UNPACKDIR")
    folder = os.path.relpath(source, unpacked).split("/")[0]
    kept, replaced = [], False
    for uri in (d.getVar("SRC_URI") or "").split():
        scheme = uri.split(":", 1)[0]
        if scheme == "file":
            if not any(word in uri for word in dropped):
                kept.append(uri)
        elif "url" not in entry or any(word in uri for word in entry.get("keep", [])):
            kept.append(uri)
        elif not replaced:
            replaced = True
            kept.insert(0, entry["url"] + horus_substitutes_options(entry, folder))
    d.setVar("SRC_URI", " ".join(kept))
    if "rev" in entry:
        d.setVar("SRCREV_substitute", entry["rev"])
        d.delVar("SRCREV")
    elif "url" in entry:
        d.setVarFlag("SRC_URI", "substitute.sha256sum", entry["sha256"])
        if not entry.get("keep"):
            d.delVar("SRCREV")
}
addhandler horus_substitutes_apply
horus_substitutes_apply[eventmask] = "bb.event.RecipePreFinalise"
