"""Embedded data: relations between words, and two reconstructed tables of similarities.

Relations between the most frequent English nouns and verbs, from WordNet 3.0:

    strengths[i, j]    strength of the association from word i to word j; every row sums to 1
    pair_senses[p]     for the p-th stored pair, in row-major order, the sense of the cue i that the
                       pair comes from: 0 is the word's most frequent sense, 1 the next

They are a sample for trying the methods, with a ground truth that no other association data has:
the sense of *tie* that belongs to *knot*, and the one that belongs to *contest*.
`scripts/build_word_relations.py` in the source repository documents the strengths and rebuilds the
file. WordNet's notice is distributed with it (`data/WORDNET-LICENSE`).

Similarities of the integers 0 to 9 and of sixteen consonants. They are not judgements or
confusions of participants, but the predictions of two published solutions of additive clustering:

    strengths[i, j] = sum_k w_k f_ik f_jk + c        i != j

with the clusters f, their weights w and the constant c of tables 1 and 2 of J. B. Tenenbaum,
"Learning the structure of similarity", NIPS 8 (1996). Therefore their features are known exactly.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from importlib import resources
from typing import Final

import numpy as np
from scipy import sparse

from manymaps.archive.arrays import open_arrays
from manymaps.checks import check_number
from manymaps.data.associations import Associations, ReadReport
from manymaps.seeds import drawn_generator

__all__ = [
    "CONSONANT_CLUSTERS", "CONSONANT_CONSTANT", "INTEGER_CLUSTERS", "INTEGER_CONSTANT",
    "load_consonants", "load_integers", "load_word_relations", "sense_names",
]  # fmt: skip

# The file stores a code per sense: its number in WordNet, plus 100 for verbs.
VERB_CODE = 100

INTEGERS: Final = tuple("0123456789")
# Tables 1 and 2 of Tenenbaum (1996).
INTEGER_CLUSTERS: Final[Mapping[tuple[str, ...], float]] = {
    ("2", "4", "8"): 0.444,
    ("0", "1", "2"): 0.345,
    ("3", "6", "9"): 0.331,
    ("6", "7", "8", "9"): 0.291,
    ("2", "3", "4", "5", "6"): 0.255,
    ("1", "3", "5", "7", "9"): 0.216,
    ("1", "2", "3", "4"): 0.214,
    ("4", "5", "6", "7", "8"): 0.172,
}
INTEGER_CONSTANT: Final = 0.148

CONSONANTS: Final = (
    "p", "t", "k", "f", "th", "s", "sh", "b", "d", "g", "v", "dh", "z", "zh", "m", "n",
)  # fmt: skip
CONSONANT_CLUSTERS: Final[Mapping[tuple[str, ...], float]] = {
    ("f", "th"): 0.800,
    ("d", "g"): 0.572,
    ("p", "k"): 0.463,
    ("b", "v", "dh"): 0.424,
    ("p", "t", "k"): 0.357,
    ("m", "n"): 0.292,
    ("d", "g", "v", "dh", "z", "zh"): 0.169,
    ("p", "t", "k", "f", "th", "s"): 0.132,
}
CONSONANT_CONSTANT: Final = 0.047


def load_word_relations() -> Associations:
    """Load relations between the 3,200 most frequent English nouns and verbs, from WordNet 3.0.

    Returns
    -------
    Associations
        Rows of 2 to 24 related words that sum to 1, with `pair_senses`. The table is not symmetric.

    See Also
    --------
    datasets.sense_names, load_integers, load_consonants

    Examples
    --------
    >>> from manymaps import load_word_relations
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
    """Return the names of the senses that the numbers in `pair_senses` denote.

    Returns
    -------
    dict of str to tuple of str
        For each word the names of its senses: word, n(oun) or v(erb), number in WordNet. A name
        denotes all senses of the word that have nearly the same associates.

    See Also
    --------
    manymaps.load_word_relations, manymaps.metrics.sense_induction

    Examples
    --------
    >>> from manymaps.data.datasets import sense_names
    >>> sense_names()["bank"][:2]
    ('bank.n.1', 'bank.n.2')
    """
    arrays = _read()
    ends = np.cumsum(arrays["sense_counts"], dtype=np.int64)
    codes = np.split(arrays["sense_codes"].astype(int), ends[:-1])
    return {
        word: tuple(f"{word}.{'nv'[code // VERB_CODE]}.{code % VERB_CODE}" for code in numbers)
        for word, numbers in zip(_labels(arrays), codes, strict=True)
    }


