"""JSON Schemas (draft 2020-12) of the objects that commands print with --json.

The file `results.toml` declares the objects.
"""

from __future__ import annotations

import json
import re
import tomllib
from pathlib import Path
from typing import Any

_OBJECTS: dict[str, dict[str, Any]] = tomllib.loads(
    Path(__file__).with_name("results.toml").read_text(encoding="utf-8")
)

#: Names of the objects of each command. If there are several, the input determines which.
RESULTS: dict[str, list[str]] = _OBJECTS.pop("commands")


def schema_of(command: str, *, closed: bool = False) -> dict[str, Any]:
    """Return the JSON Schema of the object that a command prints with --json.

    Parameters
    ----------
    command : str
        Name of the command.
    closed : bool
        Whether unknown keys are rejected. By default, they are allowed, because later versions may
        print more keys.

    Returns
    -------
    dict
        The schema, with the nested objects under "$defs".

    Examples
    --------
    >>> schema_of("align")["$defs"]["Align"]["properties"]["shared"]
    {'type': 'integer', 'description': 'Number of objects in both atlases.'}
    """
    schemas: dict[str, Any] = {}
    for name in RESULTS[command]:
        _add_schema(name, schemas, closed)
    refs = [{"$ref": f"#/$defs/{name}"} for name in RESULTS[command]]
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": f"manymaps {command} --json",
        **(refs[0] if len(refs) == 1 else {"anyOf": refs}),
        "$defs": schemas,
    }


def _add_schema(name: str, schemas: dict[str, Any], closed: bool) -> None:
    """Add the schema of an object, and those of the objects that it contains."""
    if name in schemas:
        return
    declared = [_OBJECTS[name]]
    while "extends" in declared[0]:
        declared.insert(0, _OBJECTS[declared[0]["extends"]])
    properties = {key: part for one in declared for key, part in one["properties"].items()}
    optional = {key for one in declared for key in one.get("optional", ())}
    schemas[name] = {
        "type": "object",
        "description": declared[-1]["description"],
        "properties": properties,
        "required": [key for key in properties if key not in optional],
        **({"additionalProperties": False} if closed else {}),
    }
    for part in re.findall(r"#/\$defs/(\w+)", json.dumps(properties)):
        _add_schema(part, schemas, closed)
