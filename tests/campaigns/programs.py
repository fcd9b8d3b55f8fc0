"""The commands that faults befall: what each reads and writes, and what a whole output is.

All of them work in a folder of small files with labels in several scripts (`write_inputs`), and
name what they write o.SUFFIX. What one goes on with after an end that it did not choose, a
checkpoint or the journal of a sweep, is `resumes`.
"""

from __future__ import annotations

import csv
import io
import json
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from manymaps import load_atlas

__all__ = ["PROGRAMS", "Program", "content", "write_inputs"]

_WORDS = ("東京", "Ñandú", "ırmak", "مرحبا", "naïve")


@dataclass(frozen=True)
class Program:
    """A command line of manymaps.

    Parameters
    ----------
    arguments : tuple of str
    outputs : tuple of str
        Names of the files that it leaves when all goes well.
    resumes : tuple of str
        What is added to go on, where the file that comes last is there.
    """

    arguments: tuple[str, ...]
    outputs: tuple[str, ...] = ()
    resumes: tuple[str, ...] = ()


def _program(line: str, *outputs: str, resumes: str = "") -> Program:
    return Program(tuple(line.split()), outputs, tuple(resumes.split()))


PROGRAMS = {
    "fit": _program("fit norms.csv -o o.atlas --maps 3 --iterations 150", "o.atlas"),
    "fit with a checkpoint": _program(
        "fit norms.csv -o o.atlas --maps 3 --iterations 300 --checkpoint o.state",
        "o.atlas", "o.state", resumes="--resume o.state",
    ),
    "restarts": _program(
        "fit norms.csv -o o.atlas --maps 2 --iterations 80 --restarts 4 --checkpoint o.state",
        "o.atlas", "o.state", resumes="--resume o.state",
    ),
    "tsne": _program(
        "fit vectors.txt -o o.atlas --method tsne --perplexity 5 --iterations 300", "o.atlas"
    ),
    "code": _program("fit counts.npz -o o.atlas --method code --iterations 60", "o.atlas"),
    "sweep": _program(
        "sweep norms.csv --maps 1,2 --dims 2,3 --iterations 3 -o o.csv --resume o.jsonl --jobs 1",
        "o.csv", "o.jsonl",
    ),
    "predict": _program("predict norms.csv --dims 2 --iterations 4 -o o.atlas", "o.atlas"),
    "stability": _program(
        "stability norms.csv -o o.atlas --fits 2 --maps 2 --iterations 40 --jobs 1", "o.atlas"
    ),
    "cluster": _program("cluster judged.csv --clusters 2 -o o.csv --plot o.png", "o.csv", "o.png"),
    "count": _program("count texts.txt -o o.npz", "o.npz"),
    "insert": _program("insert fitted.atlas new.csv -o o.atlas", "o.atlas"),
    "align": _program("align other.atlas fitted.atlas -o o.atlas", "o.atlas"),
    "view": _program("view fitted.atlas -o o.html", "o.html"),
    "plot": _program("plot fitted.atlas -o o.png", "o.png"),
    "export csv": _program("export fitted.atlas -o o.csv", "o.csv"),
    "export graphml": _program("export fitted.atlas -o o.graphml", "o.graphml"),
    "export parquet": _program("export fitted.atlas -o o.parquet", "o.parquet"),
    "senses": _program("senses fitted.atlas 東京0"),
    "senses as JSON": _program("senses fitted.atlas 東京0 --json"),
    "inspect": _program("inspect norms.csv"),
}  # fmt: skip


def write_inputs(folder: Path) -> None:
    """What the programs read."""
    rng = np.random.default_rng(0)
    words = [f"{_WORDS[k % len(_WORDS)]}{k}" for k in range(60)]
    steps = (-3, -2, -1, 1, 2, 3)
    pairs = [(i, (i + s) % 60, round(1 / abs(s), 3)) for i in range(60) for s in steps]
    lines = "".join(f"{words[i]},{words[j]},{p}\n" for i, j, p in pairs)
    _write(folder / "norms.csv", f"cue,response,strength\n{lines}")
    new = "".join(f"neu,{words[k]},{k + 1}\n" for k in range(5))
    _write(folder / "new.csv", f"cue,response,strength\n{new}")
    rows = (" ".join(map(repr, row)) for row in rng.normal(size=(60, 8)).round(4).tolist())
    _write(folder / "vectors.txt", "".join(f"{w} {r}\n" for w, r in zip(words, rows, strict=True)))
    table = rng.random((12, 12)).round(2)
    table = np.maximum(table, table.T).tolist()
    head = ",".join(["", *words[:12]])
    body = "".join(f"{w},{','.join(map(str, row))}\n" for w, row in zip(words, table, strict=False))
    _write(folder / "judged.csv", f"{head}\n{body}")
    texts = (" ".join(words[k] for k in rng.integers(0, 60, 30)) for _ in range(40))
    _write(folder / "texts.txt", "".join(f"{text}\n" for text in texts))
    subprocess.run([sys.executable, "-c", _FITS], cwd=folder, check=True)


_FITS = """
from manymaps.cli import cli
for line in (
    "fit norms.csv -o fitted.atlas --maps 3 --iterations 100 --quiet",
    "fit norms.csv -o other.atlas --maps 3 --iterations 100 --seed 1 --quiet",
    "count texts.txt -o counts.npz --quiet",
):
    cli(line.split(), standalone_mode=False)
"""


def _write(file: Path, text: str) -> None:
    file.write_text(text, encoding="utf-8")


def content(file: Path) -> object:
    """What must be the same of a whole output wherever and however often it is made.

    Raises an error of any kind where the file is not whole.
    """
    match file.suffix:
        case ".atlas":
            atlas = load_atlas(file)
            return atlas.labels, atlas.maps.tobytes(), atlas.proportions.tobytes()
        case ".npz":
            with np.load(file) as arrays:
                return {name: arrays[name].tobytes() for name in arrays if name != "meta"}
        case ".csv":
            rows = csv.DictReader(io.StringIO(file.read_text(encoding="utf-8")))
            return [{k: v for k, v in row.items() if k != "seconds"} for row in rows]
        case ".jsonl":
            lines = file.read_bytes().decode().splitlines()
            records = [json.loads(line) for line in lines]
            return sorted(
                json.dumps({k: v for k, v in one.items() if k != "seconds"}) for one in records
            )
        case ".state":
            return None if file.read_bytes()[:2] == b"PK" else file.read_bytes()[:20]
    return file.read_bytes()
