"""An atlas answers with the model's own numbers, and comes back from its file as it was."""

import json
import pickle
import zipfile
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse

import reference
from manymaps.archive.archives import read_archive, write_archive
from manymaps.archive.schema import Schema
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


def random_atlas(model=MULTIPLE_MAPS_T_SNE, n=14, n_maps=3, d=2, seed=0, **more):
    rng = np.random.default_rng(seed)
    atlas = Atlas(
        [f"word {i}" for i in range(n)],
        rng.normal(size=(n_maps, n, d)).astype(np.float32),
        rng.dirichlet(np.ones(n_maps), n).T.astype(np.float32),
        model,
        **more,
    )
    if model.normalization == "joint":
        atlas = replace(atlas, log_normalizer=float(reference.log_sum(log_v_of(atlas).ravel())))
    return atlas


def log_v_of(atlas):
    side = atlas.maps.astype(float), -np.log(atlas.proportions.astype(float))
    return reference.log_similarity(atlas.model.kernel, side, side, atlas.model.kernel_width)


def shares_of(atlas):
    """q_ij^m of all pairs: each map's part of v over the common normalization."""
    positions = atlas.maps.astype(float) / atlas.model.kernel_width
    pi = atlas.proportions.astype(float)
    parts = np.exp(reference.log_kernel(atlas.model.kernel, positions, positions))
    parts *= pi[:, :, None] * pi[:, None, :]
    parts[:, np.arange(atlas.n_objects), np.arange(atlas.n_objects)] = 0
    axes = (0, 2) if atlas.model.normalization == "conditional" else (0, 1, 2)
    return parts / parts.sum(axis=axes, keepdims=True)


@MODELS
class TestAgainstTheReference:
    def test_similarities(self, model):
        atlas = random_atlas(model)
        q = np.exp(reference.log_choice(log_v_of(atlas), model.normalization))
        for i, label in enumerate(atlas.labels):
            np.testing.assert_allclose(atlas.similarities(label), q[i], rtol=1e-6)
            assert atlas.similarity(label, "word 3") == pytest.approx(q[i, 3])
            assert atlas.similarity(label, label) == 0

    def test_shares(self, model):
        atlas = random_atlas(model)
        expected = shares_of(atlas)
        for i, label in enumerate(atlas.labels):
            np.testing.assert_allclose(atlas.shares(label), expected[:, i], rtol=1e-6)

    def test_a_missing_normalizer_is_summed(self, model):
        atlas = random_atlas(model, n=30)
        bare = replace(atlas, log_normalizer=None)
        for label in ("word 0", "word 7"):
            np.testing.assert_allclose(bare.shares(label), atlas.shares(label), rtol=1e-5)
        if model.normalization == "joint":
            total = sum(bare.similarities(label).sum() for label in bare.labels)
            assert total == pytest.approx(1, rel=1e-5)
            assert bare.log_whole == pytest.approx(atlas.log_normalizer, rel=1e-5)
            assert atlas.log_whole == atlas.log_normalizer

    def test_neighbors(self, model):
        atlas = random_atlas(model)
        shares = shares_of(atlas)[:, 4]
        for m, strength in [*enumerate(shares), (None, shares.sum(axis=0))]:
            got = atlas.neighbors("word 4", m, n_neighbors=5)
            order = np.argsort(-strength)[:5]
            assert [neighbor.label for neighbor in got] == [f"word {j}" for j in order]
            np.testing.assert_allclose([n.similarity for n in got], strength[order], rtol=1e-6)

    def test_background_takes_its_share(self, model):
        atlas = random_atlas(replace(model, background=0.2))
        log_q = reference.log_choice(log_v_of(atlas), model.normalization, 0.2)
        expected = np.exp(log_q[2])
        expected[2] = 0
        np.testing.assert_allclose(atlas.similarities("word 2"), expected, rtol=1e-6)

    def test_objects_too_far_for_float64(self, model):
        """exp(-d2) underflows; a conditional model still has a nearest neighbour."""
        atlas = random_atlas(model)
        maps = atlas.maps.copy()
        maps[:, 4] += 500
        remote = replace(atlas, maps=maps)
        similarities = remote.similarities("word 4")
        assert np.isfinite(similarities).all()
        if model.normalization == "conditional":
            assert similarities.sum() == pytest.approx(1)


