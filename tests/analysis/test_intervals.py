"""Intervals against the definitions, their coverage on data drawn anew, and what is refused."""

from dataclasses import replace

import numpy as np
import pytest
from scipy import sparse
from scipy.stats import beta

import manymaps as mm
from manymaps.errors import DataError, ParameterError
from manymaps.labels import UnknownLabelError
from manymaps.metrics.measures import Interval
from manymaps.model import CODE, MULTIPLE_MAPS_T_SNE

SHARES, EACH = (0.6, 0.25, 0.15), 5


def planted():
    """A word of three maps with five responses each, and with what frequency it has these."""
    n = 1 + len(SHARES) * EACH
    row = np.zeros(n)
    row[1:] = np.outer(SHARES, [0.4, 0.3, 0.15, 0.1, 0.05]).ravel()
    own = (np.arange(n) - 1) // EACH == np.arange(3)[:, None]
    proportions = np.where(np.arange(n) == 0, 1 / 3, own)
    maps = np.random.default_rng(0).normal(size=(3, n, 2))
    return mm.Atlas([f"w{i}" for i in range(n)], maps / 10, proportions, MULTIPLE_MAPS_T_SNE), row


def row_of(table, column, **keys):
    """The value and the limits in the row with these keys, or None."""
    rows = table[np.all([table[key] == value for key, value in keys.items()], axis=0)]
    rows = rows[rows[column].notna()]
    return None if rows.empty else Interval(*rows[[column, "low", "high"]].iloc[0])


def strength(found, cue, response):
    return row_of(found.strengths, "strength", cue=cue, response=response)


def share(found, word, number):
    return row_of(found.shares, "share", word=word, map=number)


def effective_number(found, word):
    return row_of(found.effective_numbers, "effective_number", word=word)


def jeffreys(count, n):
    return beta.ppf([0.025, 0.975], count + 0.5, n - count + 0.5).tolist()


def counted(atlas, row):
    table = sparse.lil_array((atlas.n_objects, atlas.n_objects))
    table[0] = row
    return mm.Associations(atlas.labels, sparse.csr_array(table))


