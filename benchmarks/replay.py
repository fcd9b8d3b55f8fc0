"""Do the readers still return what they returned? Replay recorded calls of the readers.

    python benchmarks/replay.py [--list]

`tests/io/recorded_calls.jsonl.gz` stores calls that the tests of the readers made at commit
b9e28281: the reader, the name and bytes of its file, its options, and the result (sizes, sums and
hashes of texts) or the type of the error. Each call is made again and counted by reader as

    same       equal result, or an error as before
    other      another result
    refused    an error instead of a result
    accepted   a result instead of an error
"""

from __future__ import annotations

import argparse
import base64
import gzip
import hashlib
import json
import tempfile
import warnings
from collections import Counter
from dataclasses import fields, is_dataclass
from pathlib import Path
from typing import Any

import numpy as np
from scipy import sparse

import manymaps as mm
from manymaps.io.frames import read_columns

RECORD = Path(__file__).parents[1] / "tests" / "io" / "recorded_calls.jsonl.gz"
SUFFIXES = {"glove": ".vec", "word2vec": ".vec", "word2vec-binary": ".bin"}
CLASSES = ("same", "other", "refused", "accepted")


def digest(texts: Any) -> str:
    joined = "\0".join(map(str, texts))
    return hashlib.sha256(joined.encode("utf-8", "surrogatepass")).hexdigest()[:12]


def rounded(number: Any) -> float:
    return float(f"{float(number):.6g}")


def summary(value: Any) -> Any:
    """Describe a result by sizes, sums and hashes of texts."""
    if value is None or isinstance(value, (bool, int, str)):
        return value
    if isinstance(value, (float, np.number)):
        return rounded(value)
    if sparse.issparse(value):
        shape = list(value.shape)
        return {"shape": shape, "stored": int(value.nnz), "sum": rounded(value.sum())}
    if isinstance(value, np.ndarray):
        if value.dtype.kind in "fiub":
            return {"shape": list(value.shape), "sum": rounded(np.nansum(value.astype(float)))}
        return {"shape": list(value.shape), "texts": digest(value.ravel())}
    if is_dataclass(value):
        names = [field.name for field in fields(value) if not field.name.startswith("_")]
        return {name: summary(getattr(value, name, None)) for name in names}
    if isinstance(value, dict):
        return {str(key): summary(one) for key, one in value.items()}
    if isinstance(value, (list, tuple)):
        if value and all(isinstance(one, str) for one in value):
            return {"n": len(value), "texts": digest(value)}
        return [summary(one) for one in value[:20]]
    return type(value).__name__


def differs(now: Any, before: Any) -> bool:
    """Whether a part of both differs; parts that only one of them has are not compared."""
    if isinstance(now, dict) and isinstance(before, dict):
        return any(differs(now[key], before[key]) for key in now.keys() & before.keys())
    return now != before


def replayed(call: dict[str, Any], folder: Path) -> tuple[str, str]:
    """Make a recorded call again; return its class and the error, if any."""
    read = read_columns if call["reader"] == "read_columns" else getattr(mm, call["reader"], None)
    options, suffix = call["options"], ""
    if call["reader"] in ("read_counts", "read_vectors"):  # the suffix is the format
        suffix = SUFFIXES.get(options.get("format"), "")
        options = {name: value for name, value in options.items() if name != "format"}
    path = folder / f"{call['file']}{suffix}"
    path.write_bytes(base64.b64decode(call["bytes"]))
    # Options that were not given may exist no longer.
    options = {name: value for name, value in options.items() if value is not None}
    try:
        result = read(path, *call["args"], **options)
        if call["reader"] == "read_columns":
            result = result.astype(object).where(result.notna(), None).to_dict("list")
        if call["reader"] in ("read_ratings", "ratings_from"):
            columns = dict(zip(("first", "second", "values"), result.to_numpy().T, strict=True))
            columns = {name: tuple(column) for name, column in columns.items()}
            result = columns | {
                "values": np.array(columns["values"], float),
                "report": result.attrs,
            }
    except Exception as error:
        return ("same" if "error" in call else "refused"), f"{type(error).__name__}: {error}"
    finally:
        path.unlink()
    if "error" in call:
        return "accepted", ""
    now = json.loads(json.dumps(summary(result)))
    now.get("report", {}).pop("notes", None) if isinstance(now, dict) else None
    return ("other" if differs(now, call["summary"]) else "same"), ""


def main() -> None:
    parser = argparse.ArgumentParser(description="Replay recorded calls of the readers.")
    parser.add_argument("--list", action="store_true", help="print each call that changed")
    arguments = parser.parse_args()
    warnings.simplefilter("ignore")
    counts: Counter[tuple[str, str]] = Counter()
    with (
        gzip.open(RECORD, "rt", encoding="utf-8") as lines,
        tempfile.TemporaryDirectory() as folder,
    ):
        for line in lines:
            call = json.loads(line)
            outcome, error = replayed(call, Path(folder))
            counts[call["reader"], outcome] += 1
            if arguments.list and outcome != "same":
                print(
                    f"{outcome}  {call['reader']} {call['file']} {call['options']}  {error[:120]}"
                )
    print(f"{'reader':<20}" + "".join(f"{name:>10}" for name in CLASSES))
    for reader in sorted({reader for reader, _ in counts}):
        print(f"{reader:<20}" + "".join(f"{counts[reader, name]:>10}" for name in CLASSES))


if __name__ == "__main__":
    main()
