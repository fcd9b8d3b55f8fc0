"""Synthetic trials in the layouts of Small World of Words, whose own files may not be passed on.

People of plausible ages, genders, languages and countries see some cues each, and answer by the
strengths of the embedded word relations: with answers that repeat, that hold commas and quotation
marks, that are missing, and with cues that a person does not know.
"""

from __future__ import annotations

import csv
from collections.abc import Sequence
from pathlib import Path

import numpy as np

import manymaps as mm

UNKNOWN, MISSING = "Unknown word", "No more responses"
R100 = "id participantID age gender nativeLanguage country education created_at cue R1 R2 R3"
COMPLETE = "id participantID created_at age nativeLanguage gender education city country section"
COMPLETE += " cue R1Raw R2Raw R3Raw R1 R2 R3"
PLACES = ["United States", "United Kingdom", "Australia", "New Zealand", "Other, in Europe"]
ODD = ['5" nail', "rock, paper, scissors", "don't", 'say "no"', "café", "New  York"]


def pairs_of(norms: mm.Associations) -> dict[tuple[str, str], float]:
    """The strength of each pair of labels."""
    cells = norms.strengths.todok().items()
    return {(norms.labels[i], norms.labels[j]): float(value) for (i, j), value in cells}


def people(n: int, rng: np.random.Generator) -> dict[str, np.ndarray]:
    """What is known of some people, a column each; an age of 0 is unknown."""
    ages = np.clip(rng.gamma(4.0, 6.0, n) + 16, 16, 90).astype(int)
    return {
        "age": np.where(rng.random(n) < 0.01, 0, ages),
        "gender": rng.choice(["Fe", "Ma", "X"], n, p=[0.6, 0.385, 0.015]),
        "nativeLanguage": rng.choice(PLACES, n, p=[0.5, 0.15, 0.15, 0.05, 0.15]),
        "country": rng.choice(PLACES, n, p=[0.45, 0.15, 0.15, 0.05, 0.2]),
        "education": rng.choice(["NA", "3", "4", "5"], n),
        "created_at": np.array(
            [f"20{11 + i % 8}-0{1 + i % 9}-12 02:1{i % 10}:38" for i in range(n)]
        ),
    }


def answers(cue: np.ndarray, k: int, rng: np.random.Generator) -> tuple[list[str], np.ndarray]:
    """Words, and which of them are given to each cue; shape (n_trials, k)."""
    norms = mm.load_word_relations()
    rows = norms.strengths
    sums = np.maximum(np.asarray(rows.sum(axis=1)).ravel(), 1e-12)
    ends = np.cumsum(rows.data / np.repeat(sums, np.diff(rows.indptr)))
    below = np.append(0, ends)[rows.indptr]
    draws = below[cue][:, None] + rng.random((cue.size, k)) * (below[cue + 1] - below[cue])[:, None]
    at = np.minimum(np.searchsorted(ends, draws, side="right"), rows.nnz - 1)
    return list(norms.labels), rows.indices[at]


def swow_rows(
    n_participants: int = 40,
    n_cues: int = 20,
    *,
    each: int = 14,
    seed: int = 0,
    complete: bool = False,
) -> tuple[list[str], list[list[str]]]:
    """A header and rows in the layout of SWOW-EN.R100 or of SWOW-EN.complete.

    Parameters
    ----------
    n_participants, n_cues, each : int
        People, different cues, and cues that each of them sees.
    complete : bool
        Missing answers are told as "No more responses" and "Unknown word" rather than as NA, and
        raw answers stand beside corrected ones.
    """
    rng = np.random.default_rng(seed)
    each = min(each, n_cues)
    who = np.repeat(np.arange(n_participants), each)
    degrees = np.diff(mm.load_word_relations().strengths.indptr)
    chosen = np.argsort(-degrees, kind="stable")[:n_cues]
    turns = rng.integers(n_cues, size=n_participants)[:, None] + np.arange(each)
    cue = chosen[rng.permutation(n_cues)[turns % n_cues]].ravel()
    words, places = answers(cue, 3, rng)
    given = np.array(words, dtype=object)[places]
    odd = rng.random(given.shape) < 0.01
    given[odd] = rng.choice(np.array(ODD, dtype=object), int(odd.sum()))
    left = rng.random(cue.size)
    given[left < 0.15, 2] = MISSING
    given[left < 0.06, 1] = MISSING
    given[rng.random(cue.size) < 0.02] = UNKNOWN
    known = people(n_participants, rng)
    cells = {name: values[who].astype(str) for name, values in known.items()}
    cells["age"][cells["age"] == "0"] = "NA"
    cells |= {"id": np.arange(cue.size).astype(str), "participantID": (who + 3).astype(str)}
    cells |= {"cue": np.array(words, dtype=object)[cue], "section": np.full(cue.size, "set2017")}
    cells["city"] = np.full(cue.size, 'St. John\'s, "the" town', dtype=object)
    for k in range(3):
        plain = np.array([" ".join(text.split()) for text in given[:, k]], dtype=object)
        if not complete:
            plain[(plain == MISSING) | (plain == UNKNOWN)] = "NA"
        cells |= {f"R{k + 1}": plain, f"R{k + 1}Raw": given[:, k]}
    names = (COMPLETE if complete else R100).split()
    return names, [list(row) for row in zip(*(cells[name] for name in names), strict=True)]


def write_swow(path: Path, *arguments: int, **options: object) -> Path:
    """A file of `swow_rows`, quoted as R quotes; the layout R100 has numbers of rows."""
    return write_rows(path, *swow_rows(*arguments, **options))


def write_rows(path: Path, names: Sequence[str], rows: Sequence[Sequence[str]]) -> Path:
    """Rows as R's write.csv writes them: texts in quotation marks, NA without."""
    numbered = "R1Raw" not in names
    numbers = {"id", "participantID", "age", "education"}
    quoted = [name not in numbers for name in names]
    with path.open("w", encoding="utf-8", newline="") as file:
        header = ["", *names] if numbered else names
        file.write(",".join(f'"{name}"' for name in header) + "\n")
        for i, row in enumerate(rows, 1):
            cells = [
                '"' + cell.replace('"', '""') + '"' if mark and cell != "NA" else cell
                for mark, cell in zip(quoted, row, strict=True)
            ]
            file.write(",".join([f'"{i}"', *cells] if numbered else cells) + "\n")
    return path


def write_plain(path: Path, header: Sequence[str], rows: Sequence[Sequence[str]]) -> Path:
    """A file of some rows, quoted only where that is needed."""
    with path.open("w", encoding="utf-8", newline="") as file:
        csv.writer(file, lineterminator="\n").writerows([header, *rows])
    return path
