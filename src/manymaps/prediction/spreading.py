"""Where activation goes from some words, step by step, along their associations.

    a_0 = equal shares of the start words
    a_t = decay (retention a_{t-1} + (1 - retention) a_{t-1} W),          t = 1, 2, ...
    W_ij ~ (1 - backward) s_ij^power + backward s_ji^power,               rows sum to 1

Without retention it is the walk of De Deyne, Navarro, Perfors & Storms, Structure at every scale,
Journal of Experimental Psychology: General 145, 2016, whose decay is 0.75. With retention and a
decay of 1 it is the model of Vitevitch, Ercal & Adagarla, Simulating retrieval from a highly
clustered network, Frontiers in Psychology 2, 2011, as in the R package spreadr. Activation that
reaches a word without responses does not spread further: only the retained part remains.

Shapes: strengths (n, n) sparse, a_t (n,).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy import sparse

from manymaps.affinity.network import association_network, row_normalized
from manymaps.checks import check_number, check_whole
from manymaps.data.associations import Associations
from manymaps.data.trials import Trials, as_norms
from manymaps.errors import ParameterError
from manymaps.progress import work

__all__ = ["MOST_STEPS", "Activation", "spread"]

# Activation is kept for every step and word, and is at rest long before.
MOST_STEPS = 1000


@dataclass(frozen=True, eq=False, repr=False)
class Activation:
    """How much activation each object had after each step.

    Attributes
    ----------
    labels : tuple of str, length n
    start : tuple of str
        The words that were active at first.
    by_step : ndarray of shape (steps + 1, n)
        Row t is a_t; row 0 is the start.

    See Also
    --------
    spread

    Examples
    --------
    >>> from scipy import sparse
    >>> from manymaps import Associations, spread
    >>> chain = sparse.csr_array([[0, .6, .4], [0, 0, 1], [0, 0, 0]])
    >>> found = spread(Associations(["tie", "knot", "rope"], chain), "tie", steps=2, decay=1.0)
    >>> found
    <Activation from tie in 2 steps: rope, knot>
    >>> found.by_step.tolist()
    [[1.0, 0.0, 0.0], [0.0, 0.6, 0.4], [0.0, 0.0, 0.6]]
    """

    labels: tuple[str, ...]
    start: tuple[str, ...]
    by_step: np.ndarray

    def __repr__(self) -> str:
        near = ", ".join(label for label, *_ in self.strongest(3))
        return (
            f"<Activation from {', '.join(self.start)} in {len(self.by_step) - 1} steps: "
            f"{near or 'nothing'}>"
        )

    @property
    def total(self) -> np.ndarray:
        """The activation of all steps together but the start, shape (n,)."""
        return np.asarray(self.by_step[1:].sum(axis=0))

    @property
    def returned(self) -> float:
        """What of the total is the start words' own again."""
        first = set(self.start)
        return float(self.total[[label in first for label in self.labels]].sum())

    @property
    def columns(self) -> dict[str, np.ndarray]:
        """A table: "label", "step_0", "step_1", ..., "total"."""
        steps = {f"step_{t}": row for t, row in enumerate(self.by_step)}
        return {"label": np.array(self.labels, dtype=object), **steps, "total": self.total}

    def strongest(self, n: int = 10) -> list[tuple[str, float, np.ndarray]]:
        """The objects with the most activation in total, without the start words.

        Parameters
        ----------
        n : int
            At most so many.

        Returns
        -------
        list of (label, total, activation after steps 1, 2, ...)
            At most n; none without activation.
        """
        check_whole("n", n)
        total, first = self.total, set(self.start)
        order = [i for i in np.argsort(-total, kind="stable") if self.labels[i] not in first]
        return [
            (self.labels[i], float(total[i]), self.by_step[1:, i])
            for i in order[:n]
            if total[i] > 0
        ]


def spread(
    norms: Associations | Trials,
    words: str | Sequence[str],
    *,
    steps: int = 4,
    decay: float = 0.75,
    retention: float = 0.0,
    backward: float = 0.0,
    power: float = 1.0,
) -> Activation:
    """Spread activation from a word, or from several, along associations.

    Parameters
    ----------
    norms : Associations or Trials
    words : str or sequence of str
        Where it starts, in any case; several have equal shares, one that stands twice has two.
    steps : int
        At least 1, at most `MOST_STEPS`.
    decay : float in (0, 1]
        What a step leaves of all activation.
    retention : float in [0, 1)
        The share that a word keeps in each step, while it gives the rest to its associates.
    backward : float in [0, 1]
        Weight of associations against their direction.
    power : float > 0
        Of the strengths; below 1 weak ones come nearer to strong ones.

    Returns
    -------
    Activation

    Raises
    ------
    UnknownLabelError
        For a word that is none of the objects, with suggestions.
    ParameterError
        For a parameter out of its range, or no words.

    See Also
    --------
    Activation, node_measures

    Examples
    --------
    >>> from scipy import sparse
    >>> from manymaps import Associations, spread
    >>> chain = sparse.csr_array([[0, .6, .4, 0], [0, 0, 0, 1], [1, 0, 0, 0], [0, 0, 0, 0]])
    >>> found = spread(Associations(["tie", "knot", "suit", "rope"], chain), "tie", decay=0.5)
    >>> found.by_step[:3].tolist()
    [[1.0, 0.0, 0.0, 0.0], [0.0, 0.3, 0.2, 0.0], [0.1, 0.0, 0.0, 0.15]]
    >>> [label for label, *_ in found.strongest()]
    ['knot', 'suit', 'rope']
    """
    norms = as_norms("norms", norms)
    asked = [words] if isinstance(words, str) else list(words)
    if not asked:
        raise ParameterError("must name a word, at least one", name="words", value=words)
    check_whole("steps", steps, most=MOST_STEPS, why="each is kept, for every word")
    check_number("decay", decay, above=0, most=1)
    check_number("retention", retention, least=0, below=1)
    check_number("backward", backward, least=0, most=1)
    check_number("power", power, above=0)
    places = [norms.index(word) for word in asked]
    network = association_network(norms.strengths, power=power, backward=backward)
    back = sparse.csr_array(row_normalized(network).T)
    now = np.bincount(places, minlength=norms.n_objects) / len(places)
    found = [now]
    with work("step", total=steps) as at:
        for step in range(steps):
            now = decay * (retention * now + (1 - retention) * (back @ now))
            found.append(now)
            at(step + 1)
    start = tuple(dict.fromkeys(norms.labels[i] for i in places))
    return Activation(tuple(norms.labels), start, np.array(found))
