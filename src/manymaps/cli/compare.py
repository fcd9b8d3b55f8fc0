"""The command `compare`, which compares the responses of groups word by word."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import manymaps as mm
from manymaps.cli.contract import elapsed, grid, note, shown, tell
from manymaps.cli.options import Running, estimator_from, output_names, refuse, refuse_given
from manymaps.cli.record import argument, chosen, command, group, option, output_option
from manymaps.cli.types import InputFile, Number, OutputFile, positive
from manymaps.errors import DataError
from manymaps.progress import work

# Number of words that fit on a screen; --table writes all words.
LISTED = 20
# Number of examples below the search field of the page.
EXAMPLES = 8
DESCRIPTION = (
    "Differences between the responses of {groups}. The column change lists the kind of "
    "difference. The column effect is its size: 0 if the groups agree with each other as much as "
    "with themselves, 1 if they have no response in common. The column q is the smallest q value "
    "of a word's responses and senses: the joint false discovery rate of all tests at which the "
    "word is listed. The examples are the words that changed most."
)

if TYPE_CHECKING:
    from manymaps.analysis.comparison import Comparison


@dataclass(frozen=True, kw_only=True)
class CompareOptions:
    """Options of the command `compare`."""

    files: tuple[Path, ...] = argument("FILE...", InputFile(), nargs=-1, required=True)
    by: str | None = option(
        "COLUMN|CONDITION",
        "Split one FILE of trials into groups by the values of a column, or by a condition such as "
        "'age < 30' and its opposite.",
    )
    atlas: Path | None = option(
        InputFile(), "Compare the senses in this atlas, without fitting maps.",
        metavar="FILE.atlas",
    )  # fmt: skip
    output: Path | None = output_option(
        "OUT.html",
        OutputFile(".html", ".htm"),
        "Write a page of the maps with the differences. Without --atlas, maps are fitted to all "
        "groups together, which contain the senses.",
        required=False,
    )
    table: Path | None = option(
        OutputFile(".csv", ".parquet"), "Write a table with one row per word.", metavar="OUT.csv"
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


OUTPUTS = ("output", "table")


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
               manymaps compare trials.csv --by gender --table changes.csv
               manymaps compare trials.csv --by 'age < 30' -o age.html
    """
    refuse(
        (options.by is None and len(options.files) < 2,
         "a single FILE requires --by COLUMN, which splits the participants of a file of "
         "trials; pass one FILE per group to compare files"),
        (options.by is not None and len(options.files) > 1,
         "--by splits one file of trials; pass a single FILE"),
    )  # fmt: skip
    if options.atlas is not None or options.output is None:
        refuse_given(("maps", "jobs"), "tests without a fit; use -o OUT.html without --atlas")
    groups, rule = _groups(options)
    atlas = None if options.atlas is None else mm.load_atlas(options.atlas)
    estimator = None
    if options.output is not None and atlas is None:
        estimator = estimator_from(
            "MultipleMapsTSNE", "compare", options.running, n_maps=options.maps
        )
    with work(f"comparing {' and '.join(groups)}"):
        found = mm.compare(
            groups,
            estimator,
            atlas,
            responses=rule,
            random_state=options.running.seed,
            min_effect=options.min_effect,
        )
        note(*found.notes)
        _write(found, options)
    record = _record(found, options)
    files = chosen(options, *OUTPUTS).values()
    tell(lambda: record, lambda: _report(found, record), files=files)


def _groups(options: CompareOptions) -> tuple[dict[str, mm.Trials | mm.Associations], str]:
    """Read the groups by name with the rule for their responses, and print their sizes."""
    from manymaps.cli.reading import opened_responses
    from manymaps.cli.report import reading_notes

    files = options.files
    loaded = [opened_responses(file) for file in files]
    rule = str(loaded[0].settings.get("responses", "keep")).replace("keep", "drop")
    # The names of files without suffixes may be equal.
    short = [file.name.split(".")[0] or file.name for file in files]
    names = short if len(set(short)) == len(files) else map(str, files)
    groups: dict[str, Any] = dict(zip(names, (one.data for one in loaded), strict=True))
    refuse((len(groups) < len(files), "a FILE is passed twice; pass one FILE per group"))
    if options.by is not None:
        trials = loaded[0].data
        if not isinstance(trials, mm.Trials):
            raise DataError(
                f"{files[0]} does not contain raw trials, so --by cannot split it; use trials with "
                "one row per participant and cue, or pass one file per group"
            )
        groups = dict(trials.groups(options.by))
    for name, data in groups.items():
        note(*(f"{name}: {line}" for line in reading_notes(data)))
    return groups, rule


