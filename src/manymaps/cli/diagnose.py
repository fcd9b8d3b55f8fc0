"""The command `diagnose`: how far data are from metric, and how many maps they ask for."""

from __future__ import annotations

import math
import shlex
from dataclasses import fields
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from manymaps.cli.contract import (
    Command,
    elapsed,
    note,
    plain_table,
    quiet_option,
    refuse_overwriting,
    rendered,
    shown,
    tell,
)
from manymaps.cli.options import (
    carried,
    jobs_option,
    json_option,
    pair_options,
    seed_option,
)
from manymaps.cli.types import InputFile, OutputFile
from manymaps.progress import work

if TYPE_CHECKING:
    from manymaps.analysis.diagnosis import Diagnosis

__all__ = ["diagnose", "diagnosis_record", "diagnosis_table"]


@click.command(cls=Command)
@click.argument("file", type=InputFile(), metavar="FILE")
@click.option(
    "--metric",
    metavar="NAME",
    help="Distance of vectors; precomputed where FILE holds distances.  [default: euclidean]",
)
@click.option(
    "--samples",
    type=click.IntRange(min=1000),
    metavar="N",
    default=100_000,
    show_default=True,
    help="Triples and paths to draw where there are too many to count.",
)
@click.option(
    "--plot",
    type=OutputFile(".png", ".svg", ".pdf"),
    metavar="OUT.png",
    help="Draw the Shepard plot, and nonmetric scaling in a plane beside it.",
)
@pair_options
@seed_option
@jobs_option
@quiet_option
@json_option
def diagnose(file: Path, as_json: bool, **options: Any) -> None:
    """Measure how far the data of FILE are from metric: can one map hold them?

    One map is a space: there, A is as near to B as B to A, what is near to the same is not far
    from each other, and few objects can share a nearest neighbour. Each figure says how far the
    data break one of these rules; a few quick fits then suggest whether a plane, more dimensions or
    several maps serve best. Similarities that are the same both ways are judged as such.

    FILE holds associations, similarities or vectors, as `manymaps fit` reads them.

    \b
    Examples:  manymaps diagnose norms.csv
               manymaps diagnose judged.csv --plot shepard.png
               manymaps diagnose glove.txt --metric cosine --json
    """
    from manymaps.analysis.diagnosis import diagnose as diagnosed
    from manymaps.cli.reading import holds_counts, read_data
    from manymaps.cli.report import reading_notes
    from manymaps.data.associations import Associations
    from manymaps.data.pair_rules import NO_LONGER_SYMMETRIC
    from manymaps.errors import DataError

    refuse_overwriting({"--plot": options["plot"]}, {"FILE": file, "--labels": options["labels"]})
    reading = {name: value for name, value in options.items() if name not in ("metric", "plot")}
    metric = options["metric"]
    if metric is None and holds_counts(file, reading):
        raise DataError(
            f"{file} holds counts of two kinds of object, and a diagnosis compares objects of one; "
            "--cue, --response and --strength name the columns of associations"
        )
    data = read_data(file, {**reading, "metric": metric})
    if isinstance(data, Associations):
        objects = f"{data.n_objects:,} objects"
    else:
        objects = f"{len(data):,} vectors"
    with work(f"judging {objects}, with quick fits of up to 40 maps"):
        found = diagnosed(
            data,
            metric=metric or "euclidean",
            n_samples=options["samples"],
            random_state=options["seed"],
            n_jobs=options["jobs"],
        )
    if options["plot"] is not None:
        from manymaps import plot_shepard, save_figure

        save_figure(plot_shepard(found), options["plot"])
    for line in [*reading_notes(data), *found.notes]:
        # What rows do to symmetric values is undone here.
        if line != NO_LONGER_SYMMETRIC:
            note(line)
    written = None if options["plot"] is None else str(options["plot"])
    tell(
        lambda: {**diagnosis_record(found), "seconds": elapsed(), "plot": written},
        lambda: f"{diagnosis_table(found, str(file))}\nnext: {_further(found, file)}",
        as_json=as_json,
        files=(options["plot"],),
    )


def diagnosis_record(found: Diagnosis) -> dict[str, Any]:
    """What `diagnose --json` prints; NaN, there null, stands for what could not be counted."""
    # The scaling is drawn, not told.
    record = {
        one.name: getattr(found, one.name)
        for one in fields(found)
        if one.name not in ("n_maps_tried", "held", "kept", "scaling")
    }
    tried = zip(found.n_maps_tried, found.held, found.kept, strict=True)
    return {
        **record,
        "maps": [{"maps": m, "held": held, "kept": kept} for m, held, kept in tried],
        "notes": list(found.notes),
    }


def diagnosis_table(found: Diagnosis, name: str) -> str:
    """What `diagnose` prints for a person: each figure with a reading."""
    table = plain_table()
    for row in _rows(found):
        table.add_row(*row)
    what = "similarities" if found.kind == "similarities" else "distances"
    groups = (
        "" if found.n_components == 1 else f" in {found.n_components:,} groups without a pair"
        " between them"
    )  # fmt: skip
    head = f"{name}: {found.n_pairs:,} {what} of {found.n_objects:,} objects{groups}"
    return f"{head}\n{rendered(table)}"


