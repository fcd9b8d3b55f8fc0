"""Conversion of the types in `manymaps.cli.results` to JSON Schema (draft 2020-12)."""

from __future__ import annotations

from types import NoneType, UnionType
from typing import (
    Annotated,
    Any,
    Literal,
    NotRequired,
    get_args,
    get_origin,
    get_type_hints,
    is_typeddict,
)  # fmt: skip

from manymaps.cli.results import RESULTS

__all__ = ["schema_of"]

_NAMES = {int: "integer", float: "number", str: "string", bool: "boolean", NoneType: "null"}


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
    objects: dict[str, Any] = {}
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": f"manymaps {command} --json",
        **_converted(RESULTS[command], objects, closed),
        "$defs": objects,
    }


def _converted(kind: Any, objects: dict[str, Any], closed: bool) -> dict[str, Any]:
    """Convert a type, and add the objects that it contains to `objects`."""
    if is_typeddict(kind):
        _add_object(kind, objects, closed)
        return {"$ref": f"#/$defs/{kind.__name__}"}
    origin, arguments = get_origin(kind), get_args(kind)
    if origin is Annotated:
        return {**_converted(arguments[0], objects, closed), "description": arguments[1]}
    if origin is Literal:
        return {"enum": list(arguments)}
    if origin is list:
        return {"type": "array", "items": _converted(arguments[0], objects, closed)}
    if origin is dict:
        values = _converted(arguments[1], objects, closed)
        return {"type": "object", "additionalProperties": values}
    if isinstance(kind, UnionType):
        if all(one in _NAMES for one in arguments):
            return {"type": [_NAMES[one] for one in arguments]}
        return {"anyOf": [_converted(one, objects, closed) for one in arguments]}
    return {"type": _NAMES[kind]}


def _add_object(kind: Any, objects: dict[str, Any], closed: bool) -> None:
    if kind.__name__ in objects:
        return
    properties: dict[str, Any] = {}
    required: list[str] = []
    # The object is stored before its parts are converted, because it may contain itself.
    objects[kind.__name__] = {
        "type": "object",
        "description": kind.__doc__,
        "properties": properties,
        "required": required,
        **({"additionalProperties": False} if closed else {}),
    }
    for name, part in get_type_hints(kind, include_extras=True).items():
        if get_origin(part) is NotRequired:
            (part,) = get_args(part)
        else:
            required.append(name)
        properties[name] = _converted(part, objects, closed)
