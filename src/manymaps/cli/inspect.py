"""The command `inspect`, which summarizes the data that a fit would read from a file."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path

import manymaps as mm
from manymaps.cli.contract import BadData, grid, next_step, tell
from manymaps.cli.options import (
    OF_TRIALS,
    TableReading,
    fit_command,
    output_names,
    refuse_given,
    seed_option,
)
from manymaps.cli.record import argument, command, group, option
from manymaps.cli.types import InputFile, OutputFile, count_or

OF_NODES = ("nodes", "betweenness")


@dataclass(frozen=True, kw_only=True)
class InspectOptions:
    """Options of the command `inspect`."""

    file: Path = argument("FILE", InputFile(folders=True))
    reading: TableReading = group(TableReading)
    nodes: Path | None = option(
        OutputFile(".csv", ".parquet"),
        "Write a table with the strength, degree, clustering and PageRank of each word, for "
        "--metadata of other commands (associations only).",
        metavar="NODES.csv",
    )
    betweenness: int | str | None = option(
        count_or("all", 2),
        "Add betweenness from the shortest paths of N random words, or of all words, which takes "
        "minutes for thousands of words (with --nodes only).",
        metavar="all|N",
    )
    seed: int = seed_option()


@command(InspectOptions)
def inspect(options: InspectOptions) -> None:
    """Summarize the data that a fit would read from FILE.

    FILE can contain associations as a table (CSV, TSV, Parquet, also gzipped) with the columns cue,
    response and strength. It can contain raw trials, with a cue and its responses R1, R2, R3 in
    each row, or a square matrix of similarities. Vectors are read from word2vec, GloVe, fastText,
    NPY, NPZ and .h5ad files, and from tables with a column of labels. Counts are read from lists of
    document, word and count, tables of sites and species, OTU tables, NPZ, MatrixMarket, .h5ad
    and .biom files. If FILE is a folder of texts, its files are listed.

    \b
    Examples:  manymaps inspect norms.tsv.gz
               manymaps inspect SWOW-EN.R100.csv --responses R1 --where 'age < 30'
               manymaps inspect visits.csv --rows site --columns bird --count seen
               manymaps inspect net.graphml --nodes nodes.csv --betweenness 200
    """
    if options.nodes is None:
        refuse_given(("betweenness", "seed"), "an inspection without --nodes NODES.csv")
    from manymaps.cli.reading import (
        counted,
        holds_counts,
        read_data,
        read_trials_or_none,
    )
    from manymaps.cli.report import inspection, inspection_record, trial_record, vector_inspection

    file, reading = options.file, options.reading
    if file.is_dir():
        refuse_given((*OF_NODES, *vars(reading)), f"the folder {file}")
        _inspect_folder(file)
        return
    if holds_counts(file, reading):
        refuse_given(OF_NODES, f"the counts of {file}")
        _inspect_counts(file, reading)
        return
    refuse_given(("kinds",), f"{file}, which does not contain counts")
    trials = read_trials_or_none(file, reading)
    data = read_data(file, reading) if trials is None else counted(trials, reading)
    if not isinstance(data, mm.Associations):
        refuse_given(OF_NODES, f"the vectors of {file}")
        tell(lambda: inspection_record(data), lambda: vector_inspection(data, file))
        return
    _write_nodes(data, options)

    def text() -> str:
        unchanged = replace(reading, rows="keep")
        if trials is not None:
            as_written = counted(trials, unchanged)
        else:
            again = read_data(file, unchanged)
            assert isinstance(again, mm.Associations)
            as_written = again
        return inspection(data, as_written, file, trials)

    more = {} if trials is None else trial_record(trials)
    tell(
        lambda: inspection_record(data) | more | output_names(options, "nodes"),
        text,
        files=[options.nodes],
    )


def _write_nodes(data: mm.Associations, options: InspectOptions) -> None:
    if options.nodes is None:
        return
    from manymaps.atlas.export import write_columns

    asked = options.betweenness
    betweenness = asked if isinstance(asked, int) else asked == "all"
    measures = mm.node_measures(data, betweenness=betweenness, random_state=options.seed)
    write_columns(measures, options.nodes)


def _inspect_folder(folder: Path) -> None:
    """List the visible files of a folder by suffix, and recommend to count their words."""
    sizes: dict[str, list[int]] = {}
    for file in sorted(folder.rglob("*")):
        hidden = any(part.startswith(".") for part in file.relative_to(folder).parts)
        if file.is_file() and not hidden:
            sizes.setdefault(file.suffix.lower(), []).append(file.stat().st_size)
    n_files, n_bytes = (sum(map(measure, sizes.values())) for measure in (len, sum))
    if not n_files:
        raise BadData(f"{folder}: the folder contains no files; expected texts")
    record = {"kind": "folder", "n_files": n_files, "n_bytes": n_bytes}
    rows = [("folder", str(folder)), ("files", f"{n_files:,}, {n_bytes / 1e6:,.1f} MB")]
    rows += [
        (suffix or "no suffix", f"{len(each):,} files, {sum(each) / 1e6:,.1f} MB")
        for suffix, each in sizes.items()
    ]
    rows.append(("note", "each file is a document; inspect a table in the folder by its name"))
    further = next_step("manymaps", "count", str(folder), "-o", f"{folder.resolve().name}.npz")
    tell(lambda: record, lambda: f"{grid(rows)}\n{further}")


def _inspect_counts(file: Path, reading: TableReading) -> None:
    from manymaps.cli.reading import read_count_table
    from manymaps.cli.report import count_inspection, inspection_record
    from manymaps.data.counts import looks_transposed

    refuse_given(
        ("cue", "response", "strength", "labels", "responses", *OF_TRIALS), f"the counts of {file}"
    )
    counts = read_count_table(file, reading)
    hint = looks_transposed(counts)
    further = [*fit_command(file, "--method", "code"), *(["--given", "columns"] if hint else [])]
    tell(lambda: inspection_record(counts, hint), lambda: count_inspection(counts, further, hint))
