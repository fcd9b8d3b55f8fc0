"""The meaning of a word in context.

A participant who reads word i thinks of an associate j with probability p_ij
(the observed associations or, if these are unknown, the model's q(j|i)). A context word c is either
this associate, or it is chosen from the associate by the model, with probability q(c|j):

    p(z|i)    = sum_j p_ij a_jz
    p(c|z, i) = sum_j p_ij a_jz q(c|j) / p(z|i),       q(c|c) = 1
    p(z|i, C) ~ p(z|i) prod_c [(1 - e) p(c|z, i) / p(c|i) + e],     p(c|i) = sum_z p(z|i) p(c|z, i)

Here z is a fine sense, with a_jz = 1 for its members, or a map, with a_jz = r_ij^z = v_ij^z / v_ij.
The probability of a meaning is the sum over its fine senses. The context words are independent
given z. The constant e = `IRRELEVANT` is the probability that a context word is unrelated to the
word, and it limits the evidence of a single context word. The context thus selects maps, as van der
Maaten and Hinton (2009, discussion) propose. Without observed associations, p_ij a_jz is q_ij^z of
the model, and p(z|i) is the map weight:

    q_ij^z = pi_i^z pi_j^z K(|y_i^z - y_j^z|^2) / Z_i

Shapes: associates (k,), memberships a (n_senses or n_maps, k), evidence (n_context, k).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from manymaps.atlas.answers import groups_of, has_associations, senses
from manymaps.atlas.data import AtlasData
from manymaps.atlas.probabilities import Choices
from manymaps.data.results import TabularResult
from manymaps.errors import DataError, ParameterError
from manymaps.labels import label_places
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
    manymaps.Atlas.disambiguate, SenseInContext

    Examples
    --------
    >>> import numpy as np
    >>> from manymaps import Atlas
    >>> from manymaps.model import MULTIPLE_MAPS_T_SNE
    >>> maps = np.array([[[0.0], [0.1], [9.0]], [[0.0], [9.0], [0.1]]])
    >>> half = np.array([[.5, 1., 0.], [.5, 0., 1.]])
    >>> atlas = Atlas(["tie", "knot", "suit"], maps, half, MULTIPLE_MAPS_T_SNE)
    >>> first = atlas.disambiguate("tie", ["suit"]).maps[0]
    >>> first.map, round(first.prior, 2), round(first.probability, 2)
    (1, 0.5, 0.95)
    """

    map: int
    prior: float
    probability: float


@dataclass(frozen=True)
class SenseInContext:
    """A meaning or a fine sense with its probability.

    Attributes
    ----------
    name : tuple of str
        Most typical associates (`Sense.name`).
    map : int
        Number of the map that explains most of the sense.
    prior : float
        Probability without context, which is the sense's share of the associations.
    probability : float
        Probability in the context.
    parts : tuple of SenseInContext
        Fine senses of a meaning, sorted by probability, which sum to the probability of the
        meaning.

    See Also
    --------
    manymaps.Atlas.disambiguate, Sense, MapInContext

    Examples
    --------
    >>> import numpy as np
    >>> from manymaps import Atlas
    >>> from manymaps.model import MULTIPLE_MAPS_T_SNE
    >>> maps = np.array([[[0.0], [0.1], [9.0]], [[0.0], [9.0], [0.1]]])
    >>> half = np.array([[.5, 1., 0.], [.5, 0., 1.]])
    >>> atlas = Atlas(["tie", "knot", "suit"], maps, half, MULTIPLE_MAPS_T_SNE)
    >>> first = atlas.disambiguate("tie", ["suit"]).senses[0]
    >>> first.name, round(first.prior, 2), round(first.probability, 2)
    (('suit',), 0.5, 0.95)
    """

    name: tuple[str, ...]
    map: int
    prior: float
    probability: float
    parts: tuple[SenseInContext, ...] = ()


