"""Held-out likelihood of counts by the number of dimensions and maps.

Each single count is assigned at random to one of several parts. Each part is predicted by fits of
CODE to the other parts:

    L = sum_xy h_xy log q(y|x) / sum_xy h_xy      h: hidden counts, q: fit without them

Independence, q(y|x) = p(y), is the model that every map must exceed. All models, and independence,
predict the same counts: those whose row and column also have counts in the other parts.

The differences between models are paired, because all models predict the same parts. The suggestion
is the model with the fewest coordinates per object, maps times dimensions, that predicts at most
one standard error worse than the best (after Breiman, Friedman, Olshen & Stone 1984, section
3.4.3). Of several models with the same number of coordinates, it is the one with the fewest maps.

Weights that are not whole, such as cover, are first rounded up or down at random, so that their
expectation is unchanged.
"""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING

import numpy as np
from scipy import sparse

from manymaps.cooccurrence.code import CODE
from manymaps.cooccurrence.likelihood import mean_log_likelihood
from manymaps.data.counts import Counts
from manymaps.errors import DataError, DataWarning
from manymaps.labels import plural

if TYPE_CHECKING:
    import pandas as pd

# Numbers of maps and dimensions. Models with 4 and with 6 coordinates per object show whether maps
# or dimensions predict better.
MODELS = ((1, 1), (1, 2), (1, 3), (1, 4), (2, 2), (1, 6), (3, 2))
PARTS = 5
# This limit bounds the time of the fits. More rows may support more dimensions.
_MOST = 500


def diagnose_counts(
    counts: Counts, *, random_state: int = 0, n_jobs: int | None = None
) -> pd.DataFrame:
    """Predict hidden counts by several numbers of dimensions and maps.

    Parameters
    ----------
    counts : Counts
        Counts of rows and columns.
    random_state : int, default=0
        Seed of the parts and fits.
    n_jobs : int, optional
        Number of threads.

    Returns
    -------
    DataFrame
        One row per model, after a row with 0 maps for independence. The columns are "n_maps",
        "n_components", "log_likelihood" (nats per hidden count), "standard_error" (of its
        difference from the best model), "gain" (over independence, as a share of the largest gain)
        and "suggested" (true in one row).

    Raises
    ------
    DataError
        If there are too few counts to hide a part of them.

    Warns
    -----
    DataWarning
        If only some rows or columns of a large table are used.

    Examples
    --------
    >>> import numpy as np
    >>> from manymaps import Counts
    >>> sites, species = np.linspace(-2, 2, 12)[:, None], np.linspace(-2, 2, 10)
    >>> visits = np.random.default_rng(0).poisson(30 * np.exp(-((sites - species) ** 2)))
    >>> found = diagnose_counts(Counts(visits))
    >>> found.loc[found["suggested"], ["n_maps", "n_components"]].to_numpy().tolist()
    [[1, 1]]
    """
    import pandas as pd

    generator = np.random.default_rng(random_state)
    parts = list(_parts(_sample(counts.without_empty(), generator), generator))
    smallest = min(min(train.shape) for train, _ in parts)
    models = [model for model in MODELS if np.prod(model) < smallest]
    if not models or min(hidden.sum() for _, hidden in parts) == 0:
        raise DataError(
            f"{counts.report.source} has {counts.n_counts:,.10g} counts, too few to hide a part"
        )
    scores = np.array([
        [_independent(train, hidden), *(
            mean_log_likelihood(
                CODE(d, n_maps=m, random_state=random_state, n_jobs=n_jobs).fit(train).atlas_,
                hidden,
            )
            for m, d in models
        )]
        for train, hidden in parts
    ])  # fmt: skip
    means = scores.mean(axis=0)
    best = int(means.argmax())
    errors = (scores - scores[:, [best]]).std(axis=0, ddof=1) / np.sqrt(PARTS)
    gains = means - means[0]
    # `models` are in the order of preference.
    suggested = int(np.argmax(means >= means[best] - errors))
    table = pd.DataFrame([(0, 0), *models], columns=["n_maps", "n_components"])
    return table.assign(
        log_likelihood=means,
        standard_error=errors,
        gain=gains / gains[best] if best else np.nan,
        suggested=table.index == suggested,
    )


def _sample(counts: Counts, generator: np.random.Generator) -> sparse.csr_array:
    """Return the counts of at most 500 random rows and the 500 most frequent columns."""
    if max(counts.shape) <= _MOST:
        return counts.values
    if counts.n_columns > _MOST:
        counts = counts.most_frequent_columns(_MOST)
    if counts.n_rows > _MOST:
        counts = counts.subset(rows=np.sort(generator.choice(counts.n_rows, _MOST, replace=False)))
    rows, columns = map(plural, counts.kinds, counts.shape)
    warnings.warn(
        f"only {rows} and the most frequent {columns} are used", DataWarning, stacklevel=4
    )
    return counts.values


def _parts(
    values: sparse.csr_array, generator: np.random.Generator
) -> list[tuple[sparse.csr_array, sparse.csr_array]]:
    """Return each part of the counts, after the sum of the other parts."""
    whole = np.floor(values.data + generator.random(values.nnz)).astype(np.int64)
    parts = []
    for data in generator.multinomial(whole, np.full(PARTS, 1 / PARTS)).T:
        train = sparse.csr_array((whole - data, values.indices, values.indptr), values.shape)
        hidden = sparse.csr_array((data, values.indices, values.indptr), values.shape)
        rows, columns = (np.flatnonzero(train.sum(axis=axis)) for axis in (1, 0))
        parts.append((train[rows][:, columns], hidden[rows][:, columns]))
    return parts


def _independent(train: sparse.csr_array, hidden: sparse.csr_array) -> float:
    """Return the mean log p(y) of hidden counts, with p(y) from the other counts."""
    shares = train.sum(axis=0) / train.sum()
    return float(hidden.sum(axis=0) @ np.log(shares) / hidden.sum())
