"""Senses: against plain loops, with planted truth, and unchanged by what must not matter."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse

import reference
from atlas_samples import similarities_by_map
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


def parts(atlas):
    """v_ij^m of all pairs; with factors, b_j v_ij^m."""
    return similarities_by_map(atlas) * (1 if atlas.factors is None else atlas.factors)


def slow_associates(atlas, table, i):
    """(associate, strength, map, close) of word i, by the definition."""
    row = table[[i]].toarray()[0].astype(float)
    v = parts(atlas)[:, i]
    found = []
    for j in np.argsort(-row, kind="stable").tolist():
        if row[j] > 0:
            m = int(v[:, j].argmax()) if v[:, j].any() else -1
            close = m >= 0 and v[m, j] >= NEAR * v[m].max()
            found.append((j, row[j] / row.sum(), m, close))
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


@settings(max_examples=25, deadline=None)
@given(
    seed=st.integers(0, 10**6),
    kernel=st.sampled_from(reference.STORED_KERNELS),
    normalization=st.sampled_from(["conditional", "joint"]),
)
def test_equal_plain_loops_for_any_words_at_once(seed, kernel, normalization):
    has_factors = normalization == "conditional" and seed % 3 == 0
    atlas = made(seed, kernel, normalization, has_factors)
    table = atlas.associations
    words = np.random.default_rng(seed).permutation(atlas.n_objects)
    found = associates_of(atlas.choices, table, words)
    senses = senses_of(found, atlas.n_maps)
    for w, i in enumerate(words.tolist()):
        rows = rows_of(found, w)
        equal(rows, slow_associates(atlas, table, i))
        equal(sorted(listed(senses, w)), slow_senses(atlas, table, i))
        order = [(-share, m) for m, share, _ in listed(senses, w)]
        assert order == sorted(order)
        alone = associates_of(atlas.choices, table, words[[w]])
        assert rows_of(alone, 0) == rows
        assert listed(senses_of(alone, atlas.n_maps), 0) == listed(senses, w)
        strengths = {member: strength for member, strength, _, _ in rows}
        for s in senses.of(w):
            assert senses.owners[s] == w
            own = senses.members_of(s)
            members = senses.members[own].tolist()
            assert senses.strengths[own].tolist() == [strengths[j] for j in members]
    for a, sense in enumerate(senses.of_associate.tolist()):
        same = (senses.owners == found.owners[a]) & (senses.maps == found.maps[a])
        assert sense == (np.flatnonzero(same)[0] if same.any() else -1)
    # Objects 0 and 1 have no map in common.
    assert (1, -1, False) in [(j, m, close) for j, _, m, close in rows_of(found, words.argmin())]


def by_label(atlas, word):
    """{map: (share, labels of the members)} of a word."""
    return {
        sense.map: (pytest.approx(sense.share), {near.label for near in sense.neighbors})
        for sense in atlas.senses(word, n_neighbors=99)
    }


@pytest.mark.parametrize("seed", range(2))
def test_order_numbers_scale_and_blocks_change_nothing_else(seed, monkeypatch):
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
    for i in np.flatnonzero(np.diff(table.indptr)):
        word = atlas.labels[i]
        expected = by_label(atlas, word)
        assert by_label(mixed, word) == expected
        assert by_label(turned, word) == {renamed[m]: of for m, of in expected.items()}
    for module in ("senses", "probabilities"):
        monkeypatch.setattr(f"manymaps.atlas.{module}._PAIRS", 5)
    again = associates_of(choices, sparse.csr_array(scale @ table), words)
    for i in words:
        equal(rows_of(again, i), rows_of(found, i))


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
    assert frame["map"].to_dict() == {
        "quiver": 0, "hair": 1, "arrow": 0, "ribbon": 1, "gift": 1, "war": 0, "ship": 2,
    }  # fmt: skip
    assert list(frame.index[:2]) == ["quiver", "hair"]
    assert list(frame.index[~frame["close"]]) == ["war"]
    assert frame["strength"].sum() == pytest.approx(1)
    assert frame["similarity"]["hair"] == pytest.approx(atlas.similarity("bow", "hair"))


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


def own(**more):
    """Responses to bow and ship, with a word that the atlas lacks and a stored zero."""
    labels = ["BOW", "Arrow", "hair", "string", "SHIP"]
    ends = [0, 0, 0, 0, 4], [1, 2, 3, 4, 0]
    table = sparse.csr_array(([2.0, 1.0, 5.0, 0.0, 3.0], ends), shape=(5, 5))
    return Associations(labels, table, **more)


class TestOtherAssociations:
    def test_labels_are_matched_and_other_words_left_out(self):
        atlas = two_sided()
        first, second = atlas.senses("bow", associations=own())
        assert [(s.map, s.name) for s in (first, second)] == [(0, ("arrow",)), (1, ("hair",))]
        assert [first.share, second.share] == pytest.approx([2 / 3, 1 / 3])
        assert list(atlas.associates("bow", associations=own())["label"]) == ["arrow", "hair"]
        assert len(atlas.associates("hair", associations=own())) == 0
        table, covered = strengths_on(atlas, own())
        assert list(zip(*table.nonzero(), strict=True)) == [(0, 1), (0, 4), (6, 0)]
        assert covered[[0, 6]].tolist() == [3 / 8, 1]
        assert np.isnan(np.delete(covered, [0, 6])).all()
        # What was left out earlier counts too.
        part = np.array([0.5, np.nan, np.nan, np.nan, 1])
        assert strengths_on(atlas, own(covered=part))[1][[0, 6]].tolist() == [3 / 16, 1]

    def test_spellings_of_one_object_are_added(self):
        """Of 4 responses to Bow and of 10 to bow, 2 and 5 are objects of the data."""
        labels = ["Bow", "arrow", "bow", "ARROW", "string"]
        table = np.zeros((5, 5))
        table[0, [1, 4]], table[2, [1, 3, 0]] = [1, 1], [2, 1, 2]
        spelt = Associations(labels, table, covered=np.array([0.5, np.nan, 0.5, np.nan, np.nan]))
        found, covered = strengths_on(two_sided(), spelt)
        assert (found.nnz, found[0, 1], covered[0]) == (1, 4, 4 / 14)

    @pytest.mark.parametrize("seed", range(3))
    def test_those_of_the_atlas_give_its_own_senses(self, seed):
        atlas = made(seed)
        covered = np.random.default_rng(seed).random(atlas.n_objects)
        table = atlas.associations.toarray()
        turned = Associations(atlas.labels[::-1], table[::-1, ::-1], covered=covered)
        again, found = strengths_on(atlas, turned)
        np.testing.assert_array_equal(again.toarray(), table)
        known = table.any(axis=1)
        np.testing.assert_allclose(found, np.where(known, covered[::-1], np.nan))
        for word in np.array(atlas.labels)[known].tolist():
            assert atlas.senses(word, associations=turned) == atlas.senses(word)


REFUSALS = [
    (lambda atlas: atlas.senses("hair", associations=own()), DataError),
    (lambda atlas: atlas.senses("bow", associations=Associations(["x"], np.eye(1))), DataError),
    (lambda atlas: of_two_kinds(atlas).senses("bow", associations=own()), DataError),
    (lambda atlas: atlas.senses("bow", neighbor_kind="word"), ParameterError),
    (lambda atlas: atlas.associates("bwo"), UnknownLabelError),
]


@pytest.mark.parametrize(("call", "error"), REFUSALS)
def test_refusals(call, error):
    with pytest.raises(error):
        call(two_sided())


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


def of_two_kinds(atlas):
    half = atlas.n_objects // 2
    model = replace(T_SNE, given="rows", normalization="conditional")
    return replace(atlas, model=model, kinds=["cue"] * half + ["response"] * half)


class TestWithoutAssociations:
    def test_senses_are_maps_by_weight_and_their_members_are_close(self):
        several = 0
        for seed in range(3):
            atlas = replace(made(seed), associations=None)
            for i, word in enumerate(atlas.labels):
                v = parts(atlas)[:, i]
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
                    by_size = np.argsort(-row, kind="stable")[:8]
                    assert near == [f"word {j}" for j in by_size if row[j] >= NEAR * row.max()]
                    assert (sense.share, sense.name) == (None, tuple(near[:3]))
                    assert {n.strength for n in sense.neighbors} == {None}
        assert several > 20

    def test_a_word_without_a_row_is_answered_by_the_maps(self):
        atlas = two_sided()
        assert atlas.senses("hair") == replace(atlas, associations=None).senses("hair")

    def test_members_are_of_the_other_kind(self):
        atlas = of_two_kinds(replace(made(), associations=None))
        for word in atlas.labels[:8]:
            for sense in atlas.senses(word):
                assert {int(n.label[5:]) >= 8 for n in sense.neighbors} == {True}
                nearest = atlas.neighbors(word, sense.map, n_neighbors=1)
                assert sense.neighbors[:1] == nearest
