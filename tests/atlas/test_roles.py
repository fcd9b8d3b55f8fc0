"""Labels of rows and columns: rows that are only numbered, and words that are everywhere."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from manymaps.atlas import Atlas
from manymaps.atlas.captions import default_column, unnamed
from manymaps.atlas.roles import label_roles
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
    assert not label_roles(counts, None).has_label[:N_ROWS].any()
    assert label_roles(counts, ["site"]).has_label[:N_ROWS].all()
    names = [f"meadow {chr(97 + k)}" for k in range(N_ROWS)]
    named = replace(counts, labels=[*names, *counts.labels[N_ROWS:]])
    assert label_roles(named, None).has_label.all()


def test_many_rows_may_have_generated_labels():
    rng = np.random.default_rng(0)
    labels = [f"d {k}" for k in range(60)] + [f"word{k}" for k in range(60)]
    kinds = ("document",) * 60 + ("word",) * 60
    atlas = Atlas(labels, rng.normal(size=(1, 120, 2)), np.ones((1, 120)), CODE, kinds=kinds)
    assert unnamed(atlas).tolist() == [True] * 60 + [False] * 60


def test_a_word_that_is_everywhere_does_not_come_first(counts):
    priority = label_roles(counts, None).priority[0, N_ROWS:]
    assert priority[0] < np.median(priority)


def test_the_most_frequent_of_words_in_one_position_comes_first(counts):
    maps = counts.maps.copy()
    maps[0, N_ROWS:] = 0.1
    priority = label_roles(replace(counts, maps=maps), None).priority[0, N_ROWS:]
    assert priority.argmax() == 0


def test_the_first_column_of_few_categories_colours_rows(counts):
    many = np.array([f"value {k}" for k in range(50)])
    both = replace(counts, metadata={"many": many, **counts.metadata})
    assert default_column(both) == "group"
    words = Atlas(list(counts.labels), counts.maps, np.ones((1, 50)), T_SNE, metadata=both.metadata)
    assert default_column(words) is None
