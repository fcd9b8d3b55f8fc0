"""What help and hints say is true: defaults, columns, and commands that run as they stand."""

import inspect
import re
import shlex
from itertools import combinations
from pathlib import Path

import click
import numpy as np
import pytest

import manymaps as mm
from cli_samples import failed, invoke, worked, write_norms
from manymaps.cli import cli
from manymaps.cli.fit import METHODS, USUAL_METHOD, Counting, Model, VectorModel
from manymaps.cli.record import settings_of

QUICK = ("--iterations", 5)
ODD = "Item A;Item B;Times\n"
SETS = {
    one.opts[0].removeprefix("--"): parameter
    for record in (Model(), Counting(), VectorModel())
    for one, parameter, _ in settings_of(record)
}
STATED = re.compile(r"\[default: (?P<usual>[^;\]]+)(?P<others>[^\]]*)\]")


def help_of(command: str, option: str) -> str:
    [found] = [
        one
        for one in cli.commands[command].params
        if isinstance(one, click.Option) and f"--{option}" in one.opts
    ]
    return found.help or ""


def stated(help: str) -> tuple[str, dict[str, str]]:
    """The default of most methods, and those of the others by name."""
    match = STATED.search(help)
    assert match is not None, help
    others = {
        method.strip(): value.strip()
        for part in filter(None, match["others"].split(";"))
        for names, _, value in [part.partition(":")]
        for method in names.split(",")
    }
    return match["usual"], others


@pytest.mark.parametrize(
    "option",
    ["maps", "dims", "normalization", "penalty", "background", "divergence", "smoothing",
     "iterations", "early-exaggeration", "late-exaggeration", "learning-rate", "init", "tolerance",
     "restarts", "given", "perplexity", "metric"],
)  # fmt: skip
def test_the_defaults_of_each_method_are_said(option):
    usual, others = stated(help_of("fit", option))
    for name, estimator in METHODS.items():
        parameters = inspect.signature(getattr(mm, estimator)).parameters
        parameter = SETS[option]
        if parameter not in parameters:
            continue
        default = parameters[parameter].default
        said = others.get(name, usual)
        assert said == str(default) or float(said) == float(default), (name, said, default)


def test_the_default_method_is_said():
    assert stated(help_of("fit", "method"))[0] == USUAL_METHOD


