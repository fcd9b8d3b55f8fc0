"""Senses and maps over several fits: what recurs, and what chance gives."""

from dataclasses import replace
from itertools import permutations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from joblib import parallel_config
from scipy import sparse

import manymaps as mm
from manymaps.analysis.senses import fit_senses
from manymaps.analysis.stability import repeat_fits, stability
from manymaps.atlas.atlas import Atlas
from manymaps.errors import DataError, ParameterError
from manymaps.model.choice import CODE, MULTIPLE_MAPS_SNE, MULTIPLE_MAPS_T_SNE, T_SNE
from sweep_samples import InterruptedMaps

MODELS = [MULTIPLE_MAPS_T_SNE, MULTIPLE_MAPS_SNE, replace(T_SNE, mixing="learned")]


def made(seed=0, n=40, n_maps=4, model=MULTIPLE_MAPS_T_SNE, spread=0.5):
    """Words scattered over maps at random, most in one or two."""
    rng = np.random.default_rng(seed)
    proportions = rng.dirichlet(np.full(n_maps, spread), size=n).T
    maps = rng.normal(size=(n_maps, n, 2)) * 3
    return Atlas([f"word{i}" for i in range(n)], maps, proportions, model)


def jittered(atlas, seed, size=0.6):
    """Nearly the same maps and proportions."""
    rng = np.random.default_rng(seed)
    noise = rng.normal(size=atlas.maps.shape) * size
    others = rng.dirichlet(np.ones(atlas.n_maps), size=atlas.n_objects).T
    proportions = 0.9 * atlas.proportions + 0.1 * others
    return replace(atlas, maps=atlas.maps + noise, proportions=proportions)


def recalled(seed=0, n=40):
    """Words whose associations belong to two topics each, and one word without associations."""
    rng = np.random.default_rng(seed)
    atlas = made(seed, n, spread=0.3)
    topics = (atlas.proportions.T @ atlas.proportions) * rng.gamma(0.3, size=(n, n))
    np.fill_diagonal(topics, 0)
    topics[3] = 0
    return replace(atlas, associations=sparse.csr_array(topics))


def members_of(found, sense):
    """The weights of the members of a sense, by object."""
    row = found.members[[sense]].tocoo()
    return dict(zip(row.col.tolist(), row.data.tolist(), strict=True))


class TestSenses:
    @pytest.mark.parametrize(
        "atlas", [*(made(model=model) for model in MODELS), recalled()], ids=[*"abc", "recalled"]
    )
    def test_they_are_those_of_the_atlas(self, atlas):
        found = fit_senses(atlas, 5)
        for i, label in enumerate(atlas.labels):
            n_members = 5 if atlas.associations is None or i == 3 else 40
            senses = atlas.senses(label, n_neighbors=n_members)
            rows = range(*found.offsets[i : i + 2])
            assert found.maps[rows].tolist() == [sense.map for sense in senses]
            for row, sense in zip(rows, senses, strict=True):
                weights = {
                    atlas.index(near.label): near.strength or near.similarity
                    for near in sense.neighbors
                }
                whole = sum(weights.values())
                expected = {j: weight / whole for j, weight in weights.items()}
                assert members_of(found, row) == pytest.approx(expected)
                assert found.strongest(row, 3) == list(weights)[:3]
                share = sense.share
                if share is None:
                    share = atlas.map_weights[sense.map, i]
                assert found.shares[row] == pytest.approx(share)

    def test_fewer_neighbours_than_asked_for(self):
        found = fit_senses(made(n=3, n_maps=1), 10)
        assert np.diff(found.members.indptr).tolist() == [2, 2, 2]
        np.testing.assert_allclose(found.members.sum(axis=1), 1)

    def test_one_alone_in_its_map_has_no_sense(self):
        proportions = np.array([[1.0, 1.0, 0.0], [0.0, 0.0, 1.0]])
        atlas = Atlas(list("abc"), np.zeros((2, 3, 2)), proportions, MULTIPLE_MAPS_T_SNE)
        found = stability([atlas, atlas])
        assert found.word_recurrence[:2].tolist() == [1, 1]
        assert np.isnan(found.recurrence("c"))
        lonely = replace(atlas, proportions=np.eye(3), maps=np.zeros((3, 3, 2)))
        with pytest.raises(DataError):
            stability([lonely, lonely])

    def test_one_far_from_all_keeps_its_neighbours_under_a_gaussian(self):
        atlas = made(model=MULTIPLE_MAPS_SNE, n_maps=1, n=20)
        atlas.maps[0, 0] = 500
        assert sum(members_of(fit_senses(atlas, 3), 0).values()) == pytest.approx(1)


