"""Atlases that the pages under test show: small ones by hand, fitted ones, and awkward ones."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
from scipy import sparse

import manymaps as mm
from code_samples import sample
from manymaps.atlas.associations import stored_associations
from manymaps.data.datasets import INTEGER_CLUSTERS
from manymaps.model.choice import MULTIPLE_MAPS_T_SNE, T_SNE

SENSES = (
    ("rope", ("tie", "knot", "rope", "string", "bow")),
    ("wear", ("tie", "suit", "Café", "shirt", "bow", "collar")),
    ("game", ("tie", "match", "score", "draw", "knot")),
)

LABELS = {
    "ends a script": "</script><script>window.ran = 1</script>",
    "an image": '<img src=x onerror="window.ran = 1">',
    "a link": "javascript:window.ran=1",
    "quotes": "\"double\" 'single' `back` & &amp; <!-- ]]>",
    "right to left": "שלום עולם",
    "turned round": "evil\u202elive\u2066isolated",
    "a family": "family 👩‍👩‍👧‍👦 together",
    "marks": "z̸̘̾̑a̴̤͝l̶̗̇g̵̱̈o̷",
    "empty": "",
    "spaces": "   ",
    "very long": "long " + "x" * 995,
    "two lines": "first\nsecond",
    "a null": "nul\x00byte",
    "percent": "100%25 #map=1&word=x",
    "a lone half": "half \ud83d of an emoji",
    "the same": "twin",
    "the same again": "twin",
}

PIXEL = (
    "data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAAAAAA6fptVAAAACklEQVR4nGNgAAAAAgABSK+k"
    "cQAAAABJRU5ErkJggg=="
)


def tiny() -> mm.Atlas:
    """Three maps of words by hand: tie lives in all of them, knot and bow in two."""
    labels = sorted({word for _, words in SENSES for word in words})
    rng = np.random.default_rng(1)
    maps = rng.normal(size=(len(SENSES), len(labels), 2))
    proportions = np.zeros(maps.shape[:2])
    for m, (_, words) in enumerate(SENSES):
        for rank, word in enumerate(words):
            proportions[m, labels.index(word)] = 1 / (1 + m + rank)
    proportions /= proportions.sum(axis=0)
    years = np.arange(1990, 1990 + len(labels))
    groups = np.array([("noun", "verb", "")[i % 3] for i in range(len(labels))])
    return mm.Atlas(
        labels, maps, proportions, MULTIPLE_MAPS_T_SNE, metadata={"group": groups, "year": years}
    )


def grouped() -> mm.Atlas:
    """Four maps of sixty words with what was observed of them: groups, and maps without any."""
    rng = np.random.default_rng(2)
    circles = rng.random((60, 10)) < 0.1
    observed = rng.random((60, 60)) * (circles @ circles.T)
    np.fill_diagonal(observed, 0)
    proportions = rng.dirichlet(np.full(4, 0.5), size=60).T
    maps = rng.normal(scale=5, size=(4, 60, 2))
    associations = stored_associations(sparse.csr_array(observed))
    labels = [f"word {i}" for i in range(60)]
    return mm.Atlas(labels, maps, proportions, MULTIPLE_MAPS_T_SNE, associations=associations)


def relations() -> mm.Atlas:
    """The word relations that come with the package, fitted in haste."""
    fit = mm.MultipleMapsTSNE(n_maps=20, max_iter=60, random_state=0)
    return fit.fit(mm.load_word_relations()).atlas_


def norms(path: Path) -> mm.Atlas:
    """The free-association norms in 40 maps, fitted in haste."""
    fit = mm.MultipleMapsTSNE(n_maps=40, max_iter=40, random_state=0)
    return fit.fit(mm.read_associations(path)).atlas_


def kinds() -> mm.Atlas:
    """Documents and words in three maps, with columns of both."""
    fit = mm.CODE(n_maps=3, max_iter=60, random_state=0)
    with pytest.warns(mm.DataWarning, match="not fitted"):
        return fit.fit(sample()).atlas_


def featured() -> tuple[mm.Atlas, list[SimpleNamespace]]:
    """The printed clusters of the ten digits over maps of them."""
    digits = mm.load_integers()
    points = np.random.default_rng(3).normal(size=(2, digits.n_objects, 2))
    halves = np.full((2, digits.n_objects), 0.5)
    features = [
        SimpleNamespace(weight=weight, members=members)
        for members, weight in INTEGER_CLUSTERS.items()
    ]
    return mm.Atlas(digits.labels, points, halves, MULTIPLE_MAPS_T_SNE), features


def awkward() -> mm.Atlas:
    """Two maps of labels that no page must run, hide or break on."""
    labels = list(LABELS.values())
    points = np.random.default_rng(4).normal(size=(2, len(labels), 2))
    shares = np.array([[0.7], [0.3]]) * np.ones((1, len(labels)))
    columns = {"note": np.array(labels, dtype=object), "<b>group</b>": np.array(labels, object)}
    return mm.Atlas(labels, points, shares, MULTIPLE_MAPS_T_SNE, metadata=columns)


def on_a_line(n: int = 29) -> mm.Atlas:
    """Words in one map on a horizontal line, unevenly apart; too few for regions with names."""
    places = np.cumsum(0.25 + np.random.default_rng(5).exponential(size=n))
    points = np.stack([places, np.zeros(n)], axis=1)[None]
    return mm.Atlas([f"word {i}" for i in range(n)], points, np.ones((1, n)), T_SNE)


def pictures(n: int = 300) -> mm.Atlas:
    """Numbered pictures of one pixel in one map, whose similarities are shares of all pairs."""
    rng = np.random.default_rng(8)
    points = rng.normal(scale=40, size=(1, n, 2))
    columns = {
        "shade": np.array([("dark", "light")[i % 2] for i in range(n)]),
        "picture": np.array([PIXEL if i % 3 else "" for i in range(n)], object),
    }
    labels = [f"img {i}" for i in range(n)]
    return mm.Atlas(labels, points, np.ones((1, n)), T_SNE, metadata=columns)


def one_object() -> mm.Atlas:
    """A single object in a single map."""
    return mm.Atlas(["alone"], np.zeros((1, 1, 2)), np.ones((1, 1)), T_SNE)


def hundred_maps() -> mm.Atlas:
    """A hundred maps of 50 objects, each of which lives in ten of them."""
    rng = np.random.default_rng(6)
    points = rng.normal(size=(100, 50, 2))
    shares = np.where((np.arange(100)[:, None] + np.arange(50)) % 10 == 0, 0.1, 0.0)
    return mm.Atlas([f"object {i}" for i in range(50)], points, shares, MULTIPLE_MAPS_T_SNE)


def crowd(n: int = 200_000) -> mm.Atlas:
    """A great many objects in islands of one map."""
    rng = np.random.default_rng(7)
    islands = rng.normal(scale=60, size=(200, 2))
    points = islands[rng.integers(200, size=n)] + rng.normal(size=(n, 2)) * rng.gamma(2, 1, (n, 1))
    return mm.Atlas([f"object {i}" for i in range(n)], points[None], np.ones((1, n)), T_SNE)
