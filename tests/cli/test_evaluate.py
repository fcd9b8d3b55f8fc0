"""The command `evaluate`: its measures, and how it matches labels."""

import json
from pathlib import Path

import pytest

import manymaps as mm
from cli_samples import cluster_vectors, invoke, worked, write_norms, write_vectors
from manymaps.data.vectors import Vectors
from manymaps.metrics import mu_global, mu_local, strongest_recall, trustworthiness
from manymaps.metrics.spaces import MapSpace, SimilaritySpace

PROMISED = {"kl_divergence", "mu_local", "mu_global", "nearest_among_10"}


def fitted(folder: Path, estimator) -> tuple[Path, Path]:
    """An atlas of the vectors, and their file."""
    fit = estimator.fit(Vectors(*cluster_vectors()))
    fit.atlas_.save(folder / "words.atlas")
    return folder / "words.atlas", write_vectors(folder / "words.vec")


def record(*arguments: object) -> dict:
    result = worked(invoke("evaluate", *arguments, "--json"))
    return json.loads(result.stdout)


@pytest.fixture
def words(tmp_path: Path) -> tuple[Path, Path]:
    return fitted(tmp_path, mm.TSNE(perplexity=5, max_iter=100, random_state=0))


class TestVectors:
    def test_measures_are_those_of_the_library(self, words):
        found = record(*words)
        assert set(found) >= PROMISED | {"mu_local_se", "mu_global_se", "continuity"}
        values, atlas = cluster_vectors()[1], mm.load_atlas(words[0])
        local = mu_local(values, atlas.maps[0], k=10)
        assert found["mu_local"] == local.mean
        assert found["mu_local_se"] == local.standard_error
        assert found["mu_global"] == pytest.approx(mu_global(values, atlas.maps[0]).mean)
        trust = trustworthiness(values, atlas.maps[0], k=10).mean
        assert found["trustworthiness"] == pytest.approx(trust)
        assert (found["n_objects"], found["n_measured"], found["neighbors"]) == (36, 36, 10)

    def test_too_few_common_labels(self, words, tmp_path):
        done = invoke("evaluate", words[0], write_vectors(tmp_path / "two.vec", slice(2)))
        assert done.exit_code == 3
        assert done.stdout == ""
        assert "share 2 labels, but at least 3 are needed" in done.stderr
        assert done.stderr.count("\n") == 1


class TestAssociations:
    @pytest.mark.parametrize("normalization", ["conditional", "joint"])
    def test_measures_are_those_of_the_library(self, tmp_path, normalization):
        norms = write_norms(tmp_path)
        data = mm.read_associations(norms)
        fit = mm.MultipleMapsTSNE(
            2, normalization=normalization, max_iter=60, background=0.1, random_state=0
        ).fit(data)
        fit.atlas_.save(tmp_path / "norms.atlas")
        result = invoke("evaluate", tmp_path / "norms.atlas", norms, "--json")
        found = json.loads(result.stdout)
        assert found["neighbors"] == 2
        assert found["kl_divergence"] == pytest.approx(fit.kl_divergence_, rel=1e-3)
        maps = MapSpace(fit.maps_, fit.proportions_)
        assert found["mu_local"] == mu_local(SimilaritySpace(data.strengths), maps, k=2).mean
        recall = strongest_recall(data.strengths, maps)
        assert found["nearest_among_10"] == recall