def most_overlapping(first, second):
    """The one-to-one match of two lists of weighted senses with the largest sum, by trying all."""
    tables = [[sum(min(w, t.get(j, 0)) for j, w in s.items()) for t in second] for s in first]
    n = max(len(first), len(second))
    padded = np.zeros((n, n))
    padded[: len(first), : len(second)] = np.array(tables).reshape(len(first), len(second))
    return max(
        (padded[range(n), order] for order in map(list, permutations(range(n)))), key=np.sum
    )[: len(first)]


class TestAgreement:
    @pytest.mark.parametrize("sample_of", [made, recalled])
    def test_against_plain_loops(self, sample_of):
        first = sample_of()
        fits = [first, jittered(first, 1), jittered(first, 2)]
        found = stability(fits, n_neighbors=6, threshold=0.4)
        for a, senses in enumerate(found.senses):
            for i in range(first.n_objects):
                by_fit = [
                    [members_of(one, row) for row in range(*one.offsets[i : i + 2])]
                    for one in found.senses
                ]
                own = slice(*senses.offsets[i : i + 2])
                best = [most_overlapping(by_fit[a], by_fit[b]) for b in range(3) if b != a]
                np.testing.assert_allclose(senses.overlap[own], np.mean(best, axis=0), atol=1e-12)
                recurs = np.mean(np.array(best) >= 0.4, axis=0)
                np.testing.assert_allclose(senses.recurrence[own], recurs)
        overlaps = np.concatenate([senses.overlap for senses in found.senses])
        assert found.observed.overlap == pytest.approx(overlaps.mean())

    def test_maps_under_other_numbers_are_found_again(self):
        atlas, order = made(n_maps=5), np.array([3, 0, 4, 1, 2])
        found = stability([atlas, atlas.renumbered(order)])
        assert found.observed.recurrence == 1
        assert found.reference == 0
        assert found.maps[1].tolist() == np.argsort(order).tolist()
        np.testing.assert_allclose(found.map_similarities, 1)

    def test_a_fit_with_one_map_more(self):
        atlas = made(n_maps=3)
        maps = np.concatenate([np.zeros((1, 40, 2)), atlas.maps])
        proportions = np.concatenate([np.full((1, 40), 1e-9), atlas.proportions])
        more = replace(atlas, maps=maps, proportions=proportions)
        found = stability([more, atlas, atlas])
        assert found.reference == 1
        assert found.maps[0].tolist() == [1, 2, 3]
        assert found.observed.recurrence == 1
        beside_more = stability([more, more, atlas])
        assert beside_more.maps[2].tolist() == [-1, 0, 1, 2]

    def test_independent_fits_agree_by_chance_alone(self):
        fits = [made(seed, n=300) for seed in range(4)]
        found = stability(fits)
        chance = found.by_other_words
        assert found.observed.overlap == pytest.approx(chance.overlap, abs=0.005)
        assert found.observed.recurrence == pytest.approx(chance.recurrence, abs=0.01)
        assert found.map_similarity == pytest.approx(found.map_similarity_by_chance, abs=0.03)
        same = stability([made(n=200, n_maps=6)] * 2)
        assert 0.02 < same.by_other_words.overlap < same.by_dealing.overlap < 0.9

    def test_the_same_neighbours_in_other_groups_are_no_agreement(self):
        """Each word has the same neighbours in both fits, but its senses are mixed anew."""
        n = 6
        points = np.full((2, 1 + 2 * n, 1), 50.0)
        points[:, 0] = 0
        other = points.copy()
        points[0, 1 : 1 + n, 0] = points[1, 1 + n :, 0] = np.linspace(0.9, 1.1, n)
        other[0, 1::2, 0] = other[1, 2::2, 0] = np.linspace(0.9, 1.1, n)
        labels = ["tie", *(f"near{k}" for k in range(2 * n))]
        fits = [
            Atlas(labels, places, np.full((2, 1 + 2 * n), 0.5), MULTIPLE_MAPS_T_SNE)
            for places in (points, other)
        ]
        found = stability(fits, n_neighbors=n, threshold=0.6)
        assert found.recurrence("tie") == 0
        assert found.word_overlap[0] == pytest.approx(0.5, abs=0.02)

    @settings(max_examples=10, deadline=None)
    @given(st.integers(0, 10**6), st.permutations(range(3)))
    def test_the_order_of_fits_changes_nothing(self, seed, order):
        atlas = made(seed, n=25)
        fits = [jittered(atlas, seed + k) for k in range(3)]
        found, again = stability(fits), stability([fits[k] for k in order])
        np.testing.assert_allclose(found.word_recurrence, again.word_recurrence)
        np.testing.assert_allclose(found.word_overlap, again.word_overlap)
        assert order[again.reference] == found.reference
        assert found.observed.overlap == pytest.approx(again.observed.overlap)

    @settings(max_examples=10, deadline=None)
    @given(st.integers(0, 10**6))
    def test_the_order_of_objects_changes_nothing(self, seed):
        atlas = made(seed, n=25)
        fits = [atlas, jittered(atlas, seed)]
        order = np.random.default_rng(seed).permutation(25)
        found = stability(fits)
        both = stability([fit.subset(order) for fit in fits])
        np.testing.assert_allclose(both.word_recurrence, found.word_recurrence[order])
        # One fit alone is brought back to the order of the other.
        one = stability([fits[0], fits[1].subset(order)])
        np.testing.assert_array_equal(one.word_overlap, found.word_overlap)
        assert one.atlases[1].labels == atlas.labels
        np.testing.assert_array_equal(one.atlases[1].maps, fits[1].maps)

    def test_two_kinds_with_a_label_in_both(self):
        rng = np.random.default_rng(1)
        proportions = rng.dirichlet([1, 1], size=8).T
        atlas = Atlas(
            [*"abcd", *"aefg"], rng.normal(size=(2, 8, 2)), proportions, CODE,
            kinds=["text"] * 4 + ["word"] * 4,
        )  # fmt: skip
        found = stability([atlas, atlas])
        assert found.observed.recurrence == 1
        of_word = found.senses[0].members[found.senses[0].words == 4]
        assert set(of_word.indices.tolist()) <= {0, 1, 2, 3}


