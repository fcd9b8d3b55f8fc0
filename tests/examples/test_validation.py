"""The validations: their tables against independent figures, and what they do without data."""

import os
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from scipy import stats

import manymaps as mm

FOLDER = Path(__file__).resolve().parents[2] / "examples" / "validation"


def printed(script: str, *arguments: object, **environment: str) -> str:
    """What a validation prints in a process of its own; warnings are errors."""
    result = subprocess.run(
        [sys.executable, "-W", "error", FOLDER / script, "--quick", *map(str, arguments)],
        capture_output=True, text=True, timeout=1200, check=False,
        env={**os.environ, **environment},
    )  # fmt: skip
    assert result.returncode == 0, result.stderr
    return result.stdout


def table(text: str) -> dict[str, list[str]]:
    """The cells of each row of the printed tables, by the first of them."""
    rows = [line.strip("| ").split("|") for line in text.splitlines() if line.startswith("| ")]
    return {row[0].strip(): [cell.strip() for cell in row[1:]] for row in rows}


@pytest.mark.parametrize(
    "script", ["priming.py", "similarity.py", "humans_and_models.py", "haiku_and_mistral.py"]
)
def test_nothing_is_done_without_data(script, tmp_path):
    assert "nothing done" in printed(script, MANYMAPS_DATA=str(tmp_path))


@pytest.mark.slow
def test_priming(data_folder, tmp_path):
    first, second = printed("priming.py", "--fits", tmp_path).split("r of the seeds")
    rows, ranges = table(first), table(second)
    assert (tmp_path / "usf_mm-tsne_2_0.atlas").exists()
    items = pd.read_csv(data_folder / "priming" / "spp_items.csv", keep_default_na=False)
    norms = mm.read_associations(data_folder / "usf" / "usf_free_association.tsv.gz")
    place = {label: i for i, label in enumerate(norms.labels)}
    for name in ("Length", "LogSubFreq", "LSA", "LDT 200ms Z Priming", "LDT 1200ms Z Priming"):
        items[name] = pd.to_numeric(items[name], errors="coerce")
        items = items[items[name].notna()]
    i, j = (items[name].str.upper().map(place) for name in ("Prime", "TargetWord"))
    both = i.notna() & j.notna()
    items, i, j = items[both], i[both].astype(int), j[both].astype(int)
    backward = norms.strengths[j.to_numpy(), i.to_numpy()]
    for column, target in ((0, "LDT 200ms Z Priming"), (3, "LDT 1200ms Z Priming")):
        r = np.corrcoef(backward, items[target])[0, 1]
        ranked = np.corrcoef(stats.rankdata(backward), items[target])[0, 1]
        assert rows["backward strength"][column].startswith(f"{r:.3f} [")
        assert rows["ranked backward strength"][column].startswith(f"{ranked:.3f} [")
        gain = rows["ranked backward strength"][column + 1]
        value, low, high = map(float, re.findall(r"-?[0-9.]+", gain))
        assert value == pytest.approx(ranked - r, abs=0.0011)
        assert low < value < high
    cells = rows["log mean, mm-tsne, 2 maps, 1 seed"]
    # There is one seed, so the least r is also the largest.
    shown = [cells[column].split(" ")[0] for column in (0, 3)]
    assert ranges["log mean, mm-tsne, 2 maps, 1 seed"] == [f"{r} to {r}" for r in shown]


@pytest.mark.slow
def test_similarity(data_folder, tmp_path):
    norms = mm.read_associations(data_folder / "usf" / "usf_free_association.tsv.gz")
    pairs = norms.strengths.tocoo()
    rng = np.random.default_rng(0)
    chosen = rng.choice(pairs.nnz, 60, replace=False)
    lines = [
        f"{norms.labels[pairs.row[k]]}\t{norms.labels[pairs.col[k]]}\t{10 * pairs.data[k]:.3f}\n"
        for k in chosen
    ]
    for name in ("simlex999.txt", "wordsim353.tsv"):
        (tmp_path / name).write_text("# Word 1\tWord 2\tHuman (mean)\n" + "".join(lines))
    text = printed("similarity.py", "--ratings", tmp_path, "--fits", tmp_path)
    rows = table(text)
    # The ratings are the strengths of one direction.
    assert float(rows["strength"][0].split()[0]) > 0.8
    assert "SimLex-999: 60 of 60 pairs in the norms" in text
    found = mm.evaluate(
        mm.load_atlas(tmp_path / "usf_mm-tsne_2_0.atlas"),
        mm.read_ratings(tmp_path / "simlex999.txt"),
        norms=norms,
    )
    shown = rows["maps: mm-tsne, 2 maps, 1 seed"][0]
    assert shown.startswith(f"{found.spearman['atlas'].value:.3f} [")


@pytest.mark.slow
def test_people_and_models_share_more_than_shuffled_words(data_folder):
    text = printed("humans_and_models.py")
    rows = table(text)
    people, models = "people (USF)", ("Mistral", "Haiku")
    for one, other in ((people, models[0]), (people, models[1]), models):
        share, low = (float(rows[f"{one}, {other}{more}"][0]) for more in ("", ", words shuffled"))
        assert 10 * low < share < 1
    for name in (people, *models):
        assert re.match(r"\d+ homonyms, F 0\.\d+, one group 0\.\d+", rows[name][0])
        assert all("strength" in cell and "maps" in cell for cell in rows[name][1:])


@pytest.mark.slow
def test_models_are_between_two_seeds_and_shuffled_words(data_folder):
    rows = table(printed("haiku_and_mistral.py"))
    for name in ("neighbours", "members", "coordinates"):
        models, seeds, shuffled = (re.findall(r"[0-9.]+", cell) for cell in rows[name])
        assert shuffled[0] < models[0] < seeds[0]
    for name in ("Mistral", "Haiku"):
        values = [tuple(map(float, re.findall(r"-?[0-9.]+", cell))) for cell in rows[name][2:]]
        assert all(low <= value <= high for value, low, high in values)
        (absent, *_), (shuffled, *_), (excess, *_) = values
        assert excess == pytest.approx(absent - shuffled, abs=0.0011)
