"""NIPS papers of volumes 0 to 12 with their words, authors and sections, and options for them."""

from __future__ import annotations

import argparse
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from scipy import sparse

import manymaps as mm
from lib.real_data import data_file

__all__ = ["Papers", "parsed", "read_papers"]

UNKNOWN = "Uncategorised"


def parsed(description: str) -> argparse.Namespace:
    """Read the options of a script."""
    parser = argparse.ArgumentParser(description=description)
    parser.add_argument("--quick", action="store_true", help="few words and iterations")
    parser.add_argument("-o", "--output", type=Path, help="draw the figures into this folder")
    return parser.parse_args()


@dataclass(frozen=True)
class Papers:
    """The word counts of papers, and of their authors, and the section of each, "" if unknown."""

    counts: mm.Counts
    by_author: mm.Counts
    sections: np.ndarray


def read_papers() -> Papers | None:
    """Read the papers; None if they are not available, which is an error in CI."""
    path = data_file("nips/nips12.npz")
    if path is None:
        return None
    with np.load(path, allow_pickle=False) as archive:
        words, authors = archive["vocab"].tolist(), archive["authors"].tolist()
        n_papers = len(archive["docnames"])
        table = sparse.csr_array(
            (archive["counts"].astype(float), archive["indices"], archive["indptr"]),
            shape=(n_papers, len(words)),
        )
        indices = archive["author_indices"]
        wrote = sparse.csr_array(
            (np.ones(len(indices)), indices, archive["author_indptr"]),
            shape=(n_papers, len(authors)),
        )
        names = path.with_name("labels.key.txt").read_text("utf-8").splitlines()
        sections = np.array([name.strip() for name in names])[archive["label"]]
        titles = archive["docnames"].tolist()
    sections[sections == UNKNOWN] = ""
    return Papers(
        mm.Counts(table, titles, words, kinds=("document", "word")),
        mm.Counts(wrote.T @ table, authors, words, kinds=("author", "word")),
        sections,
    )
