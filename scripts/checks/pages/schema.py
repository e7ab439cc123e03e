"""A validator of JSON Schema, of what docs/schema uses of draft 7: a word that it does not know is an error, and never passed over."""

import re

NOTES = {"$schema", "title", "description", "definitions", "examples", "default"}
TYPES = {"object": dict, "array": list, "string": str, "boolean": bool, "integer": int, "number": (int, float)}


def complaints(value, schema, root: dict, place: str = "") -> list:
    """What is wrong with a value, each with where; nothing if it is valid."""
    if schema is True or schema is False:
        return [] if schema else [f"{place}: nothing may stand here"]
    found = []
    for word, wanted in schema.items():
        if word not in NOTES:
            found += CHECKS[word](value, wanted, schema, root, place)
    return found


def is_of(value, name: str) -> bool:
    if isinstance(value, bool):
        return name == "boolean"
    return isinstance(value, TYPES[name])


def of_reference(value, wanted, schema, root, place):
    assert wanted.startswith("#/definitions/") and set(schema) - NOTES == {"$ref"}, "in draft 7 nothing stands beside $ref"
    return complaints(value, root["definitions"][wanted.removeprefix("#/definitions/")], root, place)


def of_any(value, wanted, schema, root, place):
    all_of_them = [complaints(value, each, root, place) for each in wanted]
    return [] if [] in all_of_them else [f"{place}: {value!r} is none of {len(wanted)} things: {all_of_them}"]


def of_properties(value, wanted, schema, root, place):
    known = value.items() if isinstance(value, dict) else ()
    return [text for key, each in known if key in wanted for text in complaints(each, wanted[key], root, f"{place}.{key}")]


def of_others(value, wanted, schema, root, place):
    known = value.items() if isinstance(value, dict) else ()
    named = schema.get("properties", {})
    return [text for key, each in known if key not in named for text in complaints(each, wanted, root, f"{place}.{key}")]


def simple(holds):
    """A check of the value alone."""
    return lambda value, wanted, schema, root, place: [] if holds(value, wanted) else [f"{place}: {value!r} is not {wanted!r}"]


CHECKS = {
    "$ref": of_reference,
    "anyOf": of_any,
    "allOf": lambda value, wanted, schema, root, place: [text for each in wanted for text in complaints(value, each, root, place)],
    "properties": of_properties,
    "additionalProperties": of_others,
    "propertyNames": lambda value, wanted, schema, root, place: [text for key in (value if isinstance(value, dict) else ()) for text in complaints(key, wanted, root, f"{place}.{key}")],
    "items": lambda value, wanted, schema, root, place: [text for each in (value if isinstance(value, list) else ()) for text in complaints(each, wanted, root, f"{place}[]")],
    "type": simple(is_of),
    "enum": simple(lambda value, wanted: value in wanted),
    "required": simple(lambda value, wanted: not isinstance(value, dict) or set(wanted) <= set(value)),
    "pattern": simple(lambda value, wanted: not isinstance(value, str) or re.search(wanted, value) is not None),
    "maxLength": simple(lambda value, wanted: not isinstance(value, str) or len(value) <= wanted),
    "minimum": simple(lambda value, wanted: isinstance(value, bool) or not isinstance(value, (int, float)) or value >= wanted),
    "maximum": simple(lambda value, wanted: isinstance(value, bool) or not isinstance(value, (int, float)) or value <= wanted),
}
