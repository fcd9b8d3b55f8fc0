"""The path between two objects: near in one map, from there near in another, and so on.

    q_ij^m = r_i^m v_ij^m / sum_k v_ik^m           strength of the step from i to j through map m
    cost of a path = -sum of log q_ij^m            the cheapest path is the most probable chain

with v_ij^m as in `manymaps.atlas.probabilities` and r_i^m the weight of map m for object i
(`Atlas.map_weights`), so that of one kind of object q_ij^m is the share of q_ij that the map gives.
Of two kinds k runs over the other one, without the fixed factors: steps lead to and fro.

A step leads to one of the few objects that are nearest to i in a map, among those at home there: an
object is at home in the maps of at least `min_weight` and in the map of its largest weight. To the
end of the path it may also lead from one of the few that are nearest to the end. The path is found
by Dijkstra's algorithm (1959); only what it passes is computed.

Shapes: map_weights (n_maps, n).
"""

from __future__ import annotations

import heapq
from dataclasses import dataclass

import numpy as np

from manymaps.atlas.probabilities import Choices, strongest_of
from manymaps.model.similarities import normalized

__all__ = ["Step", "cheapest_path"]


@dataclass(frozen=True)
class Step:
    """One step of a path: two objects that are near each other in a map.

    Attributes
    ----------
    start, end : str
    map : int
    similarity : float
        What the map gives of the model's similarity of the end to the start, as a share of all
        that the start recalls.
    observed : float or None
        The same in the data: a share of all that the start recalls, by any map; None where no
        associations of it are known.
    """

    start: str
    end: str
    map: int
    similarity: float
    observed: float | None = None


@dataclass(frozen=True)
class _Surroundings:
    """What is near an object, by map: `count` objects at most."""

    choices: Choices
    map_weights: np.ndarray
    is_home: np.ndarray
    count: int

    def strengths(self, i: int, map: int) -> np.ndarray:
        """q_ij^m of the objects j at home in the map; shape (n,)."""
        logs = self.choices.log_weights_in(i, map)
        if self.choices.model.given is not None:
            logs[self.choices.is_row == self.choices.is_row[i]] = -np.inf
        strengths = self.map_weights[map, i] * normalized(logs)
        strengths[~self.is_home[map]] = 0
        return strengths

    def steps(self, i: int) -> list[tuple[int, int, float]]:
        """The map, the end and the strength of each step from an object."""
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
    """Start, end, map and strength of each step; none where no path leads there.

    Parameters
    ----------
    choices : Choices
    map_weights : ndarray of shape (n_maps, n)
    start, end : int
        Numbers of objects.
    n_neighbors : int
        How many of the nearest in a map a step may lead to.
    min_weight : float in [0, 1]
        Least map weight of an object that is at home in a map.
    """
    is_home = (map_weights >= min_weight) | (map_weights == map_weights.max(axis=0))
    around = _Surroundings(choices, map_weights, is_home, n_neighbors)
    before_end = {(j, map) for map, j, _ in around.steps(end)}
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
        steps = around.steps(i)
        last = [map for map in range(choices.n_maps) if (i, map) in before_end]
        steps += [(map, end, float(around.strengths(i, map)[end])) for map in last]
        for map, j, strength in steps:
            if strength > 0 and cost - np.log(strength) < costs.get(j, np.inf):
                costs[j] = float(cost - np.log(strength))
                came[j] = (i, j, map, strength)
                heapq.heappush(queue, (costs[j], j))
    path = []
    while end != start and end in came:
        path.append(came[end])
        end = path[-1][0]
    return path[::-1]
