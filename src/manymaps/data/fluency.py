"""Generated fluency lists with known categories.

Each participant walks over words. With the probability `switch`, the next word is any word, drawn
by its popularity; otherwise, it is a word of a category of the current word. A word is listed at
the first visit only (a censored random walk, Abbott, Austerweil & Griffiths 2015). A shared word
belongs to two categories, so that the walk can change the category there.

J. T. Abbott, J. L. Austerweil & T. L. Griffiths, "Random walks on semantic networks can resemble
optimal foraging", Psychol. Rev. 122 (2015).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from manymaps.checks import check_number, check_whole
from manymaps.data.associations import ReadReport
from manymaps.data.trials import MISSING, Trials
from manymaps.labels import letter
from manymaps.seeds import drawn_generator

# A walk ends after this many steps per requested word. With the default parameters, walks need 1.7
# steps per word, and 3.4 if the lists contain three quarters of all words.
_MOST_STEPS = 100


@dataclass(frozen=True, eq=False)
class GeneratedLists:
    """Generated fluency lists and the categories of their words.

    Attributes
    ----------
    lists : Trials
        The lists. Each is the trial of one participant.
    memberships : ndarray of bool, shape (n_words, n_categories)
        Categories of each word in `lists.answers`.

    See Also
    --------
    manymaps.make_fluency_lists

    Examples
    --------
    >>> from manymaps.datasets import make_fluency_lists
    >>> generated = make_fluency_lists(9, 2, 5, length=5, random_state=0)
    >>> generated.lists.n_trials, generated.memberships.shape
    (9, (10, 2))
    """

    lists: Trials
    memberships: np.ndarray


def make_fluency_lists(
    n_participants: int = 100,
    n_categories: int = 8,
    n_words: int = 10,
    *,
    n_shared: int = 0,
    length: int = 20,
    switch: float = 0.2,
    random_state: int | np.random.RandomState | np.random.Generator | None = None,
) -> GeneratedLists:
    """Generate fluency lists by a censored random walk over words with known categories.

    Parameters
    ----------
    n_participants : int, at least 1
        Number of participants, with one list each.
    n_categories : int, at least 1
        Number of categories, at least 2 if there are shared words.
    n_words : int, at least 2
        Number of words that belong to one category only, per category. The popularity of the words
        of a category is 1, 1/2, 1/3, ...
    n_shared : int, at least 0
        Number of additional words that belong to two categories, drawn at random.
    length : int, at least 1
        Number of words per list. A walk that rarely reaches new words ends earlier.
    switch : float in [0, 1]
        Probability per step that the next word is drawn from all words. With 1, the lists contain
        no categories.
    random_state : int, RandomState, Generator or None
        Seed of all draws. If None, a seed is drawn once from NumPy's global state.

    Returns
    -------
    GeneratedLists
        Lists and memberships. The labels of words contain the letters of their categories.

    Raises
    ------
    ParameterError
        If a parameter is out of its range.

    See Also
    --------
    fluency_network, clean_fluency

    References
    ----------
    J. T. Abbott, J. L. Austerweil & T. L. Griffiths, "Random walks on semantic networks can
    resemble optimal foraging", Psychological Review 122 (2015).

    Examples
    --------
    >>> from manymaps.datasets import make_fluency_lists
    >>> lists = make_fluency_lists(3, 2, 4, length=6, random_state=0).lists
    >>> lists.answers
    ('a1', 'a2', 'a3', 'a4', 'b1', 'b2', 'b3', 'b4')
    >>> [lists.answers[word] for word in lists.given[0].tolist()]
    ['b1', 'b2', 'b3', 'b4', 'a2', 'a4']
    """
    check_whole("n_participants", n_participants)
    check_whole("n_categories", n_categories, 2 if n_shared else 1)
    check_whole("n_words", n_words, 2)
    check_whole("n_shared", n_shared, 0)
    check_whole("length", length)
    check_number("switch", switch, least=0, most=1)
    rng = drawn_generator(random_state)
    shared = np.zeros((n_shared, n_categories), dtype=bool)
    for row in shared:
        row[rng.permutation(n_categories)[:2]] = True
    memberships = np.vstack([np.eye(n_categories, dtype=bool).repeat(n_words, axis=0), shared])
    popularity = 1 / (1 + np.arange(len(memberships)) % n_words)
    # Cumulative popularity of all words, and within each category.
    everywhere = popularity.cumsum()
    within = np.where(memberships.T, popularity, 0).cumsum(axis=1)
    given = np.full((n_participants, length), MISSING, np.int32)
    for row in given:
        words = _walk(memberships, everywhere, within, length, switch, rng)
        row[: len(words)] = words
    lists = Trials(
        ["words"],
        _names(memberships, n_words),
        np.zeros(n_participants, np.int32),
        given,
        np.arange(n_participants),
        [f"p{k + 1}" for k in range(n_participants)],
        report=ReadReport("generated lists", n_participants),
    )
    return GeneratedLists(lists, memberships)


def _walk(
    memberships: np.ndarray,
    everywhere: np.ndarray,
    within: np.ndarray,
    length: int,
    switch: float,
    rng: np.random.Generator,
) -> list[int]:
    """Return the words of one list in the order of their first visits."""
    word = _drawn(everywhere, rng)
    words = {word: None}
    for _ in range(_MOST_STEPS * length):
        if len(words) == length:
            break
        if rng.random() < switch:
            word = _drawn(everywhere, rng)
        else:
            word = _drawn(within[rng.choice(np.flatnonzero(memberships[word]))], rng)
        words[word] = None
    return list(words)


def _drawn(cumulative: np.ndarray, rng: np.random.Generator) -> int:
    return int(np.searchsorted(cumulative, rng.random() * cumulative[-1], side="right"))


def _names(memberships: np.ndarray, n_words: int) -> list[str]:
    """Return labels such as b3, and ab1 for a word shared by the categories a and b."""
    letters = [letter(category) for category in range(memberships.shape[1])]
    n_own = n_words * len(letters)
    return [
        "".join(letters[c] for c in np.flatnonzero(categories))
        + str(word % n_words + 1 if word < n_own else word - n_own + 1)
        for word, categories in enumerate(memberships)
    ]
