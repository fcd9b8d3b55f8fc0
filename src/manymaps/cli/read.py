"""The command `read`, which reports what files contain and writes clean data."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import manymaps as mm
from manymaps.cli.contract import BadData, elapsed, grid, next_step, note, tell
from manymaps.cli.options import OF_PAIRS, OF_TRIALS, TableReading, refuse_given
from manymaps.cli.record import argument, chosen, command, group, option, output_option
from manymaps.cli.types import InputFile, OutputFile
from manymaps.progress import work


@dataclass(frozen=True, kw_only=True)
class ReadOptions:
    """Options of the command `read`."""

    files: tuple[Path, ...] = argument("FILE...", InputFile(folders=True), nargs=-1, required=True)
    output: Path | None = output_option(
        "OUT.npz",
        OutputFile(".npz", archive=True),
        "Write clean data to this file, which every command reads.",
        required=False,
    )
    judge: str | None = option("COLUMN", "Column of the judges (long tables of judgements only).")
    reading: TableReading = group(TableReading)


@command(ReadOptions)
def read(options: ReadOptions) -> None:
    """Report what FILE contains, and write clean data.

    FILE can contain associations as a table (CSV, TSV, Parquet, also gzipped) with the columns cue,
    response and strength. It can contain raw trials, with a cue and its responses R1, R2, R3 in
    each row, or a square matrix of similarities. Vectors are read from word2vec, GloVe, fastText,
    NPY, NPZ and .h5ad files, and from tables with a column of labels. Counts are read from lists of
    document, word and count, tables of sites and species, OTU tables, NPZ, MatrixMarket, .h5ad
    and .biom files. If FILE is a folder of texts, its files are listed.

    Several FILEs are judgements of the same objects, with one table per judge (or one long table
    with --judge). Fits use their average. Empty cells are missing judgements and do not count.

    \b
    Examples:  manymaps read norms.tsv.gz
               manymaps read SWOW-EN.R100.csv --responses R1 --where 'age < 30' -o young.npz
               manymaps read visits.csv --rows site --columns bird --strength seen -o visits.npz
               manymaps read ann.csv ben.csv eve.csv -o judged.npz
    """
    from manymaps.cli.reading import Loaded, load, load_raw
    from manymaps.cli.report import report_of
    from manymaps.io.clean import is_clean, write_data

    file, reading = options.files[0], options.reading
    if file.is_dir():
        refuse_given(tuple(vars(reading)), f"the folder {file}")
        _list_folder(file)
        return
    if len(options.files) > 1 or options.judge is not None:
        loaded = Loaded(_judgements(options), {})
    elif is_clean(file):
        refuse_given(tuple(vars(reading)), f"{file}, which contains clean data")
        loaded = load(file)
    else:
        loaded = load_raw(file, reading)
    as_written: Any = None
    if isinstance(loaded.data, mm.Judgements):
        as_written = loaded.data.associations()
    elif isinstance(loaded.fitted, mm.Associations) and not is_clean(file):
        as_written = load_raw(file, replace(reading, rows="keep")).fitted
    source = file if options.output is None else options.output
    record, text = report_of(loaded, source, as_written)
    if options.output is not None:
        with work(f"writing {options.output}"):
            write_data(loaded.data, options.output, loaded.settings)
        record |= {"seconds": elapsed(), "output": str(options.output)}
    tell(lambda: record, lambda: text)


def _judgements(options: ReadOptions) -> mm.Judgements:
    """Read judgements by several judges, and note the judges who disagree with the others."""
    others = ("responses", "columns", "kinds", *OF_TRIALS)
    refuse_given(others, "several judges (--judge, or several FILEs)")
    with work("reading judgements"):
        settings = chosen(options.reading, *OF_PAIRS)
        judgements = mm.read_judgements(options.files, judge=options.judge, **settings)
    for judge, correlation in zip(judgements.judges or (), judgements.with_others, strict=True):
        if correlation < 0:
            note(f"judge {judge} correlates by {correlation:.2f} with the average of the others")
    return judgements


def _list_folder(folder: Path) -> None:
    """List the visible files of a folder by suffix, and recommend to count their words."""
    sizes: dict[str, list[int]] = {}
    for file in sorted(folder.rglob("*")):
        hidden = any(part.startswith(".") for part in file.relative_to(folder).parts)
        if file.is_file() and not hidden:
            sizes.setdefault(file.suffix.lower(), []).append(file.stat().st_size)
    n_files, n_bytes = (sum(map(measure, sizes.values())) for measure in (len, sum))
    if not n_files:
        raise BadData(f"{folder}: the folder contains no files; expected texts")
    record: dict[str, Any] = {"kind": "folder", "n_files": n_files, "n_bytes": n_bytes}
    rows = [("folder", str(folder)), ("files", f"{n_files:,}, {n_bytes / 1e6:,.1f} MB")]
    rows += [
        (suffix or "no suffix", f"{len(each):,} files, {sum(each) / 1e6:,.1f} MB")
        for suffix, each in sizes.items()
    ]
    rows.append(("note", "each file is a document; read a table in the folder by its name"))
    further = next_step("manymaps", "count", str(folder), "-o", f"{folder.resolve().name}.npz")
    tell(lambda: record, lambda: f"{grid(rows)}\n{further}")
