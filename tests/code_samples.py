"""Counts of documents and words on the command line, and an atlas of them."""

import json
from pathlib import Path

import numpy as np
from click.testing import Result

import manymaps as mm
from cli_samples import invoke, worked

WORDS = {
    "sea": ["ship", "sail", "rope", "knot", "wave"],
    "wear": ["tie", "suit", "knot", "dress", "shoe"],
}
SHORT = ("--iterations", 40, "--jobs", 1)


def group_of(i: int) -> str:
    return ("sea", "wear")[i % 2]


def sample(n: int = 24) -> mm.Counts:
    """Documents of two groups, one without words, one called tie; and a word without documents."""
    rng = np.random.default_rng(0)
    words = sorted({word for group in WORDS.values() for word in group})
    likely = np.array([[4.0 if w in WORDS[group_of(i)] else 0.3 for w in words] for i in range(n)])
    values = np.zeros((n + 1, len(words) + 1))
    values[:n, :-1] = rng.poisson(likely)
    labels = [*(f"d{i}" for i in range(n - 1)), "tie", "blank"]
    return mm.Counts(
        values,
        labels,
        [*words, "unseen"],
        ("document", "word"),
        {"group": [*map(group_of, range(n)), ""], "year": np.arange(n + 1)},
        {"length": np.array([*map(len, words), 6])},
    )


def write_list(file: Path, counts: mm.Counts, header: str = "document,word,count") -> Path:
    pairs = counts.values.tocoo()
    lines = [
        f"{counts.row_labels[i]},{counts.column_labels[j]},{int(v)}\n"
        for i, j, v in zip(pairs.row, pairs.col, pairs.data, strict=True)
    ]
    file.write_text(f"{header}\n{''.join(lines)}", encoding="utf-8")
    return file


def code(file: Path, output: Path | None = None, *options: object) -> Result:
    output = output or file.parent / "out.atlas"
    return invoke("fit", file, "-o", output, "--method", "code", *SHORT, *options)


def atlas_of(file: Path, *options: object) -> mm.Atlas:
    worked(code(file, None, *options))
    return mm.load_atlas(file.parent / "out.atlas")


def record(*arguments: object) -> dict:
    result = worked(invoke(*arguments, "--json"))
    return json.loads(result.stdout)


def write_atlas(folder: Path) -> Path:
    """Write counts.npz and, fitted to it, code.atlas into a folder."""
    sample().save(folder / "counts.npz")
    worked(code(folder / "counts.npz", folder / "code.atlas"))
    return folder
