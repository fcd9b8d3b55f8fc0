"""Describe the files that manymaps writes, from their schemas: docs/reference/formats.md.

    python scripts/describe_formats.py [--check]

With --check nothing is written; the exit code is 1 if
docs/reference/formats.md is not current.
"""

from __future__ import annotations

import argparse
import math
import sys
from pathlib import Path
from types import NoneType

from manymaps.archive.arrays import ALWAYS_UNPACKED, MOST_EXPANSION
from manymaps.archive.schema import ArrayPart, Schema, ValuePart
from manymaps.atlas.storage import ATLAS
from manymaps.data.clean import DATA

KINDS = {
    "f": "float", "iu": "integer", "b": "boolean", "U": "text", "biuf": "number", "f4": "float32",
    "biufUmM": "number, text or time", "bf": "float or boolean", "S": "text", "Uu": "text",
}  # fmt: skip
TYPES = {
    str: "text", int: "integer", float: "number", bool: "boolean", list: "list",
    dict: "mapping", NoneType: "null",
}  # fmt: skip
PAGE = Path(__file__).resolve().parents[1] / "docs" / "reference" / "formats.md"

INTRODUCTION = f"""# File formats

<!-- Written by scripts/describe_formats.py from the schemas by which files are read. -->

All files that manymaps writes consist of NumPy arrays and JSON, so that any program can read them:

    with zipfile.ZipFile("norms.atlas") as file:
        meta = json.loads(file.read("meta.json"))
        maps = np.load(io.BytesIO(file.read("maps.npy")))

An `.atlas` or `.npz` file is a zip file, stored or deflated, with one `.npy` file per array.
Atlases and clean data also contain `meta.json` in UTF-8, with "format" and "version" in addition to
the values below. A dimension with the same name has the same length in the whole file. A name that
ends in `*` stands for all names with this beginning. Values and arrays that are not listed here are
ignored when the file is read.

manymaps never unpickles a file, and checks all arrays against these tables before it uses them. A
zip file may unpack to at most {ALWAYS_UNPACKED // 2**30} GiB or {MOST_EXPANSION} times its size,
whichever is larger.
"""

SWEEP = """## Sweep

`sweep` writes a text file with one JSON line per finished point, and continues from it. The
measures of a line are in nats per cue or from 0 to 1; infinite errors are written as Infinity. A
short hash of the split and the predictor identifies the sweep.
"""


def described(schema: Schema) -> str:
    """Return a section that describes a file, its values and its arrays."""
    lines = [f"## {schema.kind.removeprefix('manymaps ').capitalize()}", "", schema.says, ""]
    if schema.values and schema.kind.startswith("manymaps "):
        lines += [f'"format": "{schema.kind}", "version": {schema.version}', ""]
    if schema.values:
        lines += ["| value | type | meaning |", "|---|---|---|"]
        lines += [
            f"| {_name(name, part)} | {_type(part)} | {_what(part)} |"
            for name, part in schema.values.items()
        ]
        lines.append("")
    if schema.arrays:
        lines += ["| array | type | shape | meaning |", "|---|---|---|---|"]
        lines += [
            f"| {_name(name, part)} | {_type(part)} | {_shape(part)} | {_what(part)} |"
            for name, part in schema.arrays.items()
        ]
        lines.append("")
    return "\n".join(lines)


def _type(part: ValuePart | ArrayPart) -> str:
    if isinstance(part, ArrayPart):
        return KINDS.get(part.kinds, part.kinds)
    names = [TYPES[kind] for kind in part.types]
    if part.each is not None:
        names[0] += f" of {_type(part.each)}"
    return " or ".join(names)


def _shape(part: ArrayPart) -> str:
    return f"({', '.join(map(str, part.shape))})" if part.shape else "scalar"


def _name(name: str, part: ValuePart | ArrayPart) -> str:
    return f"`{name}`" + (" (optional)" if part.optional or name.endswith("*") else "")


def _what(part: ValuePart | ArrayPart) -> str:
    """Describe a part and its range."""
    least, most = part.least, getattr(part, "most", math.inf)
    if least == -math.inf and most == math.inf:
        return part.says
    bounds = f"at least {least}" if most == math.inf else f"from {least} to {most}"
    return f"{part.says}; {bounds}"


def main() -> int:
    """Write the page, or compare it."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--check", action="store_true")
    asked = parser.parse_args()
    schemas = (ATLAS, DATA)
    text = "\n".join([INTRODUCTION, *map(described, schemas), SWEEP]).rstrip() + "\n"
    if asked.check:
        if not PAGE.exists() or PAGE.read_text(encoding="utf-8") != text:
            print(f"{PAGE.name} is out of date: python scripts/describe_formats.py")
            return 1
        return 0
    PAGE.write_text(text, encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
