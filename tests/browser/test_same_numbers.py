"""What the page computes is what Python computes from the same atlas."""

import numpy as np
import pytest

import manymaps as mm

# As many as the page lists: NEIGHBORS of viewer/src/state/lookups.ts.
NEIGHBORS = 8
SENSES = """atlas.senses(given).map(({ map, proportion, share, neighbors }) => ({
  map, proportion, share,
  neighbors: neighbors.map(({ object, share }) => ({ label: atlas.atlas.labels[object], share })),
}))"""


def agree(
    at, atlas: mm.Atlas, object: int, min_proportion: float, neighbor_kind: str | None = None
) -> None:
    """The senses of an object: maps, proportions, and neighbours in their order up to ties."""
    of = (
        {} if atlas.kinds is None else {"kind": atlas.kinds[object], "neighbor_kind": neighbor_kind}
    )
    expected = atlas.senses(
        atlas.labels[object], n_neighbors=atlas.n_objects, min_proportion=min_proportion, **of
    )
    found = at.read(SENSES, object)
    if neighbor_kind is None and atlas.recalls(atlas.labels[object]):
        agree_on_groups(atlas, object, expected, found)
        return
    proportions = {sense.map: sense.proportion for sense in expected}
    for sense in found:
        exact = float(atlas.proportions[sense["map"], object])
        assert sense["proportion"] == pytest.approx(exact, abs=1e-4)
        # An object that is nowhere as much as that has the map where it is most.
        assert exact > min_proportion - 1e-4 or len(found) == 1
    # A proportion at the threshold may be on either side of it, rounded.
    clear = {m for m, p in proportions.items() if p > min_proportion + 1e-4}
    assert clear <= {sense["map"] for sense in found}
    assert len(found) >= 1
    assert [s["proportion"] for s in found] == sorted(
        (s["proportion"] for s in found), reverse=True
    )
    by_map = {sense.map: sense for sense in expected}
    for sense in found:
        if sense["map"] not in by_map:
            continue
        exact = [n.similarity for n in by_map[sense["map"]].neighbors]
        value_of = {n.label: n.similarity for n in by_map[sense["map"]].neighbors}
        listed = [value_of[n["label"]] for n in sense["neighbors"]]
        assert len(listed) == min(NEIGHBORS, len(exact))
        np.testing.assert_allclose(listed, exact[: len(listed)], rtol=0.02, atol=1e-7)
        shares = [n["share"] for n in sense["neighbors"]]
        np.testing.assert_allclose(shares, listed, rtol=0.03, atol=1e-6)


def agree_on_groups(atlas: mm.Atlas, object: int, expected: list, found: list[dict]) -> None:
    """The groups of an object, in their order; members as in the page's order of similarity."""
    # A page lists no group in a map where it holds nothing of the object, rounded to 16 bits.
    expected = [s for s in expected if atlas.proportions[s.map, object] > 1e-5]
    assert [sense["map"] for sense in found] == [sense.map for sense in expected]
    for sense, exact in zip(found, expected, strict=True):
        assert sense["share"] == pytest.approx(exact.share, rel=1e-5)
        assert sense["proportion"] == pytest.approx(exact.proportion, abs=1e-4)
        value_of = {n.label: n.similarity for n in exact.neighbors}
        assert len(sense["neighbors"]) == min(NEIGHBORS, len(value_of))
        listed = [value_of[n["label"]] for n in sense["neighbors"]]
        first = [n.similarity for n in exact.neighbors[: len(listed)]]
        np.testing.assert_allclose(listed, first, rtol=1e-4)
        shares = [n["share"] for n in sense["neighbors"]]
        np.testing.assert_allclose(shares, listed, rtol=0.03, atol=1e-6)


@pytest.mark.parametrize(
    "name",
    ["tiny", *(pytest.param(name, marks=pytest.mark.slow) for name in ("relations", "norms"))],
)
def test_senses(request, open_page, rng, name):
    atlas = request.getfixturevalue(name)
    at = open_page(request.getfixturevalue(f"{name}_page"))
    objects = range(atlas.n_objects)
    if atlas.n_objects > 40:
        objects = rng.choice(atlas.n_objects, 25, replace=False).tolist()
    for object in objects:
        agree(at, atlas, object, 0.1)


@pytest.mark.slow
@pytest.mark.parametrize("neighbor_kind", [0, 1])
def test_senses_of_two_kinds(open_page, kinds, kinds_page, neighbor_kind):
    at = open_page(kinds_page)
    at.read("atlas.change({ neighborKind: given })", neighbor_kind)
    name = list(dict.fromkeys(kinds.kinds))[neighbor_kind]
    for object in range(kinds.n_objects):
        agree(at, kinds, object, 0.05, name)


@pytest.mark.slow
@pytest.mark.parametrize("name", ["relations", "norms"])
def test_similarities(request, open_page, rng, name):
    atlas = request.getfixturevalue(name)
    at = open_page(request.getfixturevalue(f"{name}_page"))
    for object in rng.choice(atlas.n_objects, 10, replace=False).tolist():
        word = atlas.labels[object]
        others = [neighbor.label for neighbor in atlas.neighbors(word, n_neighbors=5)]
        pairs = [[object, atlas.index(other)] for other in others]
        found = at.read("given.map(([a, b]) => atlas.similarity(a, b))", pairs)
        expected = [atlas.similarity(word, other) for other in others]
        np.testing.assert_allclose(found, expected, rtol=0.02)
