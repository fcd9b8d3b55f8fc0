"""The command `compare`: which words groups of people answer otherwise, side by side in a page."""

from __future__ import annotations

import re
import shlex
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from manymaps.cli.contract import (
    Command,
    Interrupted,
    elapsed,
    note,
    plain_table,
    quiet_option,
    refuse_overwriting,
    refuse_to_replace,
    rendered,
    shown,
    tell,
)
from manymaps.cli.fit import OF_COUNTS, USUAL_METHOD, build, model_options
from manymaps.cli.interruption import partial_name
from manymaps.cli.options import READING, json_option, pair_options, refuse_given
from manymaps.cli.types import InputFile, Number, OutputFile, Several, positive
from manymaps.cli.workers import check_workers, on_workers, worker_options
from manymaps.progress import work

if TYPE_CHECKING:
    from manymaps.analysis.comparison import Comparison
    from manymaps.data.associations import Associations
    from manymaps.data.trials import Trials

__all__ = ["compare"]

# Of a fit, which is made for the page and for nothing else.
OF_FITS = (
    "method", "maps", "dims", "normalization", "penalty", "background", "divergence", "smoothing",
    "iterations", "early_exaggeration", "late_exaggeration", "learning_rate", "init", "restarts",
    "tolerance", "jobs", "neighbors", "backend", "scheduler",
)  # fmt: skip
OUTPUTS = ("output", "table", "sense_table", "plot")
LISTED = 20
DESCRIPTION = (
    "What {groups} answer otherwise. The column change says how; excess is the divergence of the "
    "answers in bits, above what chance gives; least_q the smallest q of a word's answers and its "
    "senses, the false discovery rate of all tests together at which the word is shown."
)


class Name(click.ParamType):
    """A name that is not empty."""

    name = "name"

    def convert(self, value: Any, param: Any, ctx: Any) -> str:
        """The name."""
        if not str(value).strip():
            self.fail("a name is empty", param, ctx)
        return str(value).strip()


