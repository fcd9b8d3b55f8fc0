"""Errors speak of options as a person typed them, never of parameters of the library."""

import inspect
import json
import re
import shutil
from collections.abc import Callable
from pathlib import Path

import click
import numpy as np
import pytest

import manymaps as mm
from cli_samples import failed, invoke, write_norms, write_vectors
from manymaps.analysis.ambiguity import ambiguity
from manymaps.analysis.stability import repeat_fits, stability
from manymaps.cli import cli, types
from manymaps.cli.contract import spelled_as_option
from manymaps.cli.fit import METHODS
from manymaps.cli.types import InputFile, Number, OutputFile, Several, positive
from manymaps.errors import ParameterError, setting, spelling
from manymaps.io.counting import Words, count_cooccurrences
from sweep_samples import write_ring

QUICK = ("--iterations", 3)
COMMANDS = {
    "inspect": ("ring.csv",),
    "diagnose": ("ring.csv",),
    "spread": ("norms.csv", "tie"),
    "predict": ("ring.csv", "--maps", 1, "--dims", 2, *QUICK),
    "sweep": ("ring.csv", "--maps", 1, "--dims", 2, "-o", "s.csv", "--jobs", 1, *QUICK),
    "count": ("posts.jsonl", "-o", "c.npz"),
    "fit": ("norms.csv", "-o", "o.atlas", "--maps", 2, *QUICK),
    "fit of vectors": ("words.vec", "-o", "o.atlas", "--method", "tsne", "--perplexity", 5, *QUICK),
    "fit of counts": ("counts.npz", "-o", "o.atlas", "--method", "code", *QUICK),
    "senses": ("norms.atlas", "tie"),
    "pairs": ("norms.atlas", "norms.csv"),
    "gist": ("norms.atlas", "tie"),
    "plot": ("norms.atlas", "-o", "o.png"),
    "insert": ("old.atlas", "words.vec", "-o", "o.atlas"),
    "evaluate": ("old.atlas", "words.vec"),
    "cluster": ("ring.csv", "--clusters", 2, "--restarts", 1),
    "stability": ("ring.csv", "-o", "o.atlas", "--fits", 2, "--maps", 2, "--jobs", 1, *QUICK),
    "compare": ("norms.csv", "others.csv", "--min-responses", 2, "--permutations", 99),
    "align": ("norms.atlas", "norms.atlas", "-o", "o.atlas"),
    "vectors": ("old.atlas", "env.csv"),
    "view": ("norms.atlas", "-o", "o.html"),
    "export": ("norms.atlas", "-o", "o.csv"),
}
BAD = ("0", "-1", "nonsense", "", "missing.csv", "notes.txt")
# Values that are not refused at once, but take long, where work of any length may be asked for.
NO_LIMIT = {"--seed", "--jobs", "--samples", "--sample", "--resamples", "--per-cue", "--title"}
# Of words in a list, and of what a pattern finds, the fault is that of the texts.
OTHERS = {"--words": "the list begins|vocabulary", "--token-pattern": "the pattern"}


@pytest.fixture(scope="module")
def samples(tmp_path_factory: pytest.TempPathFactory) -> Path:
    place = tmp_path_factory.mktemp("options")
    norms = mm.read_associations(write_norms(place))
    write_ring(place / "ring.csv", 20)
    others = (place / "norms.csv").read_text(encoding="utf-8").replace("knot,1\n", "knot,9\n")
    (place / "others.csv").write_text(others, encoding="utf-8")
    known = mm.read_vectors(write_vectors(place / "words.vec", slice(30)))
    write_vectors(place / "words.vec")
    heights = "".join(f"{label},{k}\n" for k, label in enumerate(known.labels))
    (place / "env.csv").write_text(f"word,height\n{heights}", encoding="utf-8")
    quick = {"max_iter": 5, "random_state": 0}
    mm.TSNE(perplexity=5, **quick).fit(known).atlas_.save(place / "old.atlas")
    mm.MultipleMapsTSNE(2, **quick).fit(norms).atlas_.save(place / "norms.atlas")
    values = np.random.default_rng(0).poisson(1.0, (8, 6)) + 1.0
    mm.Counts(values).save(place / "counts.npz")
    (place / "posts.jsonl").write_text(json.dumps({"text": "bow tie bow"}) + "\n")
    (place / "notes.txt").write_text("mine\n")
    return place


