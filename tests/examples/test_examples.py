"""The examples run on small settings and print what they claim."""

import csv
import io
import os
import re
import runpy
import subprocess
import sys
import warnings
from contextlib import redirect_stdout
from pathlib import Path

import numpy as np
import pytest

import manymaps as mm

pytestmark = pytest.mark.slow

ROOT = Path(__file__).resolve().parents[2]


def run(script: str, *arguments: str) -> str:
    """What the example prints, run in this process, most of whose time would go to imports."""
    printed, known = io.StringIO(), set(sys.modules)
    folder = (ROOT / "examples" / script).parent
    with (
        pytest.MonkeyPatch.context() as patch,
        redirect_stdout(printed),
        warnings.catch_warnings(action="error"),
    ):
        patch.setattr(sys, "argv", [script, "--quick", *arguments])
        patch.syspath_prepend(folder)
        try:
            runpy.run_path(str(ROOT / "examples" / script), run_name="__main__")
        finally:
            # What one example takes of another was read with this test's variables.
            for name in set(sys.modules) - known:
                if (folder / f"{name}.py").exists():
                    del sys.modules[name]
    return printed.getvalue()


def started(script: str, *arguments: str) -> str:
    """What the example prints as a program; warnings are errors there too."""
    result = subprocess.run(
        [sys.executable, "-W", "error", str(ROOT / "examples" / script), "--quick", *arguments],
        capture_output=True,
        text=True,
        timeout=1200,
        env={**os.environ, "MPLBACKEND": "agg"},
    )
    assert result.returncode == 0, result.stderr
    return result.stdout


def rows_of(printed: str, name: str = "") -> dict[str, dict[str, float]]:
    """The numbers of the Markdown tables in a result file, by the first cell of a row.

    A head that ends in ": measure" adds the measure to the rows, because their first cells recur.
    """
    rows: dict[str, dict[str, float]] = {}
    head: list[str] = []
    for line in printed[printed.index(name) :].strip().splitlines():
        if line.endswith(".txt") and rows:
            break
        if not line.startswith("|"):
            head = []
            continue
        first, *cells = (cell.strip() for cell in line.strip("|").split("|"))
        if not head:
            # "map 2" repeats the measure of the column before it.
            head = [f"{before.split(',')[0]}, {cell}" if cell == "map 2" else cell
                    for before, cell in zip(["", *cells], cells, strict=False)]  # fmt: skip
            _, colon, measure = head[0].partition(": ")
        elif first != "---":
            pairs = zip(head, cells, strict=True)
            rows[first + colon + measure] = {
                what: float(cell) for what, cell in pairs if re.fullmatch(r"-?[\d.]+", cell)
            }
    return rows


def test_figure1_2009(tmp_path: Path) -> None:
    """Two maps fit the three constructions and one map fails where it must."""
    printed = started("figure1_2009.py", "-o", str(tmp_path / "figure.png"))
    assert re.search(r"^intransitive +A -> C +1\.0000 +1\.0000$", printed, re.MULTILINE)
    assert re.search(r"^intransitive +A -> B +0\.0000 +0\.0000$", printed, re.MULTILINE)
    assert re.search(r"nearest neighbour: hub +6 of 6 +6 of 6$", printed, re.MULTILINE)
    assert re.search(r"^asymmetric +China -> North Korea +0\.0625 +0\.0625$", printed, re.MULTILINE)
    fits = re.findall(r"^(\w+) +\d+ +(gaussian|cauchy) +(\S+) +(\S+) ", printed, re.MULTILINE)
    assert len(fits) == 6
    for name, kernel, one_map, two_maps in fits:
        assert float(two_maps) < 1e-3
        if (name, kernel) != ("intransitive", "gaussian"):
            assert float(one_map) > 1e-2
    assert (tmp_path / "figure.png").stat().st_size > 0


def test_two_maps_2007(tmp_path: Path) -> None:
    """Both maps of every pair are found again."""
    printed = run("two_maps_2007.py", "-o", str(tmp_path / "figure.png"))
    assert re.search(r"^\[-1, 1\]\^2 +fixed +- .* 2 of 2 +\d+ +\d+ +\d+$", printed, re.MULTILINE)
    assert (tmp_path / "figure.png").stat().st_size > 0


@pytest.mark.usefixtures("data_folder")
def test_claassen_tables_2020() -> None:
    """The simple maps of the thesis are met, and local perplexity keeps more neighbours."""
    printed = run("claassen_tables_2020.py")
    iris, words = (rows_of(printed, name) for name in ("claassen_iris.txt", "claassen_words.txt"))
    assert iris["t-SNE, P of the text"]["mean"] > iris["principal components"]["mean"]
    axes = words["principal components"]
    assert axes["local"] == pytest.approx(axes["thesis, local"], abs=0.1)
    assert axes["global"] == pytest.approx(axes["thesis, global"], abs=0.1)
    assert axes["local"] > words["random positions"]["local"] + 10
    for p in ("program", "text"):
        assert words["mean gain"][p] > 1
    local = words["5: local"]
    assert local["program, Gaussian: local"] == pytest.approx(55.06, abs=3)
    assert local["program, local perplexity: local"] == pytest.approx(59.80, abs=3)
    assert local["nearest ten: local"] > local["local perplexity: local"]


