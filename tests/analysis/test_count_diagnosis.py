"""Likelihood of hidden counts, and the suggested numbers of maps and dimensions."""

import numpy as np
import pytest
from scipy import sparse

import manymaps as mm
from manymaps.analysis import count_diagnosis
from manymaps.analysis.count_diagnosis import diagnose_counts


def planted(n_components, size=40.0, seed=0):
    """Counts of the model of CODE, with points in a cube."""
    generator = np.random.default_rng(seed)
    rows, columns = (generator.uniform(-1.5, 1.5, (n, n_components)) for n in (30, 24))
    squared = ((rows[:, None] - columns) ** 2).sum(axis=-1)
    return mm.Counts(generator.poisson(size * np.exp(-squared)))


@pytest.mark.parametrize("n_components", [1, 2])
def test_planted_dimensions_are_suggested(n_components, monkeypatch):
    monkeypatch.setattr(count_diagnosis, "MODELS", ((1, 1), (1, 2), (1, 3)))
    found = diagnose_counts(planted(n_components))
    assert found.loc[found["suggested"], "n_components"].tolist() == [n_components]
    assert found["gain"].max() == 1
    assert found["gain"][0] == 0
    assert found["standard_error"].min() == 0
    again = mm.diagnose(planted(n_components))
    assert again.equals(found)


def test_independent_counts_have_no_structure(monkeypatch):
    monkeypatch.setattr(count_diagnosis, "MODELS", ((1, 1), (1, 2)))
    counts = np.random.default_rng(0).poisson(np.outer(np.arange(1, 16), np.arange(1, 13)) / 20)
    found = diagnose_counts(mm.Counts(counts))
    assert found["suggested"].tolist() == [True, False, False]


def test_likelihoods_are_those_of_the_definitions(monkeypatch):
    monkeypatch.setattr(count_diagnosis, "MODELS", ((1, 2),))
    counts = planted(1, size=3)
    found = diagnose_counts(counts, random_state=3)
    expected = []
    for train, hidden in count_diagnosis._parts(counts.values, np.random.default_rng(3)):
        hidden, shares = hidden.toarray(), train.sum(axis=0) / train.sum()
        fit = mm.CODE(random_state=3).fit(train)
        squared = ((fit.row_embedding_[:, None] - fit.column_embedding_) ** 2).sum(axis=-1)
        q = shares * np.exp(-squared)
        models = np.tile(shares, (len(q), 1)), q / q.sum(axis=1, keepdims=True)
        expected.append([(hidden * np.log(model)).sum() / hidden.sum() for model in models])
    np.testing.assert_allclose(found["log_likelihood"], np.mean(expected, axis=0), rtol=1e-5)
    worse = np.std(np.diff(expected, axis=1), ddof=1) / np.sqrt(count_diagnosis.PARTS)
    assert found["standard_error"].max() == pytest.approx(worse, rel=1e-3)


def test_each_count_is_hidden_once():
    values = sparse.csr_array([[9.0, 0, 0.5], [2, 30, 0], [0.25, 7, 11]])
    parts = count_diagnosis._parts(values, np.random.default_rng(0))
    sizes = [(train.sum(), hidden.sum()) for train, hidden in parts]
    assert len({sum(size) for size in sizes}) == 1
    assert sum(hidden for _, hidden in sizes) in (59, 60, 61)


def test_few_counts_are_refused():
    with pytest.raises(mm.DataError, match="has 3 counts, too few"):
        mm.diagnose(mm.Counts([[1, 1], [0, 1]]))


def test_large_tables_are_sampled(monkeypatch):
    monkeypatch.setattr(count_diagnosis, "_MOST", 12)
    monkeypatch.setattr(count_diagnosis, "MODELS", ((1, 1),))
    with pytest.warns(mm.DataWarning, match="only 12 rows and the most frequent 12 columns"):
        diagnose_counts(planted(1))
