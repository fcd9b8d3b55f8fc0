"""A short campaign of invariances, and that each notices what it must."""

from types import SimpleNamespace

import numpy as np
import pytest

from campaigns import invariances
from campaigns.invariances import CHANGES, case, run


@pytest.mark.slow
def test_a_short_campaign_finds_nothing():
    outcome = run(0, seed=0)
    assert outcome.findings == []
    assert set(outcome.cases) == set(CHANGES)


@pytest.mark.slow
def test_a_longer_one_finds_nothing():
    assert run(10, seed=1).findings == []


@pytest.mark.parametrize("name", ["again", "threads", "held", "renamed", "scaled", "order"])
def test_what_differs_is_found(monkeypatch, name):
    fitted, drawn = invariances._fitted, np.random.default_rng(0)

    def unlike(*arguments, **fit):
        found = fitted(*arguments, **fit)
        maps = found.maps_ + drawn.normal(size=found.maps_.shape)
        return SimpleNamespace(maps_=maps, proportions_=found.proportions_)

    monkeypatch.setattr(invariances, "_fitted", unlike)
    assert "differ" in case(0, list(CHANGES).index(name))