def people(atlas, row, n, rng, *, of_one_mind):
    """Trials of w0 with two answers, both of one sense where a person is of one mind."""
    given = np.zeros((n, 2), int)
    for t in range(n):
        p = row.copy()
        if of_one_mind:
            sense = rng.choice(3, p=SHARES)
            p = np.where((np.arange(len(p)) - 1) // EACH == sense, p, 0)
        given[t] = rng.choice(len(p), 2, replace=False, p=p / p.sum())
    # That all answers are cues as well, somebody else has seen each.
    others = np.arange(1, len(row))
    return mm.Trials(
        atlas.labels,
        atlas.labels,
        np.concatenate([np.zeros(n, int), others]),
        np.concatenate([given, np.stack([0 * others, -1 + 0 * others], axis=1)]),
        np.concatenate([np.arange(n), n + others]),
        [f"p{i}" for i in range(n + len(row))],
    )


class TestStrengths:
    def test_of_counts_they_are_jeffreys(self):
        atlas, _ = planted()
        row = np.zeros(16)
        row[1:5] = 70, 20, 9, 1
        found = mm.intervals(counted(atlas, row))
        for j, count in enumerate((70, 20, 9, 1), start=1):
            told = strength(found, "w0", f"w{j}")
            assert told == pytest.approx((count / 100, *jeffreys(count, 100)))
        assert strength(found, "w0", "w7") is None
        wide, narrow = (
            strength(mm.intervals(counted(atlas, row), level=level), "w0", "w1")
            for level in (0.99, 0.8)
        )
        assert wide.low < narrow.low < 0.7 < narrow.high < wide.high

    def test_proportions_have_the_responses_that_are_known_or_told(self, tmp_path):
        file = tmp_path / "norms.csv"
        file.write_text("cue,response,count\na,b,2\na,c,6\nb,a,40\nc,a,5\n")
        norms = mm.read_associations(file)
        told = strength(mm.intervals(norms), "a", "b")
        assert told == pytest.approx((0.25, *jeffreys(2, 8)))
        few = strength(mm.intervals(norms, n_responses=40), "a", "b")
        assert few.high - few.low < told.high - told.low

    def test_a_person_counts_once_for_each_answer(self):
        atlas, row = planted()
        rng = np.random.default_rng(1)
        trials = people(atlas, row, 80, rng, of_one_mind=False)
        found = mm.intervals(trials)
        given = trials.given[:80]
        for j in (1, 2, 6):
            gave = int((given == j).any(axis=1).sum())
            low, high = jeffreys(gave, 80)
            # Two answers each: half of the share of the people.
            expected = gave / 160, low / 2, high / 2
            assert strength(found, "w0", f"w{j}") == pytest.approx(expected)

    def test_what_is_left_out_widens_nothing_it_should_not(self):
        """Of three people two gave an answer that is a cue."""
        trials = mm.Trials(
            list("abc"), list("abcx"), [0, 0, 0, 1, 2], [[1], [2], [3], [0], [0]],
            [0, 1, 2, 0, 0], list("pqr"),
        )  # fmt: skip
        for rows, n in (("renormalize", 2), ("keep", 3)):
            told = strength(mm.intervals(trials, rows=rows), "a", "b")
            assert told == pytest.approx((1 / n, *jeffreys(1, n)))


@pytest.mark.parametrize("by", [None, "participants", "responses"])
def test_data_that_do_not_identify_participants_have_a_note(by):
    atlas, row = planted()
    trials = people(atlas, row, 20, np.random.default_rng(0), of_one_mind=True)
    assert mm.intervals(trials, atlas, by=by).notes == ()
    unknown = replace(trials, participant=None, participants=())
    for data in (counted(atlas, np.round(row * 200)), trials.associations("R12"), unknown):
        assert len(mm.intervals(data, atlas).notes) == 1


class TestSenses:
    def test_the_figures_are_those_of_the_atlas(self):
        atlas, row = planted()
        data = counted(atlas, np.round(row * 2000))
        found = mm.intervals(data, atlas, words=["W0"])
        senses = atlas.senses("w0", associations=data)
        assert [sense.map for sense in senses] == [0, 1, 2]
        for sense, true in zip(senses, SHARES, strict=True):
            told = share(found, "w0", sense.map)
            assert told == pytest.approx((sense.share, *jeffreys(2000 * true, 2000)))
        shares = found.shares
        assert shares["share"].sum() == pytest.approx(1)
        assert shares["members"][0] == "w1; w2; w3; w4; w5"
        numbers = found.effective_numbers
        assert numbers.loc[0, ["n_senses", "n_responses", "outside"]].tolist() == [3, 2000, 0]

    def test_the_senses_are_those_of_the_data(self):
        """Maps with few of these responses are no senses, whatever the atlas was fitted to."""
        atlas, row = planted()
        old = np.zeros((16, 16))
        old[0] = row
        atlas = replace(atlas, associations=sparse.csr_array(old))
        own = np.zeros(16)
        own[[1, 2, 11, 12, 6]] = 20, 20, 20, 20, 2
        found = mm.intervals(counted(atlas, own), atlas, words=["w0", "w1"])
        assert share(found, "w0", 0) == pytest.approx((40 / 82, *jeffreys(40, 82)))
        assert share(found, "w0", 1) is None
        assert share(found, "w0", 2).value == 40 / 82
        assert effective_number(found, "w0").value == pytest.approx(2)
        # Nobody answered w1.
        assert effective_number(found, "w1") is None
        assert found.effective_numbers["n_responses"].tolist() == [82, 0]
        assert list(mm.intervals(counted(atlas, own), atlas).effective_numbers["word"]) == ["w0"]

    @pytest.mark.parametrize("of_people", [False, True])
    def test_answers_outside_the_atlas_are_left_out_and_counted(self, of_people):
        atlas, row = planted()
        labels = [*(label.upper() for label in atlas.labels), "stranger"]
        table = sparse.lil_array((17, 17))
        table[0, :16] = np.round(row * 200)
        table[0, 16], table[16, 1] = 50, 30
        data = mm.Associations(labels, sparse.csr_array(table))
        if of_people:
            cue, answer = (np.repeat(x, table.tocsr().data.astype(int)) for x in table.nonzero())
            n = len(cue)
            data = mm.Trials(labels, labels, cue, answer[:, None], np.arange(n), list(range(n)))
        found = mm.intervals(data, atlas)
        for m, true in enumerate(SHARES):
            assert share(found, "w0", m) == pytest.approx((true, *jeffreys(200 * true, 200)))
        assert found.effective_numbers["n_responses"].tolist() == [200]
        assert found.effective_numbers["outside"].tolist() == [50]
        assert found.effective_numbers["design_effect"].tolist() == pytest.approx([1], rel=0.01)

    def test_words_with_one_associate(self):
        atlas, _ = planted()
        row = np.zeros(16)
        row[[2, 3, 4]] = 1, 33, 6
        found = mm.intervals(counted(atlas, row), atlas)
        assert share(found, "w0", 0) == pytest.approx((1, jeffreys(40, 40)[0], 1))
        assert effective_number(found, "w0") == (1, 1, 1)

    def test_people_of_one_mind_are_worth_fewer_answers(self):
        atlas, row = planted()
        rng = np.random.default_rng(1)
        apart, alike = (
            mm.intervals(people(atlas, row, 200, rng, of_one_mind=mind), atlas, words=["w0"])
            for mind in (False, True)
        )
        assert alike.effective_numbers["design_effect"][0] == pytest.approx(2, abs=0.01)
        assert apart.effective_numbers["design_effect"][0] == pytest.approx(1, abs=0.2)
        width = [found.shares["high"][0] - found.shares["low"][0] for found in (apart, alike)]
        assert width[1] > 1.25 * width[0]

    @pytest.mark.parametrize("kind", ["norms", "people of one mind"])
    def test_nineteen_of_twenty_hold_the_truth(self, kind):
        atlas, row = planted()
        truth = 2 ** -(np.array(SHARES) * np.log2(SHARES)).sum()
        rng, n = np.random.default_rng(5), 200
        held = np.zeros((n, 3))
        for k in range(n):
            if kind == "norms":
                data = counted(atlas, rng.multinomial(80, row))
            else:
                data = people(atlas, row, 80, rng, of_one_mind=True)
            found = mm.intervals(data, atlas, words=["w0"])
            first, last = share(found, "w0", 0), share(found, "w0", 2)
            number = effective_number(found, "w0")
            held[k] = (
                first.low <= SHARES[0] <= first.high,
                last.low <= SHARES[2] <= last.high,
                number.low <= truth <= number.high,
            )
        # Of 200 that are right 19 times of 20, fewer than 181 or more than 198: one in 1,000.
        assert ((held.sum(axis=0) >= 181) & (held.sum(axis=0) <= 198)).all()


ATLAS, ROW = planted()
NORMS = counted(ATLAS, np.round(ROW * 1000))
TWO_KINDS = mm.Atlas(
    list("abcd"), np.zeros((1, 4, 2)), np.ones((1, 4)), CODE, kinds=list("rrcc"),
)  # fmt: skip
REFUSALS = [
    (mm.load_integers(), {}, DataError), (mm.Counts(np.eye(4) + 1), {}, DataError),
    (np.eye(4), {}, DataError), (NORMS, {"atlas": TWO_KINDS}, DataError),
    (mm.Associations([f"x{i}" for i in range(16)], NORMS.strengths), {"atlas": ATLAS}, DataError),
    (NORMS, {"by": "participants"}, ParameterError), (NORMS, {"level": 1}, ParameterError),
    (NORMS, {"atlas": ATLAS, "words": ["tei"]}, UnknownLabelError),
]  # fmt: skip


@pytest.mark.parametrize(("data", "options", "error"), REFUSALS)
def test_refusals(data, options, error):
    with pytest.raises(error):
        mm.intervals(data, **options)
