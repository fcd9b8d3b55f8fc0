"""The path between two objects, over observed links or through the maps.

    cost of a path = -sum of log p_ij      over observed links, p_ij is the response share
                     -sum of log q_ij^m    in the model, see below

The cheapest path is the most probable chain. If associations are known, a step leads from i to any
associate j of i. Among all maps, the map of the step has the largest v_ij^m and therefore explains
the link best. If no observed path leads to the end, or if no associations are known, the path
follows the model, and each step joins objects that are near in one map:

    q_ij^m = r_i^m v_ij^m / sum_k v_ik^m           strength of the step from i to j through map m

Here, v_ij^m is defined in `manymaps.atlas.probabilities`, and r_i^m is the weight of map m for
object i (`Atlas.map_weights`). If there is one kind of object, q_ij^m is therefore the contribution
of the map to q_ij. In a bipartite atlas, k runs over the objects of the other kind, the fixed
factors are omitted, and steps alternate between the kinds.

A step leads from i to one of the few nearest objects in a map, among the objects that belong to the
map. An object belongs to each map whose weight for the object is at least `min_weight`, and to the
map with the largest weight. A step to the end of the path may also start at one of the few objects
nearest to the end. Dijkstra's algorithm (1959) finds the path. Only the steps that it visits are
computed.

Shapes: map_weights (n_maps, n), associations (n, n).
"""

from __future__ import annotations

import heapq
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from scipy import sparse

from manymaps.atlas.probabilities import Choices, strongest_of
from manymaps.model.similarities import normalized


@dataclass(frozen=True)
class Step:
    """One step of a path: two objects that are near each other in a map.

    Attributes
    ----------
    start, end : str
        The labels of the two objects.
    map : int
        The map in which the two objects are near each other. In a path over observed links, this is
        the map that explains the link best.
    similarity : float
        The contribution of the map to the model's similarity of `end` to `start`, divided by the
        sum of all similarities of `start`.
    observed : float or None
        The observed association over all maps, as a share of all associations of `start`. It is
        None if no associations of `start` are known.
    """

    start: str
    end: str
    map: int
    similarity: float
    observed: float | None = None


@dataclass(frozen=True)
class _Surroundings:
    """The nearest objects of each object in each map, at most `count` of them."""

    choices: Choices
    map_weights: np.ndarray
    is_home: np.ndarray
    count: int

    def strengths(self, i: int, map: int) -> np.ndarray:
        """Compute q_ij^m of the objects j that belong to the map, shape (n,)."""
        logs = self.choices.log_weights_in(i, map)
        if self.choices.model.given is not None:
            logs[self.choices.is_row == self.choices.is_row[i]] = -np.inf
        strengths = self.map_weights[map, i] * normalized(logs)
        strengths[~self.is_home[map]] = 0
        return strengths

    def steps(self, i: int) -> list[tuple[int, int, float]]:
        """List the map, the end and the strength of each step from an object."""
        steps = []
        for map in np.flatnonzero(self.is_home[:, i]).tolist():
            strengths = self.strengths(i, map)
            nearest = strongest_of(strengths, self.count).tolist()
            steps += [(map, j, float(strengths[j])) for j in nearest]
        return steps


def cheapest_path(
    choices: Choices,
    map_weights: np.ndarray,
    start: int,
    end: int,
    *,
    n_neighbors: int,
    min_weight: float,
) -> list[tuple[int, int, int, float]]:
    """Find the cheapest path between two objects.

    Parameters
    ----------
    choices : Choices
        The choice probabilities of the model.
    map_weights : ndarray of shape (n_maps, n)
        The weight of each map for each object.
    start, end : int
        Indices of the objects.
    n_neighbors : int
        Number of nearest objects in a map to which a step may lead.
    min_weight : float in [0, 1]
        Minimum map weight of an object that belongs to a map.

    Returns
    -------
    list of (int, int, int, float)
        Start, end, map and strength of each step. If no path exists, the list is empty.
    """
    is_home = (map_weights >= min_weight) | (map_weights == map_weights.max(axis=0))
    around = _Surroundings(choices, map_weights, is_home, n_neighbors)
    before_end = {(j, map) for map, j, _ in around.steps(end)}

    def steps(i: int) -> list[tuple[int, int, float]]:
        last = [map for map in range(choices.n_maps) if (i, map) in before_end]
        return around.steps(i) + [(map, end, float(around.strengths(i, map)[end])) for map in last]

    return _chain(steps, start, end)


def observed_path(
    choices: Choices, associations: sparse.csr_array, start: int, end: int
) -> list[tuple[int, int, int, float]]:
    """Find the cheapest path over observed links, with the map that explains each link best.

    Parameters
    ----------
    choices : Choices
        The choice probabilities of the model.
    associations : sparse array of shape (n, n)
        Response shares.
    start, end : int
        Indices of the objects.

    Returns
    -------
    list of (int, int, int, float)
        Start, end and map of each step, and the similarity through the map, as in `cheapest_path`.
        If no path exists, the list is empty.
    """

    def links(i: int) -> list[tuple[int, int, float]]:
        own = slice(*associations.indptr[i : i + 2].tolist())
        shares = associations.data[own].astype(np.float64).tolist()
        return [(-1, j, p) for j, p in zip(associations.indices[own].tolist(), shares, strict=True)]

    path = []
    for i, j, _, _ in _chain(links, start, end):
        votes = choices.votes(np.array([i]), np.array([j]))[0]
        # If no map contains both objects, the step is shown in the map with the largest weight for
        # the first object.
        map = int((votes if votes.any() else choices.map_weights[:, i]).argmax())
        nearness = normalized(choices.log_weights_in(i, map))
        path.append((i, j, map, float(choices.map_weights[map, i] * nearness[j])))
    return path


def _chain(
    steps: Callable[[int], list[tuple[int, int, float]]], start: int, end: int
) -> list[tuple[int, int, int, float]]:
    """Find the most probable chain by Dijkstra's algorithm; `steps` lists map, end and strength."""
    queue, costs = [(0.0, start)], {start: 0.0}
    came: dict[int, tuple[int, int, int, float]] = {}
    done: set[int] = set()
    while queue:
        cost, i = heapq.heappop(queue)
        if i == end:
            break
        if i in done:
            continue
        done.add(i)
        for map, j, strength in steps(i):
            if strength > 0 and cost - np.log(strength) < costs.get(j, np.inf):
                costs[j] = float(cost - np.log(strength))
                came[j] = (i, j, map, strength)
                heapq.heappush(queue, (costs[j], j))
    path = []
    while end != start and end in came:
        path.append(came[end])
        end = path[-1][0]
    return path[::-1]
