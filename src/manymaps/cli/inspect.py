"""The command `inspect`: what a fit would read from a file."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from manymaps.cli.contract import Command, as_options, quiet_option, tell
from manymaps.cli.options import carried, json_option, reading_options, refuse_given
from manymaps.cli.types import InputFile

__all__ = ["inspect"]


@click.command(cls=Command, name="inspect")
@click.argument("file", type=InputFile(), metavar="FILE")
@reading_options
@quiet_option
@json_option
def inspect(file: Path, as_json: bool, **reading: Any) -> None:
    """Show what a fit would read from FILE.

    Associations as a table (CSV, TSV, Parquet, also gzipped) with the columns cue, response and
    strength; a square matrix of similarities; vectors (word2vec, GloVe, fastText, NPY, NPZ, tables
    with a column of labels, .h5ad); or counts of two kinds of object (document, word, count; a
    table of sites and species; NPZ, MatrixMarket, .h5ad).

    \b
    Examples:  manymaps inspect norms.tsv.gz
               manymaps inspect visits.csv --rows site --columns bird --count seen
    """
    from manymaps.cli.reading import holds_counts, read_data
    from manymaps.cli.report import inspection, inspection_record, vector_inspection
    from manymaps.data.associations import Associations

    if holds_counts(file, reading):
        _inspect_counts(file, as_json, reading)
        return
    data = read_data(file, reading)

    def text() -> str:
        if not isinstance(data, Associations):
            return vector_inspection(data, file)
        as_written = read_data(file, {**reading, "rows": "keep"})
        assert isinstance(as_written, Associations)
        return inspection(data, as_written, file)

    tell(lambda: inspection_record(data), text, as_json=as_json)


def _inspect_counts(file: Path, as_json: bool, reading: dict[str, Any]) -> None:
    from manymaps.cli.fit import fit
    from manymaps.cli.reading import read_count_table
    from manymaps.cli.report import count_inspection, inspection_record
    from manymaps.data.counts import looks_transposed

    refuse_given(
        click.get_current_context(), ("cue", "response", "strength", "labels", "responses"),
        f"the counts of {file}",
    )  # fmt: skip
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