class TestSharesByFit:
    def test_they_are_those_of_the_matches(self):
        """The second fit contains both senses of tie with other shares, and the third only one."""
        points = np.full((2, 5, 1), 50.0)
        points[:, 0], points[0, 1:3, 0], points[1, 3:, 0] = 0, [0.1, 0.2], [0.1, 0.2]
        table = np.zeros((3, 5, 5))
        table[:, 0, 1:] = [[4, 2, 3, 1], [1, 1, 5, 3], [1, 0, 0, 0]]
        table[:, 1:, 0] = 1
        fits = [
            Atlas(
                ["tie", "knot", "bow", "suit", "shirt"], points, np.full((2, 5), 0.5),
                MULTIPLE_MAPS_T_SNE, associations=sparse.csr_array(part),
            )
            for part in table
        ]  # fmt: skip
        found = stability(fits, reference=0)
        np.testing.assert_allclose(
            found.shares_by_fit[:, :2], [[0.6, 0.4], [0.2, 0.8], [1, np.nan]]
        )
        # The overlaps are 5/6 and 7/8 with the second fit, and 2/3 and none with the third.
        strict = stability(fits, reference=0, threshold=0.85).shares_by_fit[:, :2]
        np.testing.assert_allclose(strict, [[0.6, 0.4], [np.nan, 0.8], [np.nan, np.nan]])
        other = stability(fits, reference=2).shares_by_fit[:, :1]
        np.testing.assert_allclose(other, [[0.6], [0.2], [1]])

    @pytest.mark.parametrize("sample_of", [made, recalled])
    def test_they_count_the_fits_in_which_a_sense_recurs(self, sample_of):
        atlas = sample_of()
        found = stability([jittered(atlas, k, 1.5) for k in range(4)])
        own = found.senses[found.reference]
        assert found.shares_by_fit[found.reference].tolist() == own.shares.tolist()
        recurs = np.isfinite(np.delete(found.shares_by_fit, found.reference, axis=0))
        np.testing.assert_allclose(recurs.mean(axis=0), own.recurrence)