@click.command(cls=Command)
@click.argument("files", type=InputFile(), metavar="FILE...", nargs=-1, required=True)
@click.option(
    "--by",
    metavar="COLUMN|CONDITION",
    help="Of one FILE of trials: the groups are the values of a column, or of a condition such as "
    "'age < 30' and its opposite.",
)
@click.option(
    "--names", type=Several(Name(), "name"), metavar="A,B",
    help="What the groups are called.  [default: the names of the files]",
)  # fmt: skip
@click.option(
    "-o",
    "--output",
    type=OutputFile(".html", ".htm"),
    metavar="OUT.html",
    help="Fit maps to each group from a common start, and write a page of two, side by side.",
)
@click.option(
    "--atlases",
    is_flag=True,
    help="With -o: keep the atlas of each group, and of all, beside it as OUT.NAME.atlas.",
)
@click.option(
    "--table", type=OutputFile(".csv", ".parquet"), metavar="OUT.csv", help="A row for each word."
)
@click.option(
    "--sense-table",
    type=OutputFile(".csv", ".parquet"),
    metavar="OUT.csv",
    help="A row for each sense of each word.",
)
@click.option(
    "--plot",
    type=OutputFile(".png", ".svg", ".pdf"),
    metavar="OUT.png",
    help="Draw all words, and the senses of those that changed most.",
)
@click.option("--word", "words_shown", multiple=True, metavar="WORD", help="With --plot: these.")
@click.option(
    "--per-cue",
    type=positive,
    metavar="N",
    help="How many people answered each cue, where FILE does not say.  [default: 100]",
)
@click.option(
    "--within",
    metavar="COLUMN",
    help="Of trials: compare people of the same value of a column alone.",
)
@click.option(
    "--shared-people",
    type=click.Choice(["refuse", "distinct", "paired"]),
    default="refuse",
    show_default=True,
    help="People of the same name in two groups: a mistake, others, or asked in either.",
)
@click.option(
    "--pairs",
    type=InputFile(),
    metavar="PAIRS.csv",
    help="Of two languages: a table whose first column has words of the first FILE, the second "
    "those of the second that mean the same.",
)
@click.option(
    "--min-responses",
    type=positive,
    metavar="N",
    default=10,
    show_default=True,
    help="Words with fewer in any group are not tested.",
)
@click.option(
    "--min-share",
    type=Number(0, 1),
    metavar="X",
    default=0.05,
    show_default=True,
    help="A group has a sense from this share of its answers on.",
)
@click.option(
    "--alpha",
    type=Number(0, 1, min_open=True, max_open=True),
    metavar="X",
    default=0.05,
    show_default=True,
    help="Maximum expected share of false discoveries among the changes shown, of words and senses "
    "together.",
)
@click.option(
    "--correction",
    type=click.Choice(["bh", "by"]),
    default="bh",
    show_default=True,
    help="For many tests: Benjamini-Hochberg, or Benjamini-Yekutieli, which shows less.",
)
@click.option(
    "--permutations",
    type=click.IntRange(min=99),
    metavar="N",
    default=999_999,
    show_default=True,
    help="At most so many draws of a word.",
)
@click.option(
    "--neighbors",
    type=positive,
    metavar="N",
    default=10,
    show_default=True,
    help="Of how many neighbours in the maps it is said how many a word keeps.",
)
@model_options
@pair_options
@worker_options
@quiet_option
@json_option
@click.pass_context
def compare(ctx: click.Context, files: Sequence[Path], as_json: bool, **options: Any) -> None:
    """Compare groups of people: which words they answer otherwise, and which senses they give.

    Each FILE is a group: norms (best with counts of answers), or raw trials with a row for each
    person and cue. With --by one file of trials is parted by who answered. Tests deal people, or
    where these are not known answers, to the groups by lot, and are corrected for their number.

    \b
    Examples:  manymaps compare young.tsv old.tsv -o compare.html
               manymaps compare trials.csv --by gender --table changes.csv --plot changes.png
               manymaps compare trials.csv --by 'age < 30' --within gender -o age.html
               manymaps compare english.csv dutch.csv --pairs words.csv --table languages.csv
    """
    _check(ctx, files, options)
    check_workers(ctx, options)
    groups = _groups(files, options)
    _check_words(options["words_shown"], next(iter(groups.values())))
    kept = _kept(tuple(groups), options) if options["atlases"] else []
    estimator = None
    if options["output"] is not None:
        estimator = build(options["method"] or USUAL_METHOD, options)
    told = f"comparing {' and '.join(groups)}" if len(groups) == 2 else "comparing groups"
    with work(told), on_workers(options), _tests_outlive(options) as tested:
        found = _compared(groups, estimator, options, tested.append)
        for line in found.notes:
            note(line)
        _write(found, options)
        tested.clear()
        if kept and found.fits is not None:
            for atlas, path in zip(
                (*found.atlases(), found.attach(found.fits.pooled)), kept, strict=True
            ):
                atlas.save(path)
    seconds = elapsed()
    tell(
        lambda: _record(found, options, kept, seconds),
        lambda: _report(found, options, seconds),
        as_json=as_json,
        files=[*(options[name] for name in OUTPUTS), *kept],
    )


def _compared(
    groups: Mapping[str, Trials | Associations],
    estimator: Any,
    options: Mapping[str, Any],
    on_tested: Callable[[Comparison], None],
) -> Comparison:
    """Tests and maps."""
    from manymaps.analysis.comparison import compare as compared

    return compared(
        groups,
        estimator,
        responses=options["responses"],
        n_responses=options["per_cue"],
        pairs=None if options["pairs"] is None else _pairs(options["pairs"]),
        n_permutations=options["permutations"],
        n_neighbors=options["neighbors"],
        random_state=options["seed"],
        on_tested=on_tested,
        **{name: options[name] for name in (
            "within", "shared_people", "min_responses", "min_share", "alpha", "correction"
        )},
    )  # fmt: skip


