"""An atlas answers with the model's own numbers, and comes back from its file as it was."""

import io
import json
import zipfile
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse

import reference
from atlas_samples import random_atlas, similarities_by_map
from manymaps.archive.archives import read_archive, write_archive
from manymaps.archive.schema import Schema
from manymaps.atlas.associations import stored_associations
from manymaps.atlas.atlas import Atlas, load_atlas
from manymaps.atlas.storage import ATLAS
from manymaps.errors import DataError, ParameterError
from manymaps.labels import UnknownLabelError
from manymaps.model.choice import MULTIPLE_MAPS_T_SNE, T_SNE, ChoiceModel

MODELS = pytest.mark.parametrize(
    "model",
    [
        ChoiceModel(kernel, normalization, "learned", kernel_width=1.7)
        for kernel in ("gaussian", "cauchy")
        for normalization in ("conditional", "joint")
    ],
    ids=lambda model: f"{model.kernel}-{model.normalization}",
)
ODD_LABELS = (
    "a,b", 'quo"te', "tab\there", "line\nbreak", "", " ", "NA", "naïve", "שלום", "日本語",
    "\N{GRINNING FACE}", "x" * 10_000, "\0", "\ud800",
)  # fmt: skip


def log_choices_of(atlas):
    """log q_ij of all pairs, by the definition."""
    with np.errstate(divide="ignore"):
        log_v = np.log(similarities_by_map(atlas).sum(axis=0))
    return reference.log_choice(log_v, atlas.model.normalization, atlas.model.background)


@MODELS
class TestAgainstTheReference:
    def test_similarities_and_neighbours_with_and_without_a_background(self, model):
        for background in (0.0, 0.2):
            atlas = random_atlas(replace(model, background=background))
            q = np.exp(log_choices_of(atlas))
            np.fill_diagonal(q, 0)
            for i, label in enumerate(atlas.labels):
                np.testing.assert_allclose(atlas.similarities(label), q[i], rtol=1e-6)
                assert atlas.similarity(label, "word 3") == pytest.approx(q[i, 3])
            for m, strength in [*enumerate(atlas.shares("word 4")), (None, q[4])]:
                got = atlas.neighbors("word 4", m, n_neighbors=5)
                order = np.argsort(-strength)[:5]
                assert [neighbor.label for neighbor in got] == [f"word {j}" for j in order]
                np.testing.assert_allclose([n.similarity for n in got], strength[order], rtol=1e-6)

    def test_objects_too_far_for_float64(self, model):
        """exp(-d2) underflows; a conditional model still has a nearest neighbour."""
        atlas = random_atlas(model)
        maps = atlas.maps.copy()
        maps[:, 4] += 500
        similarities = replace(atlas, maps=maps).similarities("word 4")
        assert np.isfinite(similarities).all()
        if model.normalization == "conditional":
            assert similarities.sum() == pytest.approx(1)


@pytest.mark.parametrize("kernel", reference.KERNELS)
@pytest.mark.parametrize("d", [1, 2, 3])
def test_a_missing_normalizer_is_summed(kernel, d):
    bare = random_atlas(ChoiceModel(kernel, "joint", "learned", kernel_width=1.7), n=30, d=d)
    log_whole = np.log(similarities_by_map(bare).sum())
    assert bare.log_whole == pytest.approx(log_whole, rel=1e-5)
    known = replace(bare, log_normalizer=log_whole)
    assert known.log_whole == log_whole
    np.testing.assert_allclose(bare.shares("word 7"), known.shares("word 7"), rtol=1e-5)


def test_what_a_word_recalls_decides_and_not_where_it_lives():
    """Among strangers by .85, beside its friend by .1: the friend is what it recalls."""
    maps = np.array([[[0.0], [30.0], [31.0]], [[0.0], [9.0], [0.1]], [[0.0], [90.0], [0.1]]])
    proportions = np.array([[0.85, 1.0, 0.1], [0.1, 0.0, 0.5], [0.05, 0.0, 0.4]])
    atlas = Atlas(["tie", "shelf", "knot"], maps, proportions, MULTIPLE_MAPS_T_SNE)
    found = atlas.senses("tie")
    assert [(sense.map, sense.neighbors[0].label) for sense in found] == [(1, "knot"), (2, "knot")]
    weight = atlas.shares("tie").sum(axis=1)
    np.testing.assert_allclose(atlas.map_weights[:, 0], weight, rtol=1e-6)