class TestQuestions:
    def test_what_a_word_recalls_decides_and_not_where_it_lives(self):
        """Among strangers by .85, beside its friend by .1: the friend is what it recalls."""
        maps = np.array([[[0.0], [30.0], [31.0]], [[0.0], [9.0], [0.1]], [[0.0], [90.0], [0.1]]])
        proportions = np.array([[0.85, 1.0, 0.1], [0.1, 0.0, 0.5], [0.05, 0.0, 0.4]])
        atlas = Atlas(["tie", "shelf", "knot"], maps, proportions, MULTIPLE_MAPS_T_SNE)
        found = atlas.senses("tie")
        assert [sense.map for sense in found] == [1, 2]
        assert [sense.neighbors[0].label for sense in found] == ["knot", "knot"]
        weight = atlas.shares("tie").sum(axis=1)
        np.testing.assert_allclose(atlas.map_weights[:, 0], weight, rtol=1e-6)

    def test_case_does_not_matter_and_unknown_words_get_suggestions(self):
        atlas = random_atlas()
        assert atlas.index("WORD 3") == 3
        with pytest.raises(UnknownLabelError):
            atlas.senses("wrd 3")

    def test_object_alone(self):
        atlas = Atlas(["tie"], np.zeros((1, 1, 2)), np.ones((1, 1)), T_SNE)
        assert atlas.neighbors("tie") == ()
        assert atlas.similarities("tie").tolist() == [0]

    def test_objects_without_a_common_map(self):
        model = replace(MULTIPLE_MAPS_T_SNE, normalization="joint")
        atlas = Atlas(["tie", "knot"], np.zeros((2, 2, 2)), np.eye(2), model)
        assert atlas.log_whole == -np.inf
        assert atlas.similarities("tie").tolist() == [0, 0]

    @pytest.mark.parametrize("d", [1, 3, pytest.param(8, marks=pytest.mark.slow)])
    def test_the_whole_in_other_dimensions(self, d):
        atlas = random_atlas(replace(MULTIPLE_MAPS_T_SNE, normalization="joint"), d=d)
        bare = replace(atlas, log_normalizer=None)
        assert bare.log_whole == pytest.approx(atlas.log_normalizer, rel=1e-5)

    def test_asymmetry_of_a_conditional_model(self):
        maps = np.array([[[0.0, 0.0], [1.0, 0.0], [1.2, 0.0], [1.0, 0.2]]])
        atlas = Atlas(list("abcd"), maps, np.ones((1, 4)), T_SNE)
        conditional = replace(atlas, model=replace(T_SNE, normalization="conditional"))
        assert conditional.similarity("a", "b") > 1.5 * conditional.similarity("b", "a")


