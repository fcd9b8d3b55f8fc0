"""Judges and the average that is fitted: correlations by hand, and the command."""

import json

import numpy as np
import pandas as pd
import pytest

import manymaps as mm
from cli_samples import invoke, worked

N = 24
NAN = np.nan


def two_maps(seed=0):
    """The similarities of each of two maps, every object at home in both."""
    places = np.random.default_rng(seed).normal(0, 1.5, (2, N, 2))
    squares = ((places[:, :, None] - places[:, None]) ** 2).sum(axis=-1)
    return 0.25 / (1 + squares)


WEIGHTS = np.array([[1.8, 0.2], [0.2, 1.8], [1, 1], [1.4, 0.6], [0.6, 1.4]])


def judged(gaps=0.0, noise=0.0, seed=1):
    rng = np.random.default_rng(seed)
    tables = np.einsum("km,mij->kij", WEIGHTS, two_maps())
    for table in tables:
        table *= np.exp(noise * rng.normal(size=(N, N)))
        hidden = np.triu(rng.random((N, N)) < gaps, 1)
        table[...] = np.triu(table, 1) + np.triu(table, 1).T
        table[hidden | hidden.T] = NAN
    return mm.Judgements([f"w{i}" for i in range(N)], tables)


def fit_of(judgements, **settings):
    data = mm.associations_from(judgements.average, labels=judgements.labels)
    usual = {"n_maps": 2, "max_iter": 800, "penalty": 0, "n_init": 3, "random_state": 0}
    return mm.MultipleMapsTSNE(**{**usual, **settings}).fit(data)


def test_correlations_by_hand():
    one = np.array([[NAN, 1.0, 2, 3], [1, NAN, 4, 5], [2, 4, NAN, NAN], [3, 5, NAN, NAN]])
    other = np.array([[NAN, 2.0, 1, 4], [2, NAN, 3, NAN], [1, 3, NAN, 6], [4, NAN, 6, NAN]])
    third = np.where(np.isnan(one), NAN, 2 * one + 1)
    found = mm.Judgements("abcd", [one, other, third])
    # Of ann and the mean of ben and eve; ben did not judge b and d, and eve neither c and d.
    mean = {(0, 1): 2.5, (0, 2): 3, (0, 3): 5.5, (1, 2): 6, (1, 3): 11}
    left = [one[pair] for pair in mean]
    assert found.with_others[0] == pytest.approx(np.corrcoef(left, list(mean.values()))[0, 1])


def test_too_few_pairs_have_no_correlation():
    few = np.array([[NAN, 1.0, NAN], [1, NAN, NAN], [NAN, NAN, NAN]])
    same = np.ones((3, 3))
    found = mm.Judgements("abc", [few, same, np.arange(9.0).reshape(3, 3)])
    assert np.isnan(found.with_others[:2]).all()


def test_a_stranger_is_found():
    judgements = judged(0.1, 0.1)
    stranger = np.random.default_rng(5).random((N, N))
    stranger = np.triu(stranger, 1) + np.triu(stranger, 1).T
    more = mm.Judgements(judgements.labels, np.concatenate([judgements.values, [stranger]]))
    assert np.argmin(more.with_others) == 5


class TestCommand:
    def write(self, tmp_path):
        judgements = judged(0.2)
        files = []
        for k, table in enumerate(judgements.values):
            files.append(tmp_path / f"judge{k}.csv")
            frame = pd.DataFrame(table, index=judgements.labels, columns=judgements.labels)
            frame.to_csv(files[-1])
        return judgements, files

    OPTIONS = ("--maps", 2, "--penalty", 0, "--iterations", 200)

    def test_several_files_are_averaged_and_compared(self, tmp_path):
        judgements, files = self.write(tmp_path)
        clean, output = tmp_path / "judged.npz", tmp_path / "out.atlas"
        found = json.loads(worked(invoke("read", *files, "-o", clean, "--json")).stdout)["judges"]
        record = json.loads(
            worked(invoke("fit", clean, "-o", output, *self.OPTIONS, "--json")).stdout
        )
        fit = fit_of(judgements, n_init=1, max_iter=200)
        assert record["kl_divergence"] == pytest.approx(fit.kl_divergence_, rel=1e-3)
        assert [one["judge"] for one in found] == [f"judge{k}" for k in range(5)]
        agreed = [one["with_others"] for one in found]
        np.testing.assert_allclose(agreed, judgements.with_others, rtol=1e-6)
        lines = worked(invoke("read", *files)).stdout.splitlines()
        assert lines[0].split() == ["judge", "pairs", "with", "others"]
        expected = [str(judgements.n_pairs[0]), f"{judgements.with_others[0]:.4g}"]
        assert lines[1].split() == ["judge0", *expected]
        assert any(line.startswith("next: add -o OUT.npz, then manymaps") for line in lines)


@pytest.mark.parametrize("normalization", ["conditional", "joint"])
def test_what_is_fitted_to_judgements_is_their_average(normalization):
    scale = 0.1  # rows sum to less than 1, but no mass is missing
    judgements = judged(gaps=0.3)
    judgements = mm.Judgements(judgements.labels, scale * judgements.values)
    settings = {"normalization": normalization, "max_iter": 20, "n_init": 1}
    ours = mm.MultipleMapsTSNE(
        2, penalty=0, random_state=0, max_iter=20, normalization=normalization
    )
    atlas = ours.fit(judgements).atlas_
    expected = fit_of(judgements, **settings).atlas_
    assert atlas.labels == expected.labels
    np.testing.assert_allclose(atlas.maps, expected.maps, atol=1e-5)


def test_clusters_a_plain_map_and_a_diagnosis_are_of_the_average():
    judgements = judged(gaps=0.3)
    average, labels = judgements.average, judgements.labels
    clusters = mm.AdditiveClustering(3, random_state=0)
    ours = clusters.fit(judgements).memberships_.copy()
    np.testing.assert_array_equal(ours, clusters.fit(average, labels=labels).memberships_)
    np.testing.assert_array_equal(
        mm.similarity_map(judgements).maps, mm.similarity_map(average, labels).maps
    )
    kept = mm.associations_from(average, labels=labels, rows="keep")
    assert mm.diagnose(judgements) == mm.diagnose(kept)


def test_names_are_refused_where_a_long_table_contains_them():
    rows = {"judge": ["a", "b"], "item1": ["x", "x"], "item2": ["y", "y"], "similarity": [1, 2]}
    for name in ("labels", "judges"):
        with pytest.raises(mm.ParameterError, match="combined with judge"):
            mm.judgements_from(rows, judge="judge", **{name: ["p", "q"]})