def load_integers(
    noise: float = 0.0, *, random_state: int | np.random.Generator | None = None
) -> Associations:
    """Reconstruct similarities of the integers 0 to 9 from a solution of additive clustering.

    They are not judgements of participants. Tenenbaum (1996, table 1) fitted the judgements of
    Shepard, Kilpatric and Cunningham (1975) with the eight clusters `INTEGER_CLUSTERS` and the
    constant `INTEGER_CONSTANT`. The similarities are the predictions of that solution.

    Parameters
    ----------
    noise : float, at least 0
        Variance of normal noise added to each pair, relative to the variance of the similarities.
        With 0.05, the clusters account for about 95 % of the variance. Noise that would make a
        similarity negative is drawn again, which reduces its variance if many are near 0.
    random_state : int, Generator or None
        Seed of the noise. None draws a seed from NumPy's global state.

    Returns
    -------
    Associations
        Symmetric, 10 objects, 45 pairs each way.

    Raises
    ------
    ParameterError
        If the noise is negative or not finite.

    See Also
    --------
    load_consonants, AdditiveClustering

    References
    ----------
    J. B. Tenenbaum, "Learning the structure of similarity", NIPS 8 (1996).

    Examples
    --------
    >>> from manymaps import load_integers
    >>> integers = load_integers()
    >>> round(float(integers.strengths[2, 4]), 3)
    1.061
    """
    return _rebuilt("integers", INTEGERS, INTEGER_CLUSTERS, INTEGER_CONSTANT, noise, random_state)


def load_consonants(
    noise: float = 0.0, *, random_state: int | np.random.Generator | None = None
) -> Associations:
    """Reconstruct similarities of sixteen English consonants from a solution of clustering.

    They are not confusions of listeners. Tenenbaum (1996, table 2) fitted the confusions of Miller
    and Nicely (1955) with the eight clusters `CONSONANT_CLUSTERS` and the constant
    `CONSONANT_CONSTANT`. The similarities are the predictions of that solution. "th" is the
    consonant of *thin*, "dh" that of *then*, "zh" that of *azure*.

    Parameters
    ----------
    noise : float, at least 0
        As for `load_integers`.
    random_state : int, Generator or None
        Seed of the noise. None draws a seed from NumPy's global state.

    Returns
    -------
    Associations
        Symmetric, 16 objects, 120 pairs each way.

    Raises
    ------
    ParameterError
        If the noise is negative or not finite.

    See Also
    --------
    load_integers, AdditiveClustering

    References
    ----------
    J. B. Tenenbaum, "Learning the structure of similarity", NIPS 8 (1996).

    Examples
    --------
    >>> from manymaps import load_consonants
    >>> consonants = load_consonants()
    >>> m, n = consonants.index("m"), consonants.index("n")
    >>> round(float(consonants.strengths[m, n]), 3)
    0.339
    """
    return _rebuilt(
        "consonants", CONSONANTS, CONSONANT_CLUSTERS, CONSONANT_CONSTANT, noise, random_state
    )


def _rebuilt(
    name: str,
    labels: Sequence[str],
    clusters: Mapping[tuple[str, ...], float],
    constant: float,
    noise: float,
    random_state: int | np.random.Generator | None,
) -> Associations:
    """Return the similarities that clusters and a constant predict, with noise."""
    check_number("noise", noise, least=0)
    members = np.array([[label in cluster for label in labels] for cluster in clusters], float)
    whole = members.T @ (np.array(list(clusters.values()))[:, None] * members) + constant
    upper = np.triu_indices(len(labels), 1)
    exact = whole[upper]
    sd = float(np.sqrt(noise) * exact.std())
    generator = drawn_generator(random_state)
    noisy = exact + sd * generator.normal(size=exact.shape)
    while (negative := noisy < 0).any():
        noisy[negative] = exact[negative] + sd * generator.normal(size=int(negative.sum()))
    values = np.zeros_like(whole)
    values[upper] = noisy
    source = f"{name} as the printed clusters of Tenenbaum (1996) predict them"
    notes = () if noise == 0 else (f"with noise of {noise:.2%} of the variance",)
    report = ReadReport(source=source, n_read=2 * len(exact), notes=notes)
    return Associations(labels, sparse.csr_array(values + values.T), report)


def _read() -> dict[str, np.ndarray]:
    source = resources.files("manymaps") / "data" / "word_relations.npz"
    with resources.as_file(source) as path, open_arrays(path) as file:
        return {name: file.read(name) for name in file.heads}


def _labels(arrays: dict[str, np.ndarray]) -> list[str]:
    return arrays["labels"].tobytes().decode().split("\n")
