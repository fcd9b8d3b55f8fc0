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
    refuse_given,
)
from manymaps.cli.record import argument, command, group
from manymaps.cli.types import InputFile


@dataclass(frozen=True, kw_only=True)
class InspectOptions:
    """Options of the command `inspect`."""

    file: Path = argument("FILE", InputFile(folders=True))
    reading: TableReading = group(TableReading)


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
    """
    from manymaps.cli.reading import (
        counted,
        holds_counts,
        read_data,
        read_trials_or_none,
    )
    from manymaps.cli.report import inspection, inspection_record, trial_record, vector_inspection

    file, reading = options.file, options.reading
    if file.is_dir():
        refuse_given(tuple(vars(reading)), f"the folder {file}")
        _inspect_folder(file)
        return
    if holds_counts(file, reading):
        _inspect_counts(file, reading)
        return
    refuse_given(("kinds",), f"{file}, which does not contain counts")
    trials = read_trials_or_none(file, reading)
    data = read_data(file, reading) if trials is None else counted(trials, reading)
    if not isinstance(data, mm.Associations):
        tell(lambda: inspection_record(data), lambda: vector_inspection(data, file))
        return

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
        lambda: inspection_record(data) | more,
        text,
    )


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
    further = [
        *fit_command(file, "--method", "code"),
        *(["--set", "given=columns"] if hint else []),
    ]
    tell(lambda: inspection_record(counts, hint), lambda: count_inspection(counts, further, hint))
