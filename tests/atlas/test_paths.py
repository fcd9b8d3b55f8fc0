"""Paths between words: the cheapest of all that are allowed, or none."""

import itertools
from dataclasses import replace

import numpy as np
import pytest
from scipy import sparse

from manymaps.atlas.atlas import Atlas
from manymaps.errors import ParameterError
from manymaps.labels import UnknownLabelError
from manymaps.model.choice import CODE, MULTIPLE_MAPS_T_SNE, SYMMETRIC_SNE


def some_atlas(n: int = 14, n_maps: int = 3, seed: int = 0, **more: object) -> Atlas:
    rng = np.random.default_rng(seed)
    shares = rng.dirichlet(np.full(n_maps, 0.4), size=n).T
    labels = [f"w{i}" for i in range(n)]
    maps = rng.normal(scale=2, size=(n_maps, n, 2))
    return Atlas(labels, maps, shares, MULTIPLE_MAPS_T_SNE, **more)


def least_costs(atlas: Atlas, end: int, n_neighbors: int, min_weight: float) -> np.ndarray:
    """The least cost of a path from each object to one end, by relaxing all steps repeatedly."""
    n = atlas.n_objects
    shares = atlas.map_weights
    home = (shares >= min_weight) | (shares == shares.max(axis=0))
    of_map = np.stack([atlas.choices.shares(i) for i in range(n)])
    strengths = np.where(home.T[:, :, None] & home[None], of_map, 0)
    strengths /= of_map.sum(axis=(1, 2))[:, None, None]
    ranks = np.argsort(np.argsort(-strengths, axis=2, kind="stable"), axis=2)
    allowed = ranks < n_neighbors
    allowed[:, :, end] |= (ranks[end] < n_neighbors).T & (strengths[end].T > 0)
    with np.errstate(divide="ignore"):
        steps = np.where(allowed, -np.log(strengths), np.inf).min(axis=1)
    costs = np.full(n, np.inf)
    costs[end] = 0
    for _ in range(n):
        costs = np.minimum(costs, (steps + costs[None, :]).min(axis=1))
    return costs


@pytest.mark.parametrize(("n_neighbors", "min_weight"), [(1, 0.1), (2, 0.3), (3, 0.0), (13, 0.1)])
def test_no_path_is_cheaper(n_neighbors, min_weight):
    atlas = some_atlas()
    n_found = 0
    for end in range(atlas.n_objects):
        expected = least_costs(atlas, end, n_neighbors, min_weight)
        for start in range(atlas.n_objects):
            path = atlas.path(
                f"w{start}", f"w{end}", n_neighbors=n_neighbors, min_weight=min_weight
            )
            if start == end or not np.isfinite(expected[start]):
                assert path == ()
                continue
            n_found += 1
            cost = -sum(np.log(step.similarity) for step in path)
            assert cost == pytest.approx(expected[start], rel=1e-5)
    assert n_found > 20


def test_each_step_goes_on_from_the_last_within_one_map():
    atlas = some_atlas(30, 4)
    path = atlas.path("W3", "w20", n_neighbors=3)
    assert (path[0].start, path[-1].end) == ("w3", "w20")
    assert all(a.end == b.start for a, b in itertools.pairwise(path))
    for step in path:
        i, j = atlas.index(step.start), atlas.index(step.end)
        assert step.similarity == pytest.approx(atlas.choices.shares(i)[step.map, j], rel=1e-5)
        assert step.observed is None
        for object in (i, j):
            share = atlas.map_weights[:, object]
            assert share[step.map] >= min(0.1, share.max())


def observed_atlas() -> tuple[Atlas, np.ndarray]:
    rng = np.random.default_rng(5)
    table = rng.random((14, 14)) * (rng.random((14, 14)) < 0.2)
    table[3] = 0
    np.fill_diagonal(table, 0)
    table /= np.maximum(table.sum(axis=1, keepdims=True), 1e-12)
    return some_atlas(associations=sparse.csr_array(table)), table


def test_no_path_over_observed_links_is_cheaper():
    atlas, table = observed_atlas()
    with np.errstate(divide="ignore"):
        costs = np.minimum(-np.log(table), np.where(np.eye(14) > 0, 0, np.inf))
    for _ in range(4):
        costs = (costs[:, :, None] + costs[None]).min(axis=1)
    n_observed = 0
    for i, j in itertools.permutations(range(14), 2):
        path = atlas.path(f"w{i}", f"w{j}", n_neighbors=1)
        if not np.isfinite(costs[i, j]):
            model = some_atlas().path(f"w{i}", f"w{j}", n_neighbors=1)
            assert [step.map for step in path] == [step.map for step in model]
            continue
        n_observed += 1
        observed = np.array([step.observed for step in path])
        assert -np.log(observed).sum() == pytest.approx(costs[i, j], rel=1e-5)
        for step in path:
            a, b = atlas.index(step.start), atlas.index(step.end)
            shares = atlas.choices.shares(a)
            assert step.map == shares[:, b].argmax()
            assert step.similarity == pytest.approx(shares[step.map, b], rel=1e-5)
    assert n_observed > 50


def test_the_model_may_be_joint():
    joint = Atlas(
        some_atlas(n_maps=1).labels, some_atlas(n_maps=1).maps, np.ones((1, 14)), SYMMETRIC_SNE
    )
    path = joint.path("w0", "w9", n_neighbors=6)
    near = joint.choices.shares(0)[0]
    assert path[0].similarity == pytest.approx(near[joint.index(path[0].end)] / near.sum())


def test_steps_between_two_kinds_lead_to_and_fro(kinds_atlas):
    rows, columns = 0, kinds_atlas.n_objects - 1
    path = kinds_atlas.path(kinds_atlas.labels[rows], kinds_atlas.labels[columns])
    kind = dict(zip(kinds_atlas.labels, kinds_atlas.kinds, strict=True))
    assert path
    assert all(kind[step.start] != kind[step.end] for step in path)


@pytest.fixture
def kinds_atlas() -> Atlas:
    rng = np.random.default_rng(1)
    return Atlas(
        [f"d{i}" for i in range(5)] + [f"t{i}" for i in range(6)],
        rng.normal(size=(2, 11, 2)),
        np.full((2, 11), 0.5),
        CODE,
        kinds=["document"] * 5 + ["term"] * 6,
        factors=rng.gamma(2, size=11),
    )


def test_where_no_path_leads():
    maps = np.array([[[0.0], [1.0], [0.0], [1.0]]] * 2)
    apart = np.array([[1.0, 1.0, 0.0, 0.0], [0.0, 0.0, 1.0, 1.0]])
    atlas = Atlas(list("abcd"), maps, apart, MULTIPLE_MAPS_T_SNE)
    assert atlas.path("a", "c") == ()
    assert atlas.path("a", "A") == ()
    assert [step.end for step in atlas.path("a", "b")] == ["b"]
    # An observed link between objects without a common map is shown in the map of the first one.
    linked = replace(atlas, associations=sparse.csr_array(([1.0], ([2], [0])), shape=(4, 4)))
    assert [(step.end, step.map) for step in linked.path("c", "a")] == [("a", 1)]


def test_what_is_refused():
    atlas = some_atlas()
    with pytest.raises(UnknownLabelError):
        atlas.path("w1", "nobody")
    with pytest.raises(ParameterError, match="n_neighbors"):
        atlas.path("w1", "w2", n_neighbors=0)
    with pytest.raises(ParameterError, match="min_weight"):
        atlas.path("w1", "w2", min_weight=1.5)
