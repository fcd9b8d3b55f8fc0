"""Labels of rows and columns: rows that are only numbered, and words that are everywhere."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from manymaps.atlas import Atlas
from manymaps.atlas.captions import default_column, unnamed
from manymaps.atlas.roles import label_roles, numbers_of_kinds
from manymaps.model import CODE, T_SNE

N_ROWS, N_COLUMNS = 20, 30


@pytest.fixture(scope="module")
def counts():
    """Two groups of sites with their species, and the species "everywhere" in the middle."""
    rng = np.random.default_rng(2)
    side = np.where(np.arange(N_ROWS + N_COLUMNS) % 2, 5.0, -5.0)
    points = np.column_stack([side, np.zeros_like(side)]) + rng.normal(size=(50, 2))
    points[N_ROWS] = 0.1
    factors = np.concatenate([np.full(N_ROWS, 0.05), np.full(N_COLUMNS, 0.01)])
    factors[N_ROWS] = 0.5
    species = ["everywhere", *(f"{chr(97 + k % 26)}{'o' * (1 + k // 26)}" for k in range(29))]
    group = [*np.where(side[:N_ROWS] > 0, "right", "left"), *[""] * N_COLUMNS]
    return Atlas(
        [*(str(k + 1) for k in range(N_ROWS)), *species],
        points[None],
        np.ones((1, 50)),
        CODE,
        kinds=("site",) * N_ROWS + ("species",) * N_COLUMNS,
        factors=factors,
        metadata={"group": np.array(group)},
    )


def test_rows_that_are_only_numbered_have_no_labels(counts):
    assert unnamed(counts).tolist() == [True] * N_ROWS + [False] * N_COLUMNS
    assert label_roles(counts).has_label.tolist() == [False] * N_ROWS + [True] * N_COLUMNS
    names = [f"meadow {chr(97 + k)}" for k in range(N_ROWS)]
    named = replace(counts, labels=[*names, *counts.labels[N_ROWS:]])
    roles = label_roles(named)
    assert roles.has_label.all()
    assert (roles.dots, roles.texts) == ("site", "species")
    assert roles.legend(named) == ["● 20 sites", "+ 30 species"]
    assert numbers_of_kinds(replace(counts, kinds=None, model=T_SNE, factors=None)) == [
        "50 objects"
    ]


def test_priorities_are_ranks_by_frequency_and_distance_from_the_middle(counts):
    roles = label_roles(counts)
    middle = counts.maps[0, :N_ROWS].mean(axis=0)
    apart = ((counts.maps[0] - middle) ** 2).sum(axis=1)
    apart += 0.01 * apart[:N_ROWS].mean()
    expected = (np.sqrt(counts.factors) * apart)[N_ROWS:]
    priority = roles.priority[0, N_ROWS:]
    np.testing.assert_array_equal(np.argsort(-priority), np.argsort(-expected))
    assert priority[0] < np.median(priority)  # it is everywhere
    assert (roles.priority[0].max(), roles.weights[0, N_ROWS]) == (1.0, 1.0)
    np.testing.assert_allclose(roles.weights[0, N_ROWS + 1 :], 0.01 / 0.5)


def test_the_first_column_of_few_categories_colours_rows(counts):
    many = np.array([f"value {k}" for k in range(50)])
    both = replace(counts, metadata={"many": many, **counts.metadata})
    assert default_column(both) == "group"
    assert default_column(replace(both, kinds=None, model=T_SNE, factors=None)) is None
