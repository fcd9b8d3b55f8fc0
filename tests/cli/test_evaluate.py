"""The command `evaluate`: its measures, and how it matches labels."""

import json
from pathlib import Path

import numpy as np
import pytest

import manymaps as mm
from cli_samples import cluster_vectors, failed, invoke, worked, write_norms, write_vectors
from manymaps.affinity.affinities import LocalPerplexity
from manymaps.analysis import evaluation
from manymaps.data.vectors import Vectors
from manymaps.metrics import mu_global, mu_local, strongest_recall, trustworthiness
from manymaps.metrics.spaces import MapSpace, SimilaritySpace

PROMISED = {"kl_divergence", "mu_local", "mu_global", "recall_at_10"}


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

    @pytest.mark.parametrize(
        "estimator",
        [
            mm.TSNE(perplexity=(3, 8), max_iter=60, random_state=0),
            mm.TSNE(
                affinity=LocalPerplexity(4, sd=1.0), metric="cosine", max_iter=60, random_state=0
            ),
            mm.UniSNE(perplexity=5, max_iter=60, random_state=0),
            mm.SNE(perplexity=5, metric="manhattan", max_iter=60, random_state=0),
            mm.MultipleMapsTSNE(2, perplexity=5, max_iter=60, random_state=0),
        ],
        ids=["multi-scale", "local", "background", "manhattan", "many maps"],
    )
    def test_divergence_is_that_of_the_fit(self, tmp_path, estimator):
        files = fitted(tmp_path, estimator)
        assert record(*files)["kl_divergence"] == pytest.approx(estimator.kl_divergence_, rel=2e-3)

    def test_labels_that_one_side_lacks_are_told(self, words, tmp_path):
        part = write_vectors(tmp_path / "part.vec", slice(30))
        text = part.read_text().replace("30 6", "31 6") + "extra 1 2 3 4 5 6\n"
        part.write_text(text)
        result = invoke("evaluate", words[0], part, "--json")
        assert json.loads(result.stdout)["n_objects"] == 30
        assert "1 objects of" in result.stderr
        assert "6 objects of" in result.stderr
        assert "'a30', 'b31', 'c32', ..." in result.stderr

    def test_too_few_common_labels(self, words, tmp_path):
        done = invoke("evaluate", words[0], write_vectors(tmp_path / "two.vec", slice(2)))
        assert done.exit_code == 3
        assert done.stdout == ""
        assert "share 2 labels, but at least 3 are needed" in done.stderr
        assert done.stderr.count("\n") == 1

    def test_distances(self, tmp_path):
        values = cluster_vectors()[1]
        distances = np.linalg.norm(values[:, None] - values, axis=2)
        distances = (distances + distances.T) / 2
        fit = mm.TSNE(perplexity=5, max_iter=60, metric="precomputed", random_state=0)
        fit.fit(distances).atlas_.save(tmp_path / "d.atlas")
        np.save(tmp_path / "d.npy", distances)
        found = record(tmp_path / "d.atlas", tmp_path / "d.npy")
        assert found["kl_divergence"] == pytest.approx(fit.kl_divergence_, rel=2e-3)
        local = mu_local(values, fit.embedding_, k=10).mean
        assert found["mu_local"] == pytest.approx(local, abs=0.02)

    def test_sample(self, words):
        found = record(*words, "--sample", 7, "--seed", 3)
        values, atlas = cluster_vectors()[1], mm.load_atlas(words[0])
        local = mu_local(values, atlas.maps[0], sample=7, random_state=3)
        assert (found["n_objects"], found["n_measured"]) == (36, 7)
        assert found["mu_local"] == local.mean
        assert "(7 of them drawn at random)" in invoke("evaluate", *words, "--sample", 7).stdout

    def test_large_files_are_sampled_and_it_is_told(self, words, monkeypatch):
        monkeypatch.setattr(evaluation, "MOST_IN_FULL", 20)
        monkeypatch.setattr(evaluation, "SAMPLE", 12)
        result = invoke("evaluate", *words, "--json")
        assert json.loads(result.stdout)["n_measured"] == 12
        assert "use 12 of 36 objects, drawn at random" in result.stderr
        assert invoke("evaluate", *words, "--quiet", "--json").stderr == ""


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
        assert "6 objects: measures use 2 neighbours" in result.stderr
        found = json.loads(result.stdout)
        assert found["kl_divergence"] == pytest.approx(fit.kl_divergence_, rel=1e-3)
        maps = MapSpace(fit.maps_, fit.proportions_)
        assert found["mu_local"] == mu_local(SimilaritySpace(data.strengths), maps, k=2).mean
        recall = strongest_recall(fit.maps_, fit.proportions_, data.strengths)
        assert found["recall_at_10"] == recall

    def test_metric_is_of_vectors(self, words, tmp_path):
        result = invoke("evaluate", words[0], write_norms(tmp_path), "--metric", "cosine")
        failed(result, 2, "--metric applies to vectors")