def test_objects_without_company():
    alone = Atlas(["tie"], np.zeros((1, 1, 2)), np.ones((1, 1)), T_SNE)
    assert alone.neighbors("tie") == ()
    assert alone.similarities("tie").tolist() == [0]
    joint = replace(MULTIPLE_MAPS_T_SNE, normalization="joint")
    apart = Atlas(["tie", "knot"], np.zeros((2, 2, 2)), np.eye(2), joint)
    assert apart.log_whole == -np.inf
    assert apart.similarities("tie").tolist() == [0, 0]


def test_answers_follow_the_factors_of_one_kind():
    atlas = random_atlas(replace(MULTIPLE_MAPS_T_SNE, kernel=2.0), factors=np.linspace(0.3, 3, 14))
    v = replace(atlas, factors=None).similarities("word 0") * atlas.factors
    np.testing.assert_allclose(atlas.similarities("word 0"), v / v.sum(), rtol=1e-6)


def tied(**more):
    """An atlas with all that belongs to its objects."""
    rng = np.random.default_rng(3)
    ties = np.round(3 * rng.random((14, 14))) * (1 - np.eye(14))
    parts = {
        "vectors": rng.random((14, 4)).astype(np.float32),
        "factors": rng.random(14) + 1,
        "metadata": {"size": np.arange(14), "kind": np.array([*"abcdefghijklm", "é"])},
        "associations": stored_associations(sparse.csr_array(ties)),
        "covered": np.where(np.arange(14) % 3, rng.random(14), np.nan),
    }
    return random_atlas(**parts | more)


def rewritten(path, change):
    """Change the parts of a file, and read the atlas again."""
    meta, arrays = read_archive(path, ATLAS)
    change(meta, arrays)
    write_archive(path, Schema("manymaps atlas", 1, "whatever it holds"), meta, arrays)
    return load_atlas(path)