@pytest.fixture
def odd(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Norms of another laboratory: semicolons, other headers, a response that is no cue."""
    monkeypatch.chdir(tmp_path)
    pairs = [("tie", "knot"), ("knot", "tie"), ("tie", "suit"), ("suit", "tie"), ("suit", "silk")]
    pairs += [("knot", "rope"), ("rope", "knot"), ("dress", "suit"), ("suit", "dress")]
    file = tmp_path / "odd.csv"
    file.write_text(ODD + "".join(f"{a};{b};{k + 2}\n" for k, (a, b) in enumerate(pairs)))
    return Path("odd.csv")


NAMED = ("--cue", "Item A", "--response", "Item B", "--strength", "Times")


def hint(result) -> list[str]:
    assert result.exit_code == 0, result.stderr
    [line] = [one for one in result.stdout.splitlines() if one.startswith("next: ")]
    command = shlex.split(line.removeprefix("next: "))
    assert command[0] == "manymaps"
    return command[1:]


class TestHints:
    """A suggested command reads what the one before it read."""

    @pytest.mark.parametrize("command", ["inspect", "diagnose"])
    def test_a_fit_reads_as_it_was_inspected(self, odd, command):
        options = (*NAMED, "--responses", "keep", "--rows", "keep")
        further = hint(invoke(command, odd, *options))
        assert further[:2] == ["fit", "odd.csv"]
        for name, value in zip(options[::2], options[1::2], strict=True):
            assert further[further.index(name) + 1] == value
        assert invoke(*further, *QUICK).exit_code == 0
        assert "silk" in mm.load_atlas("odd.atlas").labels

    def test_a_fit_of_arrays_has_their_labels_and_metric(self, tmp_path, monkeypatch):
        monkeypatch.chdir(tmp_path)
        np.save("v.npy", np.random.default_rng(0).normal(size=(12, 3)))
        Path("names.txt").write_text("".join(f"w{i}\n" for i in range(12)), encoding="utf-8")
        options = ("--labels", "names.txt", "--metric", "cosine", "--seed", 3, "--jobs", 1)
        further = hint(invoke("diagnose", "v.npy", *options))
        assert {"--labels", "names.txt", "--metric", "cosine", "--seed", "3"} < set(further)
        assert "--jobs" not in further

    def test_a_prediction_splits_and_fits_as_the_sweep_did(self, odd):
        options = ("--by", "row", "--stratified", "--patience", 2, "--seed", 4, *QUICK)
        swept = invoke(
            "sweep", odd, *NAMED, "--maps", 1, "--dims", 1, "--jobs", 1, "-o", "s.csv", *options
        )
        further = hint(swept)
        assert further[:2] == ["predict", "odd.csv"]
        for given in (*options, *NAMED):
            assert str(given) in further
        assert further.count("--maps") == 1
        assert invoke(*further).exit_code == 0

    def test_clusters_are_found_as_they_were_chosen(self, odd):
        options = ("--dissimilarities", "--absent", "zero", "--restarts", 2, "--solver", "gibbs")
        names = "abcdefgh"
        groups = [(x, y, 1 if (x < "e") == (y < "e") else 9) for x, y in combinations(names, 2)]
        Path("two.csv").write_text(
            ODD + "".join(f"{x};{y};{far}\n" for x, y, far in groups), encoding="utf-8"
        )
        further = hint(invoke("cluster", "two.csv", *NAMED, "--choose", "1-2", *options))
        assert further[:3] == ["cluster", "two.csv", "--clusters"]
        for given in (*options, *NAMED):
            assert str(given) in further
        assert "--choose" not in further
        assert invoke(*further).exit_code == 0


class TestInsertion:
    """The help of insert promised columns that it refused."""

    @pytest.mark.parametrize("named", [True, False])
    def test_strengths_under_any_header(self, tmp_path, monkeypatch, named):
        monkeypatch.chdir(tmp_path)
        norms = mm.read_associations(write_norms(tmp_path))
        fit = mm.MultipleMapsTSNE(2, max_iter=5, random_state=0).fit(norms)
        fit.atlas_.save("norms.atlas")
        header = "new word,known word,value" if named else "cue,response,strength"
        Path("new.csv").write_text(f"{header}\nbow,tie,3\nbow,knot,1\n", encoding="utf-8")
        options = ("--cue", "new word", "--response", "known word", "--strength", "value")
        insert = ("insert", "norms.atlas", "new.csv", "-o", "more.atlas")
        refused = invoke(*insert)
        assert refused.exit_code == (3 if named else 0)
        assert ("--cue" in refused.stderr) == named
        worked(invoke(*insert, *(options if named else ())))
        assert mm.load_atlas("more.atlas").labels[-1] == "bow"


class TestReasons:
    """Why a file was read as what it is not."""

    @pytest.mark.parametrize(
        ("options", "message"),
        [
            (("--labels", "names.txt"), "(because of --labels, odd.csv was read as a matrix or an"),
            (("--cue", "Item C"), "Name one of them as --cue"),
        ],
    )
    def test_an_option_may_be_the_reason(self, odd, options, message):
        Path("names.txt").write_text("tie\nknot\n", encoding="utf-8")
        result = failed(invoke("inspect", odd, *options), 3, message)
        assert ("because of" in result.stderr) == ("--labels" in options)

    def test_columns_of_pairs_make_a_list(self, tmp_path):
        (tmp_path / "v.vec").write_text("2 2\na 1 2\nb 3 4\n")
        result = invoke("inspect", tmp_path / "v.vec", "--cue", "a")
        failed(result, 3, "v.vec was read as a list of associations)")


def test_the_most_frequent_columns_alone(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    values = np.random.default_rng(0).poisson(3.0, (8, 6)) + np.arange(1.0, 7)
    mm.Counts(values, kinds=("document", "word")).save("counts.npz")
    fit = ("fit", "counts.npz", "-o", "c.atlas", "--method", "code", *QUICK)
    result = worked(invoke(*fit, "--max-words", 4))
    share = np.sort(values.sum(axis=0))[2:].sum() / values.sum()
    assert f"the 4 most frequent of 6 words contain {share:.1%} of the counts" in result.stderr
    kinds = mm.load_atlas("c.atlas").kinds
    assert (kinds.count("document"), kinds.count("word")) == (8, 4)
    assert "most frequent" not in invoke(*fit, "--max-words", 60).stderr
    write_norms(tmp_path)
    refused = invoke("fit", "norms.csv", "-o", "n.atlas", "--max-words", 4)
    failed(refused, 2, "--max-words does not apply")
