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

from manymaps.archive import ArrayPart, Schema, ValuePart
from manymaps.archive.door import ALWAYS_UNPACKED, MOST_EXPANSION, MOST_LABELS
from manymaps.atlas.storage import ATLAS
from manymaps.data.counts import COUNTS
from manymaps.maps.restarts import EARLIER
from manymaps.maps.run import CHECKPOINT
from manymaps.prediction.journal import JOURNAL, POINT

PAGE = Path(__file__).resolve().parents[1] / "docs" / "reference" / "formats.md"

INTRODUCTION = f"""# Formats of files

<!-- Written by scripts/describe_formats.py from the schemas by which files are read. -->

All that is kept is NumPy arrays and JSON, so that any program can read it:

    with zipfile.ZipFile("norms.atlas") as file:
        meta = json.loads(file.read("meta.json"))
        maps = np.load(io.BytesIO(file.read("maps.npy")))

An archive (`.atlas`, checkpoints) is a zip, stored or deflated, of `meta.json` in UTF-8, with
"format" and "version" beside the values below, and of one `.npy` file for each array. Names of
dimensions stand for the same length in the whole file. A name that ends in `*` stands for all that
begin so. What is not declared here is left out on reading, so that a file may hold more.

No file is unpickled, and no array reaches a computation before it was found to be as declared. A
zip may unpack to {ALWAYS_UNPACKED // 2**30} GiB or {MOST_EXPANSION} times its length, whichever is
more, and no table has more than {MOST_LABELS:,} rows or columns.
"""


def described(schema: Schema) -> str:
    """A section: what the file is, its values, its arrays."""
    lines = [f"## {schema.kind.removeprefix('manymaps ').capitalize()}", "", schema.says, ""]
    if schema.values and schema.kind.startswith("manymaps "):
        lines += [f'"format": "{schema.kind}", "version": {schema.version}', ""]
    if schema.values:
        lines += ["| value | type | what |", "|---|---|---|"]
        lines += [
            f"| {_name(name, part)} | {part.type_name} | {_what(part)} |"
            for name, part in schema.values.items()
        ]
        lines.append("")
    if schema.arrays:
        lines += ["| array | values | shape | what |", "|---|---|---|---|"]
        lines += [
            f"| {_name(name, part)} | {part.type_name} | {_shape(part)} | {_what(part)} |"
            for name, part in schema.arrays.items()
        ]
        lines.append("")
    return "\n".join(lines)


def _shape(part: ArrayPart) -> str:
    return f"({', '.join(map(str, part.shape))})" if part.shape else "one"


def _name(name: str, part: ValuePart | ArrayPart) -> str:
    return f"`{name}`" + (", if any" if part.optional or name.endswith("*") else "")


def _what(part: ValuePart | ArrayPart) -> str:
    """What a part is, and its range."""
    least, most = part.least, getattr(part, "most", math.inf)
    if least == -math.inf and most == math.inf:
        return part.says
    low = "" if least == -math.inf else f"{least} to " if most != math.inf else f"at least {least}"
    return f"{part.says}; {low}{'' if most == math.inf else most}"


def main() -> int:
    """Write the page, or compare it."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--check", action="store_true")
    asked = parser.parse_args()
    schemas = (ATLAS, CHECKPOINT, EARLIER, COUNTS, JOURNAL, POINT)
    text = "\n".join([INTRODUCTION, *(described(schema) for schema in schemas)]).rstrip() + "\n"
    if asked.check:
        if not PAGE.exists() or PAGE.read_text() != text:
            print(f"{PAGE.name} is out of date: python scripts/describe_formats.py")
            return 1
        return 0
    PAGE.write_text(text)
    return 0


if __name__ == "__main__":
    sys.exit(main())
