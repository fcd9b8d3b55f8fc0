"""The 601 words of C. Claassen, Improving t-SNE for applications on word embedding data in text
mining (Erasmus University Rotterdam, 2020), and the measures of the thesis.

The words belong to eleven categories (countries, food, jobs, ...) and have word2vec vectors of
length 1. GloVe and fastText vectors of the same words are used to choose settings. Because 14 words
are in two categories, 14 vectors occur twice. The file is `claassen/claassen_words.npz` in the
folder MANYMAPS_DATA.

The measures count a word as its own nearest neighbour, as in the program of the thesis. A random
map therefore has a local measure of 10 %.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from lib.real_data import data_file
from manymaps.data.vectors import Vectors
from manymaps.metrics import mu_global, mu_local

K = 10
SOURCES = ("word2vec", "glove", "fasttext")


@dataclass(frozen=True)
class Score:
    """The measures of one map in percent: mean, standard deviation and error over its words."""

    local: float
    sd: float
    error: float
    overall: float


@dataclass(frozen=True)
class Words:
    """The unit vectors from each source, and the category of each word."""

    vectors: dict[str, Vectors]
    categories: np.ndarray


def read_words() -> Words | None:
    """Read the words; None if they are not available."""
    path = data_file("claassen/claassen_words.npz")
    if path is None:
        return None
    with np.load(path, allow_pickle=False) as archive:
        vectors = {}
        for source in SOURCES:
            values = archive[source].astype(np.float32)
            unit = values / np.linalg.norm(values, axis=1, keepdims=True)
            vectors[source] = Vectors(archive["words"].tolist(), unit)
        return Words(vectors, archive["labels"])


def score(data: np.ndarray, places: np.ndarray, k: int = K) -> Score:
    """Measure how well a map keeps k neighbours, the word itself included, and distances."""
    local = mu_local(data, places, k=k, count_self=True)
    overall = mu_global(data, places, count_self=True).mean
    spread = float(np.nanstd(local.values, ddof=1))
    return Score(100 * local.mean, 100 * spread, 100 * local.standard_error, 100 * overall)