ATLAS = made(n=10)
NINE = ATLAS.subset(np.arange(9))
REPEATED = replace(made(n=4), labels=["a", "a", "b", "c"])
REFUSALS = [
    (lambda: stability([]), DataError), (lambda: stability([ATLAS]), DataError),
    (lambda: stability([ATLAS, replace(ATLAS, labels=[*NINE.labels, "stranger"])]), DataError),
    (lambda: stability([NINE, NINE, ATLAS]), DataError),
    (lambda: stability([REPEATED, REPEATED.subset([3, 2, 1, 0])]), DataError),
    (lambda: stability([ATLAS, replace(ATLAS, method="mm-sne")]), DataError),
    (lambda: stability([ATLAS, ATLAS], n_neighbors=0), ParameterError),
    (lambda: stability([ATLAS, ATLAS], threshold=0.0), ParameterError),
    (lambda: stability([ATLAS, ATLAS], reference=2), ParameterError),
    (lambda: repeat_fits(mm.MultipleMapsTSNE(), ring(), 0), ParameterError),
    (lambda: repeat_fits(mm.MultipleMapsTSNE(), ring(), bootstrap="participants"), ParameterError),
    (lambda: repeat_fits(mm.MultipleMapsTSNE(), np.eye(9), bootstrap="responses"), ParameterError),
]  # fmt: skip


@pytest.mark.parametrize(("call", "error"), REFUSALS)
def test_refusals(call, error):
    assert stability([REPEATED, REPEATED]).observed.recurrence == 1
    with pytest.raises(error):
        call()


def ring(n=24):
    rows = np.arange(n)
    table = np.zeros((n, n))
    for step in (1, 2):
        table[rows, (rows + step) % n] = table[(rows + step) % n, rows] = 1 / step
    return mm.Associations([f"w{i}" for i in rows], sparse.csr_array(table))


QUICK = mm.MultipleMapsTSNE(n_maps=2, max_iter=10)


class TestRepeatFits:
    def test_workers_leave_interrupts_to_the_process_that_waits(self):
        quick = InterruptedMaps(n_maps=2, max_iter=3)
        assert len(repeat_fits(quick, ring(), 2, n_jobs=2)) == 2
        with pytest.raises(KeyboardInterrupt):
            repeat_fits(quick, ring(), 1, n_jobs=1)

    def test_fits_are_the_same_however_many_run_at_a_time(self):
        data = ring()
        alone = repeat_fits(QUICK, data, 3, random_state=4, n_jobs=1)
        two = repeat_fits(QUICK, data, 3, random_state=4, n_jobs=2)
        with parallel_config("threading", n_jobs=2):
            threads = repeat_fits(QUICK, data, 3, random_state=4)
        np.testing.assert_array_equal(
            repeat_fits(QUICK, data, 1, random_state=4)[0].maps, alone[0].maps
        )
        assert not np.array_equal(alone[0].maps, alone[1].maps)
        for fits in (two, threads):
            for one, other in zip(alone, fits, strict=True):
                np.testing.assert_array_equal(one.maps, other.maps)
                np.testing.assert_array_equal(one.proportions, other.proportions)

    def test_the_estimator_stays_as_it_is(self):
        estimator = mm.MultipleMapsTSNE(n_maps=2, max_iter=5, random_state=7, n_jobs=1)
        repeat_fits(estimator, ring(), 2, n_jobs=2)
        assert (estimator.random_state, estimator.n_jobs) == (7, 1)
        assert not hasattr(estimator, "atlas_")


