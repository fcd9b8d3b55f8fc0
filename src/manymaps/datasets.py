"""The embedded data: relations between the commonest English nouns and verbs, from WordNet 3.0.

    strengths[i, j]    how strongly word i recalls word j; every row sums to 1
    pair_senses[p]     for the p-th stored pair, in row-major order, the sense of the cue i that the
                       pair comes from: 0 is the word's commonest sense, 1 the next

It is a sample to try the methods on, with a ground truth that no other association data has: which
sense of *tie* recalls *knot* and which *contest*. `scripts/build_word_relations.py` in the source
repository says how the strengths are made and rebuilds the file. WordNet's notice is shipped beside
it (`data/WORDNET-LICENSE`).
"""

from __future__ import annotations

from importlib import resources

import numpy as np
from scipy import sparse

from manymaps.associations import Associations, ReadReport

__all__ = ["load_word_relations", "sense_names"]

VERB_CODE = 100


def load_word_relations() -> Associations:
    """Relations between the commonest 3,200 English nouns and verbs, from WordNet 3.0.

    Returns
    -------
    Associations
        Rows of 2 to 24 related words that sum to 1, with `pair_senses`. It is not symmetric.

    Examples
    --------
    >>> from manymaps.datasets import load_word_relations
    >>> relations = load_word_relations()
    >>> tie = relations.index("tie")
    >>> row = relations.strengths[[tie]]
    >>> relations.labels[row.indices[row.data.argmax()]]
    'fasten'
    """
    arrays = _read()
    n = len(arrays["indptr"]) - 1
    counts = np.diff(arrays["indptr"])
    weights = arrays["weights"].astype(np.float64)
    rows = np.repeat(np.arange(n), counts)
    weights /= np.bincount(rows, weights, minlength=n)[rows]
    indices = arrays["indices"].astype(np.int32)
    strengths = sparse.csr_array((weights, indices, arrays["indptr"]), shape=(n, n))
    report = ReadReport(source="word relations from WordNet 3.0", n_read=len(weights))
    return Associations(_labels(arrays), strengths, report, arrays["senses"].astype(np.int64))


def sense_names() -> dict[str, tuple[str, ...]]:
    """What the numbers in `pair_senses` stand for, word by word.

    Returns
    -------
    dict of str to tuple of str
        For each word the names of its senses: word, n(oun) or v(erb), number in WordNet. A name
        stands for all senses of the word that recall much the same words.

    Examples
    --------
    >>> from manymaps.datasets import sense_names
    >>> sense_names()["bank"][:2]
    ('bank.n.1', 'bank.n.2')
    """
    arrays = _read()
    ends = np.cumsum(arrays["sense_counts"], dtype=np.int64)
    codes = np.split(arrays["sense_codes"].astype(int), ends[:-1])
    return {
        word: tuple(f"{word}.{'nv'[code // VERB_CODE]}.{code % VERB_CODE}" for code in own)
        for word, own in zip(_labels(arrays), codes, strict=True)
    }


def _read() -> dict[str, np.ndarray]:
    source = resources.files("manymaps") / "data" / "word_relations.npz"
    with source.open("rb") as file, np.load(file, allow_pickle=False) as arrays:
        return dict(arrays)


def _labels(arrays: dict[str, np.ndarray]) -> list[str]:
    return arrays["labels"].tobytes().decode().split("\n")
