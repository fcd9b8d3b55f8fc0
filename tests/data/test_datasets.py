"""The included data: their contents, and the scripts that rebuild them."""

import importlib.util
import io
import os
import re
import sys
from importlib import resources
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest
from scipy import sparse

from manymaps.archive.arrays import open_arrays
from manymaps.data import datasets
from manymaps.errors import ParameterError
from manymaps.io.similarities import read_similarities

SCRIPTS = Path(__file__).parents[2] / "scripts"
DATA = resources.files("manymaps") / "data"


def imported(name: str) -> ModuleType:
    """A script as a module; its dataclasses look themselves up in `sys.modules`."""
    spec = importlib.util.spec_from_file_location(name, SCRIPTS / f"{name}.py")
    module = sys.modules[name] = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def assert_shipped(rebuilt: bytes, name: str) -> None:
    """The same arrays, since headers of zip files differ between versions of Python."""
    with np.load(io.BytesIO(rebuilt)) as new, np.load(DATA / name) as shipped:
        assert new.files == shipped.files
        for part in shipped.files:
            np.testing.assert_array_equal(new[part], shipped[part], strict=True)


def senses_of_pairs() -> np.ndarray:
    with open_arrays(DATA / "word_relations.npz") as file:
        return file.read("senses")


def test_shape_and_rows():
    relations = datasets.load_word_relations()
    lengths = np.diff(relations.strengths.indptr)
    assert 2500 <= relations.n_objects <= 3500
    assert lengths.min() >= 1
    assert lengths.max() <= 25
    assert (lengths >= 10).mean() > 0.95
    assert list(relations.labels) == sorted(relations.labels)
    np.testing.assert_allclose(relations.strengths.sum(axis=1), 1)
    assert relations.strengths.diagonal().max() == 0
    assert relations.n_components == 1
    assert not relations.is_symmetric


def test_the_senses_of_each_word_are_numbered():
    relations = datasets.load_word_relations()
    numbers, starts = senses_of_pairs(), relations.strengths.indptr
    assert len(numbers) == relations.n_pairs
    for senses in np.split(numbers, starts[1:-1]):
        assert set(senses) == set(range(max(senses) + 1))
    row = relations.index("tie")
    responses = relations.strengths.indices[starts[row] : starts[row + 1]]
    sense_of = dict(zip(responses, numbers[starts[row] : starts[row + 1]], strict=True))
    assert sense_of[relations.index("knot")] != sense_of[relations.index("contest")]


def test_the_files_are_small_and_carry_their_notices():
    for data, licence, owner in (
        ("word_relations", "WORDNET", "WordNet 3.0 Copyright 2006 by Princeton University"),
        ("word_associations", "LWOW", "Abramski"),
    ):
        notice = (DATA / f"{licence}-LICENSE").read_text(encoding="utf-8")
        assert len((DATA / f"{data}.npz").read_bytes()) + len(notice) <= 400_000
        assert owner in notice


@pytest.mark.slow
def test_the_script_rebuilds_the_shipped_file():
    script = imported("build_word_relations")
    folder = Path(os.environ.get("WORDNET_HOME", "/usr/share/wordnet"))
    if not (folder / "data.noun").is_file():
        pytest.skip(f"{folder} holds no WordNet database (Debian: wordnet-base)")
    rebuilt = script.write_archive(script.pack(script.build_rows(folder)))
    assert_shipped(rebuilt, "word_relations.npz")


def test_associations_are_a_symmetric_network_of_clean_words():
    norms = datasets.load_word_associations()
    similarities, strengths = norms.similarities, norms.strengths
    assert norms.n_objects == 4032
    assert norms.n_components == 1
    assert list(norms.labels) == sorted(set(norms.labels))
    assert all(re.fullmatch("[a-z]{2,}", word) for word in norms.labels)
    np.testing.assert_allclose(strengths.sum(axis=1), 1)
    assert abs(similarities - similarities.T).max() == 0
    # Lines of the source: bow,quiver 87 (quiver is left out); bow,ribbon 67; arrow,bow 19.
    bow, ribbon, arrow = map(norms.index, ("bow", "ribbon", "arrow"))
    assert similarities[bow, ribbon] == pytest.approx(67)
    assert similarities[arrow, bow] == pytest.approx(19)
    assert "quiver" not in norms.labels
    responses = similarities.rint()
    np.testing.assert_allclose(similarities.data, responses.data)
    assert responses.data.min() == 2
    assert responses.data.max() == 100
    assert np.diff((responses >= 5).indptr).min() == 11


