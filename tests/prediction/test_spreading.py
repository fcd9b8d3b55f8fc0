"""Activation that spreads, against walks that are followed one by one."""

import numpy as np
import pytest
from scipy import sparse

from lib.models import SpreadingActivation
from manymaps import Associations, ParameterError, UnknownLabelError, spread

WORDS = ["tie", "knot", "rope", "suit", "sink"]
TABLE = np.array(
    [
        [0, 0.5, 0.2, 0.3, 0], [0.6, 0, 0.4, 0, 0], [0, 1.0, 0, 0, 0], [0.5, 0, 0, 0, 0.5],
        [0, 0, 0, 0, 0],
    ]
)  # fmt: skip


def norms() -> Associations:
    return Associations(WORDS, sparse.csr_array(TABLE))


def followed(start: int, steps: int, decay: float, retention: float) -> np.ndarray:
    """Activation after each step, by following every way that it can take."""
    found = np.zeros((steps + 1, len(WORDS)))

    def go(at: int, amount: float, step: int) -> None:
        found[step, at] += amount
        if step == steps:
            return
        if retention:
            go(at, amount * decay * retention, step + 1)
        for to in np.flatnonzero(TABLE[at]):
            go(to, amount * decay * (1 - retention) * TABLE[at, to], step + 1)

    go(start, 1.0, 0)
    return found


@pytest.mark.parametrize(("decay", "retention"), [(0.75, 0.0), (1.0, 0.5), (0.4, 0.9)])
def test_it_is_the_sum_of_all_walks(decay: float, retention: float) -> None:
    found = spread(norms(), "tie", steps=5, decay=decay, retention=retention)
    np.testing.assert_allclose(found.by_step, followed(0, 5, decay, retention), atol=1e-15)


def test_several_words_share_the_start() -> None:
    found = spread(norms(), ["Tie", "rope", "rope"], steps=3)
    one, other = (followed(i, 3, 0.75, 0) for i in (0, 2))
    np.testing.assert_allclose(found.by_step, (one + 2 * other) / 3)
    assert found.start == ("tie", "rope")


def test_without_retention_it_is_that_of_the_predictor() -> None:
    settings = {"decay": 0.3, "backward": 0.35, "power": 0.65}
    found = spread(norms(), "knot", steps=4, **settings)
    model = SpreadingActivation(steps=4, first_step=1, **settings).fit(norms().strengths)
    np.testing.assert_allclose(found.total / 0.3, model._activation(np.array([1]))[0])


def test_the_strongest_leave_the_start_out() -> None:
    found = spread(norms(), "tie", steps=4)
    listed = found.strongest(9)
    assert [label for label, *_ in listed] == ["knot", "rope", "suit", "sink"]
    assert [total for _, total, _ in listed] == sorted(found.total[1:], reverse=True)
    np.testing.assert_allclose(
        sum(total for _, total, _ in listed) + found.returned, found.total.sum()
    )
    np.testing.assert_array_equal(listed[0][2], found.by_step[1:, 1])
    assert list(found.columns) == ["label", *(f"step_{t}" for t in range(5)), "total"]
    assert repr(found) == "<Activation from tie in 4 steps: knot, rope, suit>"
    assert spread(norms(), "sink").strongest() == []
    np.testing.assert_array_equal(spread(norms(), "tie").by_step, found.by_step)


@pytest.mark.parametrize(
    "options",
    [
        {"steps": 0}, {"steps": 10**6}, {"decay": 0}, {"decay": 1.5}, {"retention": 1},
        {"backward": -1}, {"power": 0},
    ],
)  # fmt: skip
def test_what_is_out_of_range(options: dict[str, float]) -> None:
    (name,) = options
    with pytest.raises(ParameterError, match=name):
        spread(norms(), "tie", **options)


def test_unknown_words_and_none() -> None:
    with pytest.raises(
        UnknownLabelError, match="no object is labelled 'knto'; did you mean 'knot'"
    ):
        spread(norms(), ["tie", "knto"])
    with pytest.raises(ParameterError, match="words"):
        spread(norms(), [])