@contextmanager
def _tests_outlive(options: Mapping[str, Any]) -> Iterator[list[Comparison]]:
    """Keep what the tests found where the maps, the figure or the page are interrupted."""
    tested: list[Comparison] = []
    try:
        yield tested
    except KeyboardInterrupt as error:
        beside = options["table"] or options["output"]
        if not tested or beside is None:
            raise
        kept = partial_name(beside, ".csv")
        _write_tables(tested[0], {**options, "table": kept})
        raise Interrupted(
            f"interrupted before all was done; {kept} holds what the tests found"
        ) from error


def _check(ctx: click.Context, files: Sequence[Path], options: Mapping[str, Any]) -> None:
    if options["by"] is None and len(files) < 2:
        raise click.UsageError(
            "give two or more files, one for each group; or --by COLUMN, to part the people of a "
            "file of trials",
            ctx,
        )
    if options["by"] is not None and len(files) > 1:
        raise click.UsageError("--by parts one file of trials; give one FILE", ctx)
    if options["by"] is not None and options["names"] is not None:
        raise click.UsageError("--names is of several files; with --by the values name them", ctx)
    if options["names"] is not None and len(options["names"]) != len(files):
        raise click.UsageError(
            f"--names has {len(options['names'])} names for {len(files)} files; give one for each",
            ctx,
        )
    if options["words_shown"] and options["plot"] is None:
        raise click.UsageError("--word needs --plot OUT.png", ctx)
    if options["method"] == OF_COUNTS:
        raise click.UsageError(f"--method {OF_COUNTS} is of counts of two kinds of object", ctx)
    if isinstance(options["init"], Path):
        raise click.UsageError("--init names a start; that of the groups is the fit of all", ctx)
    if options["output"] is None:
        refuse_given(ctx, (*OF_FITS, "atlases"), "tests alone; -o OUT.html fits maps")
    outputs = {
        "-o": options["output"],
        "--table": options["table"],
        "--sense-table": options["sense_table"],
        "--plot": options["plot"],
    }
    for file in files:
        others = {"--labels": options["labels"], "--pairs": options["pairs"]}
        refuse_overwriting(outputs, {"FILE": file, **others})


def _groups(files: Sequence[Path], options: Mapping[str, Any]) -> dict[str, Trials | Associations]:
    """The groups by name, and what deserves saying about each."""
    from manymaps.cli.reading import read_trials_or_none
    from manymaps.cli.report import reading_notes
    from manymaps.data.trials import Trials
    from manymaps.errors import DataError

    if options["by"] is not None:
        trials = read_trials_or_none(files[0], options)
        if trials is None:
            raise DataError(
                f"{files[0]} has no row for each person and cue, and so nobody whom --by could "
                "tell apart; give raw trials, or one file for each group"
            )
        parts = trials.groups(options["by"])
        for name, part in parts.items():
            note(f"{name}: {_told(part)}")
        if len(parts) < 2:
            raise DataError(f"{files[0]}: everybody is of one group, {next(iter(parts))!r}")
        return dict(parts)
    groups: dict[str, Trials | Associations] = {}
    for name, file in zip(options["names"] or _names(files), files, strict=True):
        if name in groups:
            raise click.UsageError(f"two groups are called {name!r}; name them by --names")
        trials = read_trials_or_none(file, options)
        groups[name] = _norms(file, options) if trials is None else trials
        data = groups[name]
        lines = [_told(data)] if isinstance(data, Trials) else reading_notes(data)
        for line in lines:
            note(f"{name}: {line}")
    return groups


def _kept(names: Sequence[str], options: Mapping[str, Any]) -> list[Path]:
    """Where the atlases of the groups and of all are kept, in that order."""
    page: Path = options["output"]
    plain = [re.sub(r"[^\w.-]+", "_", name).strip("_") or "group" for name in names]
    numbered = plain if len(set(plain)) == len(plain) else [f"{k}" for k in range(len(plain))]
    paths = [page.with_suffix(f".{name}.atlas") for name in (*numbered, "all")]
    for path in paths:
        refuse_to_replace("--atlases", path)
    return paths