@dataclass(frozen=True, eq=False, repr=False)
class Disambiguation(TabularResult):
    """Probabilities of the meanings of a word in a context, and of the maps.

    Attributes
    ----------
    word : str
        The word.
    context : tuple of str
        Context words that were used, in the order of the atlas.
    unknown : tuple of str
        Context words that are not in the atlas.
    senses : tuple of SenseInContext
        All meanings, sorted by probability, which sum to 1. If no associations of the word are
        known, each map is a meaning.
    maps : tuple of MapInContext
        All maps, sorted by probability, which sum to 1.

    See Also
    --------
    Atlas.disambiguate

    Examples
    --------
    >>> import numpy as np
    >>> from manymaps import Atlas
    >>> from manymaps.model import MULTIPLE_MAPS_T_SNE
    >>> maps = np.array([[[0.0], [0.1], [9.0]], [[0.0], [9.0], [0.1]]])
    >>> half = np.array([[.5, 1., 0.], [.5, 0., 1.]])
    >>> atlas = Atlas(["tie", "knot", "suit"], maps, half, MULTIPLE_MAPS_T_SNE)
    >>> found = atlas.disambiguate("tie", ["suit", "hat"])
    >>> found
    <Disambiguation of 'tie' by 'suit': suit 0.95, knot 0.05>
    >>> found.unknown, found.maps[0].map
    (('hat',), 1)
    """

    word: str
    context: tuple[str, ...]
    unknown: tuple[str, ...]
    senses: tuple[SenseInContext, ...]
    maps: tuple[MapInContext, ...]

    def __repr__(self) -> str:
        context = f" by {', '.join(map(repr, self.context))}" if self.context else ""
        named = [f"{sense.name[0]} {sense.probability:.2g}" for sense in self.senses[:2]]
        return f"<Disambiguation of {self.word!r}{context}: {', '.join(named)}>"

    @property
    def columns(self) -> dict[str, np.ndarray]:
        """The table with one row per meaning, fine sense and map."""
        rows = [
            *(("meaning", k, *_cells(sense)) for k, sense in enumerate(self.senses)),
            *(
                ("fine", k, *_cells(part))
                for k, sense in enumerate(self.senses)
                for part in sense.parts
            ),
            *(("map", None, "", m.map, m.prior, m.probability) for m in self.maps),
        ]
        names = ("level", "meaning", "name", "map", "prior", "probability")
        numeric = {"map": np.int64, "prior": np.float64, "probability": np.float64}
        return {
            name: np.array([row[c] for row in rows], dtype=numeric.get(name, object))
            for c, name in enumerate(names)
        }


def disambiguate(atlas: AtlasData, word: str, context: Sequence[str]) -> Disambiguation:
    """Compute the probabilities of meanings and maps, as `manymaps.Atlas.disambiguate` describes.

    Raises
    ------
    UnknownLabelError
        If the word or all context words are unknown.
    ParameterError
        If the context is a string.
    DataError
        If the atlas is bipartite.
    """
    if isinstance(context, str):
        raise ParameterError("is a string; pass a list of words", name="context", value=context)
    if atlas.kinds is not None:
        raise DataError("the atlas is bipartite; expected an atlas with one kind of object")
    i = atlas.index(word)
    places, unknown = _known(atlas, context)
    used = [c for c in places if c != i]
    if has_associations(atlas, i):
        listed, map_chances = _by_associates(atlas, i, used)
    else:
        shares = atlas.choices.shares(i)
        if not shares.any():
            shares = np.tile(atlas.proportions[:, i : i + 1], atlas.n_objects)
        evidence = _evidence(atlas.choices, np.arange(atlas.n_objects), used)
        map_chances = _chances(shares, evidence)
        listed = [
            SenseInContext(sense.name, sense.map, *map_chances[:, sense.map].tolist())
            for sense in senses(atlas, i, 1, 0.0, 0.0, None, "meaning")
        ]
    return Disambiguation(
        atlas.labels[i],
        tuple(atlas.labels[c] for c in used),
        unknown,
        tuple(sorted(listed, key=_by_probability)),
        _as_maps(map_chances),
    )