def _write(found: Comparison, options: CompareOptions) -> None:
    """Write the requested files, after all steps that may fail."""
    from manymaps.atlas.export import write_columns

    if options.output is not None:
        atlas = found.attach()
        examples = [word for word in found.changed["word"] if word in atlas][:EXAMPLES]
        with work(f"writing {options.output}"):
            mm.write_page(
                atlas,
                options.output,
                title=" and ".join(found.groups),
                color="effect",
                examples=examples or None,
                description=DESCRIPTION.format(groups=" and ".join(found.groups)),
                noun="word",
            )
    if options.table is not None:
        write_columns(dict(found.words), options.table)


def _record(found: Comparison, options: CompareOptions) -> dict[str, Any]:
    words, senses, changes = found.words, found.senses, found.changed
    low, median, high = words["effect"].quantile([0.25, 0.5, 0.75]).tolist()
    return {
        "groups": [
            {
                "name": name,
                "n_responses": int(words[f"n_{name}"].sum()),
                "median_units": float(words[f"units_{name}"].median()),
            }
            for name in found.groups
        ],
        "units": found.units,
        "n_words": len(words),
        "n_changed": len(changes),
        "n_words_changed": int((changes["q"] <= found.alpha).sum()),
        "n_senses": len(senses),
        "n_senses_changed": int((senses["change"] != "").sum()),
        "alpha": found.alpha,
        "min_effect": found.min_effect,
        "effect": {"low": low, "median": median, "high": high},
        "changes": changes.to_dict("records"),
        "senses": senses[senses["word"].isin(changes["word"])].to_dict("records"),
        "notes": list(found.notes),
        "seed": options.running.seed,
        "seconds": elapsed(),
        **output_names(options, *OUTPUTS),
    }


def _report(found: Comparison, record: dict[str, Any]) -> str:
    """Report the result in one sentence, the words that differ most, and the tests."""
    changes = record["changes"]
    lines = [
        found.summary,
        grid(_rows(record, found.groups)) if changes else "no word differs significantly",
    ]
    if len(changes) > LISTED:
        lines.append(
            f"and {len(changes) - LISTED:,} more; use --table OUT.csv to list all, or --min-effect "
            "0.2 for the words that differ most"
        )
    lines.append(
        f"differences in all responses of a word: {record['n_words_changed']:,}; in the response "
        f"share of a sense: {record['n_senses_changed']:,} of {record['n_senses']:,}; joint false "
        f"discovery rate {record['alpha']:.0%}; {record['seconds']:.0f} s"
    )
    return "\n".join(lines)


def _rows(record: dict[str, Any], names: Sequence[str]) -> Iterator[tuple[str, ...]]:
    """Yield a row per word that changed, and a row per sense that changed."""
    yield "word", "change", "effect", "95 %", "q", *(f"more of {name}" for name in names)
    for one in record["changes"][:LISTED]:
        limits = f"{one['effect_low']:.2f}-{one['effect_high']:.2f}"
        numbers = f"{one['effect']:z.2f}", limits, f"{one['least_q']:.2g}"
        yield one["word"], one["change"], *numbers, *(_first(one[f"more_{k}"]) for k in names)
        for sense in record["senses"]:
            if sense["word"] == one["word"] and sense["change"]:
                shifts = ("", "")
                if "shift" in sense:
                    low, high = sense["shift_low"], sense["shift_high"]
                    shifts = f"{sense['shift']:+.2f}", f"{low:+.2f} to {high:+.2f}"
                shares = (f"{sense[f'share_{name}']:.0%}" for name in names)
                change = f"{sense['change']}, map {sense['map']}"
                yield f"  {_first(sense['members'])}", change, *shifts, f"{sense['q']:.2g}", *shares


def _first(words: str) -> str:
    return ", ".join(shown(word, 20) for word in words.split("; ")[:3])
