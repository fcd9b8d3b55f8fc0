"""Seeds of a call, defined by `random_state` as in scikit-learn.

An integer is used as the seed. If `random_state` is None, one integer is drawn from NumPy's global
random state, so that `np.random.seed` controls it. If `random_state` is a `RandomState`, one
integer is drawn from it. All other random numbers of the call are derived from this integer.
"""

from __future__ import annotations

from numbers import Integral

import numpy as np

RandomState = int | np.random.RandomState | None

# NumPy's legacy generators do not accept larger seeds.
_NUMBERS = 2**31 - 1


def drawn_seed(random_state: RandomState) -> int:
    """Return an integer unchanged, or draw an integer.

    >>> np.random.seed(3)
    >>> drawn_seed(None) == np.random.RandomState(3).randint(2**31 - 1), drawn_seed(5)
    (True, 5)
    """
    if isinstance(random_state, Integral):
        return int(random_state)
    from sklearn.utils import check_random_state

    return int(check_random_state(random_state).randint(_NUMBERS))


def drawn_generator(random_state: RandomState | np.random.Generator) -> np.random.Generator:
    """Return a generator unchanged, or create one from a seed (`drawn_seed`).

    >>> int(drawn_generator(0).integers(9) - np.random.default_rng(0).integers(9))
    0
    """
    if isinstance(random_state, np.random.Generator):
        return random_state
    return np.random.default_rng(drawn_seed(random_state))


def derived_seeds(seed: int, count: int) -> list[int]:
    """Derive seeds from one seed; a longer list begins with the same seeds.

    >>> derived_seeds(0, 3)[:2] == derived_seeds(0, 2)
    True
    """
    children = np.random.SeedSequence(seed).spawn(count)
    return [int(child.generate_state(1)[0] >> 1) for child in children]


def run_seeds(random_state: RandomState, n_runs: int) -> list[int]:
    """Return the seed of each run: the drawn seed first, and then seeds derived from it.

    >>> run_seeds(5, 3)[0], len(run_seeds(5, 3))
    (5, 3)
    """
    first = drawn_seed(random_state)
    return [first, *derived_seeds(first, n_runs - 1)]