def test_the_script_rebuilds_the_shipped_associations(data_folder):
    association_script = imported("build_word_associations")
    edges = data_folder / "lwow" / association_script.EDGES
    assert_shipped(association_script.build(edges), "word_associations.npz")


def test_the_words_are_the_largest_set_with_enough_strong_ties():
    """A clique of 12 words keeps together; a chain and a clique of weak ties fall away."""
    association_script = imported("build_word_associations")
    ties = np.zeros((40, 40), dtype=int)
    ties[:12, :12] = association_script.STRONG
    ties[12:24, 12:24] = association_script.STRONG - 1
    for i in range(24, 39):
        ties[i, i + 1] = ties[i + 1, i] = 100
    ties[11, 24] = ties[24, 11] = 100
    np.fill_diagonal(ties, 0)
    members = association_script.well_connected(sparse.csr_array(ties))
    np.testing.assert_array_equal(members, np.arange(12))


REBUILT = {
    "integers": (
        datasets.load_integers, datasets.INTEGER_CLUSTERS, datasets.INTEGER_CONSTANT,
    ),
    "consonants": (
        datasets.load_consonants, datasets.CONSONANT_CLUSTERS, datasets.CONSONANT_CONSTANT,
    ),
}  # fmt: skip
# The printed solutions account for 90.9 % and (on this matrix) 91.5 % of the variance.
MEASURED = {
    "integers": ("numbers10_similarity.csv", 0.909),
    "consonants": ("phonemes16_confusion.csv", 0.915),
}


def pair_values(data) -> np.ndarray:
    return data.strengths.toarray()[np.triu_indices(data.n_objects, 1)]


@pytest.mark.parametrize("name", REBUILT)
def test_rebuilt_similarities_are_what_the_clusters_predict(name):
    load, clusters, constant = REBUILT[name]
    data = load()
    assert data.is_symmetric
    assert "Tenenbaum (1996)" in data.report.source
    for i, first in enumerate(data.labels):
        for j, second in enumerate(data.labels):
            common = [w for members, w in clusters.items() if {first, second} <= set(members)]
            expected = 0 if i == j else constant + sum(common)
            assert data.strengths[i, j] == pytest.approx(expected)


@pytest.mark.parametrize("name", REBUILT)
def test_noise_has_the_variance_that_was_asked_for(name):
    load = REBUILT[name][0]
    exact = pair_values(load())
    noisy = np.array([pair_values(load(0.005, random_state=seed)) for seed in range(200)])
    ratio = (noisy - exact).var() / exact.var()
    assert ratio == pytest.approx(0.005, rel=0.1)
    assert min(pair_values(load(0.3, random_state=seed)).min() for seed in range(20)) >= 0
    assert "noise of 5.00%" in " ".join(load(0.05).report.notes)
    for _ in range(2):
        np.testing.assert_array_equal(pair_values(load(0.005, random_state=3)), noisy[3])
    assert not np.array_equal(noisy[3], noisy[4])
    for wrong in (-0.1, np.nan, np.inf):
        with pytest.raises(ParameterError) as caught:
            load(wrong)
        assert caught.value.name == "noise"


@pytest.mark.parametrize("name", REBUILT)
def test_rebuilt_similarities_resemble_the_measured_ones(name, data_folder):
    file, share = MEASURED[name]
    measured = read_similarities(data_folder / "similarity" / file)
    data = REBUILT[name][0]()
    assert tuple(measured.index) == data.labels
    upper = np.triu_indices(data.n_objects, 1)
    r = np.corrcoef(pair_values(data), measured.to_numpy()[upper])[0, 1]
    assert r**2 == pytest.approx(share, abs=1e-3)
