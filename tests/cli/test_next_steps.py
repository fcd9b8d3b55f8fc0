"""The three commands that `fit` suggests: they suit the kind of data, and they run."""

import shlex
from pathlib import Path

import numpy as np
import pytest

from cli_samples import invoke, worked, write_norms, write_vectors
from manymaps.cli import contract


def write_table(file: Path, values: np.ndarray, corner: str) -> Path:
    letters = "abcdefgh"
    rows = [",".join([corner, *letters[: values.shape[1]]])]
    rows += [",".join([letters[i], *map(str, row)]) for i, row in enumerate(values.tolist())]
    file.write_text("\n".join(rows) + "\n", encoding="utf-8")
    return file


def similarities(seed: int) -> np.ndarray:
    values = np.random.default_rng(seed).random((6, 6)).round(2)
    return np.triu(values, 1) + np.triu(values, 1).T


def judged(folder: Path) -> Path:
    return write_table(folder / "judged.csv", similarities(0), "")


def sites(folder: Path) -> Path:
    counts = np.random.default_rng(0).integers(1, 9, (8, 5))
    return write_table(folder / "sites.csv", counts, "site")


@pytest.mark.parametrize(("write", "options", "names"), [
    (write_norms, "--maps 2 --fold", "senses senses view"),
    (write_norms, "--method tsne", "plot evaluate view"),
    (judged, "--maps 2 --rows keep", "senses cluster view"),
    (lambda folder: write_vectors(folder / "v.txt"), "--method tsne --perplexity 5",
     "plot evaluate view"),
    (sites, "--method code", "plot evaluate view"),
])  # fmt: skip
def test_next_steps_suit_the_data_and_run(tmp_path, monkeypatch, write, options, names):
    monkeypatch.chdir(tmp_path)
    file = write(tmp_path).name
    done = worked(invoke("fit", file, "-o", "out.atlas", "--iterations", 20, *options.split()))
    lines = done.stdout.splitlines()[-3:]
    assert [line[:15] for line in lines] == ["next: manymaps ", *["      manymaps "] * 2]
    commands = [shlex.split(line[15:]) for line in lines]
    assert [command[0] for command in commands] == names.split()
    assert ("--fold" in commands[1]) == ("--fold" in options)
    for command in commands:
        worked(invoke(*command))


def test_words_are_quoted_for_the_shells_of_the_system(monkeypatch):
    words = "fit", Path("my data") / "a.csv", "-o", "it's.atlas"
    assert contract.next_step(*words) == "next: " + shlex.join(map(str, words))
    monkeypatch.setattr(contract.sys, "platform", "win32")
    assert contract.next_step(*words) == 'next: fit "my data/a.csv" -o it\'s.atlas'


def test_judges_are_not_suggested_as_one_table(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for judge in (0, 1):
        write_table(tmp_path / f"{judge}.csv", similarities(judge), "")
    done = worked(
        invoke("fit", "0.csv", "1.csv", "-o", "out.atlas", "--maps", 2, "--iterations", 5)
    )
    assert done.stdout.splitlines()[-2] == "      manymaps export out.atlas -o out.csv"
