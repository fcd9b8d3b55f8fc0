"""Small norms and quick predictors for sweeps, importable in worker processes."""

import os
import signal
import time
from pathlib import Path

import numpy as np
from scipy import sparse

from manymaps import MultipleMapsTSNE

STEPS = (-3, -2, -1, 1, 2, 3)


def ring(n: int = 40) -> sparse.csr_array:
    """Objects on a ring that recall those within three steps, nearer ones more often."""
    rows = np.repeat(np.arange(n), len(STEPS))
    columns = (rows + np.tile(STEPS, n)) % n
    strengths = np.tile(1 / np.abs(STEPS), n)
    return sparse.csr_array((strengths, (rows, columns)), shape=(n, n))


def write_ring(file: Path, n: int = 40) -> Path:
    table = ring(n).tocoo()
    lines = zip(table.row, table.col, table.data.tolist(), strict=True)
    file.write_text(
        "cue,response,strength\n" + "".join(f"w{i},w{j},{s}\n" for i, j, s in lines),
        encoding="utf-8",
    )
    return file


class Guess:
    """Random probabilities, by seed; `spread` 0 is the uniform model."""

    def __init__(self, spread: float = 1.0, other: int = 0):
        self.spread = spread
        self.other = other

    def fit(self, train, *, random_state=None):
        rng = np.random.default_rng(random_state)
        self.weights = np.exp(self.spread * rng.normal(size=train.shape))
        np.fill_diagonal(self.weights, 0)
        return self

    def probabilities(self, rows):
        return self.weights[rows] / self.weights[rows].sum(axis=1, keepdims=True)


class Deadly(Guess):
    """Ends its process if `other` is 1, after the results of others have arrived."""

    def fit(self, train, *, random_state=None):
        if self.other == 1:
            time.sleep(1)
            os.kill(os.getpid(), getattr(signal, "SIGKILL", signal.SIGTERM))
        return super().fit(train, random_state=random_state)


class Interrupted(Guess):
    """Ctrl-C while it fits."""

    def fit(self, train, *, random_state=None):
        signal.raise_signal(signal.SIGINT)
        return super().fit(train, random_state=random_state)


class InterruptedMaps(MultipleMapsTSNE):
    """Ctrl-C while it fits."""

    def fit(self, X, y=None):
        signal.raise_signal(signal.SIGINT)
        return super().fit(X)


def figures(table) -> dict[str, dict[str, float]]:
    """What must not depend on where a sweep ran: the measures of each point."""
    first = list(table.columns).index("train")
    return {
        str(sorted(row[:first].items())): row[first:].drop("seconds").to_dict()
        for _, row in table.iterrows()
    }
