"""The page ranks as Python does, and shows the numbers of the atlas."""

import numpy as np
import pytest

import manymaps as mm
from manymaps.labels import whole_percents
from manymaps.model import CODE, MULTIPLE_MAPS_SNE, MULTIPLE_MAPS_T_SNE
from manymaps.viewer.page import write_page

# As many as the page lists: NEIGHBORS of viewer/src/state/lookups.ts.
NEIGHBORS = 8
SENSES = """atlas.senses(given).map(({ map, weight, share, percent, name, neighbors }) => ({
  map, weight, share, percent, name: name.map((object) => atlas.atlas.labels[object]),
  neighbors: neighbors.map((object) => atlas.atlas.labels[object]),
}))"""


def agree_on_senses(expected: list, found: list[dict]) -> None:
    assert [sense["map"] for sense in found] == [sense.map for sense in expected]
    percents = whole_percents([sense.share for sense in expected])
    for sense, exact, percent in zip(found, expected, percents, strict=True):
        assert sense["share"] == pytest.approx(exact.share, rel=1e-5)
        assert sense["percent"] == percent
        assert sense["name"] == list(exact.name)
        assert sense["neighbors"] == [near.label for near in exact.neighbors]


@pytest.mark.parametrize(
    "name",
    ["grouped", *(pytest.param(name, marks=pytest.mark.slow) for name in ("relations", "norms"))],
)
def test_senses(request, open_page, rng, name):
    atlas = request.getfixturevalue(name)
    at = open_page(request.getfixturevalue(f"{name}_page"))
    for object in rng.choice(atlas.n_objects, 25, replace=False).tolist():
        if len(atlas.associates(atlas.labels[object])):
            agree_on_senses(atlas.senses(atlas.labels[object]), at.read(SENSES, object))


@pytest.mark.parametrize("name", ["grouped", pytest.param("norms", marks=pytest.mark.slow)])
def test_what_was_observed(request, open_page, rng, name):
    """Each share, both ways; the map on which two are close; no name is listed as not close."""
    atlas = request.getfixturevalue(name)
    at = open_page(request.getfixturevalue(f"{name}_page"))
    table = atlas.associations.toarray()
    n_far = 0
    for object in rng.choice(atlas.n_objects, 40, replace=False).tolist():
        found = at.read("atlas.observed(given)", object)
        expected = atlas.associates(atlas.labels[object])
        partners = [partner["object"] for partner in found["recalled"]]
        assert [atlas.labels[j] for j in partners] == expected["label"].tolist()
        shares = [partner["share"] for partner in found["recalled"]]
        assert shares == pytest.approx(expected["strength"].tolist(), abs=1e-5)
        maps = expected["map"].where(expected["close"])
        assert [partner["map"] for partner in found["recalled"]] == [
            None if np.isnan(m) else m for m in maps.astype(float)
        ]
        exact = np.sort(table[:, object][table[:, object] > 0])[::-1][:8]
        shares = [partner["share"] for partner in found["recalling"]]
        np.testing.assert_allclose(shares, exact, atol=1e-5)
        senses = at.read("atlas.senses(given)", object)
        drawn = {other for sense in senses for other in sense["neighbors"]}
        assert {other for sense in senses for other in sense["name"]} <= drawn
        far = at.read("atlas.farFrom(given)", object)
        assert not drawn & set(far)
        n_far += len(far)
    assert n_far > 2


NEAREST = """given.map((object) =>
  atlas.senses(object).map(({ map, neighbors }) => [map, neighbors]))"""


def ranked(model: str, n_objects: int = 300) -> mm.Atlas:
    """Objects in three maps of a model, which have factors if they are of one kind."""
    rng = np.random.default_rng(9)
    chosen = {"gaussian": MULTIPLE_MAPS_SNE, "cauchy": MULTIPLE_MAPS_T_SNE, "kinds": CODE}[model]
    proportions = rng.dirichlet(np.full(3, 0.5), size=n_objects).T
    maps = rng.normal(scale=3, size=(3, n_objects, 2))
    fields = {"factors": rng.gamma(2.0, size=n_objects)}
    if model == "kinds":
        fields = {"kinds": ["row"] * 100 + ["column"] * (n_objects - 100)}
    labels = [f"object {i}" for i in range(n_objects)]
    return mm.Atlas(labels, maps, proportions, chosen, **fields)


@pytest.mark.parametrize("model", ["gaussian", "cauchy", "kinds"])
def test_lists_of_the_nearest_objects_are_those_of_python(open_page, pages, model):
    """Nearly all lists of 8 are equal, although positions and charges have 16 bits."""
    atlas = ranked(model)
    path = pages / f"ranked {model}.html"
    write_page(atlas, path)
    at = open_page(path)
    n_equal = n_lists = 0
    for i, found in enumerate(at.read(NEAREST, list(range(atlas.n_objects)))):
        of = {"kind": atlas.kinds[i], "neighbor_kind": "column"} if atlas.kinds else {}
        for m, neighbors in found:
            near = atlas.neighbors(atlas.labels[i], map=m, n_neighbors=NEIGHBORS, **of)
            n_equal += [atlas.labels[j] for j in neighbors] == [other.label for other in near]
            n_lists += 1
    assert n_lists > 300
    assert n_equal >= 0.98 * n_lists
