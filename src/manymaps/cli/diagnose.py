"""The command `diagnose`, which measures deviations from a metric and suggests a number of maps."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import click

import manymaps as mm
from manymaps.cli.contract import cell, elapsed, grid, note, shown, tell
from manymaps.cli.options import Running
from manymaps.cli.record import argument, chosen, command, group, option
from manymaps.cli.types import InputFile
from manymaps.labels import plural
from manymaps.progress import work

# The numbers of the report with their names and meanings.
MEANINGS = (
    ("asymmetry", "asymmetry", "share of the strength that is not reciprocated; 0 for distances"),
    ("intransitivity", "intransitivity",
     "share of the strong paths A-B-C in which A and C are not linked"),
    ("centrality", "centrality",
     "mean squared number of {objects} with the same {nearest}; random points: below 2"),
    ("reciprocity", "reciprocity",
     "mean rank of {one} for its {nearest}; 1 if all are mutual"),
    ("max_shared_nearest_neighbor", "most shared",
     "number of {objects} that share {most_shared} as {nearest}; in a plane at most 5 can"),
    ("negative_share", "negative part", "share of the spectrum; 0 for Euclidean distances"),
    ("stress", "stress",
     "nonmetric scaling of at most 75 {objects} in two dimensions (good: below 0.05); in four "
     "{stress_in_four:.3f}, by chance in two {stress_by_chance:.3f}"),
)  # fmt: skip


@dataclass(frozen=True, kw_only=True)
class DiagnoseOptions:
    """Options of the command `diagnose`."""

    file: Path = argument("FILE", InputFile())
    metric: str | None = option(
        "NAME", "Distance between vectors, or precomputed for distances.  [default: euclidean]"
    )
    running: Running = group(Running)


@command(DiagnoseOptions)
def diagnose(options: DiagnoseOptions) -> None:
    """Measure how well the data in FILE fit a metric space.

    A single map is a metric space: distances are symmetric, two objects near a third one are near
    each other, and few objects can share a nearest neighbour. Each number in the report measures
    how far the data violate one of these rules. A few quick fits then suggest one two-dimensional
    map, more dimensions, or several maps. Symmetric similarities are treated as symmetric.

    For counts, the report lists how well maps of one to six dimensions, and several maps, predict
    hidden counts, compared with independence.

    FILE contains associations, similarities, vectors or counts in a format that `manymaps fit`
    reads.

    \b
    Examples:  manymaps diagnose norms.csv
               manymaps diagnose visits.npz
               manymaps diagnose glove.txt --metric cosine --json
    """
    from manymaps.cli.reading import PAIRS, opened
    from manymaps.cli.report import fit_step, reading_notes
    from manymaps.data.pair_rules import NO_LONGER_SYMMETRIC

    file, metric = options.file, options.metric
    kind = None if metric is None else "vectors"
    data = opened(file, kind, takes=(*PAIRS, "vectors", "counts")).fitted
    if metric is not None and not isinstance(data, mm.Vectors):
        raise click.UsageError(
            f"--metric does not apply: {file} contains {type(data).__name__.lower()}"
        )
    if isinstance(data, mm.Counts):
        _diagnose_counts(data, file, options)
        return
    noun = "word" if isinstance(data, mm.Associations) else "object"
    objects = plural(noun, len(getattr(data, "labels", ())))
    with work(f"diagnosing {objects}, with quick fits of up to 40 maps"):
        found = mm.diagnose(data, metric=metric or "euclidean", **chosen(options.running))
    for line in [*reading_notes(data), *found.notes]:
        # The diagnosis reverses the effect of row normalization on symmetric values.
        if line != NO_LONGER_SYMMETRIC:
            note(line)
    maps, further = ["--maps", found.suggested_maps], []
    if found.suggested_maps == 1 and found.kind == "distances":
        maps = ["--method", "tsne"]
    if found.kind == "similarities" and found.suggested_dimensions > 2:
        further += ["--dims", found.suggested_dimensions]
    if found.normalization == "joint":
        further += ["--set", "normalization=joint"]
    record = {**found, "seconds": elapsed()}
    tell(
        lambda: record, lambda: f"{_report(record, noun, file)}\n{fit_step(file, *maps, *further)}"
    )


def _diagnose_counts(counts: mm.Counts, file: Path, options: DiagnoseOptions) -> None:
    """Print the likelihood of hidden counts by the number of maps and dimensions."""
    from manymaps.analysis.count_diagnosis import diagnose_counts
    from manymaps.cli.report import fit_step, reading_notes

    note(*reading_notes(counts))
    with work("predicting hidden counts by fits of up to 3 maps"):
        table = diagnose_counts(counts, **chosen(options.running))
    maps, dims = table.loc[table["suggested"], ["n_maps", "n_components"]].to_numpy()[0].tolist()
    record = {
        "models": table.drop(columns="suggested").to_dict("records"),
        "suggested_maps": maps,
        "suggested_dimensions": dims,
        "seconds": elapsed(),
    }
    rows = [
        (one.n_maps or "independence", one.n_components or "", one.log_likelihood,
         one.standard_error, f"{one.gain:.0%}" if maps else "")
        for one in table.itertuples()
    ]  # fmt: skip
    names = ("maps", "dims", "log-likelihood", "standard error", "gain")
    verdict = ["no structure found: no model predicts better than independence"]
    if maps:
        verdict = [
            f"suggested: {plural('map', maps)}, {plural('dim', dims)}, the fewest within one "
            "standard error of the best",
            fit_step(file, "--method", "code", "--maps", maps, "--dims", dims),
        ]
    tell(lambda: record, lambda: "\n".join([grid([names, *rows]), *verdict]))


def _report(record: dict[str, Any], noun: str, file: Path) -> str:
    """Format each number with its meaning, the quick fits, and the suggestion."""
    is_word = noun == "word"
    texts = record | {
        "most_shared": shown(record["most_shared"]), "objects": plural(noun),
        "one": "a word" if is_word else "an object",
        "nearest": "strongest associate" if is_word else "nearest neighbour",
    }  # fmt: skip
    rows = [(name, cell(record[key]), meaning.format_map(texts)) for key, name, meaning in MEANINGS]
    meaning = (
        f"of the strength goes to the {plural(noun)} ranked first, and {{held:.0%}} agrees with it"
    )
    for one in record["maps"]:
        fitted = f"fit of {plural('map', one['maps'])}"
        rows.append((fitted, f"{one['kept']:.0%}", meaning.format_map(one)))
    four = meaning.format(held=record["held_in_four"])
    rows.append(("fit in 4 dims", f"{record['kept_in_four']:.0%}", four))
    suggested = plural("map", record["suggested_maps"])
    if record["serves"] == "dimensions":
        suggested = f"1 map, {record['suggested_dimensions']} dims"
    rows.append(("suggested", suggested, record["reason"]))
    objects = plural(noun, record["n_objects"])
    head = f"{file}: {record['n_pairs']:,} {record['kind']} of {objects}"
    return f"{head}\n{grid(rows)}"
