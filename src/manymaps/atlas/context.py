"""The map of a word in context.

A participant who reads word i thinks of an associate j with probability p_ij
(the observed associations or, if these are unknown, the model's q(j|i)). A context word c is either
this associate, or it is chosen from the associate by the model, with probability q(c|j):

    p(m|i)    = sum_j p_ij r_ij^m,      r_ij^m = v_ij^m / v_ij
    p(c|m, i) = sum_j p_ij r_ij^m q(c|j) / p(m|i),       q(c|c) = 1
    p(m|i, C) ~ p(m|i) prod_c [(1 - e) p(c|m, i) / p(c|i) + e],     p(c|i) = sum_m p(m|i) p(c|m, i)

The context words are independent given the map m. The constant e = `IRRELEVANT` is the probability
that a context word is unrelated to the word, and it limits the evidence of a single context word.
The context thus selects maps, as van der Maaten and Hinton (2009, discussion) propose. Without
observed associations, p_ij r_ij^m is q_ij^m of the model, and p(m|i) is the map weight.

Shapes: associates (k,), weights p_ij r_ij^m (n_maps, k), evidence (n_context, k).
"""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from manymaps.atlas.answers import has_associations
from manymaps.atlas.data import AtlasData
from manymaps.atlas.probabilities import Choices
from manymaps.errors import DataError, DataWarning, ParameterError
from manymaps.labels import first_of, label_places
from manymaps.model.similarities import normalized

# Log scores of 400 merged pairs of words with three context words differ by less than 0.01 for
# values from 0.05 to 0.2.
IRRELEVANT = 0.1


@dataclass(frozen=True)
class MapInContext:
    """A map with its probability.

    Attributes
    ----------
    map : int
        Number of the map.
    prior : float
        Probability without context.
    probability : float
        Probability in the context.

    See Also
    --------
    manymaps.Atlas.disambiguate

    Examples
    --------
    >>> import numpy as np
    >>> from manymaps import Atlas
    >>> from manymaps.model import MULTIPLE_MAPS_T_SNE
    >>> maps = np.array([[[0.0], [0.1], [9.0]], [[0.0], [9.0], [0.1]]])
    >>> half = np.array([[.5, 1., 0.], [.5, 0., 1.]])
    >>> atlas = Atlas(["tie", "knot", "suit"], maps, half, MULTIPLE_MAPS_T_SNE)
    >>> first = atlas.disambiguate("tie", ["suit"])[0]
    >>> first.map, round(first.prior, 2), round(first.probability, 2)
    (1, 0.5, 0.95)
    """

    map: int
    prior: float
    probability: float


def disambiguate(atlas: AtlasData, word: str, context: Sequence[str]) -> list[MapInContext]:
    """Compute the probabilities of the maps, as `manymaps.Atlas.disambiguate` describes."""
    if isinstance(context, str):
        raise ParameterError("is a string; pass a list of words", name="context", value=context)
    if atlas.kinds is not None:
        raise DataError("the atlas is bipartite; expected an atlas with one kind of object")
    i = atlas.index(word)
    used = [c for c in _known(atlas, context) if c != i]
    if atlas.associations is not None and has_associations(atlas, i):
        row = atlas.associations[[i]]
        associates, strengths = row.indices, row.data.astype(np.float64)
        weights = atlas.choices.votes(np.full(len(associates), i), associates).T * strengths
    else:
        associates, weights = np.arange(atlas.n_objects), atlas.choices.shares(i)
        strengths = np.ones(len(associates))
    if not weights.any():
        weights = atlas.proportions[:, [i]] * strengths
    chances = _chances(weights, _evidence(atlas.choices, associates, used))
    maps = [MapInContext(m, *both) for m, both in enumerate(chances.T.tolist())]
    return sorted(maps, key=lambda one: -one.probability)


def _evidence(choices: Choices, associates: np.ndarray, context: Sequence[int]) -> np.ndarray:
    """Compute q(c|j) of context words c and associates j, shape (n_context, k); 1 if j = c."""
    evidence = np.zeros((len(context), len(associates)))
    for row, c in zip(evidence, context, strict=True):
        row[:] = choices.row_shares(associates, np.full(len(associates), c))
        row[associates == c] = 1.0
    return evidence


def _chances(weights: np.ndarray, evidence: np.ndarray) -> np.ndarray:
    """Compute p(m|i) and p(m|i, C) from p_ij r_ij^m of any scale, with shape (2, n_maps)."""
    weights = weights / weights.sum()
    prior = weights.sum(axis=1)
    with np.errstate(divide="ignore"):
        logs = np.log(prior)
    for joint in (weights @ evidence.T).T:
        expected = prior * joint.sum()
        ratios = np.divide(joint, expected, out=np.ones_like(joint), where=expected > 0)
        logs += np.log((1 - IRRELEVANT) * ratios + IRRELEVANT)
    return np.stack([prior, normalized(logs)])


def _known(atlas: AtlasData, words: Sequence[str]) -> list[int]:
    """Return the objects of a list of words, once each and in order, and warn of unknown words."""
    listed = list(dict.fromkeys(words))
    places = label_places(listed, atlas.labels)
    unknown = [word for word, place in zip(listed, places, strict=True) if place < 0]
    if unknown and len(unknown) == len(listed):
        # This call raises `UnknownLabelError`, which suggests similar labels.
        atlas.index(unknown[0])
    if unknown:
        warnings.warn(
            f"the context words {first_of(unknown)} are not in the atlas", DataWarning, stacklevel=4
        )
    return sorted({place for place in places if place >= 0})
