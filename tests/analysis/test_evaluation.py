"""`evaluate` in Python: what it takes, what it leaves out, and that it says so."""

from dataclasses import replace
from itertools import combinations

import numpy as np
import pytest
from scipy import sparse

import manymaps as mm
from cli_samples import cluster_vectors
from code_samples import sample
from manymaps.analysis.count_evaluation import map_space
from manymaps.data.vectors import Vectors
from manymaps.metrics import mu_local
from manymaps.metrics.groups import group_purity


@pytest.fixture(scope="module")
def fit():
    return mm.TSNE(perplexity=5, max_iter=60, random_state=0).fit(Vectors(*cluster_vectors()))


def test_plain_rows_are_those_of_the_atlas_in_its_order(fit):
    labels, values = cluster_vectors()
    found = mm.evaluate(fit.atlas_, values)
    assert found == mm.evaluate(fit.atlas_, Vectors(labels, values))
    local = mu_local(values, fit.embedding_, k=10)
    assert (found.mu_local, found["mu_local_se"]) == (local.mean, local.standard_error)
    frame = found.to_frame()
    assert frame.label.tolist() == labels
    np.testing.assert_array_equal(frame.mu_local, local.values)
    assert found.kl_divergence == pytest.approx(fit.kl_divergence_, rel=2e-3)


def test_other_objects_are_left_out_with_a_warning(fit):
    labels, values = cluster_vectors()
    others = [*labels[:30], "someone"]
    with pytest.warns(mm.DataWarning) as told:
        found = mm.evaluate(fit.atlas_, Vectors(others, np.vstack([values[:30], values[:1]])))
    assert found.n_objects == 30
    assert len(told) == 2
    assert {warning.filename for warning in told} == {__file__}


def test_settings_in_place_of_those_of_the_fit(fit):
    values = cluster_vectors()[1]
    distances = np.linalg.norm(values[:, None] - values, axis=2)
    by_distance = mm.evaluate(fit.atlas_, distances, metric="precomputed", n_neighbors=3)
    assert by_distance.neighbors == 3
    assert by_distance.kl_divergence == pytest.approx(fit.kl_divergence_, rel=2e-3)


def test_counts_of_others_are_left_out_with_a_warning(made):
    table = sample().without_empty()
    labels = ["someone", *table.row_labels[1:]]
    strange = mm.Counts(table.values, labels, table.column_labels, table.kinds)
    with pytest.warns(mm.DataWarning) as told:
        found = mm.evaluate(mm.load_atlas(made / "code.atlas"), strange)
    assert {warning.filename for warning in told} == {__file__}
    assert len(told) == 2
    assert found.n_counts_left_out == table.values[[0]].sum()


def test_groups_of_rows(made):
    atlas, table = mm.load_atlas(made / "code.atlas"), sample().without_empty()
    n_rows = len(table.row_labels)
    parts = np.array(["", *"ab" * n_rows])[:n_rows]
    data = replace(table, row_metadata={"part": parts, "same": np.full(n_rows, "a")})
    found = mm.evaluate(atlas, data, groups="part")
    assert (found.n_grouped, found.n_groups, found.n_measured) == (n_rows - 1, 2, n_rows - 1)
    rows = map_space(atlas, np.arange(1, n_rows))
    assert found.purity == group_purity(rows, parts[1:]).mean
    same = [one == other for one, other in combinations(parts[1:], 2)]
    assert found.purity_by_chance == pytest.approx(np.mean(same))
    frame = found.to_frame()
    assert frame["group"].tolist() == parts[1:].tolist()
    assert frame["lift"].mean() == pytest.approx(found.lift)
    assert mm.evaluate(atlas, data, groups="part", sample=9).n_measured == 9
    assert "purity" not in mm.evaluate(atlas, data)
    with pytest.raises(mm.DataError):
        mm.evaluate(atlas, data, groups="same")
    with pytest.raises(mm.ParameterError, match="part, same"):
        mm.evaluate(atlas, data, groups="other")


NORMS = mm.Associations([str(i) for i in range(36)], sparse.csr_array(np.ones((36, 36))))
REFUSALS = [
    (lambda own, _: mm.evaluate(own, sample()), mm.DataError),
    (lambda _, two: mm.evaluate(two, NORMS), mm.DataError),
    (lambda own, _: mm.evaluate(own, Vectors(["p", "q", "r"], np.eye(3))), mm.DataError),
    (lambda own, _: mm.evaluate(own, replace(NORMS, labels=own.labels), metric="cosine"),
     mm.ParameterError),
]  # fmt: skip


@pytest.mark.parametrize(("call", "error"), REFUSALS)
def test_refusals(fit, made, call, error):
    with pytest.raises(error):
        call(fit.atlas_, mm.load_atlas(made / "code.atlas"))
