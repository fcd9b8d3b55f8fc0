"""A short run of the campaign, and that it sees what it looks for."""

import os
import warnings

import numpy as np
import pytest

import manymaps as mm
from campaigns import estimators
from campaigns.degenerate import HOLDINGS, VECTORS, contents, hold
from campaigns.estimators import SUBJECTS, Subject, case
from campaigns.worker import ProcessLost, Worker

TABLE = np.arange(12.0).reshape(4, 3)


@pytest.mark.parametrize("first", range(0, 200, 20))
def test_cases_of_a_seed(first):
    found = [found for k in range(first, first + 20) for found in case(0, k)[1]]
    assert found == []


@pytest.mark.parametrize("number", [491, 2217, 4169])
def test_cases_that_found_something(number):
    assert case(7177, number)[1] == []


def test_a_case_is_the_same_again():
    one, again = estimators.drawn(4, 7), estimators.drawn(4, 7)
    assert one.told == again.told
    assert contents(one.data) == contents(again.data)
    assert one.told != estimators.drawn(5, 7).told


@pytest.mark.parametrize("name", HOLDINGS)
def test_writing_into_what_is_held_is_seen(name):
    table = TABLE + 1
    held = hold(name, table.copy(), np.random.default_rng(0))
    before = contents(held)
    assert contents(held) == before
    if name == "list":
        held[1][2] = 7.0
    elif name in ("pandas", "polars"):
        held = held * 2
    elif isinstance(held, np.ndarray):
        held = np.array(held)
        held.flags.writeable = not before[3]
    elif name == "dok":
        held[0, 0] = 5.0
    else:
        held.data.flat[0] = held.data.flat[1] if name == "lil" else -3.0
    assert contents(held) != before


def sinner(fault):
    """A function of data with a fault."""

    def function(X, random_state=None):
        if fault == "writes":
            X[0, 0] = 9.0
        if fault == "draws":
            np.random.rand()  # noqa: NPY002
        if fault == "draws twice":
            np.random.RandomState(np.random.randint(9)).rand() + np.random.rand()  # noqa: NPY002
        if fault == "warns":
            warnings.warn("overflow", RuntimeWarning, stacklevel=1)
        if fault == "TypeError":
            raise TypeError("an integer is required")
        if fault == "insides":
            raise mm.DataError("zero-size array to reduction operation maximum")
        return os.urandom(8) if fault == "chance" else 1.0

    return function


@pytest.mark.parametrize(
    ("fault", "said"),
    [
        ("writes", "what it was given has changed"),
        ("draws", "NumPy's global random state has moved"),
        ("draws twice", "NumPy's global random state has moved"),
        ("warns", "RuntimeWarning: overflow"),
        ("TypeError", "TypeError: an integer is required"),
        ("insides", "DataError that is no sentence"),
        ("chance", "another result when called again"),
        ("none", ""),
    ],
)
def test_faults_are_seen(fault, said):
    subject = Subject(sinner(fault), VECTORS)
    found = list(estimators._wrongs(subject, TABLE.copy(), {"random_state": 0}))
    assert [what for what in found if not what.startswith(said or "-")] == []
    assert bool(found) == bool(said)


class Unfinished(mm.TSNE):
    """Leaves a history of NaN."""

    def fit(self, X, y=None):
        super().fit(X)
        self.atlas_.history["kl"][:] = np.nan
        return self


def test_numbers_that_are_not_finite_are_seen():
    settings = {"perplexity": 2, "max_iter": 5, "random_state": 0}
    subject = Subject(Unfinished, VECTORS, numbers=("maps_", "history_", "no_such_"))
    found = list(estimators._wrongs(subject, VECTORS["plain"](np.random.default_rng(0)), settings))
    assert found == ["history_['kl'] is not finite", "no_such_ is missing"]


def test_every_public_estimator_has_cases():
    fitted = {name for name in mm.__all__ if hasattr(getattr(mm, name), "fit")}
    assert fitted <= SUBJECTS.keys()


def test_a_process_that_dies_is_a_finding():
    worker = Worker(os._exit, 60)
    with pytest.raises(ProcessLost, match="its process ended with 3"):
        worker(3)
    with pytest.raises(ProcessLost, match="its process ended with 4"):
        worker(4)
    worker.close()


@pytest.mark.slow
def test_a_process_that_hangs_is_a_finding():
    from time import sleep

    worker = Worker(sleep, 3)
    with pytest.raises(ProcessLost, match="it did not come back in 3 s"):
        worker(60)