def _by_associates(
    atlas: AtlasData, i: int, context: Sequence[int]
) -> tuple[list[SenseInContext], np.ndarray]:
    """Return the meanings of a word with associations, and the chances of the maps."""
    fine, merged = groups_of(atlas, i, "fine"), groups_of(atlas, i, "meaning")
    observed = fine.strengths > 0
    associates, strengths = fine.members[observed], fine.strengths[observed].astype(np.float64)
    owners = np.repeat(np.arange(len(fine.shares)), np.diff(fine.ends))[observed]
    evidence = _evidence(atlas.choices, associates, context)
    chances = _chances((owners == np.arange(len(fine.shares))[:, None]) * strengths, evidence)
    first, listed = fine.members[fine.ends[:-1]], []
    for number, meaning in enumerate(senses(atlas, i, 1, 0.0, 0.0, None, "meaning")):
        inside = np.flatnonzero(np.isin(first, merged.members[merged.members_of(number)]))
        parts = [
            SenseInContext(part.name, part.map, *chances[:, k].tolist())
            for k, part in zip(inside.tolist(), meaning.parts, strict=True)
        ]
        prior, probability = chances[:, inside].sum(axis=1).tolist()
        own = tuple(sorted(parts, key=_by_probability))
        listed.append(SenseInContext(meaning.name, meaning.map, prior, probability, own))
    votes = atlas.choices.votes(np.full(len(associates), i), associates)
    if not votes.any():
        votes = np.tile(atlas.proportions[:, i], (len(associates), 1))
    return listed, _chances(votes.T * strengths, evidence)


def _evidence(choices: Choices, associates: np.ndarray, context: Sequence[int]) -> np.ndarray:
    """Compute q(c|j) of context words c and associates j, shape (n_context, k); 1 if j = c."""
    evidence = np.zeros((len(context), len(associates)))
    for row, c in zip(evidence, context, strict=True):
        row[:] = choices.row_shares(associates, np.full(len(associates), c))
        row[associates == c] = 1.0
    return evidence


def _chances(weights: np.ndarray, evidence: np.ndarray) -> np.ndarray:
    """Compute p(z|i) and p(z|i, C) from p_ij a_jz of any scale, (n_z, k), with shape (2, n_z)."""
    weights = weights / weights.sum()
    prior = weights.sum(axis=1)
    with np.errstate(divide="ignore"):
        logs = np.log(prior)
    for joint in (weights @ evidence.T).T:
        if joint.sum() > 0:
            expected = prior * joint.sum()
            ratios = np.divide(joint, expected, out=np.ones_like(joint), where=expected > 0)
            logs += np.log((1 - IRRELEVANT) * ratios + IRRELEVANT)
    return np.stack([prior, normalized(logs)])


def _as_maps(chances: np.ndarray) -> tuple[MapInContext, ...]:
    """Convert priors and probabilities of all maps, (2, n_maps), sorted by probability."""
    maps = [MapInContext(m, *both) for m, both in enumerate(chances.T.tolist())]
    return tuple(sorted(maps, key=_by_probability))


def _by_probability(one: SenseInContext | MapInContext) -> float:
    return -one.probability


def _cells(one: SenseInContext) -> tuple[str, int, float, float]:
    return ", ".join(one.name), one.map, one.prior, one.probability


def _known(atlas: AtlasData, words: Sequence[str]) -> tuple[list[int], tuple[str, ...]]:
    """Return the objects of a list of words, once each and in order, and the unknown words.

    If no word is known, `UnknownLabelError` suggests labels for the first one.
    """
    listed = list(dict.fromkeys(words))
    places = label_places(listed, atlas.labels)
    unknown = [word for word, place in zip(listed, places, strict=True) if place < 0]
    if unknown and len(unknown) == len(listed):
        atlas.index(unknown[0])
    return sorted({place for place in places if place >= 0}), tuple(unknown)
