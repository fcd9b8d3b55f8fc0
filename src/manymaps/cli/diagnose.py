"""The command `diagnose`, which measures deviations from a metric and suggests a number of maps."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any

import manymaps as mm
from manymaps.cli.contract import elapsed, grid, next_step, note, shown, tell
from manymaps.cli.options import Running, fit_command
from manymaps.cli.record import argument, chosen, command, group, option
from manymaps.cli.types import InputFile
from manymaps.errors import DataError
from manymaps.labels import plural
from manymaps.progress import work


@dataclass(frozen=True, kw_only=True)
class DiagnoseOptions:
    """Options of the command `diagnose`."""

    file: Path = argument("FILE", InputFile())
    metric: str | None = option(
        "NAME",
        "Distance between vectors, or precomputed for distances.  [default: euclidean]",
    )
    running: Running = group(Running)


@command(DiagnoseOptions)
def diagnose(options: DiagnoseOptions) -> None:
    """Measure how well the data in FILE fit a metric space.

    A single map is a metric space: distances are symmetric, two objects near a third one are near
    each other, and few objects can share a nearest neighbour. Each number in the report measures
    how far the data violate one of these rules. A few quick fits then suggest one two-dimensional
    map, more dimensions, or several maps. Symmetric similarities are treated as symmetric.

    FILE contains associations, similarities or vectors in a format that `manymaps fit` reads.

    \b
    Examples:  manymaps diagnose norms.csv
               manymaps diagnose glove.txt --metric cosine --json
    """
    from manymaps.cli.reading import load
    from manymaps.cli.report import reading_notes
    from manymaps.data.pair_rules import NO_LONGER_SYMMETRIC

    file, metric = options.file, options.metric
    data = load(file, metric=metric).fitted
    if isinstance(data, mm.Counts):
        raise DataError(
            f"{file} contains counts of rows and columns; expected associations, similarities or "
            f"vectors (manymaps read {file} --kind associations -o OUT.npz reads a list)"
        )
    size = len(data.labels)
    objects = plural("object" if isinstance(data, mm.Associations) else "vector", size)
    with work(f"diagnosing {objects}, with quick fits of up to 40 maps"):
        found = mm.diagnose(data, metric=metric or "euclidean", **chosen(options.running))
    for line in [*reading_notes(data), *found.notes]:
        # The diagnosis reverses the effect of row normalization on symmetric values.
        if line != NO_LONGER_SYMMETRIC:
            note(line)
    seconds = {"seconds": elapsed()}
    tell(
        lambda: {**diagnosis_record(found), **seconds},
        lambda: f"{diagnosis_table(found, str(file))}\n{_further(found, file)}",
    )


def diagnosis_record(found: mm.Diagnosis) -> dict[str, Any]:
    """Return the record of `diagnose --json`; unknown numbers are NaN (null in JSON)."""
    # The record contains no positions.
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


def diagnosis_table(found: mm.Diagnosis, name: str) -> str:
    """Format the report of `diagnose`, which contains each number with its meaning."""
    what = "similarities" if found.kind == "similarities" else "distances"
    groups = ""
    if found.n_components > 1:
        groups = f" in {found.n_components:,} connected components"
    head = f"{name}: {found.n_pairs:,} {what} of {found.n_objects:,} objects{groups}"
    suggested = [_suggestion(found), *_recommended(found)]
    return f"{head}\n{grid([*_rows(found), *_fits(found), *suggested])}"


def _rows(found: mm.Diagnosis) -> Iterator[tuple[str, str, str]]:
    yield "asymmetry", _number(found.asymmetry), _of_asymmetry(found)
    open_paths = "share of the strong paths A-B-C in which A and C are not linked"
    yield "intransitivity", _number(found.intransitivity), open_paths
    hubs = "mean squared number of objects with the same nearest neighbour; random points: below 2"
    yield "centrality", f"{found.centrality:.2f}", hubs
    yield "reciprocity", f"{found.reciprocity:.2f}", _of_reciprocity(found)
    yield "most shared", f"{found.max_shared_nearest_neighbor:.3g}", _of_sharing(found)
    negative = _number(found.negative_share)
    yield "negative part", negative, "share of the spectrum; 0 for Euclidean distances"
    yield "stress", _number(found.stress), _of_stress(found)


def _suggestion(found: mm.Diagnosis) -> tuple[str, str, str]:
    maps = plural("map", found.suggested_maps)
    if found.serves == "dimensions":
        maps = f"1 map, {found.suggested_dimensions} dims"
    return "suggested", maps, found.reason


def _recommended(found: mm.Diagnosis) -> Iterator[tuple[str, str, str]]:
    if math.isfinite(found.explained):
        some = f" of {found.n_fitted:,} objects" if found.n_fitted < found.n_objects else ""
        meaning = f"share of the data{some} in the suggested fit"
        if math.isfinite(found.explained_by_even_spread):
            meaning += f"; an even spread explains {found.explained_by_even_spread:.0%}"
        yield "explained", f"{found.explained:.0%}", meaning


def _number(value: float) -> str:
    return f"{value:.3f}" if math.isfinite(value) else "none"


def _of_asymmetry(found: mm.Diagnosis) -> str:
    if found.kind == "distances":
        return "distances are symmetric"
    if found.asymmetry == 0:
        return "every pair is equally strong in both directions"
    return "share of the strength that is not reciprocated; 0 for distances"


def _of_reciprocity(found: mm.Diagnosis) -> str:
    reading = "mean rank of an object among the neighbours of its nearest neighbour; 1 if mutual"
    if found.not_returned > 0:
        reading += f"; {found.not_returned:.0%} of the objects are not among these neighbours"
    return reading


def _of_sharing(found: mm.Diagnosis) -> str:
    bound = "in a plane at most 5 objects can share a nearest neighbour"
    here = f"here {found.max_shared_nearest_neighbor:.3g} objects share {shown(found.most_shared)}"
    enough = found.dimensions_for_sharing
    if enough is not None and enough <= 2:
        return f"{bound}; {here}"
    needed = "more than 8 dimensions" if enough is None else f"at least {enough} dimensions"
    return f"{bound}; {here}, which requires {needed}"


def _of_stress(found: mm.Diagnosis) -> str:
    return (
        "nonmetric scaling of at most 75 objects in two dimensions (good: below 0.05); in four "
        f"dimensions {_number(found.stress_in_four)}, by chance in two "
        f"{_number(found.stress_by_chance)}"
    )


def _fits(found: mm.Diagnosis) -> list[tuple[str, str, str]]:
    """List the shares that maps reproduce; the first share determines the suggestion."""
    from manymaps.analysis.diagnosis import FEW

    some = f" of {found.n_fitted:,} objects" if found.n_fitted < found.n_objects else ""
    shares = (found.kept, found.held)
    meanings = [
        "goes to the objects that a quick fit ranks first",
        "agrees with the fitted probability",
    ]
    if found.n_fitted <= FEW:
        shares = (found.held, found.kept)
        meanings.reverse()
    rows: list[tuple[str, str, str]] = []
    for n_maps, first, second in zip(found.n_maps_tried, *shares, strict=True):
        reading = f"{second:.0%}"
        if not rows:
            reading = f"share of the strength{some} that {meanings[0]}; {second:.0%} {meanings[1]}"
        rows.append((f"fit of {plural('map', n_maps)}", f"{first:.0%}", reading))
    four = (found.kept_in_four, found.held_in_four)
    first, second = four[::-1] if found.n_fitted <= FEW else four
    reading = f"{second:.0%}; one four-dimensional map, with as many coordinates as two maps"
    rows.append(("fit in 4 dims", f"{first:.0%}", reading))
    return rows


def _further(found: mm.Diagnosis, file: Path) -> str:
    """Return the command that fits the suggested number of maps."""
    settings = ["--maps", str(found.suggested_maps)]
    if found.suggested_maps == 1 and found.kind == "distances":
        settings = ["--method", "tsne"]
    if found.kind == "similarities" and found.suggested_dimensions > 2:
        settings += ["--dims", str(found.suggested_dimensions)]
    if found.normalization == "joint":
        settings += ["--set", "normalization=joint"]
    return next_step(*fit_command(file, *settings))
