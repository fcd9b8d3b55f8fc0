"""The page ranks as Python does, and shows the numbers of the atlas."""

import numpy as np
import pytest

import manymaps as mm

# As many as the page lists: NEIGHBORS of viewer/src/state/lookups.ts.
NEIGHBORS = 8
# Who has so much of the largest similarity is close: NEAR of manymaps.atlas.closeness.
NEAR = 0.05
SENSES = """atlas.senses(given).map(({ map, weight, share, name, neighbors }) => ({
  map, weight, share, name: name.map((object) => atlas.atlas.labels[object]),
  neighbors: neighbors.map((object) => atlas.atlas.labels[object]),
}))"""


def agree(
    at, atlas: mm.Atlas, object: int, min_weight: float, neighbor_kind: str | None = None
) -> None:
    """The senses of an object, in their order: maps, weights, and neighbours up to ties."""
    of = (
        {} if atlas.kinds is None else {"kind": atlas.kinds[object], "neighbor_kind": neighbor_kind}
    )
    expected = atlas.senses(
        atlas.labels[object], n_neighbors=atlas.n_objects, min_weight=min_weight, **of
    )
    found = at.read(SENSES, object)
    # A page lists nothing in a map where it holds nothing of the object, rounded to 16 bits.
    expected = [s for s in expected if atlas.proportions[s.map, object] > 1e-5]
    if neighbor_kind is None:
        assert [sense["map"] for sense in found] == [sense.map for sense in expected]
    for sense in found:
        weight = atlas.map_weights[sense["map"], object]
        assert sense["weight"] == pytest.approx(weight, abs=1e-4)
    if neighbor_kind is None and atlas.has_associations(atlas.labels[object]):
        agree_on_groups(expected, found)
        return
    of_map = {sense.map: sense for sense in expected}
    for sense in found:
        assert sense["share"] is None
        exact = of_map.get(sense["map"])
        if exact is None:
            continue
        similarities = [n.similarity for n in exact.neighbors]
        value_of = {n.label: n.similarity for n in exact.neighbors}
        listed = [value_of[label] for label in sense["neighbors"]]
        assert len(listed) == min(NEIGHBORS, len(similarities))
        np.testing.assert_allclose(listed, similarities[: len(listed)], rtol=0.02, atol=1e-7)


def agree_on_groups(expected: list, found: list[dict]) -> None:
    """The groups of an object, in their order; of their members those that are close."""
    for sense, exact in zip(found, expected, strict=True):
        assert sense["share"] == pytest.approx(exact.share, rel=1e-5)
        assert sense["name"] == list(exact.name)
        assert sense["neighbors"] == list(exact.close[:NEIGHBORS])


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


@pytest.mark.parametrize("name", ["grouped", pytest.param("norms", marks=pytest.mark.slow)])
def test_what_was_observed(request, open_page, rng, name):
    """Each share, both ways, and in which maps the two are near."""
    atlas = request.getfixturevalue(name)
    at = open_page(request.getfixturevalue(f"{name}_page"))
    table = atlas.associations.toarray()
    for object in rng.choice(atlas.n_objects, 12, replace=False).tolist():
        main = np.flatnonzero(atlas.map_weights[:, object] >= 0.1).tolist()
        places = {sense["map"] for sense in at.read(SENSES, object)} | set(main)
        found = at.read("atlas.observed(given)", object)
        for way, exact, most in (
            ("recalled", table[object], 30),
            ("recalling", table.T[object], 8),
        ):
            shares = [partner["share"] for partner in found[way]]
            strongest = np.sort(exact[exact > 0])[::-1][:most]
            np.testing.assert_allclose(shares, strongest, atol=1e-5)
            for partner in found[way]:
                pair = (
                    (object, partner["object"])
                    if way == "recalled"
                    else (partner["object"], object)
                )
                assert partner["share"] == pytest.approx(table[pair], abs=1e-5)
                if way == "recalled":
                    agree_on_places(atlas, object, partner, places)


def agree_on_places(atlas: mm.Atlas, object: int, partner: dict, places: set[int]) -> None:
    similarities = atlas.choices.shares(object)
    for m in places:
        ratio = similarities[m, partner["object"]] / similarities[m].max()
        assert (m in partner["maps"]) == (ratio >= NEAR)
    assert set(partner["maps"]) <= places


CLOSE = """given.map((word) => {
  const label = (object) => atlas.atlas.labels[object];
  return {
    senses: atlas.senses(word).map(({ map, rank, neighbors }) => ({
      map, rank, close: neighbors.map(label),
    })),
    associates: atlas.observed(word).recalled.map(({ object, maps }) => [label(object), maps]),
    far: atlas.farFrom(word).map(label),
  };
})"""


@pytest.mark.parametrize("name", ["grouped", pytest.param("norms", marks=pytest.mark.slow)])
def test_nothing_contradicts_what_is_close(request, open_page, rng, name):
    """Cards, table, sentence and `Atlas.senses` agree on what is close, for 500 words."""
    atlas = request.getfixturevalue(name)
    at = open_page(request.getfixturevalue(f"{name}_page"))
    objects = rng.choice(atlas.n_objects, min(500, atlas.n_objects), replace=False).tolist()
    n_pairs = 0
    for object, page in zip(objects, at.read(CLOSE, objects), strict=True):
        if not atlas.has_associations(atlas.labels[object]):
            continue
        table = dict(page["associates"])
        senses = atlas.senses(atlas.labels[object], n_neighbors=atlas.n_objects)
        of_map = {}
        for sense, exact in zip(page["senses"], senses, strict=True):
            assert sense["map"] == exact.map
            assert sense["close"] == list(exact.close[:NEIGHBORS])
            assert (sense["rank"] is not None) <= bool(exact.close)
            of_map.setdefault(exact.map, set()).update(exact.close)
            for label in exact.close:
                assert label not in table or exact.map in table[label]
            for member in exact.neighbors:
                if member.label in table and member.label not in exact.close:
                    assert exact.map not in table[member.label]
                n_pairs += 1
        for label in page["far"]:
            assert table[label] == []
            assert not any(label in close for close in of_map.values())
    assert n_pairs > 500


@pytest.mark.slow
@pytest.mark.parametrize("neighbor_kind", [0, 1])
def test_senses_of_two_kinds(open_page, kinds, kinds_page, neighbor_kind):
    at = open_page(kinds_page)
    at.read("atlas.change({ neighborKind: given })", neighbor_kind)
    name = list(dict.fromkeys(kinds.kinds))[neighbor_kind]
    for object in range(kinds.n_objects):
        agree(at, kinds, object, 0.05, name)
