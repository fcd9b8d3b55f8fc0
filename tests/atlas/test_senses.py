"""Senses: against plain loops, with planted truth, and unchanged by what must not matter."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse

import reference
from manymaps import Associations, Atlas, DataError, UnknownLabelError
from manymaps.analysis.senses import senses_of_answers
from manymaps.atlas.answers import LEAST_WEIGHT, strengths_on
from manymaps.atlas.associations import stored_associations
from manymaps.atlas.senses import LEAST_SHARE, NEAR, associates_of, senses_of
from manymaps.errors import ParameterError
from manymaps.model import MULTIPLE_MAPS_T_SNE, T_SNE, ChoiceModel


def made(seed=0, kernel="cauchy", normalization="conditional", with_factors=False, n=16, n_maps=4):
    """An atlas with maps that some objects lack, objects in one place, ties and empty rows."""
    rng = np.random.default_rng(seed)
    maps = rng.normal(0, 1.5, (n_maps, n, 2))
    maps[:, 3] = maps[:, 4]
    proportions = rng.dirichlet(np.ones(n_maps), n).T * (rng.random((n_maps, n)) < 0.7)
    proportions[:, :2] = [[1, 0], [0, 1], *[[0, 0]] * (n_maps - 2)]
    if seed % 2:
        maps[-1], proportions[-1] = maps[0], proportions[0]
    proportions[1, proportions.sum(axis=0) == 0] = 1
    table = rng.integers(1, 4, (n, n)) * (rng.random((n, n)) < 0.5)
    np.fill_diagonal(table, 0)
    table[0, 1], table[5] = 1, 0
    return Atlas(
        [f"word {i}" for i in range(n)],
        maps,
        proportions / proportions.sum(axis=0),
        ChoiceModel(kernel, normalization, "learned", kernel_width=0.5 + seed % 3),
        factors=rng.random(n) + 0.1 if with_factors else None,
        associations=stored_associations(sparse.csr_array(table)),
    )


def parts(atlas, i, j):
    """v_ij^m for each map m; with factors, b_j v_ij^m."""
    values = []
    for points, pi in zip(atlas.maps, atlas.proportions, strict=True):
        d2 = sum((a - b) ** 2 for a, b in zip(points[i], points[j], strict=True))
        log_k = reference.log_kernel_of(atlas.model.kernel, d2 / atlas.model.kernel_width**2)
        factor = 1 if atlas.factors is None else atlas.factors[j]
        values.append(float(factor * pi[i] * pi[j] * np.exp(log_k)))
    return values


def slow_associates(atlas, table, i):
    """(associate, strength, map, close) of word i, by the definition."""
    n, row = atlas.n_objects, table[[i]].toarray()[0].astype(float)
    v = [parts(atlas, i, j) for j in range(n)]
    found = []
    for j in sorted(range(n), key=lambda j: -row[j]):
        if row[j] > 0:
            m = v[j].index(max(v[j])) if max(v[j]) > 0 else -1
            close = m >= 0 and v[j][m] >= NEAR * max(v[k][m] for k in range(n) if k != i)
            found.append((j, row[j] / sum(row), m, close))
    return found


def slow_senses(atlas, table, i):
    """(map, share, members) of each sense of word i, by the definition."""
    found = slow_associates(atlas, table, i)
    senses = []
    for m in range(atlas.n_maps):
        share = sum(strength for _, strength, of, _ in found if of == m)
        members = [j for j, _, of, close in found if of == m and close]
        if members and share > LEAST_SHARE - 1e-6:
            senses.append((m, share, members))
    return senses


def rows_of(found, word):
    own = slice(found.offsets[word], found.offsets[word + 1])
    columns = found.members, found.strengths, found.maps, found.close
    return list(zip(*(column[own].tolist() for column in columns), strict=True))


def listed(senses, word):
    return [
        (senses.maps[s], senses.shares[s], senses.members[senses.members_of(s)].tolist())
        for s in senses.of(word)
    ]


def equal(found, expected):
    """Rows of exact values, except for their second one."""
    assert [(a, *rest) for a, _, *rest in found] == [(a, *rest) for a, _, *rest in expected]
    np.testing.assert_allclose([r[1] for r in found], [r[1] for r in expected], rtol=1e-5)


MODELS = st.tuples(st.sampled_from(reference.STORED_KERNELS), st.sampled_from(["f", "c", "j"]))


@settings(max_examples=25, deadline=None)
@given(seed=st.integers(0, 10**6), model=MODELS)
def test_equal_plain_loops_for_any_words_at_once(seed, model):
    kernel, kind = model
    atlas = made(seed, kernel, "joint" if kind == "j" else "conditional", kind == "f")
    table = atlas.associations
    words = np.random.default_rng(seed).permutation(atlas.n_objects)
    found = associates_of(atlas.choices, table, words)
    senses = senses_of(found, atlas.n_maps)
    w_of = np.argsort(words)
    for w, i in enumerate(words.tolist()):
        equal(rows_of(found, w), slow_associates(atlas, table, i))
        equal(sorted(listed(senses, w)), slow_senses(atlas, table, i))
        order = [(-share, m) for m, share, _ in listed(senses, w)]
        assert order == sorted(order)
        alone = associates_of(atlas.choices, table, words[[w]])
        assert rows_of(alone, 0) == rows_of(found, w)
        assert listed(senses_of(alone, atlas.n_maps), 0) == listed(senses, w)
        assert all(senses.owners[s] == w for s in senses.of(w))
    for a, sense in enumerate(senses.of_associate.tolist()):
        same = (senses.owners == found.owners[a]) & (senses.maps == found.maps[a])
        assert sense == (np.flatnonzero(same)[0] if same.any() else -1)
    np.testing.assert_allclose(
        senses.strengths, [_strength(found, senses, k) for k in range(len(senses.members))]
    )
    assert (1, -1, False) in [(j, m, close) for j, _, m, close in rows_of(found, w_of[0])]


def test_blocks_of_any_size_give_the_same(monkeypatch):
    choices, table = made().choices, made().associations
    words = np.arange(16)
    whole = associates_of(choices, table, words)
    for module in ("senses", "probabilities"):
        monkeypatch.setattr(f"manymaps.atlas.{module}._PAIRS", 5)
    found = associates_of(choices, table, words)
    assert [rows_of(found, i) for i in words] == [rows_of(whole, i) for i in words]


def _strength(found, senses, k):
    sense = np.searchsorted(senses.ends, k, "right") - 1
    own = (found.owners == senses.owners[sense]) & (found.members == senses.members[k])
    return found.strengths[own].item()


def by_label(atlas, word):
    """{map: (share, labels of the members)} of a word."""
    return {
        sense.map: (pytest.approx(sense.share), {near.label for near in sense.neighbors})
        for sense in atlas.senses(word, n_neighbors=99)
    }


@pytest.mark.parametrize("seed", range(2))
def test_order_of_objects_numbers_of_maps_and_scale_of_rows_change_nothing_else(seed):
    atlas = made(seed)
    rng = np.random.default_rng(seed)
    mixed = atlas.subset(rng.permutation(atlas.n_objects))
    order = rng.permutation(atlas.n_maps).tolist()
    turned = atlas.renumbered(order)
    # Of equal maps, the first explains an associate.
    same = {0: (0, 3), 3: (0, 3)} if seed % 2 else {}
    renamed = {m: min(map(order.index, same.get(m, (m,)))) for m in range(atlas.n_maps)}
    words, choices, table = np.arange(atlas.n_objects), atlas.choices, atlas.associations
    scale = sparse.diags_array(rng.random(atlas.n_objects) + 0.1)
    found = associates_of(choices, table, words)
    scaled = associates_of(choices, sparse.csr_array(scale @ table), words)
    for i, word in enumerate(atlas.labels):
        if table.indptr[i] == table.indptr[i + 1]:
            continue
        equal(rows_of(scaled, i), rows_of(found, i))
        expected = by_label(atlas, word)
        assert by_label(mixed, word) == expected
        assert by_label(turned, word) == {renamed[m]: of for m, of in expected.items()}


def two_sided():
    """bow beside arrow and quiver on map 0, and beside ribbon, hair and gift on map 1."""
    labels = ["Bow", "arrow", "quiver", "ribbon", "hair", "gift", "ship", "war"]
    maps = np.full((3, 8, 1), 50.0)
    maps[:, :, 0] += 20 * np.arange(8)
    maps[0, :3, 0], maps[1, [0, 3, 4, 5], 0] = [0, 0.1, 0.2], [0, 0.1, 0.2, 0.3]
    proportions = np.zeros((3, 8))
    proportions[:, 0] = [0.5, 0.3, 0.2]
    proportions[0, [1, 2, 7]] = proportions[1, [3, 4, 5]] = proportions[2, 6] = 1
    table = np.zeros((8, 8))
    # War is on map 0, but far away; ship is alone on its map and has too small a share.
    table[0, 1:] = [3, 5, 2, 4, 1, 0.5, 1]
    return Atlas(
        labels, maps, proportions, MULTIPLE_MAPS_T_SNE,
        associations=stored_associations(sparse.csr_array(table)),
    )  # fmt: skip


def test_two_groups_on_two_maps_are_two_senses():
    atlas = two_sided()
    shot, dress = atlas.senses("bow")
    assert (shot.map, shot.name) == (0, ("quiver", "arrow"))
    assert (dress.map, dress.name) == (1, ("hair", "ribbon", "gift"))
    assert [shot.share, dress.share] == pytest.approx([9 / 16.5, 7 / 16.5])
    assert [shot.proportion, dress.proportion] == [0.5, 0.3]
    for near in (*shot.neighbors, *dress.neighbors):
        assert near.similarity == pytest.approx(atlas.similarity("bow", near.label))
    assert [n.strength for n in shot.neighbors] == pytest.approx([5 / 16.5, 3 / 16.5])
    assert [len(s.neighbors) for s in atlas.senses("bow", n_neighbors=1)] == [1, 1]
    frame = atlas.associates("BOW").set_index("label")
    assert list(frame.index[:2]) == ["quiver", "hair"]
    assert frame["map"].to_dict() == {
        "quiver": 0, "hair": 1, "arrow": 0, "ribbon": 1, "gift": 1, "war": 0, "ship": 2,
    }  # fmt: skip
    assert list(frame.index[~frame["close"]]) == ["war"]
    assert frame["strength"].sum() == pytest.approx(1)
    assert frame["similarity"]["hair"] == pytest.approx(atlas.similarity("bow", "hair"))
    with pytest.raises(UnknownLabelError):
        atlas.associates("bwo")


@pytest.mark.parametrize(("n", "n_senses"), [(20, 2), (21, 1)])
def test_a_share_of_exactly_five_percent_is_enough(n, n_senses):
    """Float32 stores a twentieth as slightly more or less; all others are on map 0."""
    proportions = np.zeros((2, n + 1))
    proportions[:, 0], proportions[0, 1:], proportions[:, 1] = 0.5, 1, [0, 1]
    table = sparse.csr_array(([1.0] * n, ([0] * n, range(1, n + 1))), shape=(n + 1, n + 1))
    atlas = Atlas(
        [str(i) for i in range(n + 1)], np.zeros((2, n + 1, 2)), proportions, MULTIPLE_MAPS_T_SNE,
        associations=stored_associations(table),
    )  # fmt: skip
    assert [sense.map for sense in atlas.senses("0")] == [0, 1][:n_senses]


class TestOwnAssociations:
    def own(self, **more):
        """Responses to the bow and the ship; string is no word of the atlas. A zero is stored."""
        labels = ["BOW", "Arrow", "hair", "string", "SHIP"]
        ends = [0, 0, 0, 0, 4], [1, 2, 3, 4, 0]
        table = sparse.csr_array(([2.0, 1.0, 5.0, 0.0, 3.0], ends), shape=(5, 5))
        return Associations(labels, table, **more)

    def test_labels_are_matched_and_other_words_left_out(self):
        atlas = two_sided()
        first, second = atlas.senses("bow", associations=self.own())
        assert [(s.map, s.name) for s in (first, second)] == [(0, ("arrow",)), (1, ("hair",))]
        assert [first.share, second.share] == pytest.approx([2 / 3, 1 / 3])
        frame = atlas.associates("bow", associations=self.own())
        assert frame["label"].tolist() == ["arrow", "hair"]
        table, covered = strengths_on(atlas, self.own())
        assert list(zip(*table.nonzero(), strict=True)) == [(0, 1), (0, 4), (6, 0)]
        assert covered[[0, 6]].tolist() == [3 / 8, 1]
        assert np.isnan(np.delete(covered, [0, 6])).all()

    def test_what_they_cover_counts_what_was_left_out_earlier(self):
        part = np.array([0.5, np.nan, np.nan, np.nan, 1])
        _, covered = strengths_on(two_sided(), self.own(covered=part))
        assert covered[[0, 6]].tolist() == [3 / 16, 1]

    def test_spellings_of_one_object_are_added(self):
        """Of 4 responses to Bow and of 10 to bow, 2 and 5 are objects of the data."""
        labels = ["Bow", "arrow", "bow", "ARROW", "string"]
        table = np.zeros((5, 5))
        table[0, [1, 4]], table[2, [1, 3, 0]] = [1, 1], [2, 1, 2]
        own = Associations(labels, table, covered=np.array([0.5, np.nan, 0.5, np.nan, np.nan]))
        found, covered = strengths_on(two_sided(), own)
        assert (found.nnz, found[0, 1]) == (1, 4)
        assert covered[0] == 4 / 14
        [sense] = two_sided().senses("bow", associations=own)
        assert (sense.share, [n.label for n in sense.neighbors]) == (1, ["arrow"])

    @pytest.mark.parametrize("seed", range(3))
    def test_those_of_the_atlas_give_its_own_senses(self, seed):
        atlas = made(seed)
        covered = np.random.default_rng(seed).random(atlas.n_objects)
        own = Associations(atlas.labels[::-1], atlas.associations.toarray()[::-1, ::-1])
        own = replace(own, covered=covered)
        table, found = strengths_on(atlas, own)
        np.testing.assert_array_equal(table.toarray(), atlas.associations.toarray())
        known = np.diff(table.indptr) > 0
        np.testing.assert_allclose(found[known], covered[::-1][known])
        assert np.isnan(found[~known]).all()
        for word in np.array(atlas.labels)[known].tolist():
            assert atlas.senses(word, associations=own) == atlas.senses(word)

    def test_refusals(self):
        atlas = two_sided()
        strange = Associations(["x", "y"], np.eye(2)[::-1])
        two = replace(T_SNE, given="rows", normalization="conditional")
        kinds = replace(atlas, model=two, kinds=["cue"] * 4 + ["response"] * 4)
        for call in (
            lambda: atlas.senses("hair", associations=self.own()),
            lambda: atlas.senses("bow", associations=strange),
            lambda: kinds.senses("bow", associations=self.own(), neighbor_kind="response"),
        ):
            with pytest.raises(DataError):
                call()
        assert len(atlas.associates("hair", associations=self.own())) == 0


@pytest.mark.parametrize("seed", range(4))
def test_each_answer_belongs_to_the_sense_of_its_map(seed):
    """Answers outside the atlas, to the word itself and without a count belong to none."""
    atlas, rng = made(seed), np.random.default_rng(seed)
    words = rng.permutation(16)[:9]
    cue, answer = rng.choice([-1, *words], 200), rng.integers(-1, 16, 200)
    count = rng.integers(0, 3, 200)
    senses, found = senses_of_answers(atlas, words, cue, answer, count)
    used = (cue >= 0) & (answer >= 0) & (cue != answer) & (count > 0)
    assert (found[~used] == -2).all()
    pairs = count[used].astype(float), (cue[used], answer[used])
    table = sparse.csr_array(pairs, shape=(16, 16))
    for w, i in enumerate(words.tolist()):
        equal(sorted(listed(senses, w)), slow_senses(atlas, table, i))
        number = {int(senses.maps[s]): s for s in senses.of(w)}
        of = {j: number.get(m, -1) for j, _, m, _ in slow_associates(atlas, table, i)}
        own = used & (cue == i)
        assert found[own].tolist() == [of[j] for j in answer[own].tolist()]


class TestWithoutAssociations:
    def test_senses_are_maps_by_weight_and_their_members_are_close(self):
        several = 0
        for seed in range(3):
            atlas = replace(made(seed), associations=None)
            for i, word in enumerate(atlas.labels):
                v = np.array([parts(atlas, i, j) if j != i else [0] * 4 for j in range(16)]).T
                weights = v.sum(axis=1) / v.sum()
                senses = atlas.senses(word)
                assert len(atlas.associates(word)) == 0
                several += len(senses) > 1
                assert {s.map for s in senses} == set(np.flatnonzero(weights >= LEAST_WEIGHT))
                found = [weights[sense.map] for sense in senses]
                np.testing.assert_array_less(found[1:], np.array(found[:-1]) + 1e-9)
                for sense in senses:
                    row = v[sense.map]
                    near = [n.label for n in sense.neighbors]
                    by_size = sorted(range(16), key=lambda j, row=row: -row[j])[:8]
                    expected = [j for j in by_size if row[j] >= NEAR * row.max()]
                    assert near == [f"word {j}" for j in expected]
                    assert (sense.share, sense.name) == (None, tuple(near[:3]))
                    assert {n.strength for n in sense.neighbors} == {None}
        assert several > 20

    def test_a_word_without_a_row_is_answered_by_the_maps(self):
        atlas = two_sided()
        assert atlas.senses("hair") == replace(atlas, associations=None).senses("hair")
        with pytest.raises(ParameterError):
            atlas.senses("bow", neighbor_kind="word")

    def test_members_are_of_the_other_kind(self):
        two = replace(T_SNE, given="rows", normalization="conditional")
        kinds = ["cue"] * 8 + ["response"] * 8
        atlas = replace(made(), model=two, kinds=kinds, associations=None)
        for word in atlas.labels[:8]:
            for sense in atlas.senses(word):
                assert {int(n.label[5:]) >= 8 for n in sense.neighbors} == {True}
                alike = atlas.neighbors(word, sense.map, n_neighbors=1)
                assert sense.neighbors[:1] == alike
