"""A short campaign of estimators on degenerate data, and that one can be told again."""

import pytest

from campaigns.estimators import SUBJECTS, case, run

SHORT = 40


def test_a_short_campaign_finds_nothing():
    found = [finding for number in range(SHORT) for finding in case(0, number)[1]]
    assert found == []


@pytest.mark.slow
def test_a_longer_one_finds_nothing():
    outcome = run(60, seed=0)
    assert outcome.findings == []
    assert set(outcome.cases) <= set(SUBJECTS)


def test_a_case_is_drawn_again():
    assert case(3, 5)[0] == case(3, 5)[0]
