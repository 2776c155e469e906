#!/usr/bin/env python3
"""Checks a JSON document on standard input against a JSON Schema file: the keywords that our schemas use, standard
library only.  tare inspect run.h5 --json | python3 tests/support/json_schema.py cli/inspect.schema.json"""
import json
import re
import sys

# The last three are known and not followed.
KNOWN = {"$schema", "$id", "$defs", "$ref", "$comment", "title", "description", "default", "examples", "type", "enum", "const",
         "properties", "required", "additionalProperties", "patternProperties", "propertyNames", "items", "prefixItems",
         "oneOf", "anyOf", "allOf", "not", "if", "then", "else", "minimum", "maximum", "exclusiveMinimum",
         "exclusiveMaximum", "minLength", "maxLength", "pattern", "minItems", "maxItems", "minProperties",
         "maxProperties", "uniqueItems", "format", "unevaluatedProperties"}


def is_type(x, t):
    number = isinstance(x, (int, float)) and not isinstance(x, bool)
    return {"object": isinstance(x, dict), "array": isinstance(x, list), "string": isinstance(x, str),
            "boolean": isinstance(x, bool), "null": x is None, "number": number,
            "integer": number and float(x).is_integer()}[t]


def find(root, ref):
    at = root
    for part in ref.lstrip("#/").split("/"):
        at = at[part]
    return at


def check(x, s, root, where):
    """Yields what is wrong, a sentence each."""
    if s is True:
        return
    if s is False:
        yield f"{where}: nothing may stand here"
        return
    unknown = set(s) - KNOWN
    assert not unknown, f"schema keyword this checker does not know: {unknown}"
    if "$ref" in s:
        yield from check(x, find(root, s["$ref"]), root, where)
    if "type" in s:
        types = s["type"] if isinstance(s["type"], list) else [s["type"]]
        if not any(is_type(x, t) for t in types):
            yield f"{where}: {json.dumps(x)[:60]} is not {' or '.join(types)}"
            return
    if "enum" in s and x not in s["enum"]:
        yield f"{where}: {json.dumps(x)[:60]} is none of {s['enum']}"
    if "const" in s and x != s["const"]:
        yield f"{where}: {json.dumps(x)[:60]} is not {s['const']!r}"
    yield from check_value(x, s, where)
    for name in ("oneOf", "anyOf"):
        if name in s:
            bad = [list(check(x, t, root, where)) for t in s[name]]
            fits = sum(not b for b in bad)
            if fits == 0 or (name == "oneOf" and fits > 1):
                yield f"{where}: fits {fits} of {len(bad)} alternatives; nearest: {min(bad, key=len)[:3]}"
    for t in s.get("allOf", []):
        yield from check(x, t, root, where)
    if "not" in s and not list(check(x, s["not"], root, where)):
        yield f"{where}: is what it must not be"
    if "if" in s:
        branch = "else" if list(check(x, s["if"], root, where)) else "then"
        yield from check(x, s.get(branch, True), root, where)
    if isinstance(x, dict):
        yield from check_object(x, s, root, where)
    if isinstance(x, list):
        for i, item in enumerate(x):
            yield from check(item, s.get("items", True), root, f"{where}/{i}")


def check_value(x, s, where):
    if isinstance(x, (int, float)) and not isinstance(x, bool):
        if x < s.get("minimum", x) or x > s.get("maximum", x):
            yield f"{where}: {x} is out of range"
        if x <= s.get("exclusiveMinimum", x - 1) or x >= s.get("exclusiveMaximum", x + 1):
            yield f"{where}: {x} is out of range"
    if isinstance(x, str):
        if "pattern" in s and not re.search(s["pattern"], x):
            yield f"{where}: {x[:60]!r} does not match {s['pattern']}"
        if not s.get("minLength", 0) <= len(x) <= s.get("maxLength", len(x)):
            yield f"{where}: {len(x)} characters"
    if isinstance(x, list) and not s.get("minItems", 0) <= len(x) <= s.get("maxItems", len(x)):
        yield f"{where}: {len(x)} elements"
    if isinstance(x, dict) and not s.get("minProperties", 0) <= len(x) <= s.get("maxProperties", len(x)):
        yield f"{where}: {len(x)} members"


def check_object(x, s, root, where):
    for key in s.get("required", []):
        if key not in x:
            yield f"{where}: '{key}' is missing"
    for key, value in x.items():
        if key in s.get("properties", {}):
            yield from check(value, s["properties"][key], root, f"{where}/{key}")
            continue
        patterns = [t for p, t in s.get("patternProperties", {}).items() if re.search(p, key)]
        for t in patterns or [s.get("additionalProperties", True)]:
            if t is False:
                yield f"{where}: unknown member '{key}'"
            else:
                yield from check(value, t, root, f"{where}/{key}")


def main():
    with open(sys.argv[1], encoding="utf-8") as f:
        schema = json.load(f)
    wrong = list(check(json.load(sys.stdin), schema, schema, ""))
    for line in wrong[:20]:
        print(line)
    if not wrong:
        print("fits the schema")
    return 1 if wrong else 0


sys.exit(main())
