"""What is computed for a few words without compiled loops, which take longer to load than it does.

    few_communities, few_ego_weights    step by step what `manymaps.compute.community_loops` does, a
                                        row at a time: sums are taken in the same order and ties are
                                        broken alike, so that both give the same communities
    few_strongest                       what `manymaps.compute.strongest` does

So a command that tells the senses of a word ends before numba would be there. Arrays as in
`manymaps.compute.communities` and `manymaps.compute.strongest`.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator

import numpy as np
from scipy import sparse

__all__ = ["NEGLIGIBLE", "few_communities", "few_ego_weights", "few_strongest", "is_few"]

#: A map that holds less of an object does not count in whom it chooses most.
NEGLIGIBLE = 1e-5
_LEAST_GAIN = 1e-12
# Steps that take about as long here as loading the loops does.
_MOST = 100_000
_done = 0


def is_few(n_steps: int) -> bool:
    """Whether to do so many steps here: until the loops would have paid, or are there anyway."""
    global _done
    if "numba" in sys.modules:
        return False
    _done += n_steps
    return _done <= _MOST


def few_strongest(similarities: np.ndarray, count: int) -> np.ndarray:
    """The numbers of the largest similarities above 0, largest first; of equals the first.

    >>> few_strongest(np.array([0.0, 0.5, 0.7, 0.5]), 2).tolist()
    [2, 1]
    """
    least = np.partition(similarities, -count)[-count] if count < len(similarities) else 0.0
    able = np.flatnonzero((similarities >= least) & (similarities > 0))
    return able[np.argsort(-similarities[able], kind="stable")][:count]


def few_ego_weights(
    network: sparse.csr_array, offsets: np.ndarray, members: np.ndarray, weights: np.ndarray
) -> None:
    """Add up the ties among each row's members."""
    place = np.full(network.shape[1], -1)
    for mine, block in _blocks(offsets, weights):
        others = members[mine]
        place[others] = np.arange(len(others))
        for a, member in enumerate(others.tolist()):
            stored = slice(network.indptr[member], network.indptr[member + 1])
            b = place[network.indices[stored]]
            there = (b >= 0) & (b != a)
            block[a, b[there]] += network.data[stored][there]
            block[b[there], a] += network.data[stored][there]
        place[others] = -1


def few_communities(
    offsets: np.ndarray, weights: np.ndarray, resolution: float, labels: np.ndarray
) -> None:
    """Fill the labels of all networks."""
    for mine, block in _blocks(offsets, weights):
        labels[mine] = _communities(block, resolution)


def _blocks(offsets: np.ndarray, weights: np.ndarray) -> Iterator[tuple[slice, np.ndarray]]:
    """The members of each network, and its square of weights as a view."""
    start = 0
    for first, last in zip(offsets[:-1].tolist(), offsets[1:].tolist(), strict=True):
        size = last - first
        yield slice(first, last), weights[start : start + size**2].reshape(size, size)
        start += size**2


def _sums(values: np.ndarray) -> np.ndarray:
    """Sums over the last axis, one number after the other: NumPy's own go in pairs."""
    return values.cumsum(axis=-1)[..., -1]


def _communities(weights: np.ndarray, resolution: float) -> np.ndarray:
    """The labels of one network."""
    labels = np.arange(len(weights))
    if len(weights) == 0:
        return labels
    degrees = _sums(weights)
    whole = float(_sums(degrees))
    if whole > 0:
        factor, least = resolution / whole, _LEAST_GAIN * whole
        again = True
        while again:
            labels = _merged(weights, degrees, factor, least, _renumbered(labels))
            again = _move(weights, degrees, factor, least, labels)
    return _renumbered(labels)


def _renumbered(labels: np.ndarray) -> np.ndarray:
    """Communities numbered by their first members."""
    _, firsts, numbers = np.unique(labels, return_index=True, return_inverse=True)
    return np.argsort(np.argsort(firsts))[numbers]


def _merged(
    weights: np.ndarray, degrees: np.ndarray, factor: float, least: float, labels: np.ndarray
) -> np.ndarray:
    """The labels after the two communities that gain most are one, until none gain."""
    count = int(labels.max()) + 1
    pairs = weights - (factor * degrees)[:, None] * degrees
    cells = (labels[:, None] * count + labels).ravel()
    gains = np.bincount(cells, pairs.ravel(), count**2).reshape(count, count)
    np.fill_diagonal(gains, -np.inf)
    # Those that are gone are nobody's partner and have none: they gain less than anybody.
    partner, parent, alone = gains.argmax(axis=1), np.arange(count), np.arange(count)
    best = gains[alone, partner]
    for _ in range(count - 1):
        c = int(best.argmax())
        gone = int(partner[c])
        if best[c] <= least:
            break
        parent[parent == gone] = c
        gains[c] += gains[gone]
        gains[:, c] = gains[c]
        gains[gone], gains[:, gone], gains[c, c] = -np.inf, -np.inf, -np.inf
        nearer = gains[:, c] > gains[alone, partner]
        lost = (partner == c) | (partner == gone)
        partner[nearer & ~lost] = c
        lost[c] = True
        partner[lost] = gains[lost].argmax(axis=1)
        best = gains[alone, partner]
    return parent[labels]


def _move(
    weights: np.ndarray, degrees: np.ndarray, factor: float, least: float, labels: np.ndarray
) -> bool:
    """Move every member once, the best first, and undo what came after the best; until no gain.

    Returns whether there was any.
    """
    size = len(labels)
    members = np.arange(size)
    others = weights.copy()
    np.fill_diagonal(others, 0.0)
    # One community more than there can be members, so that an empty one is always at hand.
    cells = (members[:, None] * (size + 1) + labels).ravel()
    ties = np.bincount(cells, others.ravel(), size * (size + 1)).reshape(size, size + 1)
    strength = np.bincount(labels, degrees, size + 1)

    def apply(who: int, where: int) -> int:
        left = int(labels[who])
        labels[who] = where
        strength[left] -= degrees[who]
        strength[where] += degrees[who]
        ties[:, left] -= others[:, who]
        ties[:, where] += others[:, who]
        return left

    scaled = factor * degrees
    moved, used = False, int(labels.max()) + 1
    while True:
        fixed = np.zeros(size, bool)
        total, most, kept = 0.0, least, 0
        steps = []
        for _ in range(size):
            stays = ties[members, labels] - scaled * (strength[labels] - degrees)
            gains = ties[:, : used + 1] - scaled[:, None] * strength[: used + 1] - stays[:, None]
            gains[members, labels] = -np.inf
            gains[fixed] = -np.inf
            who, where = divmod(int(gains.argmax()), used + 1)
            total += float(gains[who, where])
            used = max(used, min(where + 1, size))
            fixed[who] = True
            steps.append((who, apply(who, where)))
            if total > most:
                most, kept = total, len(steps)
        for who, left in reversed(steps[kept:]):
            apply(who, left)
        if kept == 0:
            return moved
        moved = True