@pytest.fixture
def folder(samples: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A copy of the samples, where the commands work."""
    place = shutil.copytree(samples, tmp_path / "here")
    monkeypatch.chdir(place)
    return place


def options() -> list[tuple[str, str]]:
    return [
        (name, max(option.opts, key=len))
        for name in COMMANDS
        for option in cli.commands[name.split()[0]].params
        if isinstance(option, click.Option) and not option.is_flag
    ]


@pytest.mark.parametrize(("name", "option"), options())
def test_an_error_names_the_option_that_was_given(folder, name, option):
    for value in BAD:
        if option in NO_LIMIT and value.isdecimal():
            continue
        before = set(folder.iterdir())
        result = invoke(name.split()[0], *COMMANDS[name], option, value)
        for made in set(folder.iterdir()) - before:
            made.unlink()  # lest another option takes it for an input
        if result.exit_code == 0:
            continue
        said = " ".join(result.stderr.split("Error:", 1)[1].split())
        names = rf"{option}\b|'-o' / '--output'|(^| )-o\b|No such option '{value}'"
        assert re.search(f"{names}|{OTHERS.get(option, names)}", said), (value, said)
        assert not re.search(r"\b[a-z_]+=\S", said), (value, said)
        assert "the run failed" not in said, (value, said)


def files(kind: type) -> list[tuple[str, click.Option]]:
    """The options of the commands for files of a kind."""
    return [
        (name, one)
        for name in COMMANDS
        for one in cli.commands[name.split()[0]].params
        if isinstance(one, click.Option) and isinstance(one.type, kind)
    ]


OUTPUTS = files(OutputFile)
OUTPUT_OF = dict(reversed(OUTPUTS))


def file_for(output: click.Option, text: str = "mine") -> Path:
    """A file of somebody else whose name an output may have."""
    file = Path(f"same{(*output.type.suffixes, '.atlas')[0]}")
    file.write_text(text, encoding="utf-8")
    return file


@pytest.mark.parametrize(("name", "output"), OUTPUTS)
def test_an_input_is_not_overwritten(folder, name, output):
    first, *others = COMMANDS[name]
    same = Path(first).rename(file_for(output))
    before = same.read_bytes()
    result = invoke(name.split()[0], same, *others, output.opts[-1], same)
    assert same.read_bytes() == before or "ATLAS" in output.type.may_replace
    if "ATLAS" not in output.type.may_replace:
        assert result.exit_code == 2
        assert re.search(rf"{output.opts[0]} would overwrite [A-Z]+ \(same", result.stderr)


@pytest.mark.parametrize(
    ("name", "option"), [(name, one) for name, one in files(InputFile) if name in OUTPUT_OF]
)
def test_an_input_of_an_option_is_not_overwritten(folder, name, option):
    output = OUTPUT_OF[name]
    same = file_for(output)
    arguments = (option.opts[0], same, output.opts[0], same)
    result = invoke(name.split()[0], *COMMANDS[name], *arguments)
    failed(result, 2, f"would overwrite {option.opts[0]}")
    assert same.read_text() == "mine"


@pytest.mark.parametrize(
    ("name", "output"), [(name, one) for name, one in OUTPUTS if one.type.is_archive]
)
def test_an_atlas_replaces_no_file_of_another_kind(folder, name, output):
    same = file_for(output)
    result = invoke(name.split()[0], *COMMANDS[name], output.opts[0], same)
    failed(result, 2, "is not a manymaps archive")
    assert same.read_text() == "mine"


@pytest.mark.parametrize(
    ("kind", "value", "message"),
    [
        (Number(min=0), "nan", "is not a finite number"),
        (Number(min=0), "inf", "is not a finite number"),
        (Several(positive, "size"), "1,2,1", "'1' is repeated"),
        (Several(positive, "size"), "1,", "'' is not a size"),
        (Several(positive, "size"), ",", "the list is empty"),
        (types.count_or("all", 2), "1", "neither all nor a number of at least 2"),
        (
            types.OrFile("start", ("ca",), ".atlas"),
            "somewhere",
            "neither one of ca nor an .atlas file",
        ),
        (OutputFile(".png", ".svg"), "a.gif", "must end in .png, .svg"),
        (InputFile(), "none.txt", "no such file"),
        (types.figure_file, "nowhere/a.png", "nowhere does not exist"),
    ],
)
def test_a_type_refuses(kind, value, message):
    parameter = click.Option(["--size"])
    with pytest.raises(click.ClickException, match=message):
        kind.convert(value, parameter, None)


def offered(command: str, parameters: Callable, *others: str) -> list[tuple[str, str]]:
    """The parameters of a function but for those for which a command has no option."""
    names = set(inspect.signature(parameters).parameters) - set(others)
    assert set(others) <= set(inspect.signature(parameters).parameters)
    return [(command, name) for name in sorted(names)]


NOT_IN_FIT = (
    "mixing", "kernel_width", "affinity", "neighbors", "optimizer", "callback", "verbose",
    "row_weight", "column_weight", "early_exaggeration_iter",
)  # fmt: skip
EVERY = [
    *(
        ("fit", name)
        for estimator in METHODS.values()
        for name in inspect.signature(getattr(mm, estimator)).parameters
        if name not in NOT_IN_FIT
    ),
    *offered("predict", mm.AssociationPredictor, "init", "distillation", "teacher",
             "weight_penalty", "bias_penalty", "optimizer", "callback", "verbose"),
    *offered("sweep", mm.sweep, "norms", "grid", "split", "predictor", "on_result"),
    *offered("cluster", mm.AdditiveClustering, "polish", "prior", "features", "init", "kind",
             "verbose"),
    *offered("diagnose", mm.diagnose, "data", "affinity"),
    *offered("spread", mm.spread, "norms", "words"),
    *offered("evaluate", mm.evaluate, "atlas", "data", "keep_missing_mass"),
    *offered("stability", repeat_fits, "estimator", "data", "on_fit"),
    *offered("stability", stability, "atlases", "reference"),
    *offered("compare", mm.compare, "groups", "estimator", "on_tested"),
    *offered("export", ambiguity, "atlases", "min_share", "min_weight", "level"),
    *offered("count", Words, "lowercase", "tokenizer"),
    *offered("count", count_cooccurrences, "source", "words", "progress"),
    *offered("senses", mm.Atlas.senses, "self", "word"),
    *offered("inspect", mm.read_associations, "path", "self_pairs"),
    *offered("diagnose", mm.read_trials, "path"),
    *offered("senses", mm.intervals, "atlas", "words"),
    *offered("insert", mm.insert, "atlas", "new", "vectors", "labels"),
    *offered("view", mm.write_page, "atlas", "path"),
]  # fmt: skip


@pytest.mark.parametrize(("command", "parameter"), sorted(set(EVERY)))
def test_every_parameter_has_its_option(command, parameter):
    """A message of the library names the option of each parameter that a command passes on."""
    with click.Context(cli.commands[command]), spelling(spelled_as_option):
        message = str(ParameterError("is wrong", name=parameter, value=7))
        assert message.startswith("-")
        assert setting(parameter).startswith("-")


@pytest.mark.parametrize("name", cli.commands)
def test_options_have_a_help_and_names_of_their_own(name):
    options = [one for one in cli.commands[name].params if isinstance(one, click.Option)]
    flags = [flag for one in options for flag in (*one.opts, *one.secondary_opts)]
    assert len(set(flags)) == len(flags)
    assert all(one.help for one in options)
