"""The command `inspect`: what a fit would read from a file."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from manymaps.cli.contract import (
    Command,
    as_options,
    quiet_option,
    refuse_overwriting,
    tell,
)
from manymaps.cli.options import (
    OF_TRIALS,
    carried,
    json_option,
    reading_options,
    refuse_given,
    seed_option,
)
from manymaps.cli.types import InputFile, OrWord, OutputFile

if TYPE_CHECKING:
    from manymaps.data.associations import Associations

__all__ = ["inspect"]


@click.command(cls=Command, name="inspect")
@click.argument("file", type=InputFile(), metavar="FILE")
@reading_options
@click.option(
    "--nodes",
    type=OutputFile(".csv", ".parquet"),
    metavar="NODES.csv",
    help="Of associations: strength, degree, clustering and PageRank of each word, a table that "
    "--metadata of other commands takes.",
)
@click.option(
    "--betweenness",
    type=OrWord("all", click.IntRange(min=2), "a number of at least 2"),
    metavar="all|N",
    help="Betweenness too, by the shortest paths from all words (minutes for thousands of them) or "
    "from N drawn by lot.",
)
@seed_option
@quiet_option
@json_option
def inspect(
    file: Path,
    as_json: bool,
    nodes: Path | None,
    betweenness: str | int | None,
    seed: int,
    **reading: Any,
) -> None:
    """Show what a fit would read from FILE.

    Associations as a table (CSV, TSV, Parquet, also gzipped) with the columns cue, response and
    strength, or raw trials with a cue and its answers R1, R2, R3 on each row; a square matrix of
    similarities; vectors (word2vec, GloVe, fastText, NPY, NPZ, tables with a column of labels,
    .h5ad); or counts of two kinds of object (document, word, count; a table of sites and species;
    NPZ, MatrixMarket, .h5ad).

    \b
    Examples:  manymaps inspect norms.tsv.gz
               manymaps inspect SWOW-EN.R100.csv --responses R1 --where 'age < 30'
               manymaps inspect visits.csv --rows site --columns bird --count seen
               manymaps inspect net.graphml --nodes nodes.csv --betweenness 200
    """
    ctx = click.get_current_context()
    refuse_overwriting({"--nodes": nodes}, {"FILE": file})
    if nodes is None:
        refuse_given(ctx, ("betweenness", "seed"), "an inspection without --nodes NODES.csv")
    from manymaps.cli.reading import (
        counted,
        holds_counts,
        holds_triplets,
        read_data,
        read_trials_or_none,
    )
    from manymaps.cli.report import inspection, inspection_record, trial_record, vector_inspection
    from manymaps.data.associations import Associations

    if holds_counts(file, reading):
        refuse_given(ctx, ("nodes", "betweenness"), f"the counts of {file}")
        _inspect_counts(file, as_json, reading)
        return
    trials = read_trials_or_none(file, reading)
    if trials is not None:
        norms = counted(trials, reading)
        if nodes is not None:
            _write_nodes(norms, nodes, betweenness, seed)
        tell(
            lambda: inspection_record(norms) | trial_record(trials),
            lambda: inspection(norms, counted(trials, {**reading, "rows": "keep"}), file, trials),
            as_json=as_json,
        )
        return
    data = read_data(file, reading)
    if not isinstance(data, Associations):
        refuse_given(ctx, ("nodes", "betweenness"), f"the vectors of {file}")
    elif nodes is not None:
        _write_nodes(data, nodes, betweenness, seed)

    def text() -> str:
        if not isinstance(data, Associations):
            return vector_inspection(data, file)
        if holds_triplets(file, reading):
            return inspection(data, data, file)
        as_written = read_data(file, {**reading, "rows": "keep"})
        assert isinstance(as_written, Associations)
        return inspection(data, as_written, file)

    written = {"nodes": None if nodes is None else str(nodes)}
    tell(lambda: inspection_record(data) | written, text, as_json=as_json, files=[nodes])


def _write_nodes(
    data: Associations, output: Path, betweenness: str | int | None, seed: int
) -> None:
    from manymaps.analysis.network import node_measures
    from manymaps.atlas.export import write_columns

    asked = betweenness if isinstance(betweenness, int) else betweenness == "all"
    write_columns(node_measures(data, betweenness=asked, random_state=seed), output)


def _inspect_counts(file: Path, as_json: bool, reading: dict[str, Any]) -> None:
    from manymaps.cli.fit import fit
    from manymaps.cli.reading import read_count_table
    from manymaps.cli.report import count_inspection, inspection_record
    from manymaps.data.counts import looks_transposed

    refuse_given(
        click.get_current_context(),
        ("cue", "response", "strength", "labels", "responses", *OF_TRIALS),
        f"the counts of {file}",
    )
    counts = read_count_table(file, reading)
    hint = looks_transposed(counts)
    stem = file.name.split(".")[0] or "out"
    further = ["manymaps", "fit", str(file), "-o", f"{stem}.atlas", "--method", "code"]
    further += carried(fit)
    if hint is not None:
        further += ["--given", "columns"]
    tell(
        lambda: inspection_record(counts, hint),
        lambda: count_inspection(counts, further, None if hint is None else as_options(hint)),
        as_json=as_json,
    )