class TestFile:
    @pytest.mark.parametrize("form", [np.asarray, sparse.csr_array])
    def test_everything_comes_back(self, tmp_path, form):
        atlas = tied(
            vectors=form(np.eye(14, 5)),
            method="mm-tsne",
            parameters={"n_maps": 3, "penalty": 0.01, "optimizer": None, "kl_divergence": 0.5},
            history={"iteration": np.arange(3.0), "cost": np.array([3.0, 2.0, 1.0])},
        )
        atlas = replace(atlas, labels=ODD_LABELS)
        atlas.save(tmp_path / "a.atlas")
        again = load_atlas(tmp_path / "a.atlas")
        assert [p.name for p in tmp_path.iterdir()] == ["a.atlas"]
        assert again == atlas
        for part in ("labels", "model", "parameters", "method"):
            assert getattr(again, part) == getattr(atlas, part)
        assert sparse.issparse(again.vectors) == sparse.issparse(atlas.vectors)
        for part in ("maps", "proportions", "factors", "covered"):
            found, expected = getattr(again, part), getattr(atlas, part)
            np.testing.assert_array_equal(found, expected)
            assert found.dtype == expected.dtype
        for part in ("associations", "vectors"):
            difference = getattr(again, part) - getattr(atlas, part)
            assert abs(difference).max() == 0
        assert again.history["cost"].tolist() == [3, 2, 1]
        assert again.metadata["kind"].tolist() == atlas.metadata["kind"].tolist()
        assert again.senses("NA") == atlas.senses("NA")

    def test_optional_parts_are_absent_and_joint_models_keep_their_normalizer(self, tmp_path):
        atlas = random_atlas(ChoiceModel("cauchy", "joint", "learned", 0.1, 2.0))
        atlas.save(tmp_path / "a.atlas")
        again = load_atlas(tmp_path / "a.atlas")
        assert again == atlas
        assert again.log_normalizer == atlas.log_normalizer
        absent = again.associations, again.covered, again.vectors, again.factors, again.kinds
        assert absent == (None,) * 5

    @pytest.mark.parametrize(
        "change",
        [
            lambda m, a: a["proportions"].__imul__(2),
            lambda m, a: a.update(maps=a["maps"][:, 1:]),
            lambda m, a: a["maps"].fill(1e30),
            lambda m, a: a.update({"metadata/size": np.arange(3)}),
            lambda m, a: a.update(covered=np.full(14, -0.5)),
            lambda m, a: a["associations/indices"].__setitem__(-1, -1),
            lambda m, a: a["associations/indptr"].__setitem__(1, 50),
            lambda m, a: a["associations/data"].fill(np.inf),
            lambda m, a: a.pop("associations/data"),
            lambda m, a: m.pop("labels"),
            lambda m, a: m["model"].update(kernel="laplace"),
            lambda m, a: m.update(parameters={"perplexity": {}}),
            lambda m, a: m.update(parameters={"penalty": [0.1, 0.2]}),
        ],
    )
    def test_damaged_parts(self, tmp_path, change):
        path = tmp_path / "a.atlas"
        tied().save(path)
        with pytest.raises(DataError, match=r"a\.atlas"):
            rewritten(path, change)

    def test_other_files(self, tmp_path):
        path = tmp_path / "a.atlas"
        random_atlas().save(path)
        half = path.read_bytes()[: path.stat().st_size // 2]
        for content in (half, b"cue,response\ntie,knot\n"):
            path.write_bytes(content)
            with pytest.raises(DataError):
                load_atlas(path)
        write_archive(path, Schema("manymaps sweep", 1, "another"), {}, {})
        with pytest.raises(DataError):
            load_atlas(path)

    def test_stored_zeros_are_dropped(self, tmp_path):
        """The senses of an object divide by the sum of its associations."""
        written = tied()
        table = written.associations
        table.data[: table.indptr[1]] = 0
        written.save(tmp_path / "a.atlas")
        found = load_atlas(tmp_path / "a.atlas")
        assert found.associations.nnz == np.count_nonzero(table.data) > 0
        found.senses("word 0")

    def test_files_of_version_1(self, tmp_path):
        """Factors of one kind were not used, and there could be further arrays."""
        path = tmp_path / "a.atlas"
        tied().save(path)
        with zipfile.ZipFile(path) as archive:
            parts = {name: archive.read(name) for name in archive.namelist()}
        meta = json.loads(parts["meta.json"])
        parts["meta.json"] = json.dumps(meta | {"version": 1}).encode()
        buffer = io.BytesIO()
        np.save(buffer, np.arange(5))
        parts["consensus/offsets.npy"] = buffer.getvalue()
        with zipfile.ZipFile(path, "w") as archive:
            for name, data in parts.items():
                archive.writestr(name, data)
        assert load_atlas(path) == tied(factors=None) != tied()

    def test_rows_of_several_kinds_keep_their_kinds_as_metadata(self, tmp_path):
        several = ("cue", *["author"] * 5, *["response"] * 8)
        old = bipartite()
        object.__setattr__(old, "kinds", several)
        old.save(tmp_path / "old.atlas")
        opened = load_atlas(tmp_path / "old.atlas")
        assert opened.kinds == ("row",) * 6 + ("response",) * 8
        assert tuple(opened.metadata["kind"]) == several


def bipartite(**more):
    kinds = ["cue"] * 6 + ["response"] * 8
    return random_atlas(replace(T_SNE, given="rows", normalization="conditional"), **more | {
        "kinds": kinds, "factors": np.ones(14),
    })  # fmt: skip


INVALID = [
    {"labels": ["a"]},
    {"maps": np.zeros((3, 14))},
    {"vectors": np.eye(3)},
    {"associations": sparse.csr_array((3, 3))},
    {"associations": sparse.csr_array(np.eye(14, k=1) * np.nan)},
    {"associations": sparse.csr_array(-np.eye(14, k=1))},
    {"covered": np.ones(3)},
    *({"factors": factors} for factors in (np.zeros(14), np.ones(13), np.full(14, np.nan))),
    {"model": replace(MULTIPLE_MAPS_T_SNE, normalization="joint")},
    {"kinds": ["cue"] * 6 + ["response"] * 8},
]


@pytest.mark.parametrize("fields", INVALID)
def test_invalid_fields(fields):
    with pytest.raises(DataError):
        replace(tied(), **fields)


REFUSALS = [
    (lambda atlas: atlas.subset([True, False]), ParameterError),
    (lambda atlas: atlas.subset(["word 2", "wrd 5"]), UnknownLabelError),
    (lambda atlas: atlas.senses("wrd 3"), UnknownLabelError),
    *(
        (lambda atlas, order=order: atlas.renumbered(order), ParameterError)
        for order in ([0, 1], [0, 1, 1], [0, 1, 3], [[0, 1, 2], [0, 1, 2]])
    ),
]


@pytest.mark.parametrize(("call", "error"), REFUSALS)
def test_refusals(call, error):
    with pytest.raises(error):
        call(random_atlas())


@given(at=st.integers(0, 14), k=st.integers(0, 3), form=st.sampled_from([list, sparse.csr_array]))
@settings(max_examples=20, deadline=None)
def test_old_objects_stay_and_new_ones_are_marked(at, k, form):
    rng = np.random.default_rng(1)
    atlas = tied()
    vectors = atlas.vectors
    atlas = replace(atlas, vectors=sparse.csr_array(vectors) if form is not list else vectors)
    shares = rng.dirichlet(np.ones(3), k).T.astype(np.float32)
    new = rng.random((3, k, 2)).astype(np.float32), shares
    longer = atlas.extended(
        [f"new {i}" for i in range(k)], *new, at=at, factors=np.ones(k),
        metadata={"size": np.arange(k)}, vectors=rng.random((k, 4)),
    )  # fmt: skip
    is_new = longer.metadata["inserted"]
    np.testing.assert_array_equal(np.flatnonzero(is_new), np.arange(at, at + k))
    np.testing.assert_array_equal(longer.maps[:, is_new], new[0])
    np.testing.assert_array_equal(longer.proportions[:, is_new], new[1])
    assert longer.metadata["kind"][is_new].tolist() == [""] * k
    assert longer.associations.sum() == pytest.approx(atlas.associations.sum())
    assert np.isnan(longer.covered[is_new]).all()
    again = longer.subset(~is_new)
    assert replace(again, metadata=atlas.metadata) == atlas
    for name, column in atlas.metadata.items():
        np.testing.assert_array_equal(again.metadata[name], column)


def test_a_subset_by_labels_indices_or_a_mask():
    atlas = tied()
    part = atlas.subset([5, 2])
    assert part.labels == ("word 5", "word 2")
    for name in ("maps", "proportions"):
        np.testing.assert_array_equal(getattr(part, name), getattr(atlas, name)[:, [5, 2]])
    for name in ("factors", "vectors"):
        np.testing.assert_array_equal(getattr(part, name), getattr(atlas, name)[[5, 2]])
    for objects in (
        ("WORD 5", "word 2"), np.array(["word 5", "word 2"], dtype=object),
        np.array([5, 2], dtype=np.int8),
    ):  # fmt: skip
        assert atlas.subset(objects) == part
    mask = np.arange(atlas.n_objects) == 3
    assert atlas.subset(mask).labels == atlas.subset("word 3").labels == ("word 3",)


class TestTwoKinds:
    def test_labels_select_the_row_before_the_column(self):
        labels = [f"word {i % 8}" for i in range(14)]
        found = replace(bipartite(), labels=labels).subset(["word 1", "word 7"])
        assert found.kinds == ("cue", "response")

    @pytest.mark.parametrize(
        ("at", "kind"), [(0, "cue"), (6, "cue"), (7, "response"), (14, "response")]
    )
    def test_new_objects_are_of_the_kind_before_them(self, at, kind):
        new = ["new"], np.zeros((3, 1, 2)), np.full((3, 1), 1 / 3)
        longer = bipartite().extended(*new, at=at, factors=np.ones(1))
        assert (longer.labels[at], longer.kinds[at]) == ("new", kind)
        with pytest.raises(ParameterError):
            bipartite().extended(*new, at=at)

    def test_one_kind_alone_is_of_one_kind(self):
        atlas = bipartite()
        assert atlas.subset([1, 7, 9]).kinds == ("cue", "response", "response")
        alone = atlas.subset(np.arange(6))
        assert (alone.kinds, alone.model.given) == (None, None)


def test_every_part_of_a_map_is_renumbered_with_it():
    order = [2, 0, 1]
    atlas = tied()
    turned = atlas.renumbered(order)
    for name in ("maps", "proportions"):
        np.testing.assert_array_equal(getattr(turned, name), getattr(atlas, name)[order])
    np.testing.assert_allclose(turned.shares("word 0"), atlas.shares("word 0")[order])
    assert replace(turned, maps=atlas.maps, proportions=atlas.proportions) == atlas
    assert random_atlas(log_normalizer=0.5).renumbered(order).log_normalizer == 0.5


@pytest.mark.parametrize("d", [3, 8])
def test_the_frame_has_one_row_per_object_and_map(d):
    atlas = random_atlas(d=d)
    frame = atlas.to_frame()
    axes = list("xyz")[:d] if d <= 3 else [f"x{k}" for k in range(d)]
    assert list(frame.columns) == ["label", "map", "proportion", *axes]
    assert len(frame) == 14 * 3
    row = frame[(frame["label"] == "word 7") & (frame["map"] == 1)]
    np.testing.assert_allclose(row[axes].to_numpy()[0], atlas.maps[1, 7])
    np.testing.assert_allclose(row["proportion"], atlas.proportions[1, 7])