def test_senses_come_as_a_frame():
    atlas = made(n=10)
    found = stability([atlas, atlas])
    frame = found.to_frame()
    assert frame["label"].tolist() == [atlas.labels[i] for i in found.senses[0].words] * 2
    assert (frame["recurrence"] == 1).all()
    np.testing.assert_allclose(frame["share"], np.tile(found.senses[0].shares, 2))


def test_associations_follow_their_objects():
    first, second = recalled(), recalled(1)
    order = np.random.default_rng(0).permutation(first.n_objects)
    found, again = stability([first, second]), stability([first, second.subset(order)])
    np.testing.assert_array_equal(again.word_overlap, found.word_overlap)
    kept = again.atlases[1].associations
    np.testing.assert_array_equal(kept.toarray(), second.associations.toarray())


class TestBootstrap:
    """Fits of what the same study might have given, beside one of what it gave."""

    def test_the_first_fit_is_of_the_data_and_the_others_of_samples(self):
        relations = mm.load_word_relations()
        small = mm.Associations(relations.labels[:80], relations.strengths[:80, :80])
        fits = repeat_fits(QUICK, small, 3, bootstrap="responses", random_state=4)
        plain = repeat_fits(QUICK, small, 3, random_state=4)
        np.testing.assert_array_equal(fits[0].maps, plain[0].maps)
        np.testing.assert_array_equal(fits[0].associations.data, plain[0].associations.data)
        others = [fit.associations.toarray() for fit in fits]
        assert (others[1] != others[2]).any()
        # Nothing is gained, and some of what was said once is lost.
        for other in others[1:]:
            assert not other[others[0] == 0].any()
            assert (other > 0).sum() < (others[0] > 0).sum()

    def test_participants_take_their_answers_along(self):
        """Two schools of people who never agree: no sample mixes their answers in a cue's row."""
        n = 12
        people, cues = np.divmod(np.arange(20 * n), n)
        right = (cues + np.where(people == 0, 2, 1)) % n
        trials = mm.Trials(
            [f"w{i}" for i in range(n)], [f"w{i}" for i in range(n)], cues, right[:, None],
            people, [f"p{i}" for i in range(20)],
        )  # fmt: skip
        fits = repeat_fits(QUICK, trials, 4, bootstrap="participants", random_state=0)
        assert [len(fit.labels) for fit in fits] == [n] * 4
        for fit in fits[1:]:
            # Every cue has the same share of the one who answers otherwise.
            odd = [fit.associations[i, (i + 2) % n] for i in range(n)]
            np.testing.assert_allclose(odd, odd[0])
        apart = repeat_fits(QUICK, trials, 2, bootstrap="responses", random_state=0)[1]
        assert len({float(apart.associations[i, (i + 2) % n]) for i in range(n)}) > 1

    def test_a_cue_that_nobody_drawn_had_is_still_an_object(self):
        cues = np.array([0, 1, 2] * 6 + [3])
        given = np.array([1, 2, 0] * 6 + [0])[:, None]
        trials = mm.Trials(
            list("abcd"), list("abc"), cues, given,
            np.append(np.repeat(np.arange(6), 3), 6), list("uvwxyzr"),
        )  # fmt: skip
        fits = repeat_fits(QUICK, trials, 6, bootstrap="participants", random_state=1)
        assert {tuple(fit.labels) for fit in fits} == {("a", "b", "c", "d")}
        assert any(fit.associations[[3]].nnz == 0 for fit in fits)
        assert stability(fits, reference=0).reference == 0