def _check_words(words: Sequence[str], first: Trials | Associations) -> None:
    """Refuse words to be drawn that are none, before minutes of fits; UnknownLabel names one."""
    from manymaps.data.trials import Trials
    from manymaps.labels import find_label

    for word in words:
        find_label(word, first.cues if isinstance(first, Trials) else first.labels)


def _told(trials: Trials) -> str:
    people = f" of {trials.n_participants:,} people" if trials.participant is not None else ""
    return f"{trials.n_trials:,} trials{people}"


def _names(files: Sequence[Path]) -> list[str]:
    """Names of the files without suffixes, or whole where these are alike."""
    short = [file.name.split(".")[0] or file.name for file in files]
    return short if len(set(short)) == len(short) else [str(file) for file in files]


def _norms(file: Path, options: Mapping[str, Any]) -> Associations:
    """The norms of a file with all answers, whose rule is that of all groups together."""
    from manymaps import read_associations
    from manymaps.cli.options import ROW_SUMS
    from manymaps.cli.reading import reasoned
    from manymaps.data.pair_rules import split_responses

    first, _ = split_responses(options["responses"])
    kept = "keep" if first is None else f"R{'123456789'[:first]},keep"
    chosen = {name: options[name] for name in READING}
    chosen |= {"responses": kept, "rows": options["rows"] or ROW_SUMS[0]}
    if chosen["strength"] is None and first is None and options["per_cue"] is None:
        chosen["strength"] = _counts_column(file)
    with work(f"reading {file}"), reasoned(file, options):
        return read_associations(file, **chosen)


def _counts_column(file: Path) -> str | None:
    """The column of counts of a text table that has strengths as well; tests are of counts."""
    from manymaps.errors import DataError
    from manymaps.io.columns import COUNT, STRENGTH, folded
    from manymaps.io.files import first_bytes, read_bytes, stored_format
    from manymaps.io.tables import open_headed_table

    if stored_format(file, first_bytes(file)) is not None:
        return None
    try:
        header = next(open_headed_table(read_bytes(file), str(file)).rows())[1]
    except (DataError, StopIteration):
        return None
    if not any(folded(name) in STRENGTH for name in header):
        return None
    return next((name for alias in COUNT for name in header if folded(name) == alias), None)


def _pairs(path: Path) -> list[tuple[str, str]]:
    """The first two columns of a table, row by row; rows that lack either say nothing."""
    from manymaps.errors import DataError
    from manymaps.io.metadata import read_columns

    columns = list(read_columns(path).values())
    if len(columns) < 2:
        raise DataError(
            f"{path} has one column; give words of the first file in the first column, and what "
            "they mean in the second file in the second"
        )
    rows = zip(*columns[:2], strict=True)
    return [(str(one).strip(), str(two).strip()) for one, two in rows if one and two]


def _write(found: Comparison, options: Mapping[str, Any]) -> None:
    """The files that were asked for, each whole, once all that may fail is done."""
    figure = None
    if options["plot"] is not None:
        from manymaps.figures.comparison import plot_comparison

        with work("drawing the figure"):
            figure = plot_comparison(found, options["words_shown"] or None)
    if options["output"] is not None:
        from manymaps.viewer.page import write_page

        if len(found.groups) > 2:
            note(f"a page has two sides: those of {found.groups[0]} and {found.groups[1]}")
        with work(f"writing {options['output']}"):
            write_page(
                found.atlases()[:2],
                options["output"],
                title=found.groups[:2],
                color="change",
                description=DESCRIPTION.format(groups=" and ".join(found.groups[:2])),
                noun="word",
            )
    _write_tables(found, options)
    if figure is not None:
        from manymaps.figures.maps import save_figure

        save_figure(figure, options["plot"])


