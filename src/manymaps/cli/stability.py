"""The command `stability`, which reports the senses that recur in fits with other seeds."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import click

import manymaps as mm
from manymaps.cli.contract import elapsed, grid, next_step, shown, tell
from manymaps.cli.fit import (
    USUAL_METHOD,
    Model,
    VectorModel,
    build,
    read_for,
)
from manymaps.cli.options import (
    Width,
    check_width,
    jobs_option,
    output_names,
    refuse,
    refuse_given,
    seed_option,
    width_option,
    word_option,
)
from manymaps.cli.record import argument, command, group, option, output_option
from manymaps.cli.types import InputFile, OutputFile, Whole, figure_file
from manymaps.progress import work

# Options of the comparison and its outputs. All other options are options of a fit, which do not
# apply to finished atlases.
OF_ATLASES = {
    "files", "output", "plot", "width", "words_shown", "seed",
}  # fmt: skip
# The minimum number of fits is 2, because a single fit cannot be compared. A list of eight words
# shows the range without scrolling.
FEWEST_FITS, LISTED = 2, 8


@dataclass(frozen=True, kw_only=True)
class StabilityOptions:
    """Options of the command `stability`."""

    files: tuple[Path, ...] = argument("FILE...", InputFile(), nargs=-1, required=True)
    output: Path | None = output_option(
        "OUT.atlas",
        OutputFile(archive=True),
        "Write the fit that is most similar to the others (optional if FILEs are atlases).",
        required=False,
    )
    fits: int = option(Whole(FEWEST_FITS), "Number of fits with different seeds.", default=5,
                       sets="n_fits")  # fmt: skip
    bootstrap: Literal["participants", "responses"] | None = option(
        ["participants", "responses"],
        "Fit the data once, then resampled participants (raw trials only) or resampled responses.",
    )
    plot: Path | None = option(
        figure_file, "Draw the senses of some words in all fits.", metavar="OUT.png"
    )
    width: Width | None = width_option()
    words_shown: tuple[str, ...] = word_option()
    model: Model = group(Model)
    seed: int = seed_option()
    jobs: int | None = jobs_option("Number of fits at a time; -1 for all cores.  [default: all]")
    vector_model: VectorModel = group(VectorModel)


@command(StabilityOptions)
def stability(options: StabilityOptions) -> None:
    """Fit FILE with several seeds and report which senses recur.

    Several .atlas files of the same objects are compared without a new fit. OUT.atlas is the fit
    that is most similar to the others, with the share of each object's neighbours that recur as
    metadata. The options of the model are those of `manymaps fit`.

    Different seeds show the variation of the fit. --bootstrap shows the variation between samples
    of participants. The first fit, which is written to OUT.atlas, is to FILE. The others are to
    resampled responses, or to resampled participants with all their trials.

    \b
    Examples:  manymaps stability norms.csv -o stable.atlas --fits 5 --maps 20
               manymaps stability trials.csv -o stable.atlas --bootstrap participants
               manymaps stability a.atlas b.atlas
               manymaps stability a.atlas b.atlas c.atlas -o stable.atlas
               manymaps stability norms.csv -o stable.atlas --plot senses.png --word tie
    """
    _check(options)
    finished = options.files[0].suffix == ".atlas"
    atlases = [*map(mm.load_atlas, options.files)] if finished else _fits(options)
    with work(f"comparing {len(atlases)} fits"):
        from manymaps.analysis.stability import stability as compare

        found = compare(
            atlases,
            random_state=options.seed,
            reference=None if options.bootstrap is None else 0,
        )
        figure = None
        if options.plot is not None:
            figure = mm.plot_stability(found, options.words_shown or None, width=options.width)
    if options.output is not None:
        found.attach().save(options.output)
    if figure is not None and options.plot is not None:
        mm.save_figure(figure, options.plot)
    record = _record(found, options)
    tell(
        lambda: record, lambda: _report(found, record, options), files=(options.plot,), summary=True
    )


def _check(options: StabilityOptions) -> None:
    files = options.files
    check_width(options)
    finished = [file for file in files if file.suffix == ".atlas"]
    refuse(
        (finished and len(finished) < len(files),
         "data and atlases cannot be combined; pass one file of data, or only .atlas files"),
        (len(files) > 1 and not finished,
         "several FILEs must be .atlas files; pass one file of data, or replace "
         f"{files[-1]}, which is not an .atlas file"),
        (len(finished) == 1,
         f"{files[0]} is a single fit; pass the data to fit, or several atlases to compare"),
    )  # fmt: skip
    if finished:
        names = {one.name or "" for one in click.get_current_context().command.params}
        refuse_given(names - OF_ATLASES - {"quiet", "json"}, "finished atlases")
    refuse(
        (options.words_shown and options.plot is None, "--word requires --plot OUT.png"),
        (options.output is None and not finished,
         "no output file; use -o OUT.atlas to write the fit"),
    )  # fmt: skip


def _fits(options: StabilityOptions) -> list[mm.Atlas]:
    """Fit a file with several seeds."""
    file, model = options.files[0], options.model
    method = model.method or USUAL_METHOD
    loaded = read_for(file, method, options.vector_model.metric)
    # The seed and the number of jobs apply to all fits jointly.
    estimator = build(method, model, options.vector_model)
    # Fits with new seeds use the norms only, not the trials.
    resamples = options.bootstrap is not None and isinstance(loaded.data, mm.Trials)
    with work(f"fitting {file} {options.fits} times"):
        return mm.repeat_fits(
            estimator,
            loaded.data if resamples else loaded.fitted,
            options.fits,
            bootstrap=options.bootstrap,
            **(loaded.settings if resamples else {}),
            random_state=options.seed,
            n_jobs=options.jobs or -1,
        )


def _record(found: mm.Stability, options: StabilityOptions) -> dict[str, Any]:
    from manymaps.analysis.reliability import mean_known

    levels = {
        "observed": found.observed,
        "by_other_words": found.by_other_words,
        "by_dealing": found.by_dealing,
    }
    reliability = found.reliability
    assert reliability.recurring is not None
    return {
        "n_fits": found.n_fits,
        "n_objects": found.atlases[0].n_objects,
        "n_senses": sum(len(one.maps) for one in found.senses),
        "reference": found.reference,
        "bootstrap": options.bootstrap,
        "recurrence": {name: level.recurrence for name, level in levels.items()},
        "overlap": {name: level.overlap for name, level in levels.items()},
        "map_similarity": found.map_similarity,
        "map_similarity_by_chance": found.map_similarity_by_chance,
        "recurring": mean_known(reliability.recurring),
        "explained": mean_known(reliability.explained),
        "explained_by_even_spread": reliability.explained_by_even_spread,
        "words": dict(zip(found.atlases[0].labels, found.word_recurrence.tolist(), strict=True)),
        "threshold": found.threshold,
        "seed": options.seed,
        "seconds": elapsed(),
        **output_names(options, "output", "plot"),
    }


def _report(found: mm.Stability, record: dict[str, Any], options: StabilityOptions) -> str:
    """Report the observed and chance recurrence, and the words with most and least recurrence."""
    best, worst = _extremes(found)
    rows = [*_rows(record, found.reliability)]
    if best:
        rows.append(("most stable words", "", "", ", ".join(best)))
        rows.append(("least stable words", "", "", ", ".join(worst)))
    table = grid(rows)
    sizes = f"{record['n_senses']:,} senses of {record['n_objects']:,} objects"
    head = f"{sizes} in {record['seconds']:.0f} s"
    if options.output is None:
        return f"{found.n_fits} fits: {head}\n{table}"
    which = f"fit {found.reference} of {found.n_fits}, the one most similar to the others"
    if options.bootstrap is not None:
        n_others = found.n_fits - 1
        which = f"the fit of the data, with {n_others} fits of resampled {options.bootstrap}"
    word = best[0] if best else found.atlases[0].labels[0]
    further = next_step("manymaps", "senses", options.output, word)
    return f"{options.output}: {which}; {head}\n{table}\n{further}"


def _rows(record: dict[str, Any], reliability: mm.Reliability) -> Iterator[tuple[str, ...]]:
    for name, level, meaning in (
        ("senses that recur", "observed", "share in another fit, on average"),
        ("  of other words", "by_other_words", "by chance: senses of words drawn at random"),
        ("  permuted", "by_dealing", "by chance: the members of a word's senses, permuted"),
    ):
        recurrence, overlap = record["recurrence"][level], record["overlap"][level]
        yield name, f"{recurrence:.1%}", f"overlap {overlap:.3f}", meaning
    by_chance = f"with the matching map; by chance {record['map_similarity_by_chance']:.3f}"
    yield "maps", "", f"overlap {record['map_similarity']:.3f}", by_chance
    nearest = f"of the {reliability.n_neighbors} nearest neighbours recur in another fit"
    by_chance = f"{nearest}; by chance {reliability.by_chance:.1%}"
    yield "neighbours", f"{record['recurring']:.1%}", "", by_chance
    if math.isfinite(record["explained"]):
        meaning = "share of an object's data that its coordinates explain"
        if math.isfinite(record["explained_by_even_spread"]):
            meaning += f"; an even spread explains {record['explained_by_even_spread']:.1%}"
        yield "explained", f"{record['explained']:.1%}", "", meaning


def _extremes(found: mm.Stability) -> tuple[list[str], list[str]]:
    """Return the words with several senses that overlap most and least between fits."""
    import numpy as np

    several = np.flatnonzero(np.diff(found.senses[found.reference].offsets) > 1)
    order = several[np.argsort(-found.word_overlap[several], kind="stable")]
    labels = [shown(found.atlases[0].labels[i]) for i in order]
    count = min(LISTED, len(labels) // 2)
    return labels[:count], labels[::-1][:count]
