"""What a person meets at a prompt: a short atlas that is indexed by label and compared."""

from dataclasses import replace
from html.parser import HTMLParser

import numpy as np
import pytest
from scipy import sparse

import manymaps as mm
from manymaps.atlas.associations import stored_associations
from manymaps.atlas.atlas import Atlas
from manymaps.model.choice import CODE, MULTIPLE_MAPS_T_SNE

HOSTILE = (
    "<script>alert(1)</script>", '"><img src=x onerror=alert(1)>', "</td></table></div>",
    "$\\href{javascript:alert(1)}{x}$", "&amp;", "line\nbreak", "\x1b[31mred", "\u202eturned",
    "\ud800", "\0", "", "x" * 10_000,
)  # fmt: skip


def atlas_of(labels, n_maps=3, **more):
    rng = np.random.default_rng(0)
    n = len(labels)
    maps = rng.normal(size=(n_maps, n, 2)).astype(np.float32)
    proportions = rng.dirichlet(np.ones(n_maps), n).T.astype(np.float32)
    return Atlas(labels, maps, proportions, MULTIPLE_MAPS_T_SNE, **more)


WORDS = ["bow", "arrow", "ribbon", "tie"]


@pytest.fixture(scope="module")
def known():
    """With associations, whose shares the senses have."""
    table = sparse.csr_array([[0, 5, 3, 0], [1, 0, 0, 0], [1, 0, 0, 2], [0, 0, 1, 0.0]])
    return atlas_of(WORDS, associations=stored_associations(table))


@pytest.fixture(scope="module")
def counted():
    """Documents and words, of which one of each is called knot."""
    labels = ["knot", "b", "c", "knot", "tie", "rope"]
    kinds = ["document"] * 3 + ["word"] * 3
    return replace(atlas_of(labels, n_maps=1), model=CODE, kinds=kinds)


def test_a_prompt_shows_four_lines_however_large(known, counted):
    text = repr(known)
    assert text.count("\n") == 3
    assert text.startswith("<Atlas of 4 words in 3 maps of 2 dimensions\n")
    assert "\n by t-SNE, 3 maps, conditional, Cauchy kernel, penalty 0\n" in text
    assert "with associations" in text
    atlas = atlas_of(["a", "b"], vectors=np.eye(2), metadata={"kind": np.array(["x", "y"])})
    assert "vectors of 2 numbers, metadata: kind>" in repr(atlas)
    many = atlas_of(["a", "b"], metadata={f"c{k}": np.zeros(2) for k in range(7)})
    assert "c5 and 1 more>" in repr(many)
    assert "<Atlas of 3 documents and 3 words in 1 map" in repr(counted)


class Parsed(HTMLParser):
    def __init__(self, text):
        super().__init__()
        self.tags, self.attributes, self.words = [], [], []
        self.feed(text)
        self.close()

    def handle_starttag(self, tag, attrs):
        self.tags.append(tag)
        self.attributes += attrs

    def handle_data(self, data):
        self.words.append(data)


def test_a_notebook_shows_a_row_for_each_map_up_to_twenty(known):
    found = Parsed(known._repr_html_())
    assert found.tags.count("tr") == 1 + known.n_maps
    assert {label for words in known.captions() for label in words} <= set(found.words)
    many = atlas_of(["a", "b"], n_maps=45)._repr_html_()
    assert Parsed(many).tags.count("tr") == 22
    assert "and 25 more maps" in many


def test_labels_of_any_kind_are_inert():
    atlas = atlas_of(HOSTILE)
    for text in (repr(atlas), *(repr(atlas[label]) for label in HOSTILE)):
        assert all(line.isprintable() for line in text.split("\n"))
        assert len(text) < 2000
    assert repr(atlas).count("\n") == 3
    plain = Parsed(atlas_of(["a", "b"], metadata={"c": np.zeros(2)})._repr_html_())
    assert ("class", "tex2jax_ignore mathjax_ignore") in plain.attributes
    for label in HOSTILE:
        odd = atlas_of([label, label + "2"], metadata={label: np.zeros(2)}, method=label)
        found = Parsed(odd._repr_html_())
        assert set(found.tags) <= set(plain.tags)
        assert found.attributes == plain.attributes


def test_an_entry_is_the_object(known):
    entry = known.add_metadata(np.arange(4), name="n")["Arrow"]
    assert (entry.index, entry.label, entry.kind) == (1, "arrow", None)
    np.testing.assert_array_equal(entry.points, known.maps[:, 1])
    np.testing.assert_array_equal(entry.proportions, known.proportions[:, 1])
    assert entry.metadata == {"n": 1}
    assert (entry.senses, entry.neighbors) == (known.senses("arrow"), known.neighbors("arrow"))
    first, *lines = repr(entry).split("\n")
    assert first.startswith(f"<arrow on {len(entry.senses)} map")
    assert len(lines) == len(entry.senses) > 0
    assert entry.senses[0].neighbors[0].label in lines[0]


def test_labels_are_members_and_numbers_are_not(known, counted):
    assert len(known) == 4
    assert list(known) == WORDS
    assert "BOW" in known
    assert "bowe" not in known
    assert ("bow", "word") not in known
    with pytest.raises(mm.UnknownLabelError):
        known["bowe"]
    for key in (0, np.int64(3), slice(2), ("a", "b", "c"), None):
        assert key not in known
        with pytest.raises(TypeError):
            known[key]
    assert counted["knot"].kind == "document"
    assert "<knot (word) on 1 map" in repr(counted["knot", "word"])
    assert ("Knot", "word") in counted
    assert ("b", "word") not in counted
    assert ("knot", "site") not in counted
    with pytest.raises(mm.ParameterError):
        counted["knot", "site"]
