"""The command `stability`, which reports the senses that recur in fits with other seeds."""

from __future__ import annotations

import math
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import click

import manymaps as mm
from manymaps.cli.contract import cell, elapsed, grid, next_step, shown, tell
from manymaps.cli.fit import METHODS, USUAL_METHOD, Model, read_for
from manymaps.cli.options import (
    estimator_from,
    jobs_option,
    output_names,
    refuse,
    refuse_given,
    seed_option,
)
from manymaps.cli.record import argument, command, group, option, output_option
from manymaps.cli.types import InputFile, OutputFile, Whole
from manymaps.labels import plural
from manymaps.progress import work

if TYPE_CHECKING:
    from manymaps.analysis.stability import Stability

# Options of the comparison and its outputs. All other options are options of a fit, which do not
# apply to finished atlases.
OF_ATLASES = {"files", "output", "seed", "quiet", "json"}
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
    model: Model = group(Model, "Model")
    seed: int = seed_option()
    jobs: int | None = jobs_option("Number of fits at a time.  [default: all cores]")


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
    """
    finished = [file.suffix == ".atlas" for file in options.files]
    refuse(
        (len(finished) > 1 and not all(finished),
         "pass one file of data, or only .atlas files"),
        (options.output is None and not all(finished),
         "no output file; use -o OUT.atlas to write the fit"),
    )  # fmt: skip
    if all(finished):
        names = {one.name or "" for one in click.get_current_context().command.params}
        refuse_given(names - OF_ATLASES, "finished atlases")
        atlases = [mm.load_atlas(file) for file in options.files]
    else:
        atlases = _fits(options)
    with work(f"comparing {len(atlases)} fits"):
        from manymaps.analysis.stability import stability as compare

        reference = None if options.bootstrap is None else 0
        found = compare(atlases, random_state=options.seed, reference=reference)
    if options.output is not None:
        found.attach().save(options.output)
    record = _record(found, options)
    text = _report(found, record, options)
    tell(lambda: record, lambda: text, summary=True)


def _fits(options: StabilityOptions) -> list[mm.Atlas]:
    """Fit a file with several seeds."""
    file, method = options.files[0], options.model.method or USUAL_METHOD
    loaded = read_for(file, method, options.model.metric)
    with work(f"fitting {file} {options.fits} times"):
        return mm.repeat_fits(
            # The seed and the number of jobs apply to all fits jointly.
            estimator_from(METHODS[method], f"--method {method}", options.model),
            loaded.data,
            options.fits,
            bootstrap=options.bootstrap,
            **loaded.settings,
            random_state=options.seed,
            n_jobs=options.jobs or -1,
        )


def _record(found: Stability, options: StabilityOptions) -> dict[str, Any]:
    names = ("observed", "by_other_words", "by_dealing")
    levels = {name: getattr(found, name) for name in names}
    reliability = found.reliability
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
        "recurring": float(reliability["recurring"].mean()),
        "explained": float(reliability["explained"].mean()),
        "explained_by_even_spread": float(reliability["explained_by_even_spread"].mean()),
        "words": dict(zip(found.atlases[0].labels, found.word_recurrence.tolist(), strict=True)),
        "threshold": found.threshold,
        "seed": options.seed,
        "seconds": elapsed(),
        **output_names(options, "output"),
    }


def _report(found: Stability, record: dict[str, Any], options: StabilityOptions) -> str:
    """Report the observed and chance recurrence, and the words with most and least recurrence."""
    recurrence, overlap = record["recurrence"], record["overlap"]
    by_chance = found.recurring_by_chance
    best, worst = _extremes(found)
    rows: list[tuple[str, ...]] = [
        ("", "observed", "senses of other words", "permuted members"),
        ("senses that recur", *map(cell, recurrence.values())),
        ("overlap of senses", *map(cell, overlap.values())),
        ("", "observed", "by chance"),
        ("overlap of maps", *map(cell, (found.map_similarity, found.map_similarity_by_chance))),
        ("neighbours that recur", *map(cell, (record["recurring"], by_chance))),
        ("explained share", cell(record["explained"])),
    ]
    even = record["explained_by_even_spread"]
    if math.isfinite(even):
        rows.append(("explained by an even spread", cell(even)))
    objects = plural(found.atlases[0].noun, record["n_objects"])
    head = f"{found.n_fits} fits of {objects} in {record['seconds']:.0f} s"
    which = f"fit {found.reference} is the one most similar to the others"
    if options.bootstrap is not None:
        which = f"fit 0 is that of the data, the others are those of resampled {options.bootstrap}"
    lines = [f"{head}; {which}", grid(rows)]
    if best:
        lines.append(f"most stable words: {', '.join(best)}")
        lines.append(f"least stable words: {', '.join(worst)}")
    if options.output is not None:
        word = best[0] if best else found.atlases[0].labels[0]
        lines.append(next_step("senses", options.output, word))
    return "\n".join(lines)


def _extremes(found: Stability) -> tuple[list[str], list[str]]:
    """Return the words with several senses that overlap most and least between fits."""
    import numpy as np

    several = np.flatnonzero(np.diff(found.senses[found.reference].offsets) > 1)
    order = several[np.argsort(-found.word_overlap[several], kind="stable")]
    labels = [shown(found.atlases[0].labels[i]) for i in order]
    count = min(LISTED, len(labels) // 2)
    return labels[:count], labels[::-1][:count]