def _write_tables(found: Comparison, options: Mapping[str, Any]) -> None:
    from manymaps.atlas.export import write_columns

    if options["table"] is not None:
        columns = {name: values[found.order] for name, values in found.columns.items()}
        write_columns(columns, options["table"])
    if options["sense_table"] is not None:
        write_columns(found.sense_columns, options["sense_table"])


def _record(
    found: Comparison, options: Mapping[str, Any], kept: Sequence[Path], seconds: float
) -> dict[str, Any]:
    return {
        "groups": [
            {"name": name, "n_responses": int(n.sum()), "median_units": float(_median(units))}
            for name, n, units in zip(found.groups, found.n_responses, found.n_units, strict=True)
        ],
        "units": found.units,
        "n_words": len(found.words),
        "n_changed": int((found.changes != _no_change()).sum()),
        "n_words_changed": int(found.changed.sum()),
        "n_senses": len(found.sense_changes),
        "n_senses_changed": int((found.sense_changes != "").sum()),
        "alpha": found.alpha,
        "changes": [_change(found, w) for w in found.order if found.changes[w] != _no_change()],
        "notes": list(found.notes),
        "seed": options["seed"],
        "seconds": seconds,
        **{name: None if options[name] is None else str(options[name]) for name in OUTPUTS},
        "atlases": [str(path) for path in kept],
    }


def _change(found: Comparison, w: int) -> dict[str, Any]:
    """What a record says of a word that changed."""
    word = found.words[w]
    figures = ("divergence", "by_chance", "p", "q", "cosine")
    senses = [
        {"members": sense.members, "shares": dict(zip(found.groups, sense.shares, strict=True)),
         "p": sense.p, "q": sense.q, "change": sense.change}
        for sense in found.senses_of(word)
    ]  # fmt: skip
    more = {
        name: [{"answer": answer, "more": gap} for answer, gap in found.answers(word, name)]
        for name in found.groups
    }
    return {
        "word": word,
        "change": str(found.changes[w]),
        **{name: float(getattr(found, name)[w]) for name in figures},
        "senses": senses,
        "more": more,
    }


def _no_change() -> str:
    from manymaps.analysis.comparison import NO_CHANGE

    return NO_CHANGE


def _median(values: Any) -> float:
    import numpy as np

    return float(np.median(values))


def _report(found: Comparison, options: Mapping[str, Any], seconds: float) -> str:
    """What a person reads: how many words changed, and those that did most."""
    told = [w for w in found.order.tolist() if found.changes[w] != _no_change()]
    n_senses = int((found.sense_changes != "").sum())
    per_word = " and ".join(f"{_median(units):,.0f}" for units in found.n_units)
    lines = [
        f"{len(told):,} of {len(found.words):,} words changed ({int(found.changed.sum()):,} in all "
        f"their answers, {n_senses:,} of {len(found.sense_changes):,} senses in their share); "
        f"false discovery rate of both together: {found.alpha:.0%}; {seconds:.0f} s",
        f"dealt by lot: {per_word} {found.units} of a word, as the median",
    ]
    if not told:
        least = found.words[int(found.order[0])]
        return "\n".join([*lines, f"nothing is shown to differ; the nearest to it is {least!r}"])
    table = plain_table()
    table.add_row("word", "change", "bits", "chance", "q", *(f"more of {n}" for n in found.groups))
    for w in told[:LISTED]:
        more = [
            ", ".join(shown(answer, 20) for answer, _ in found.answers(found.words[w], name, 3))
            for name in found.groups
        ]
        figures = (
            f"{found.divergence[w]:.2f}",
            f"{found.by_chance[w]:.2f}",
            f"{found.least_q[w]:.2g}",
        )
        table.add_row(shown(found.words[w]), str(found.changes[w]), *figures, *more)
    further = "" if len(told) <= LISTED else f"\nand {len(told) - LISTED:,} more; --table has all"
    if options["plot"] is None and not further:
        first = shlex.quote(found.words[told[0]])
        further = f"\nnext: the same with --plot OUT.png --word {first}"
    return "\n".join([*lines, rendered(table)]) + further
