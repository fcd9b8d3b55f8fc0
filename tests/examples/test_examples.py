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


def test_figure1_2009(tmp_path: Path) -> None:
    """Two maps fit the three constructions and one map fails where it must."""
    printed = started("figure1_2009.py", "-o", str(tmp_path / "figure.png"))
    assert re.search(r"^intransitive +A -> C +1\.000 +1\.000$", printed, re.MULTILINE)
    assert re.search(r"^intransitive +A -> B +0\.000 +0\.000$", printed, re.MULTILINE)
    assert re.search(r"nearest neighbour: hub +6 of 6 +6 of 6$", printed, re.MULTILINE)
    assert re.search(r"^asymmetric +China -> North Korea +0\.167 +0\.167$", printed, re.MULTILINE)
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
    """The local measures of iris and of the words reach the thesis's; the better rule exceeds them.

    Its figures for principal components are met on the words.
    """
    printed = run("claassen_tables_2020.py")
    iris = re.search(r"^manymaps +(\S+) ", printed, re.MULTILINE)
    assert iris is not None
    assert float(iris[1]) > 77.5
    assert re.search(r"^PCA: 23\.4\d and 50\.9\d; thesis: 23\.4 and 50\.9$", printed, re.MULTILINE)
    assert "nearest ten is above his best with local perplexity (61.85) at: every perplexity" in (
        printed
    )


@pytest.mark.usefixtures("data_folder")
def test_claassen_insertion_2020(tmp_path: Path) -> None:
    """A refined insertion keeps neighbours better than a median, and about as well as a rerun."""
    printed = run("claassen_insertion_2020.py", "-o", str(tmp_path))
    local = {
        name.strip(): float(value)
        for name, value in re.findall(
            r"^(median, power|refined|rerun) +(\S+) ", printed, re.MULTILINE
        )
    }
    assert local["refined"] > local["median, power"]
    assert local["refined"] > local["rerun"] - 3
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
    printed = run("code_newsgroups_2004.py", "-o", str(tmp_path / "figure.png"))
    doc_doc = printed[printed.index("Doc-doc (figure 4b)") : printed.index("Doc-doc by")]
    share = {
        name.strip(): float(value)
        for name, value in re.findall(r"^(.{28}).* (\d\.\d+)$", doc_doc, re.MULTILINE)
    }
    assert share["CODE"] > max(share["CA"], share["SVD"])
    assert "Word-doc; the paper: CODE outperforms all on both measures" in printed
    assert (tmp_path / "figure.png").stat().st_size > 0


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
    """The classes of artificial data, and more of the variance than the paper on both tables."""
    printed = run("tenenbaum_1996.py", "-o", str(tmp_path))
    assert re.search(r"8  first run +all eight classes +4 of 4 ", printed)
    reached = re.findall(r"^variance accounted for (\S+); paper (\S+)$", printed, re.MULTILINE)
    assert len(reached) == 2
    assert all(float(ours) > float(paper) - 5e-4 for ours, paper in reached)
    assert "the nasals m n are a cluster" in printed
    assert (tmp_path / "integers.png").stat().st_size > 0


def test_inverse_divergence() -> None:
    """What it keeps near is more often related, at the price of the forward KL."""
    printed = run("inverse_divergence.py")
    pattern = r"^(?:KL\(P\|\|Q\)|KL\(Q\|\|P~\)) +(\S+) +(\S+) +(\S+) +\S+$"
    forward, inverse = re.findall(pattern, printed, re.MULTILINE)
    assert float(inverse[0]) > float(forward[0])
    assert float(inverse[1]) < float(forward[1])
    assert float(inverse[2]) > float(forward[2])


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


@pytest.mark.parametrize(
    "script",
    ["aspect_maps_2007.py", "printed_senses.py", "uni_sne_2007.py"],
)
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
