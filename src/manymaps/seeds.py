"""Where the random numbers of a call come from: `random_state`, as scikit-learn has it.

A whole number is its own seed, and a call with None or a `RandomState` is the call with one number
that it draws, once: from NumPy's global state, so that `np.random.seed` decides it, or from the
`RandomState`. Everything else that is random in the call follows from this number.
"""

from __future__ import annotations

from numbers import Integral

import numpy as np

__all__ = ["RandomState", "drawn_generator", "drawn_seed"]

RandomState = int | np.random.RandomState | None

# NumPy's legacy generators take no larger seeds.
_NUMBERS = 2**31 - 1


def drawn_seed(random_state: RandomState) -> int:
    """A whole number itself; else one that is drawn.

    >>> np.random.seed(3)
    >>> drawn_seed(None) == np.random.RandomState(3).randint(2**31 - 1), drawn_seed(5)
    (True, 5)
    """
    if isinstance(random_state, Integral):
        return int(random_state)
    from sklearn.utils import check_random_state

    return int(check_random_state(random_state).randint(_NUMBERS))


def drawn_generator(random_state: RandomState | np.random.Generator) -> np.random.Generator:
    """A generator itself; else one from the seed that is drawn.

    >>> int(drawn_generator(0).integers(9) - np.random.default_rng(0).integers(9))
    0
    """
    if isinstance(random_state, np.random.Generator):
        return random_state
    return np.random.default_rng(drawn_seed(random_state))
