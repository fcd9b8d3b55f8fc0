"""What the page computes is what Python computes from the same atlas."""

import numpy as np
import pytest

import manymaps as mm

# As many as the page lists: NEIGHBORS of viewer/src/state/lookups.ts.
NEIGHBORS = 8
SENSES = """atlas.senses(given).map(({ map, recall, share, neighbors }) => ({
  map, recall, share,
  neighbors: neighbors.map(({ object, share }) => ({ label: atlas.atlas.labels[object], share })),
}))"""


def agree(
    at, atlas: mm.Atlas, object: int, min_recall: float, neighbor_kind: str | None = None
) -> None:
    """The senses of an object, in their order: maps, shares, and neighbours up to ties."""
    of = (
        {} if atlas.kinds is None else {"kind": atlas.kinds[object], "neighbor_kind": neighbor_kind}
    )
    expected = atlas.senses(
        atlas.labels[object], n_neighbors=atlas.n_objects, min_recall=min_recall, **of
    )
    found = at.read(SENSES, object)
    # A page lists nothing in a map where it holds nothing of the object, rounded to 16 bits.
    expected = [s for s in expected if atlas.proportions[s.map, object] > 1e-5]
    assert [sense["map"] for sense in found] == [sense.map for sense in expected]
    # Within a kind the page reckons it itself, from what it holds in 16 bits.
    slack = 1e-4 if neighbor_kind is None else 1e-3
    for sense, exact in zip(found, expected, strict=True):
        assert sense["recall"] == pytest.approx(exact.recall, abs=slack)
    if neighbor_kind is None and atlas.recalls(atlas.labels[object]):
        agree_on_groups(expected, found)
        return
    for sense, exact in zip(found, expected, strict=True):
        assert sense["share"] is None
        similarities = [n.similarity for n in exact.neighbors]
        value_of = {n.label: n.similarity for n in exact.neighbors}
        listed = [value_of[n["label"]] for n in sense["neighbors"]]
        assert len(listed) == min(NEIGHBORS, len(similarities))
        np.testing.assert_allclose(listed, similarities[: len(listed)], rtol=0.02, atol=1e-7)
        shares = [n["share"] for n in sense["neighbors"]]
        np.testing.assert_allclose(shares, listed, rtol=0.03, atol=1e-6)


def agree_on_groups(expected: list, found: list[dict]) -> None:
    """The groups of an object, in their order; members as in the page's order of similarity."""
    for sense, exact in zip(found, expected, strict=True):
        assert sense["share"] == pytest.approx(exact.share, rel=1e-5)
        value_of = {n.label: n.similarity for n in exact.neighbors}
        assert len(sense["neighbors"]) == min(NEIGHBORS, len(value_of))
        listed = [value_of[n["label"]] for n in sense["neighbors"]]
        first = [n.similarity for n in exact.neighbors[: len(listed)]]
        np.testing.assert_allclose(listed, first, rtol=1e-4)
        shares = [n["share"] for n in sense["neighbors"]]
        np.testing.assert_allclose(shares, listed, rtol=0.03, atol=1e-6)


@pytest.mark.parametrize(
    "name",
    [
        "tiny",
        "grouped",
        "ungrouped",
        *(pytest.param(name, marks=pytest.mark.slow) for name in ("relations", "norms")),
    ],
)
def test_senses(request, open_page, rng, name):
    atlas = request.getfixturevalue(name)
    at = open_page(request.getfixturevalue(f"{name}_page"))
    objects = range(atlas.n_objects)
    if atlas.n_objects > 40:
        objects = rng.choice(atlas.n_objects, 25, replace=False).tolist()
    for object in objects:
        agree(at, atlas, object, 0.1)


def test_what_the_model_says_stays_where_some_are_hidden(open_page, tmp_path, grouped, ungrouped):
    hidden, *others = range(grouped.n_objects)
    for atlas in (grouped, ungrouped):
        mm.write_page(atlas, tmp_path / "fewer.html", hide=[atlas.labels[hidden]])
        at = open_page(tmp_path / "fewer.html")
        for object in others[:6]:
            near = [n.label for n in atlas.neighbors(atlas.labels[object], n_neighbors=4)]
            pairs = [[object - 1, atlas.index(label) - 1] for label in near]
            pairs = [pair for pair in pairs if pair[1] >= 0]
            found = at.read("given.map(([a, b]) => atlas.similarity(a, b))", pairs)
            expected = [
                atlas.similarity(atlas.labels[a + 1], atlas.labels[b + 1]) for a, b in pairs
            ]
            np.testing.assert_allclose(found, expected, rtol=0.02)


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
