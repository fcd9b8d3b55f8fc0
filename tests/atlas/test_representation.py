"""What a person meets at a prompt: a short atlas that is indexed by label and compared."""

import pickle
from dataclasses import replace
from html.parser import HTMLParser

import numpy as np
import pytest
from scipy import sparse

import manymaps as mm
from manymaps.atlas.atlas import Atlas, load_atlas
from manymaps.model.choice import MULTIPLE_MAPS_T_SNE

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


@pytest.fixture(scope="module")
def counted():
    posts = mm.count_texts({"knot": "tie knot rope knot", "b": "knot rope", "c": "tie suit shirt"})
    return mm.CODE(max_iter=20, random_state=0).fit(posts).atlas_


@pytest.fixture(scope="module")
def known():
    """With associations, whose strengths the maps share."""
    norms = mm.load_word_relations()
    fit = mm.MultipleMapsTSNE(n_maps=3, max_iter=20, random_state=0).fit(norms)
    return fit.atlas_


class TestText:
    def test_four_lines_however_large(self, known, counted):
        text = repr(known)
        assert text.count("\n") == 3
        assert text.startswith(f"<Atlas of {known.n_objects:,} words in 3 maps of 2 dimensions\n")
        assert "\n by t-SNE, 3 maps, conditional, Cauchy kernel, penalty 0.001\n" in text
        assert "with associations" in text
        atlas = atlas_of(["a", "b"], vectors=np.eye(2), metadata={"kind": np.array(["x", "y"])})
        assert "vectors of 2 numbers, metadata: kind" in repr(atlas)
        assert "<Atlas of 3 documents and 5 words in 1 map" in repr(counted)

    def test_no_label_breaks_out(self):
        for text in (repr(atlas_of(HOSTILE)), *(repr(atlas_of(HOSTILE)[x]) for x in HOSTILE)):
            assert all(line.isprintable() for line in text.split("\n"))
            assert len(text) < 2000
        assert repr(atlas_of(HOSTILE)).count("\n") == 3


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


class TestNotebook:
    def test_a_row_for_each_map_up_to_twenty(self, known):
        found = Parsed(known._repr_html_())
        assert found.tags.count("tr") == 1 + known.n_maps
        assert {label for words in known.captions() for label in words} <= set(found.words)
        many = atlas_of(["a", "b"], n_maps=45)._repr_html_()
        assert Parsed(many).tags.count("tr") == 22
        assert "and 25 more maps" in many

    def test_labels_of_any_kind_are_inert(self):
        plain = Parsed(atlas_of(["a", "b"], metadata={"c": np.zeros(2)})._repr_html_())
        assert ("class", "tex2jax_ignore mathjax_ignore") in plain.attributes
        for label in HOSTILE:
            odd = atlas_of([label, label + "2"], metadata={label: np.zeros(2)}, method=label)
            found = Parsed(odd._repr_html_())
            assert set(found.tags) <= set(plain.tags)
            assert found.attributes == plain.attributes


class TestAsking:
    def test_an_entry_is_the_object(self, known):
        entry = known["Bow"]
        i = known.index("bow")
        assert (entry.index, entry.label, entry.kind) == (i, "bow", None)
        np.testing.assert_array_equal(entry.points, known.maps[:, i])
        np.testing.assert_array_equal(entry.proportions, known.proportions[:, i])
        assert entry.senses == known.senses("bow")
        assert entry.neighbors == known.neighbors("bow")
        text = repr(entry)
        assert text.startswith(f"<bow on {len(entry.senses)} map")
        assert text.count("\n") == len(entry.senses)
        assert entry.senses[0].neighbors[0].label in text
        told = known.add_metadata(list(range(len(known))), name="n")
        assert told["bow"].metadata == {"n": i}

    @pytest.mark.parametrize("key", [0, np.int64(3), slice(2), ("a", "b", "c"), None])
    def test_numbers_are_no_labels(self, known, key):
        with pytest.raises(TypeError):
            known[key]
        assert key not in known

    def test_kinds_are_told_apart(self, counted):
        assert counted["knot"].kind == "document"
        assert counted["knot", "word"].kind == "word"
        assert "<knot (word) on 1 map" in repr(counted["knot", "word"])
        assert ("Knot", "word") in counted
        assert ("b", "word") not in counted
        assert ("knot", "site") not in counted
        with pytest.raises(mm.ParameterError):
            counted["knot", "site"]

    def test_length_membership_and_iteration_are_of_labels(self, known):
        assert len(known) == known.n_objects
        assert list(known) == list(known.labels)
        assert "BOW" in known
        assert "bowe" not in known
        assert ("bow", "word") not in known
        with pytest.raises(mm.UnknownLabelError):
            known["bowe"]


class TestEquality:
    def test_what_is_loaded_equals_what_was_saved(self, known, counted, tmp_path):
        told = known.add_metadata([float("nan"), *range(1, len(known))], name="n")
        for atlas in (known, counted, told, atlas_of(["a", "b"], vectors=np.eye(2))):
            atlas.save(tmp_path / "a.atlas")
            assert load_atlas(tmp_path / "a.atlas") == atlas
            assert load_atlas(tmp_path / "a.atlas") == pickle.loads(pickle.dumps(atlas))

    def test_any_part_that_differs_is_seen(self):
        atlas = atlas_of(["a", "b"], vectors=np.eye(2), metadata={"n": np.array([1, 2])})
        assert atlas == replace(atlas, maps=atlas.maps.copy())
        for change in (
            {"labels": ["a", "c"]},
            {"maps": atlas.maps + 1},
            {"proportions": atlas.proportions[::-1]},
            {"method": "mm-sne"},
            {"parameters": {"penalty": 1}},
            {"history": {"cost": np.ones(2)}},
            {"log_normalizer": 1.0},
            {"metadata": {"n": np.array([1, 3])}},
            {"metadata": {"n": np.array(["1", "2"])}},
            {"vectors": None},
            {"vectors": sparse.csr_array(np.eye(2))},
            {"associations": sparse.csr_array(1.0 - np.eye(2))},
            {"covered": np.array([0.5, np.nan])},
        ):
            assert atlas != replace(atlas, **change)
        assert atlas != "atlas"
