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


def agree(
    at, atlas: mm.Atlas, object: int, min_weight: float, neighbor_kind: str | None = None
) -> None:
    """The senses of an object, in their order, and their members up to ties."""
    of = (
        {} if atlas.kinds is None else {"kind": atlas.kinds[object], "neighbor_kind": neighbor_kind}
    )
    label = atlas.labels[object]
    found = at.read(SENSES, object)
    for sense in found:
        weight = atlas.map_weights[sense["map"], object]
        assert sense["weight"] == pytest.approx(weight, abs=1e-4)
    if atlas.kinds is None and len(atlas.associates(label)):
        agree_on_senses(atlas.senses(label), found)
        return
    weights = [sense["weight"] for sense in found]
    assert weights == sorted(weights, reverse=True)
    assert all(weight >= min_weight - 1e-4 for weight in weights[1:])
    for sense in found:
        assert sense["share"] is None
        assert sense["name"] == sense["neighbors"][:3]
        exact = atlas.neighbors(label, map=sense["map"], n_neighbors=atlas.n_objects, **of)
        similarities = [near.similarity for near in exact]
        value_of = {near.label: near.similarity for near in exact}
        listed = [value_of[label] for label in sense["neighbors"]]
        assert len(listed) == min(NEIGHBORS, len(similarities))
        np.testing.assert_allclose(listed, similarities[: len(listed)], rtol=0.02, atol=1e-7)


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
    """Each share, both ways, and the map on which the two are close."""
    atlas = request.getfixturevalue(name)
    at = open_page(request.getfixturevalue(f"{name}_page"))
    table = atlas.associations.toarray()
    for object in rng.choice(atlas.n_objects, 12, replace=False).tolist():
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
        for partner in found["recalling"]:
            assert partner["share"] == pytest.approx(table[partner["object"], object], abs=1e-5)


FAR = """given.map((word) => ({
  named: atlas.senses(word).flatMap(({ name }) => name),
  drawn: atlas.senses(word).flatMap(({ neighbors }) => neighbors),
  far: atlas.farFrom(word),
}))"""


@pytest.mark.parametrize("name", ["grouped", pytest.param("norms", marks=pytest.mark.slow)])
def test_no_name_contradicts_the_list_of_words_that_are_not_close(request, open_page, rng, name):
    """Of 500 words, each word of a name is drawn, and none is listed as not close."""
    atlas = request.getfixturevalue(name)
    at = open_page(request.getfixturevalue(f"{name}_page"))
    objects = rng.choice(atlas.n_objects, min(500, atlas.n_objects), replace=False).tolist()
    n_far = 0
    for object, page in zip(objects, at.read(FAR, objects), strict=True):
        assert set(page["named"]) <= set(page["drawn"])
        assert not set(page["drawn"]) & set(page["far"])
        table = atlas.associates(atlas.labels[object]).set_index("label")
        assert not table.loc[[atlas.labels[j] for j in page["far"]], "close"].any()
        n_far += len(page["far"])
    assert n_far > 5


NEAREST = """given.map((object) =>
  atlas.senses(object).map(({ map, neighbors }) => [map, neighbors]))"""


def ranked(model: str, n_objects: int = 300, *, two_kinds: bool = False) -> mm.Atlas:
    """Objects in three maps of a model, which have factors if they are of one kind."""
    rng = np.random.default_rng(9)
    chosen = {"gaussian": MULTIPLE_MAPS_SNE, "cauchy": MULTIPLE_MAPS_T_SNE, "kinds": CODE}[model]
    proportions = rng.dirichlet(np.full(3, 0.5), size=n_objects).T
    maps = rng.normal(scale=3, size=(3, n_objects, 2))
    fields = {"kinds": [("row", "column")[i >= 100] for i in range(n_objects)]} if two_kinds else {}
    if not two_kinds:
        fields["factors"] = rng.gamma(2.0, size=n_objects)
    labels = [f"object {i}" for i in range(n_objects)]
    return mm.Atlas(labels, maps, proportions, chosen, **fields)


@pytest.mark.parametrize("model", ["gaussian", "cauchy", "kinds"])
def test_lists_of_the_nearest_objects_are_those_of_python(open_page, pages, model):
    """Nearly all lists of 8 are equal, although positions and charges have 16 bits."""
    two_kinds = model == "kinds"
    atlas = ranked(model, two_kinds=two_kinds)
    path = pages / f"ranked {model}.html"
    write_page(atlas, path)
    at = open_page(path)
    n_equal = n_lists = 0
    for i, found in enumerate(at.read(NEAREST, list(range(atlas.n_objects)))):
        of = {"kind": atlas.kinds[i], "neighbor_kind": "column"} if two_kinds else {}
        for m, neighbors in found:
            near = atlas.neighbors(atlas.labels[i], map=m, n_neighbors=NEIGHBORS, **of)
            n_equal += [atlas.labels[j] for j in neighbors] == [other.label for other in near]
            n_lists += 1
    assert n_lists > 300
    assert n_equal >= 0.98 * n_lists


@pytest.mark.slow
@pytest.mark.parametrize("neighbor_kind", [0, 1])
def test_senses_of_two_kinds(open_page, kinds, kinds_page, neighbor_kind):
    at = open_page(kinds_page)
    at.read("atlas.change({ neighborKind: given })", neighbor_kind)
    name = list(dict.fromkeys(kinds.kinds))[neighbor_kind]
    for object in range(kinds.n_objects):
        agree(at, kinds, object, 0.05, name)