class TestFile:
    def test_everything_comes_back(self, tmp_path):
        n = len(ODD_LABELS)
        atlas = replace(
            random_atlas(ChoiceModel("cauchy", "joint", "learned", 0.1, 2.0), n=n),
            labels=ODD_LABELS,
            method="mm-tsne",
            parameters={"n_maps": 3, "penalty": 0.01, "optimizer": None, "kl_divergence": 0.5},
            history={"iteration": np.arange(3.0), "cost": np.array([3.0, 2.0, 1.0])},
            metadata={"length": np.arange(n), "kind": np.array(["é"] * n)},
        )
        path = tmp_path / "a.atlas"
        atlas.save(path)
        again = load_atlas(path)
        assert [p.name for p in tmp_path.iterdir()] == ["a.atlas"]
        assert again == atlas
        assert (again.labels, again.model) == (atlas.labels, atlas.model)
        for part in ("parameters", "log_normalizer", "method"):
            assert getattr(again, part) == getattr(atlas, part)
        for array in ("maps", "proportions"):
            assert getattr(again, array).dtype == np.float32
        assert again.history["cost"].tolist() == [3, 2, 1]
        assert again.metadata["kind"].tolist() == ["é"] * n
        np.testing.assert_array_equal(again.similarities("NA"), atlas.similarities("NA"))

    def test_truncated(self, tmp_path):
        path = tmp_path / "a.atlas"
        random_atlas().save(path)
        whole = path.read_bytes()
        for length in (10, len(whole) // 2):
            path.write_bytes(whole[:length])
            with pytest.raises(DataError):
                load_atlas(path)

    def test_foreign(self, tmp_path):
        path = tmp_path / "a.atlas"
        path.write_text("cue,response\ntie,knot\n")
        with pytest.raises(DataError):
            load_atlas(path)
        write_archive(path, Schema("manymaps sweep", 1, "another"), {}, {})
        with pytest.raises(DataError):
            load_atlas(path)

    @pytest.mark.parametrize(
        "change",
        [
            lambda m, a: a["proportions"].__imul__(2),
            lambda m, a: a.update(maps=a["maps"][:, 1:]),
            lambda m, a: a["maps"].fill(1e30),
            lambda m, a: a.update({"metadata/size": np.arange(3)}),
            lambda m, a: a.update(covered=np.full(14, -0.5)),
            lambda m, a: m.pop("labels"),
            lambda m, a: m["model"].update(kernel="laplace"),
            lambda m, a: m.update(parameters={"perplexity": {}}),
            lambda m, a: m.update(parameters={"penalty": [0.1, 0.2]}),
        ],
    )
    def test_damaged_parts(self, tmp_path, change):
        path = tmp_path / "a.atlas"
        random_atlas().save(path)
        meta, arrays = read_archive(path, ATLAS)
        change(meta, arrays)
        write_archive(path, Schema("manymaps atlas", 1, "whatever it holds"), meta, arrays)
        with pytest.raises(DataError, match=r"a\.atlas"):
            load_atlas(path)


class TestSubsetAndExtended:
    @given(at=st.integers(0, 14), k=st.integers(0, 3), sparse_vectors=st.booleans())
    @settings(max_examples=20, deadline=None)
    def test_the_old_objects_stay_and_the_new_ones_are_told(self, at, k, sparse_vectors):
        rng = np.random.default_rng(1)
        vectors = rng.random((14, 4)).astype(np.float32)
        metadata = {"size": np.arange(14), "name": np.array(list("abcdefghijklmn"))}
        held = sparse.csr_array(vectors) if sparse_vectors else vectors
        atlas = random_atlas(vectors=held, factors=rng.random(14) + 1, metadata=metadata)
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
        assert longer.metadata["name"][is_new].tolist() == [""] * k
        again = longer.subset(~is_new)
        assert again.labels == atlas.labels
        np.testing.assert_array_equal(again.maps, atlas.maps)
        np.testing.assert_array_equal(again.proportions, atlas.proportions)
        np.testing.assert_array_equal(again.factors, atlas.factors)
        for name, column in metadata.items():
            np.testing.assert_array_equal(again.metadata[name], column)
        assert again.vectors.dtype == np.float32
        kept = again.vectors.toarray() if sparse_vectors else again.vectors
        np.testing.assert_array_equal(kept, vectors)

    def test_a_subset_by_labels_indices_or_a_mask(self):
        atlas = random_atlas()
        part = atlas.subset([5, 2])
        assert part.labels == ("word 5", "word 2")
        np.testing.assert_array_equal(part.maps, atlas.maps[:, [5, 2]])
        for objects in (
            ("WORD 5", "word 2"), np.array(["word 5", "word 2"], dtype=object),
            np.array([5, 2], dtype=np.int8),
        ):  # fmt: skip
            assert atlas.subset(objects) == part
        mask = np.arange(atlas.n_objects) == 3
        assert atlas.subset(mask).labels == atlas.subset("word 3").labels == ("word 3",)
        with pytest.raises(ParameterError):
            atlas.subset([True, False])
        with pytest.raises(UnknownLabelError) as error:
            atlas.subset(["word 2", "wrd 5"])
        assert "word 5" in error.value.suggestions

    def test_labels_of_two_kinds_select_the_row_before_the_column(self):
        two = replace(T_SNE, given="rows", normalization="conditional")
        labels = ["tie", "bow", "tie", "hat"]
        atlas = Atlas(
            labels, np.zeros((1, 4, 2)), np.ones((1, 4)), two,
            kinds=["cue"] * 2 + ["response"] * 2, factors=np.ones(4),
        )  # fmt: skip
        assert atlas.subset(["tie", "hat"]).kinds == ("cue", "response")

    @pytest.mark.parametrize(
        ("at", "kind"), [(0, "cue"), (6, "cue"), (7, "response"), (14, "response")]
    )
    def test_new_objects_are_of_the_kind_before_them(self, at, kind):
        two = replace(T_SNE, given="rows", normalization="conditional")
        atlas = random_atlas(two, kinds=["cue"] * 6 + ["response"] * 8, factors=np.ones(14))
        new = ["new"], np.zeros((3, 1, 2)), np.full((3, 1), 1 / 3)
        longer = atlas.extended(*new, at=at, factors=np.ones(1))
        assert (longer.labels[at], longer.kinds[at]) == ("new", kind)
        with pytest.raises(ParameterError):
            atlas.extended(*new, at=at)

    def test_rows_of_several_kinds_in_a_file_keep_their_kinds_as_metadata(self, tmp_path):
        two = replace(T_SNE, given="rows", normalization="conditional")
        atlas = random_atlas(two, kinds=["cue"] * 6 + ["response"] * 8)
        file = tmp_path / "old.atlas"
        several = ("cue", *["author"] * 5, *["response"] * 8)
        with pytest.raises(DataError):
            replace(atlas, kinds=several)
        object.__setattr__(atlas, "kinds", several)
        atlas.save(file)
        opened = load_atlas(file)
        assert opened.kinds == ("row",) * 6 + ("response",) * 8
        assert tuple(opened.metadata["kind"]) == several

    def test_one_kind_alone_is_of_one_kind(self):
        two = replace(T_SNE, given="rows", normalization="conditional")
        atlas = random_atlas(two, kinds=["cue"] * 6 + ["response"] * 8)
        assert atlas.subset([1, 7, 9]).kinds == ("cue", "response", "response")
        alone = atlas.subset(np.arange(6))
        assert (alone.kinds, alone.model.given) == (None, None)


class TestRenumbered:
    def test_every_part_of_a_map_goes_with_it(self):
        atlas = random_atlas(n=2, log_normalizer=0.5)
        turned = atlas.renumbered([2, 0, 1])
        for new, old in enumerate([2, 0, 1]):
            np.testing.assert_array_equal(turned.maps[new], atlas.maps[old])
            np.testing.assert_array_equal(turned.proportions[new], atlas.proportions[old])
        word = atlas.labels[0]
        np.testing.assert_array_equal(turned.shares(word), atlas.shares(word)[[2, 0, 1]])
        assert turned.log_normalizer == 0.5

    @pytest.mark.parametrize("order", [[0, 1], [0, 1, 1], [0, 1, 3], [[0, 1, 2], [0, 1, 2]]])
    def test_what_is_no_order(self, order):
        with pytest.raises(ParameterError):
            random_atlas().renumbered(order)


class TestTables:
    @pytest.mark.parametrize("d", [3, 8])
    def test_one_row_per_object_and_map(self, d):
        atlas = random_atlas(d=d)
        frame = atlas.to_frame()
        axes = list("xyz")[:d] if d <= 3 else [f"x{k}" for k in range(d)]
        assert list(frame.columns) == ["label", "map", "proportion", *axes]
        assert len(frame) == 14 * 3
        row = frame[(frame["label"] == "word 7") & (frame["map"] == 1)]
        np.testing.assert_allclose(row[axes].to_numpy()[0], atlas.maps[1, 7])
        np.testing.assert_allclose(row["proportion"], atlas.proportions[1, 7])


class TestFactorsOfOneKind:
    """Factors b_j are part of a conditional model of one set of objects."""

    def atlas(self):
        model = replace(MULTIPLE_MAPS_T_SNE, kernel=2.0)
        return random_atlas(model=model, factors=np.linspace(0.3, 3, 14))

    def test_a_file_of_version_1_did_not_use_them(self, tmp_path):
        atlas, path = self.atlas(), tmp_path / "a.atlas"
        atlas.save(path)
        with zipfile.ZipFile(path) as archive:
            parts = {name: archive.read(name) for name in archive.namelist()}
        meta = json.loads(parts["meta.json"])
        parts["meta.json"] = json.dumps(meta | {"version": 1}).encode()
        with zipfile.ZipFile(path, "w") as archive:
            for name, data in parts.items():
                archive.writestr(name, data)
        old = load_atlas(path)
        assert old.factors is None
        assert old == replace(atlas, factors=None)

    def test_copies_keep_them(self):
        atlas = self.atlas()
        for copy in (pickle.loads(pickle.dumps(atlas)), atlas.renumbered([2, 0, 1])):
            np.testing.assert_array_equal(copy.factors, atlas.factors)
        order = [5, 2, 9]
        np.testing.assert_array_equal(atlas.subset(order).factors, atlas.factors[order])

    @pytest.mark.parametrize("factors", [np.zeros(14), np.ones(13), np.full(14, np.nan)])
    def test_invalid_factors(self, factors):
        with pytest.raises(DataError):
            replace(self.atlas(), factors=factors)

    def test_joint_models_have_none(self):
        joint = replace(MULTIPLE_MAPS_T_SNE, normalization="joint")
        with pytest.raises(DataError):
            replace(self.atlas(), model=joint)

    def test_answers_follow_them(self):
        atlas = self.atlas()
        v = replace(atlas, factors=None).similarities("word 0") * atlas.factors
        q = atlas.similarities("word 0")
        np.testing.assert_allclose(q, v / v.sum(), rtol=1e-6)
        first = atlas.neighbors("word 0", n_neighbors=3)
        assert [near.label for near in first] == [f"word {j}" for j in np.argsort(-q)[:3]]