def _rows(found: Diagnosis) -> list[tuple[str, str, str]]:
    return [
        ("asymmetry", _number(found.asymmetry), _of_asymmetry(found)),
        (
            "intransitivity",
            _number(found.intransitivity, found.intransitivity_error),
            "of the strong paths A-B-C, those where A and C are not linked",
        ),
        (
            "clustering",
            _number(found.clustering),
            "of the same paths, those where A and C are linked strongly; by chance "
            f"{_number(found.clustering_by_chance)}",
        ),
        (
            "centrality",
            f"{found.centrality:.2f}",
            "mean square of how many have an object as nearest neighbour; of random points "
            "below 2",
        ),
        ("reciprocity", f"{found.reciprocity:.2f}", _of_reciprocity(found)),
        ("most shared", f"{found.max_shared_nearest_neighbor:.3g}", _of_sharing(found)),
        (
            "triangles",
            _number(found.triangle_violations, found.triangle_error),
            _of_triangles(found),
        ),
        (
            "negative part",
            _number(found.negative_share, found.negative_error),
            "of the spectrum; 0 for distances in a space",
        ),
        ("stress", _number(found.stress), _of_stress(found)),
        *_fits(found),
        ("suggested", _suggested(found), found.reason),
    ]  # fmt: skip


def _maps(count: int) -> str:
    return "1 map" if count == 1 else f"{count} maps"


def _suggested(found: Diagnosis) -> str:
    if found.serves == "dimensions":
        return f"1 map, {found.suggested_dimensions} dims"
    return _maps(found.suggested_maps)


def _number(value: float, error: float = 0.0) -> str:
    if not math.isfinite(value):
        return "none"
    return f"{value:.3f}" + (f" ± {error:.3f}" if error > 0 else "")


def _of_asymmetry(found: Diagnosis) -> str:
    if found.kind == "distances":
        return "distances are the same both ways"
    if found.asymmetry == 0:
        return "every pair is as strong in one direction as in the other"
    return "of the strength is not returned; distances return all"


def _of_reciprocity(found: Diagnosis) -> str:
    reading = "mean rank of an object for its own nearest neighbour; 1 where nearness is mutual"
    if found.not_returned > 0:
        reading += f"; {found.not_returned:.0%} of the objects are not on its list at all"
    return reading


def _of_sharing(found: Diagnosis) -> str:
    bound = "in a plane at most 5 objects can share a nearest neighbour"
    here = f"here {found.max_shared_nearest_neighbor:.3g} share {shown(found.most_shared)}"
    enough = found.dimensions_for_sharing
    if enough is not None and enough <= 2:
        return f"{bound}; {here}"
    needed = "more than 8 dimensions" if enough is None else f"at least {enough} dimensions"
    return f"{bound}; {here}, for which a map needs {needed}"


def _of_triangles(found: Diagnosis) -> str:
    if found.n_triangles == 0:
        return "no three objects are all linked with one another"
    counted = "drawn by lot" if found.triangle_error > 0 else "all that are known"
    return f"of {found.n_triangles:,} triples ({counted}), one side longer than the way round"


def _of_stress(found: Diagnosis) -> str:
    n_scaled = len(found.scaling.labels)
    some = f" of {n_scaled} objects" if n_scaled < found.n_objects else ""
    return (
        f"of nonmetric scaling{some} in the plane, where below .05 is good; in four dimensions "
        f"{_number(found.stress_in_four)}, in the plane by chance {_number(found.stress_by_chance)}"
    )


def _fits(found: Diagnosis) -> list[tuple[str, str, str]]:
    """What maps keep and hold; the share that the suggestion goes by comes first."""
    from manymaps.analysis.diagnosis import FEW

    some = f" of {found.n_fitted:,} objects" if found.n_fitted < found.n_objects else ""
    shares = (found.kept, found.held)
    meanings = ["goes to the objects that a quick fit ranks first", "has its probability"]
    if found.n_fitted <= FEW:
        shares = (found.held, found.kept)
        meanings.reverse()
    rows: list[tuple[str, str, str]] = []
    for n_maps, first, second in zip(found.n_maps_tried, *shares, strict=True):
        reading = f"{second:.0%}"
        if not rows:
            reading = f"of the strength{some} {meanings[0]}; {second:.0%} {meanings[1]}"
        rows.append((f"fit of {_maps(n_maps)}", f"{first:.0%}", reading))
    four = (found.kept_in_four, found.held_in_four)
    first, second = four[::-1] if found.n_fitted <= FEW else four
    reading = f"{second:.0%}; one map of four dimensions, as many coordinates as two maps have"
    rows.append(("fit in 4 dims", f"{first:.0%}", reading))
    return rows


def _further(found: Diagnosis, file: Path) -> str:
    """The command that would fit what was suggested."""
    from manymaps.cli.fit import fit

    command = ["manymaps", "fit", str(file), "-o", f"{file.name.split('.')[0] or 'out'}.atlas"]
    if found.suggested_maps > 1:
        command += ["--maps", str(found.suggested_maps)]
    elif found.kind == "distances":
        command += ["--method", "tsne"]
    else:
        command += ["--maps", "1"]
    if found.kind == "similarities" and found.suggested_dimensions > 2:
        command += ["--dims", str(found.suggested_dimensions)]
    if found.normalization == "joint":
        command += ["--normalization", "joint"]
    return shlex.join([*command, *carried(fit)])
