"""Spreading of activation from words along their associations.

    a_0 = equal proportions of the start words
    a_t = decay (retention a_{t-1} + (1 - retention) a_{t-1} W),          t = 1, 2, ...
    W_ij ~ (1 - backward) s_ij^power + backward s_ji^power,               rows sum to 1

Without retention, the process is the walk of De Deyne, Navarro, Perfors & Storms, Structure at
every scale, Journal of Experimental Psychology: General 145, 2016, who use a decay of 0.75. With
retention and a decay of 1, the R package spreadr uses the same process (Vitevitch, Ercal & Adagarla
2011, Simulating retrieval from a highly clustered network, Frontiers in Psychology 2). Activation
that reaches a word without responses does not spread further. Only its retained part remains.

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

# This limits memory, because activation is stored for every step and word. Activation is constant
# long before the limit.
MOST_STEPS = 1000


@dataclass(frozen=True, eq=False, repr=False)
class Activation:
    """Activation of each object after each step.

    Attributes
    ----------
    labels : tuple of str, length n
        Labels of the objects.
    start : tuple of str
        Start words, which are active initially.
    by_step : ndarray of shape (steps + 1, n)
        Row t is a_t, and row 0 is the initial activation.

    See Also
    --------
    spread

    Examples
    --------
    >>> from scipy import sparse
    >>> from manymaps import Associations, spread
    >>> chain = sparse.csr_array([[0, .6, .4], [0, 0, 1], [0, 0, 0]])
    >>> activation = spread(Associations(["tie", "knot", "rope"], chain), "tie", steps=2, decay=1.0)
    >>> activation
    <Activation from tie in 2 steps: rope, knot>
    >>> activation.by_step.tolist()
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
        """Sum of the activation over all steps except the start, shape (n,)."""
        return np.asarray(self.by_step[1:].sum(axis=0))

    @property
    def returned(self) -> float:
        """Total activation of the start words after the start."""
        first = set(self.start)
        return float(self.total[[label in first for label in self.labels]].sum())

    @property
    def columns(self) -> dict[str, np.ndarray]:
        """Table with the columns "label", "step_0", "step_1", ..., "total"."""
        steps = {f"step_{t}": row for t, row in enumerate(self.by_step)}
        return {"label": np.array(self.labels, dtype=object), **steps, "total": self.total}

    def strongest(self, n: int = 10) -> list[tuple[str, float, np.ndarray]]:
        """List the objects with the highest total activation, excluding the start words.

        Parameters
        ----------
        n : int, default 10
            Maximum number of objects.

        Returns
        -------
        list of (label, total, activation after steps 1, 2, ...)
            At most n objects. Objects without activation are omitted.
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
    """Spread activation from one or several words along associations.

    Parameters
    ----------
    norms : Associations or Trials
        Association norms.
    words : str or sequence of str
        Start words, in upper or lower case. The initial activation is divided equally among them,
        and a word that is listed twice receives twice the activation.
    steps : int, default 4
        Number of steps, from 1 to `MOST_STEPS`.
    decay : float, default 0.75
        Proportion of the total activation that remains after a step, greater than 0 and at most 1.
    retention : float, default 0.0
        Proportion of its activation that a word retains in each step, at least 0 and less than 1.
        The remaining activation spreads to its associates.
    backward : float, default 0.0
        Weight of associations in the reverse direction, from 0 to 1.
    power : float, default 1.0
        Exponent of the strengths, greater than 0. Values below 1 reduce the difference between weak
        and strong associations.

    Returns
    -------
    Activation
        Activation of each object after each step.

    Raises
    ------
    UnknownLabelError
        If a word is not among the objects of the norms. The message contains suggestions.
    ParameterError
        If a parameter is out of range, or if there are no words.

    See Also
    --------
    Activation

    Examples
    --------
    >>> from scipy import sparse
    >>> from manymaps import Associations, spread
    >>> chain = sparse.csr_array([[0, .6, .4, 0], [0, 0, 0, 1], [1, 0, 0, 0], [0, 0, 0, 0]])
    >>> norms = Associations(["tie", "knot", "suit", "rope"], chain)
    >>> activation = spread(norms, "tie", decay=0.5)
    >>> activation.by_step[:3].tolist()
    [[1.0, 0.0, 0.0, 0.0], [0.0, 0.3, 0.2, 0.0], [0.1, 0.0, 0.0, 0.15]]
    >>> [label for label, *_ in activation.strongest()]
    ['knot', 'suit', 'rope']
    """
    norms = as_norms("norms", norms)
    start_words = [words] if isinstance(words, str) else list(words)
    if not start_words:
        raise ParameterError("must contain at least one word", name="words", value=words)
    check_whole(
        "steps", steps, most=MOST_STEPS, why=" because activation is stored for every step and word"
    )
    check_number("decay", decay, above=0, most=1)
    check_number("retention", retention, least=0, below=1)
    check_number("backward", backward, least=0, most=1)
    check_number("power", power, above=0)
    indices = [norms.index(word) for word in start_words]
    network = association_network(norms.strengths, power=power, backward=backward)
    transposed = sparse.csr_array(row_normalized(network).T)
    activation = np.bincount(indices, minlength=norms.n_objects) / len(indices)
    by_step = [activation]
    with work("step", total=steps) as show_step:
        for step in range(steps):
            activation = decay * (
                retention * activation + (1 - retention) * (transposed @ activation)
            )
            by_step.append(activation)
            show_step(step + 1)
    start = tuple(dict.fromkeys(norms.labels[i] for i in indices))
    return Activation(tuple(norms.labels), start, np.array(by_step))