@pytest.mark.usefixtures("data_folder")
def test_claassen_insertion_2020(tmp_path: Path) -> None:
    """A refined insertion keeps neighbours better than a median, and about as well as a rerun."""
    rows = rows_of(run("claassen_insertion_2020.py", "-o", str(tmp_path)))
    kept = {name: row["10 nearest kept"] for name, row in rows.items()}
    assert kept["refined"] > kept["median (4.8)"]
    assert kept["refined"] > kept["most similar word"]
    assert kept["refined"] > kept["rerun, local perplexity"] - 3
    for name in ("inserted.png", "weights.png"):
        assert (tmp_path / name).stat().st_size > 0


def test_claassen_without_data(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Without the words the tables on them are skipped with a word, but not in CI."""
    monkeypatch.setenv("MANYMAPS_DATA", str(tmp_path))
    monkeypatch.delenv("CI", raising=False)
    assert "Skipped: there is no" in run("claassen_insertion_2020.py")
    monkeypatch.setenv("CI", "1")
    with pytest.raises(SystemExit, match="let MANYMAPS_DATA name the folder"):
        run("claassen_insertion_2020.py")


@pytest.mark.usefixtures("data_folder")
def test_code_newsgroups_2004(tmp_path: Path) -> None:
    """CODE keeps documents with their group better than correspondence analysis and the SVD."""
    stored = tmp_path / "scores.jsonl"
    printed = run("code_newsgroups_2004.py", "--resume", str(stored), "-o", str(tmp_path / "f.png"))
    cells = re.findall(r"^\| ([^|]+) \| [\w-]+ \| (\d\.\d{3}) ", printed, re.MULTILINE)
    share = {name: float(value) for name, value in cells}
    assert share["CODE"] > max(share["CA"], share["SVD"])
    assert "Word-doc; the paper: CODE outperforms all on both measures" in printed
    assert (tmp_path / "f.png").stat().st_size > 0
    size = stored.stat().st_size
    assert run("code_newsgroups_2004.py", "--resume", str(stored)) in printed
    assert stored.stat().st_size == size


@pytest.mark.usefixtures("data_folder")
def test_code_nips_2004(tmp_path: Path) -> None:
    """Figures of documents and of authors, and who stands near whom."""
    printed = run("code_nips_2004.py", "-o", str(tmp_path))
    assert re.search(r"^Purity of 11 sections", printed, re.MULTILINE)
    assert re.search(r"^ +authors: .*Smola_A", printed, re.MULTILINE)
    for name in ("documents.png", "authors.png"):
        assert (tmp_path / name).stat().st_size > 0


@pytest.mark.usefixtures("data_folder")
def test_tenenbaum_1996(tmp_path: Path) -> None:
    """The classes of artificial data, and the variance that the printed clusters account for."""
    printed = run("tenenbaum_1996.py", "-o", str(tmp_path))
    line = "| 8 | all eight classes | 10 of 10 | "
    found = printed[printed.index(line) + len(line) :].split(" |")[:4]
    assert [cell.strip() for cell in found[2:]] == ["4 of 4", "0 of 4"]
    for name, most in (("integers", 0.2), ("consonants", 2)):
        rows = rows_of(printed, f"tenenbaum_{name}.txt")
        here = {what: row["here, %"] for what, row in rows.items() if "here, %" in row}
        as_printed = rows["the printed clusters with the printed weights"]
        assert as_printed["here, %"] == pytest.approx(as_printed["paper, %"], abs=most)
        assert here["default, best of 5 starts"] >= as_printed["here, %"] - 0.05
        chance = next(value for what, value in here.items() if what.startswith("random clusters"))
        assert chance < as_printed["here, %"] - 20
    assert rows["m n"]["here"] == pytest.approx(rows["m n"]["paper"], abs=0.05)
    assert (tmp_path / "integers.png").stat().st_size > 0


def test_noise_of_artificial_similarities() -> None:
    """Tenenbaum 1996, section 3.1: normal noise of 5 % of the mean similarity."""
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(ROOT / "examples")
        script = runpy.run_path(str(ROOT / "examples" / "tenenbaum_1996.py"))
    rng, upper = np.random.default_rng(0), np.triu_indices(12, 1)
    ratios = []
    for _ in range(300):
        one = script["make_additive_similarities"](rng)
        exact = ((one.memberships * one.weights) @ one.memberships.T)[upper]
        ratios.append((one.similarities[upper] - exact) / exact.mean())
        assert ((one.weights >= 0.1) & (one.weights <= 0.6)).all()
        np.testing.assert_array_equal(one.similarities[upper], one.similarities.T[upper])
    assert np.std(ratios) == pytest.approx(0.05, rel=0.03)
    assert np.mean(ratios) == pytest.approx(0, abs=0.002)


def test_background_2007() -> None:
    """A second map lowers the cost of one map, and becomes more even than the first."""
    printed = run("background_2007.py")
    for kind in ("joint", "conditional"):
        table = printed[printed.index(f"| {kind} probabilities") :].split("\n\n")[0]
        rows = rows_of(table)
        one, two = rows["one map"], rows["two maps, from one map"]
        assert two["KL"] < one["KL"]
        assert two["evenness, map 2"] > 4 * two["evenness, map 1"]
        assert two["error, map 1"] < two["error, map 2"]


def test_gradient_of_background_2007() -> None:
    """The gradient of both models, by finite differences."""
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(ROOT / "examples")
        model = runpy.run_path(str(ROOT / "examples" / "background_2007.py"))["Model"]
    rng = np.random.default_rng(0)
    p = rng.random((8, 8)) * (1 - np.eye(8))
    for joint, target in ((True, p / p.sum()), (False, p / p.sum(axis=1, keepdims=True))):
        one, theta = model(target, joint, 2), rng.normal(size=8 * 2 * 3)
        toward = rng.normal(size=theta.shape)
        change = one.cost(theta + 1e-6 * toward)[0] - one.cost(theta - 1e-6 * toward)[0]
        assert change / 2e-6 == pytest.approx(one.cost(theta)[1] @ toward, rel=1e-6)


def test_inverse_divergence() -> None:
    """What it keeps near is more often related, at the price of the forward KL."""
    rows = rows_of(run("inverse_divergence.py"))
    forward, inverse = rows["KL(P‖Q)"], rows["KL(Q‖P~)"]
    assert inverse["KL(P‖Q)"] > forward["KL(P‖Q)"]
    assert inverse["KL(Q‖P~)"] < forward["KL(Q‖P~)"]
    assert inverse["related, %"] > forward["related, %"] > rows["uniform choices"]["related, %"]


def test_many_small_maps(tmp_path: Path) -> None:
    """What a teacher adds to maps of the plane from each start."""
    run("many_small_maps.py", "--output", str(tmp_path / "sizes.csv"))
    sizes = table(tmp_path / "sizes.csv")
    assert list(sizes) == ["1x70", "1x70, taught", "10x2", "2x10"]
    assert 1 < float(sizes["10x2"]["maps a word"]) < 10
    run("many_small_maps.py", "--starts", "--output", str(tmp_path / "starts.csv"))
    starts = table(tmp_path / "starts.csv")
    for init in ("charts", "spectral", "random"):
        alone, taught = starts[f"10x2, {init}"], starts[f"10x2, {init}, taught"]
        assert float(taught["recall_at_10"]) > float(alone["recall_at_10"])
    pages = {name: float(line["maps a word"]) for name, line in starts.items()}
    assert pages["10x2, charts, taught"] < 0.6 * pages["10x2, spectral, taught"]


def test_scanpy_cells(tmp_path: Path) -> None:
    """Our t-SNE has no larger cost than scanpy's, by the same P; two maps get a page."""
    printed = run("scanpy_cells.py", "--page", str(tmp_path / "cells.html"))
    lines = re.findall(
        r"^pbmc68k_reduced +700 x 50 +(\w+) +\S+ +(\S+) +(\S+)$", printed, re.MULTILINE
    )
    kl = {who: float(cost) for who, cost, _ in lines}
    assert kl["manymaps"] < kl["scanpy"] + 0.02
    named = re.findall(r"^  map \d: \d+ cells' worth; typical: (\S+)", printed, re.MULTILINE)
    assert len(named) == 2
    assert not any(re.match("[ACGT]{8}", word) for word in named)
    assert (tmp_path / "cells.html").stat().st_size > 0


def table(path: Path) -> dict[str, dict[str, str]]:
    """The lines of a CSV file by their first column."""
    with path.open(newline="", encoding="utf-8") as file:
        return {line["maps"]: line for line in csv.DictReader(file)}


def test_prediction_2009(tmp_path: Path) -> None:
    """A line for each size and model; every model that knows anything beats none at ranking."""
    printed = run("prediction_2009.py", "--output", str(tmp_path / "table.csv"))
    lines = (tmp_path / "table.csv").read_text().splitlines()
    names = lines[0].split(",")
    rows = [dict(zip(names, line.split(","), strict=True)) for line in lines[1:]]
    found = {row["model"]: row for row in rows}
    assert {"1x8", "2x4", "Uniform", "SpreadingActivation"} <= set(found)
    least = float(found["Uniform"]["recall_at_10"])
    assert all(float(row["recall_at_10"]) >= least for row in rows)
    assert float(found["1x8"]["test"]) < float(found["Uniform"]["test"])
    assert all(name in printed for name in found)


def test_prediction_as_in_2009(tmp_path: Path) -> None:
    """A row for each size and rate, and no fit for stored rows."""
    options = ("--as-in-2009", "--rates", ".01", ".02", "--resume", str(tmp_path / "points.jsonl"))
    printed = run("prediction_2009.py", *options)
    rows = re.findall(r"^\| (\d x \d) \| (\S+) \| +\| (\S+) \| (\S+) ", printed, re.MULTILINE)
    assert [row[:2] for row in rows] == [
        ("1 x 8", "0.01"), ("1 x 8", "0.02"), ("2 x 4", "0.01"), ("2 x 4", "0.02"),
    ]  # fmt: skip
    uniform = re.search(r"^\| uniform \| +\| +\| (\S+) \| (\S+) ", printed, re.MULTILINE)
    assert uniform is not None
    assert all(float(row[3]) < float(uniform[2]) + 1e-3 for row in rows)
    assert run("prediction_2009.py", *options) == printed


def test_printed_senses(tmp_path: Path) -> None:
    """Numbers of senses, of random shares and of the asymmetries; stored fits are read."""
    options = ("--fits", str(tmp_path))
    printed = run("printed_senses.py", *options)
    if "nothing done" in printed:
        pytest.skip(printed)
    assert len(re.findall(r"^\| mean \| \d\.\d{3} ", printed, re.MULTILINE)) == 2
    assert re.search(r"^\| scissors, cut \| 0\.\d{4} .* \| 0\.936 and 0\.043 \|", printed, re.M)
    assert len(list(tmp_path.glob("*.atlas"))) == 4
    assert run("printed_senses.py", *options) == printed


@pytest.mark.parametrize("script", ["aspect_maps_2007.py", "uni_sne_2007.py"])
def test_prints_its_figures(script: str) -> None:
    """Rows of numbers, whatever the figures are."""
    rows = [line for line in run(script).splitlines() if len(re.findall(r"\d*\.\d+", line)) > 1]
    assert rows


def test_every_example_is_run() -> None:
    """A script in the folder that no test names would go unnoticed."""
    named = "".join(
        path.read_text(encoding="utf-8") for path in Path(__file__).parents[1].rglob("test_*.py")
    )
    scripts = [path for path in (ROOT / "examples").glob("*.py") if "__main__" in path.read_text()]
    assert scripts
    assert [path.name for path in scripts if path.name not in named] == []


def test_the_quick_start_of_the_readme_writes_an_atlas_and_a_page(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    text = (ROOT / "README.md").read_text("utf-8")
    session = text.partition("```python\n")[2].partition("```")[0]
    monkeypatch.chdir(tmp_path)
    names: dict[str, object] = {}
    exec(compile(session, "README.md", "exec"), names)
    assert mm.load_atlas(tmp_path / "words.atlas") == names["atlas"]
    assert (tmp_path / "words.html").stat().st_size > 0


def test_raw_trials(tmp_path: Path) -> None:
    """The two cues that the old swapped are those whose answers differ most."""
    printed = run("raw_trials.py", "-o", str(tmp_path / "page.html"))
    swapped = re.search(r"the old swapped '(\w+)' and '(\w+)'", printed).groups()
    assert set(re.findall(r"^  \d\.\d+  (\w+)$", printed, re.MULTILINE)[:2]) == set(swapped)
    assert (tmp_path / "page.html").stat().st_size > 0


def test_maps_agree_with_raters_more_than_random_groups_of_these_sizes_do():
    printed = run("validation/homonyms.py")
    if "nothing done" in printed:
        pytest.skip(printed)
    rows = {
        name: (float(precision), float(recall))
        for name, precision, recall in re.findall(
            r"^\| (.*?) \| (\d\S+) \| (\S+) ", printed, re.MULTILINE
        )
    }
    assert rows["a rater"] == (0.944, 0.940)
    assert rows["one group"] == (0.668, 1.0)
    assert rows["each alone"] == (1.0, 0.184)
    found, chance = rows["2 maps, seed 0"], rows["same sizes at random"]
    assert rows["one group"][0] < chance[0] < found[0]
    assert chance[1] < found[1]


def test_without_the_data_it_says_so(monkeypatch, tmp_path):
    monkeypatch.setenv("MANYMAPS_DATA", str(tmp_path))
    assert run("validation/homonyms.py").endswith("nothing done\n")
