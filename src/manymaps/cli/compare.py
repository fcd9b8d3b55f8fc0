"""The command `compare`, which compares the responses of groups word by word."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

import manymaps as mm
from manymaps.cli.contract import elapsed, grid, note, quoted, shown, tell
from manymaps.cli.fit import USUAL_METHOD, Model, build
from manymaps.cli.options import (
    Running,
    Width,
    check_width,
    output_names,
    refuse,
    refuse_given,
    width_option,
    word_option,
)
from manymaps.cli.record import argument, chosen, command, group, option, output_option
from manymaps.cli.types import (
    InputFile,
    Number,
    OutputFile,
    figure_file,
    positive,
)
from manymaps.errors import DataError
from manymaps.labels import find_label, plural
from manymaps.progress import work

if TYPE_CHECKING:
    import numpy as np


# Number of words that fit on a screen; --table writes all words.
LISTED = 20
DESCRIPTION = (
    "Differences between the responses of {groups}. The column change lists the kind of "
    "difference. The column effect is its size: 0 if the groups agree with each other as much as "
    "with themselves, 1 if they have no response in common. The column excess is the divergence of "
    "the responses in bits, minus that expected by chance. The column least_q is the smallest q "
    "value of a word's responses and senses: the joint false discovery rate of all tests at which "
    "the word is listed."
)


def group_names(value: str) -> tuple[str, ...]:
    """Parse names separated by commas."""
    names = tuple(name.strip() for name in value.split(","))
    if not all(names) or len(set(names)) < len(names):
        raise click.BadParameter(
            f"{value!r} has an empty or repeated name; use distinct names such as young,old"
        )
    return names


@dataclass(frozen=True, kw_only=True)
class CompareOptions:
    """Options of the command `compare`."""

    files: tuple[Path, ...] = argument("FILE...", InputFile(), nargs=-1, required=True)
    by: str | None = option(
        "COLUMN|CONDITION",
        "Split one FILE of trials into groups by the values of a column, or by a condition such as "
        "'age < 30' and its opposite.",
    )
    names: tuple[str, ...] | None = option(
        group_names, "Names of the groups (several FILEs only).  [default: the names of the files]",
        metavar="A,B",
    )  # fmt: skip
    atlas: Path | None = option(
        InputFile(), "Compare the senses in this atlas, without fitting maps.",
        metavar="FILE.atlas",
    )  # fmt: skip
    output: Path | None = output_option(
        "OUT.html",
        OutputFile(".html", ".htm"),
        "Write a page of the maps with the differences. Without --atlas, maps are fitted to all "
        "groups together, which contain the senses, and to each group.",
        required=False,
    )
    table: Path | None = option(
        OutputFile(".csv", ".parquet"), "Write a table with one row per word.", metavar="OUT.csv"
    )
    plot: Path | None = option(
        figure_file, "Draw all words, and the senses of the words that changed most.",
        metavar="OUT.png",
    )  # fmt: skip
    width: Width | None = width_option()
    words_shown: tuple[str, ...] = word_option()
    pairs: Path | None = option(
        InputFile(),
        "Compare two languages with this table of translations: words of the first FILE in the "
        "first column, words of the second FILE in the second.",
        metavar="PAIRS.csv",
    )
    min_effect: float = option(
        Number(0, 1, max_open=True),
        "Minimum effect of the listed changes; the lower limit of its 95 % confidence interval "
        "must reach it.",
        default=0.0,
    )
    maps: int | None = option(
        positive, "Number of maps to fit (with -o only).  [default: 40]", sets="n_maps"
    )
    running: Running = group(Running)


OUTPUTS = ("output", "table", "plot")


@command(CompareOptions)
def compare(options: CompareOptions) -> None:
    """Compare the responses of groups of participants.

    The comparison lists the words that differ and, with --atlas or -o, the senses. Each FILE is a
    group: norms (preferably with response counts), or raw trials with one row per participant and
    cue. With --by, the participants of one file of trials are split into groups. The tests permute
    participants among the groups, or responses if participants are unknown. They are corrected for
    the number of tests.

    The effect is the size of a difference, with a 95 % confidence interval. It is 0 if participants
    of different groups give the same response as often as participants of one group, and 1 if the
    groups have no response in common. With many responses, small effects are significant too;
    --min-effect lists only large ones.

    \b
    Examples:  manymaps compare young.tsv old.tsv -o compare.html
               manymaps compare young.tsv old.tsv --atlas big.atlas
               manymaps compare young.tsv old.tsv --min-effect 0.2
               manymaps compare trials.csv --by gender --table changes.csv --plot changes.png
               manymaps compare trials.csv --by 'age < 30' -o age.html
               manymaps compare english.csv dutch.csv --pairs words.csv --table languages.csv
    """
    _check(options)
    groups, rule = _groups(options)
    _check_words(options.words_shown, next(iter(groups.values())))
    atlas = None if options.atlas is None else mm.load_atlas(options.atlas)
    estimator = None
    if options.output is not None and atlas is None:
        estimator = build(USUAL_METHOD, Model(maps=options.maps), options.running)
    title = f"comparing {' and '.join(groups)}" if len(groups) == 2 else "comparing groups"
    with work(title):
        found = mm.compare(
            groups,
            estimator,
            atlas,
            responses=rule,
            pairs=None if options.pairs is None else _pairs(options.pairs),
            random_state=options.running.seed,
            min_effect=options.min_effect,
        )
        note(*found.notes)
        _write(found, atlas, options)
    tell(
        lambda: _record(found, options),
        lambda: _report(found, options),
        files=[*chosen(options, *OUTPUTS).values()],
    )


def _check(options: CompareOptions) -> None:
    files, by, names = options.files, options.by, options.names
    check_width(options)
    refuse(
        (by is None and len(files) < 2,
         "a single FILE requires --by COLUMN, which splits the participants of a file of "
         "trials; pass one FILE per group to compare files"),
        (by is not None and len(files) > 1, "--by splits one file of trials; pass a single FILE"),
        (by is not None and names is not None,
         "--names cannot be combined with --by, which names the groups after its values"),
        (names is not None and len(names) != len(files),
         f"--names has {len(names or ())} names for {len(files)} files; use one name per file"),
        (options.words_shown and options.plot is None, "--word requires --plot OUT.png"),
    )  # fmt: skip
    if options.atlas is not None or options.output is None:
        refuse_given(("maps", "jobs"), "tests without a fit; use -o OUT.html without --atlas")


def _groups(options: CompareOptions) -> tuple[dict[str, mm.Trials | mm.Associations], str]:
    """Read the groups by name with the rule for their responses, and print their sizes."""
    from manymaps.cli.reading import load_responses
    from manymaps.cli.report import reading_notes

    files = options.files
    loaded = [load_responses(file) for file in files]
    rule = str(loaded[0].settings.get("responses", "keep")).replace("keep", "drop")
    if options.by is not None:
        trials = loaded[0].data
        if not isinstance(trials, mm.Trials):
            raise DataError(
                f"{files[0]} does not contain raw trials, so --by cannot split it; use trials with "
                "one row per participant and cue, or pass one file per group"
            )
        parts = trials.groups(options.by)
        for name, part in parts.items():
            note(f"{name}: {_size(part)}")
        if len(parts) < 2:
            raise DataError(
                f"{files[0]}: all trials are in one group, {next(iter(parts))!r}; use another --by"
            )
        return dict(parts), rule
    groups: dict[str, mm.Trials | mm.Associations] = {}
    for name, file, (data, _) in zip(options.names or _names(files), files, loaded, strict=True):
        if name in groups:
            raise click.UsageError(
                f"duplicate group name {name!r}; use --names to rename the groups"
            )
        if not isinstance(data, mm.Trials | mm.Associations):
            raise DataError(f"{file} contains no responses; expected norms or trials")
        groups[name] = data
        for line in [_size(data)] if isinstance(data, mm.Trials) else reading_notes(data):
            note(f"{name}: {line}")
    return groups, rule


def _check_words(words: Sequence[str], first: mm.Trials | mm.Associations) -> None:
    """Raise UnknownLabelError if a word to draw is unknown, before fits that take minutes."""
    for word in words:
        find_label(word, first.cues if isinstance(first, mm.Trials) else first.labels)


def _size(trials: mm.Trials) -> str:
    people = f" of {trials.n_participants:,} participants" if trials.participant is not None else ""
    return f"{trials.n_trials:,} trials{people}"


def _names(files: Sequence[Path]) -> list[str]:
    """Return the names of the files without suffixes, or full paths if names are not unique."""
    short = [file.name.split(".")[0] or file.name for file in files]
    return short if len(set(short)) == len(short) else [str(file) for file in files]


def _pairs(path: Path) -> list[tuple[str, str]]:
    """Return the first two columns of a table by row, skipping incomplete rows."""
    from manymaps.io.metadata import read_columns

    columns = [list(column) for _, column in read_columns(path).items()]
    if len(columns) < 2:
        raise DataError(
            f"{path} has one column; expected words of the first file in the first column and "
            "their translations in the second"
        )
    rows = zip(*columns[:2], strict=True)
    return [(str(one).strip(), str(two).strip()) for one, two in rows if one and two]


def _write(found: mm.Comparison, atlas: mm.Atlas | None, options: CompareOptions) -> None:
    """Write the requested files, after all steps that may fail."""
    from manymaps.atlas.export import write_columns

    figure = None
    if options.plot is not None:
        with work("drawing the figure"):
            figure = mm.plot_comparison(found, options.words_shown or None, width=options.width)
    shown_atlas = atlas if found.fits is None else found.fits.pooled
    if options.output is not None and shown_atlas is not None:
        with work(f"writing {options.output}"):
            mm.write_page(
                found.attach(shown_atlas),
                options.output,
                color="change",
                description=DESCRIPTION.format(groups=" and ".join(found.groups)),
                noun="word",
            )
    if options.table is not None:
        columns = {name: values[found.order] for name, values in found.columns.items()}
        write_columns(columns, options.table)
    if figure is not None and options.plot is not None:
        mm.save_figure(figure, options.plot)


def _record(found: mm.Comparison, options: CompareOptions) -> dict[str, Any]:
    return {
        "groups": [
            {
                "name": name,
                "n_responses": int(n.sum()),
                "median_units": _median(units),
            }
            for name, n, units in zip(found.groups, found.n_responses, found.n_units, strict=True)
        ],
        "units": found.units,
        "n_words": len(found.words),
        "n_changed": len(_changed(found)),
        "n_words_changed": int(found.changed.sum()),
        "n_senses": len(found.sense_changes),
        "n_senses_changed": int((found.sense_changes != "").sum()),
        "alpha": found.alpha,
        "min_effect": found.min_effect,
        "effect": dict(zip(("low", "median", "high"), _quartiles(found.effect), strict=True)),
        "changes": [_change(found, w) for w in _changed(found)],
        "notes": list(found.notes),
        "seed": options.running.seed,
        "seconds": elapsed(),
        **output_names(options, *OUTPUTS),
    }


def _changed(found: mm.Comparison) -> list[int]:
    """Return the indices of the words that changed, in the order of the comparison."""
    from manymaps.analysis.comparison import NO_CHANGE

    return [w for w in found.order.tolist() if found.changes[w] != NO_CHANGE]


def _change(found: mm.Comparison, w: int) -> dict[str, Any]:
    """Return the record of a word that changed."""
    word = found.words[w]
    figures = ("effect", "effect_low", "effect_high", "divergence", "by_chance", "p", "q", "cosine")
    senses = [
        {"map": sense.map, "members": sense.members,
         "shares": dict(zip(found.groups, sense.shares, strict=True)),
         "shift": None if sense.shift is None else sense.shift._asdict(),
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


def _quartiles(effects: Any) -> list[float]:
    """Return the quartiles of the known effects."""
    import numpy as np

    known = effects[np.isfinite(effects)]
    return np.quantile(known, [0.25, 0.5, 0.75]).tolist() if known.size else [np.nan] * 3


def _median(values: np.ndarray) -> float:
    import numpy as np

    return float(np.median(values))


def _report(found: mm.Comparison, options: CompareOptions) -> str:
    """Report the result in one sentence, the words that differ most, and the tests."""
    changed = _changed(found)
    low, middle, high = _quartiles(found.effect)
    groups = ", ".join(found.groups[:-1]) + f" and {found.groups[-1]}"
    by = f" by an effect of at least {found.min_effect:g}" if found.min_effect else ""
    lines = [
        f"{len(changed):,} of {len(found.words):,} words differ between {groups}{by}; the median "
        f"effect of all words is {middle:z.2f} (middle half: {low:z.2f} to {high:z.2f})"
    ]
    if changed:
        lines.append(grid(_rows(found, changed[:LISTED])))
        if len(changed) > LISTED:
            lines.append(f"and {len(changed) - LISTED:,} more; use --table OUT.csv to list all")
    else:
        least = found.words[int(found.order[0])]
        lines.append(f"no word differs significantly; {least!r} has the lowest q")
    if len(changed) > len(found.words) / 2 and len(changed) > LISTED:
        lines.append(
            "most words differ, so the groups or their data differ as a whole; "
            f"--min-effect {_rounded_up(found, changed):g} lists the words that differ most"
        )
    n_senses = int((found.sense_changes != "").sum())
    per_word = " and ".join(f"{_median(units):,.0f}" for units in found.n_units)
    n_changed = int(found.changed.sum())
    differ = "differs in all its" if n_changed == 1 else "differ in all their"
    lines.append(
        f"{plural('word', n_changed)} {differ} responses, {n_senses:,} of "
        f"{len(found.sense_changes):,} senses in their response share; joint false discovery rate "
        f"{found.alpha:.0%}; {per_word} {found.units} per word (median); {elapsed():.0f} s"
    )
    if 0 < len(changed) <= LISTED and options.plot is None:
        first = quoted(found.words[changed[0]])
        lines.append(f"next: repeat the command with --plot OUT.png --word {first}")
    return "\n".join(lines)


def _rounded_up(found: mm.Comparison, changed: Sequence[int]) -> float:
    """Return a minimum effect, in steps of 0.05, that at most a tenth of the words reach."""
    import numpy as np

    return min(math.ceil(20 * float(np.quantile(found.effect_low[changed], 0.9))) / 20, 0.95)


def _rows(found: mm.Comparison, words: Sequence[int]) -> Iterator[tuple[str, ...]]:
    yield "word", "change", "effect", "95 %", "q", *(f"more of {name}" for name in found.groups)
    for w in words:
        yield (
            shown(found.words[w]),
            str(found.changes[w]),
            f"{found.effect[w]:z.2f}",
            f"{found.effect_low[w]:.2f}-{found.effect_high[w]:.2f}",
            f"{found.least_q[w]:.2g}",
            *(
                ", ".join(shown(answer, 20) for answer, _ in found.answers(found.words[w], name, 3))
                for name in found.groups
            ),
        )
        for sense in found.senses_of(found.words[w]):
            if sense.change:
                shift = sense.shift
                yield (
                    f"  {', '.join(shown(member, 20) for member in sense.members[:3])}",
                    f"{sense.change}, map {sense.map}",
                    "" if shift is None else f"{shift.value:+.2f}",
                    "" if shift is None else f"{shift.low:+.2f} to {shift.high:+.2f}",
                    f"{sense.q:.2g}",
                    *(f"{share:.0%}" for share in sense.shares),
                )
