"""Intervals of proportions: a slow twin, limits, and the delta method far out."""

import numpy as np
import pytest

from manymaps.metrics.proportions import design_effects, effective_number, proportion_interval


def plain_effects(sets, units, categories, set_of):
    """lambda by its definition, one set after another."""
    found = []
    for k in range(set_of.max() + 1):
        mine = sets == k
        own = np.flatnonzero(set_of == k)
        people = sorted(set(units[mine].tolist()))
        table = np.array(
            [
                [np.sum(mine & (units == person) & (categories == s)) for s in own]
                for person in people
            ]
        ).reshape(len(people), len(own))
        table = table[:, table.sum(axis=0) > 0]
        n_people, n_there = table.shape
        if n_people < 2 or n_there < 2:
            found.append(1.0)
            continue
        answers, whole = table.sum(axis=1), table.sum()
        shares = table.sum(axis=0) / whole
        squares = ((table - shares * answers[:, None]) ** 2).sum(axis=0)
        variances = n_people / (n_people - 1) * squares / whole**2
        effect = (variances * whole / shares).sum() / (n_there - 1)
        found.append(np.clip(effect, 1 / answers.max(), answers.max()))
    return found


@pytest.mark.parametrize("seed", range(4))
def test_design_effects_against_their_definition(seed):
    rng = np.random.default_rng(seed)
    set_of = np.sort(rng.integers(0, 4, 9))
    categories = rng.integers(0, 9, 120)
    units = rng.integers(0, 15, 120)
    sets = set_of[categories]
    expected = plain_effects(sets, units, categories, set_of)
    np.testing.assert_allclose(design_effects(sets, units, categories, set_of), expected)


def test_without_answers_there_is_no_effect():
    nothing = np.zeros(0, int)
    assert design_effects(nothing, nothing, nothing, np.array([0, 0, 1])).tolist() == [1, 1]


def test_proportions_at_their_ends():
    """Of 10 answers none, one, five and all."""
    low, high = proportion_interval(np.array([0, 0.1, 0.5, 1, np.nan]), 10, 0.95)
    np.testing.assert_allclose(low[:4], [0, 0.011, 0.224, 0.783], atol=5e-4)
    np.testing.assert_allclose(high[:4], [0.217, 0.381, 0.776, 1], atol=5e-4)
    assert np.isnan(low[4])
    assert np.isnan(high[4])


class TestEffectiveNumber:
    def test_its_value_is_that_of_the_entropy(self):
        shares = np.array([0.7, 0.2, 0.1, 0])
        value, low, high = effective_number(shares, 80, 0.95)
        assert value == pytest.approx(np.exp(-(shares[:3] * np.log(shares[:3])).sum()))
        assert 1 < low < value < high < 4

    def test_more_answers_narrow_it_and_a_higher_level_widens_it(self):
        shares = np.array([0.5, 0.3, 0.2])
        widths = [
            high - low
            for _, low, high in (
                effective_number(shares, n, level)
                for n, level in ((50, 0.99), (50, 0.95), (200, 0.95), (20_000, 0.95))
            )
        ]
        assert widths == sorted(widths, reverse=True)
        # In the limit the delta method's.
        error = np.sqrt((shares * np.log(shares) ** 2).sum() - (shares * np.log(shares)).sum() ** 2)
        value = effective_number(shares, 20_000, 0.95)[0]
        assert widths[3] == pytest.approx(2 * 1.96 * value * error / np.sqrt(20_000), rel=0.02)

    def test_the_order_of_categories_changes_nothing(self):
        shares = np.array([0.5, 0.3, 0.15, 0.05])
        found = effective_number(shares, 60, 0.9)
        assert effective_number(shares[::-1], 60, 0.9) == pytest.approx(found)

    def test_equal_shares_may_be_all_there_are(self):
        _, low, high = effective_number(np.full(5, 0.2), 100, 0.95)
        assert high == pytest.approx(5)
        assert 4 < low < 5

    @pytest.mark.parametrize("n", [10, 20, 50, 200])
    @pytest.mark.parametrize(
        "shares",
        [(0.5, 0.5), (0.8, 0.2), (0.9, 0.1), (0.6, 0.25, 0.15), (1 / 3,) * 3, (0.25,) * 4,
         (0.7, 0.1, 0.1, 0.1), (0.2,) * 5],
    )  # fmt: skip
    def test_coverage_of_few_answers(self, shares, n):
        """Of 2,000 draws; 0.917 is four standard errors below the 0.94 that all should reach."""
        p = np.array(shares)
        number = np.exp(-(p * np.log(p)).sum())
        drawn = np.sort(np.random.default_rng(0).multinomial(n, p, 2000), axis=1)
        outcomes, times = np.unique(drawn, axis=0, return_counts=True)
        ends = [effective_number(counts / n, n, 0.95)[1:] for counts in outcomes]
        covered = [low - 1e-9 <= number <= high + 1e-9 for low, high in ends]
        assert times[covered].sum() / 2000 > 0.917

    @pytest.mark.parametrize("n", [10, 20, 50.5])
    def test_one_sense_seen_of_two_leaves_what_the_binomial_does(self, n):
        """The second sense may have the proportion p with (1 - p)^n / 2 = 0.025."""
        p = 1 - 0.05 ** (1 / n)
        expected = np.exp(-p * np.log(p) - (1 - p) * np.log(1 - p))
        assert effective_number(np.array([1.0, 0.0]), n, 0.95)[2] == pytest.approx(
            expected, rel=2e-3
        )
