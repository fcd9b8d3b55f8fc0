"""How `senses` tells a person what it found of a word; apart, for it reads no data.

What it says of a word should be there at once, and other reports need tables, counts and trials.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

from manymaps.cli.contract import plain_table, rendered, shown
from manymaps.labels import plural

if TYPE_CHECKING:
    from manymaps.analysis.intervals import Interval, Intervals
    from manymaps.atlas.atlas import Neighbor, Sense
    from manymaps.atlas.consensus import ConsensusSense

__all__ = ["interval_record", "left_out_of", "senses_record", "senses_table", "trust_line"]

# What is left out is not worth a row below this.
LEAST_SAID = 0.005


@dataclass(frozen=True)
class LeftOut:
    """What a list of senses does not show: groups and maps, and what falls to them."""

    n_groups: int = 0
    share: float = 0.0
    n_maps: int = 0
    recall: float = 0.0


def left_out_of(listed: Sequence[Sense], everything: Sequence[Sense]) -> LeftOut:
    """What is in all senses of a word beyond those that are listed.

    Maps without any group are counted as maps alone, not as groups.
    """
    maps = {sense.map for sense in listed}
    others = {sense.map: sense.recall for sense in everything if sense.map not in maps}
    shown = sum(sense.share > 0 for sense in listed)
    return LeftOut(
        n_groups=sum(sense.share > 0 for sense in everything) - shown,
        share=max(0.0, 1 - sum(sense.share for sense in listed)),
        n_maps=sum(recall > 0 for recall in others.values()),
        recall=sum(others.values()),
    )


def senses_record(
    word: str,
    senses: Sequence[Sense],
    kind: str | None = None,
    elsewhere: Sequence[ConsensusSense] = (),
    n_fits: int | None = None,
    captions: Mapping[int, Sequence[str]] | None = None,
    left_out: LeftOut | None = None,
) -> dict[str, Any]:
    """What `senses --json` prints; the kind is null where all objects are of one.

    The numbers of fits are null where only one is known, and what was observed where no
    associations are; `captions` are those of the maps of the senses.
    """
    return {
        "word": word,
        "kind": kind,
        "n_fits": n_fits,
        "senses": [
            {
                "map": sense.map,
                "caption": list(captions[sense.map]) if captions else [],
                "proportion": sense.proportion,
                "recall": sense.recall,
                "share": sense.share,
                "stranded": sense.stranded,
                "n_fits": sense.n_fits,
                "neighbors": [asdict(near) for near in sense.neighbors],
            }
            for sense in senses
        ],
        "left_out": asdict(left_out or LeftOut()),
        "elsewhere": [
            {
                "share": sense.share,
                "n_fits": sense.n_fits,
                "neighbors": [{"label": n.label, "weight": n.weight} for n in sense.neighbors],
            }
            for sense in elsewhere
        ],
    }


def senses_table(
    word: str,
    senses: Sequence[Sense],
    elsewhere: Sequence[ConsensusSense] = (),
    n_fits: int | None = None,
    captions: Mapping[int, Sequence[str]] | None = None,
    left_out: LeftOut | None = None,
    *,
    grouped: bool = False,
    intervals: Sequence[Interval | None] | None = None,
) -> str:
    """What `senses` prints for a person; also the senses that several other fits share.

    Maps have what they give of the model's recall beside them, groups their share of what was
    observed, and so has each neighbour, the model's in brackets. Captions of the senses' maps say
    what each is about, where they are given. `intervals` are those of the senses' shares.
    """
    from manymaps.atlas.representation import where_senses_lie

    table, about = plain_table(), captions if captions and any(captions.values()) else None
    fits = [] if n_fits is None else [""]
    if grouped:
        table.add_row("", "model", "data", *fits, "data (model)")
    before = -1
    for sense, share in zip(senses, intervals or [None] * len(senses), strict=True):
        repeated = grouped and sense.map == before
        cells = ["", ""] if repeated else [f"map {sense.map}", f"{sense.recall:.0%}"]
        if grouped:
            cells.append(_observed(sense) if share is None else _percent(share))
        if n_fits is not None:
            cells.append("" if sense.n_fits is None else f"{sense.n_fits} of {n_fits} fits")
        cells.append(", ".join(map(_neighbor, sense.neighbors)) or "(no neighbours)")
        if about is not None:
            cells.append("" if repeated else f"({', '.join(map(shown, about[sense.map]))})")
        table.add_row(*cells)
        before = sense.map
    # A sense of one fit alone is no agreement; --json lists these too.
    for other in (sense for sense in elsewhere if sense.n_fits > 1):
        near = ", ".join(shown(n.label) for n in other.neighbors)
        told, part = f"{other.n_fits} of {n_fits} fits", f"{other.share:.0%}"
        table.add_row("elsewhere", *(["", part] if grouped else [part]), told, near)
    if left_out is not None and (left_out.n_groups or left_out.recall >= LEAST_SAID):
        table.add_row(*_left_out(left_out, fits, grouped=grouped))
    n_senses, n_maps = where_senses_lie(senses, grouped=grouped)
    maps = plural("map", n_maps)
    lives = f"has {plural('sense', n_senses)} in {maps}" if grouped else f"lives in {maps}"
    return f"{shown(word)} {lives}\n{rendered(table)}"


def _percent(told: Interval) -> str:
    return f"{told.value:.0%} ({100 * told.low:.0f}-{told.high:.0%})"


def trust_line(
    trust: tuple[float | None, float | None], intervals: Intervals | None, word: str
) -> str:
    """What `senses` says last: how far a word's places can be trusted, and how ambiguous it is.

    `trust` are the shares explained and recurring. Empty where nothing is known.
    """
    explained, recurring = trust
    said = []
    if explained is not None:
        said.append(f"its places explain {explained:.0%} of what was observed")
    if recurring is not None:
        said.append(f"{recurring:.0%} of its neighbours recur in other fits")
    if intervals is not None and (told := intervals.ambiguity(word)) is not None:
        ends = f"{told.value:.1f} ({told.low:.1f} to {told.high:.1f}, {100 * intervals.level:.4g}%)"
        of = plural("response", intervals.n_responses(word))
        by = ", by participants" if intervals.unit == "participants" else ""
        said.append(f"ambiguity {ends} of {of}{by}")
    return "; ".join(said)


def interval_record(
    record: dict[str, Any], intervals: Intervals, shares: Sequence[Interval | None]
) -> dict[str, Any]:
    """What `senses --json` prints where data were given: the record with intervals in it.

    Each is null where the data say nothing of the sense or the pair.
    """
    word = record["word"]
    ambiguity = intervals.ambiguity(word)
    for sense, share in zip(record["senses"], shares, strict=True):
        sense["interval"] = _as_record(share)
        for near in sense["neighbors"]:
            near["interval"] = _as_record(intervals.strength(word, near["label"]))
    return record | {
        "ambiguity": _as_record(ambiguity),
        "n_responses": intervals.n_responses(word),
        "level": intervals.level,
        "by": intervals.unit,
        "notes": list(intervals.notes),
    }


def _as_record(told: Interval | None) -> dict[str, float] | None:
    return None if told is None else told._asdict()


def _neighbor(near: Neighbor) -> str:
    similarity = _fraction(near.similarity)
    if near.observed is None:
        return f"{shown(near.label)} {similarity}"
    observed = _fraction(near.observed) if near.observed > 0 else "-"
    return f"{shown(near.label)} {observed} ({similarity})"


def _observed(sense: Sense) -> str:
    """The part of what was observed that falls to a sense, in words where that is nothing."""
    if sense.share > 0:
        return f"{sense.share:.0%}"
    return "stranded" if sense.stranded else "none"


def _left_out(left_out: LeftOut, fits: Sequence[str], *, grouped: bool) -> list[str]:
    """The row of what is not listed."""
    said = []
    if left_out.n_groups and grouped:
        said.append(plural("smaller group", left_out.n_groups))
    if left_out.n_maps:
        said.append(plural("further map", left_out.n_maps))
    shares = [f"{left_out.share:.0%}"] if grouped else []
    return ["others", f"{left_out.recall:.0%}", *shares, *fits, ", ".join(said)]


def _fraction(value: float) -> str:
    if value < 0.0005:
        return "<.001"
    return f"{value:.2f}".lstrip("0") if value >= 0.095 else f"{value:.3f}".lstrip("0")
