"""The senses of a word as a record and as text.

This module does not import any data readers, so that looking up a word is fast.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

import manymaps as mm
from manymaps.cli.contract import grid, shown
from manymaps.labels import plural

if TYPE_CHECKING:
    from manymaps.atlas.atlas import Sense

# Unlisted groups and maps with a smaller share do not have a row.
LEAST_LISTED = 0.005
# Rounding of strengths in files changes shares by less than this.
MOST_ROUNDED = 0.01
# As many meanings as the page shows on cards.
MOST_MEANINGS = 5


def senses_record(
    atlas: mm.Atlas,
    word: str,
    chosen: Mapping[str, Any],
    kind: str | None,
    intervals: mm.Intervals | None,
) -> dict[str, Any]:
    """Return the record of a word that `senses --json` prints.

    Parameters
    ----------
    atlas : Atlas
        The atlas.
    word : str
        The label of the word, in upper or lower case.
    chosen : mapping
        The arguments of `Atlas.senses`.
    kind : str or None
        The kind of the word in a bipartite atlas.
    intervals : Intervals or None
        The intervals of the shares, the strengths and the ambiguity. If None, the record has no
        intervals. An interval is null if the data do not contain the sense or the pair.
    """
    from manymaps.analysis.reliability import scores_of
    from manymaps.atlas.answers import not_close

    asked = {**chosen, "kind": kind}
    senses = atlas.senses(word, **asked)
    everything = atlas.senses(word, **{**asked, "min_share": 0, "min_weight": 0})
    # The fine senses with any weight cover all maps.
    all_maps = {**asked, "min_share": 0, "min_weight": 0, "level": "fine"}
    weights = {sense.map: sense.weight for sense in atlas.senses(word, **all_maps)}
    maps = list(dict.fromkeys(sense.map for sense in senses))
    captions = dict(zip(maps, map(list, atlas.captions(maps=maps)), strict=True))
    i = atlas.index(word, kind=kind)
    label = atlas.labels[i]
    explained, recurring = scores_of(atlas, i)
    record: dict[str, Any] = {
        "word": label,
        "kind": kind,
        "n_fits": None if atlas.consensus is None else atlas.consensus.n_fits,
        "senses": [asdict(sense) | {"caption": captions[sense.map]} for sense in senses],
        "left_out": _left_out(senses, everything, weights),
        "elsewhere": [
            {
                "share": sense.share,
                "n_fits": sense.n_fits,
                "neighbors": [near._asdict() for near in sense.neighbors],
            }
            for sense in atlas.senses_elsewhere(word, kind=kind)
        ],
        "not_close": list(not_close(atlas, i, senses)),
        "explained": explained,
        "recurring": recurring,
    }
    for sense in record["senses"]:
        for one in (sense, *sense["parts"]):
            del one["members"]
    if intervals is None:
        return record
    for sense, one in zip(senses, record["senses"], strict=True):
        one["interval"] = _as_record(sense_interval(intervals, label, sense))
        for near in one["neighbors"]:
            near["interval"] = _as_record(intervals.strength(label, near["label"]))
    return record | {
        "ambiguity": _as_record(intervals.ambiguity(label)),
        "n_responses": intervals.n_responses(label),
        "level": intervals.level,
        "by": intervals.unit,
        "notes": list(intervals.notes),
    }


def data_differ(records: Iterable[dict[str, Any]]) -> bool:
    """Return whether a response share in the data of --data differs from the atlas by over 1 %."""
    senses = (sense for record in records for sense in record["senses"])
    return any(abs(_data_share(sense) - sense["share"]) > MOST_ROUNDED for sense in senses)


def sense_interval(intervals: mm.Intervals, label: str, sense: Sense) -> Any:
    """Return the interval of a sense; None for a map without observed responses."""
    if sense.share == 0 or not sense.neighbors:
        return None
    return intervals.share(label, sense.neighbors[0].label)


def _as_record(interval: mm.Interval | None) -> dict[str, float] | None:
    return None if interval is None else interval._asdict()


def _left_out(
    listed: Sequence[Sense], everything: Sequence[Sense], weights: Mapping[int, float]
) -> dict[str, float]:
    """Count the senses and maps that are not listed, and sum their shares and weights."""
    maps = {sense.map for sense in listed}
    others = {map: weight for map, weight in weights.items() if map not in maps}
    return {
        "n_groups": sum(s.share > 0 for s in everything) - sum(s.share > 0 for s in listed),
        "share": max(0.0, 1 - sum(sense.share for sense in listed)),
        "n_maps": sum(weight > 0 for weight in others.values()),
        "weight": sum(others.values()),
    }


def senses_text(record: dict[str, Any], *, grouped: bool, captioned: bool) -> str:
    """Format a record: its senses, the senses in other fits, and their reliability.

    Parameters
    ----------
    record : dict
        The record of the word.
    grouped : bool
        Whether associations are known. If so, groups and neighbours are listed with their observed
        share, followed by the model's share in brackets.
    captioned : bool
        Whether maps are listed with their captions.
    """
    word = shown(record["word"])
    if grouped and any(sense["parts"] for sense in record["senses"]):
        return _meanings_text(word, record, captioned=captioned)
    counted = [sense for sense in record["senses"] if sense["share"] > 0 or not grouped]
    maps = plural("map", len({sense["map"] for sense in counted}))
    where = f"has {plural('sense', len(counted))} in {maps}" if grouped else f"has weight in {maps}"
    lines = [f"{word} {where}", grid(_rows(record, grouped=grouped, captioned=captioned))]
    return "\n".join([*lines, *filter(None, ["; ".join(_reliability(record))])])


def _meanings_text(word: str, record: dict[str, Any], *, captioned: bool) -> str:
    """Format the meanings of a word in the order of the cards of a page."""
    shown_senses = _on_cards(record["senses"])
    numbers = whole_percents([_data_share(sense) for sense in shown_senses])
    far = ", ".join(map(shown, record["not_close"]))
    lines = [
        f"{word}: {_summary(numbers)}",
        grid(_meaning_rows(record, shown_senses, numbers, captioned=captioned)),
        f"not close on any map: {far}" if far else "",
        "; ".join(_reliability(record)),
    ]
    return "\n".join(filter(None, lines))


def _on_cards(senses: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return the meanings that a map shows, grouped by map, in the order of the largest shares."""
    found = [sense for sense in senses if sense["close"]][:MOST_MEANINGS]
    maps = list(dict.fromkeys(sense["map"] for sense in found))
    return sorted(found, key=lambda sense: maps.index(sense["map"]))


def _summary(numbers: Sequence[int]) -> str:
    if not numbers:
        return "no map shows its meanings"
    words = ("one meaning, which covers", "two", "three", "four", "five")
    count = words[0] if len(numbers) == 1 else f"{words[len(numbers) - 1]} meanings, which cover"
    return f"{count} {sum(numbers)}% of its associations"


def whole_percents(shares: Sequence[float]) -> list[int]:
    """Round shares of one whole to per cent so that their sum is the rounded sum of the shares.

    >>> whole_percents([0.505, 0.495]), whole_percents([0.503, 0.155])
    ([51, 49], [50, 16])
    """
    found = [math.floor(100 * share) for share in shares]
    remainders = [100 * share - whole for share, whole in zip(shares, found, strict=True)]
    missing = math.floor(sum(100 * share for share in shares) + 0.5) - sum(found)
    for k in sorted(range(len(found)), key=lambda k: -remainders[k])[:missing]:
        found[k] += 1
    return found


def _meaning_rows(
    record: dict[str, Any],
    shown_senses: Sequence[dict[str, Any]],
    numbers: Sequence[int],
    *,
    captioned: bool,
) -> Iterator[list[str]]:
    """Yield the rows of meanings: those on cards, weaker ones, those of other fits, the others."""
    n_fits, left_out = record["n_fits"], record["left_out"]
    fits = [] if n_fits is None else [""]
    yield ["", "data", *fits, "data (model)"]
    weaker = [sense for sense in record["senses"] if sense not in shown_senses]
    parts = [f"{number}%" if number else "<1%" for number in numbers]
    parts += [f"{_data_share(sense):.0%}" for sense in weaker]
    for k, (sense, part) in enumerate(zip([*shown_senses, *weaker], parts, strict=True)):
        cells = [", ".join(map(shown, sense["name"]))]
        cells.append(_observed(sense) if "interval" in sense else part)
        if n_fits is not None:
            cells.append("" if sense["n_fits"] is None else f"{sense['n_fits']} of {n_fits} fits")
        cells.append(", ".join(map(_neighbor, sense["neighbors"])))
        is_shown = k < len(shown_senses)
        cells.append(f"map {sense['map']}" if is_shown else "no map")
        if captioned and sense["caption"]:
            cells.append(f"({', '.join(map(shown, sense['caption']))})" if is_shown else "")
        yield cells
    for other in (sense for sense in record["elsewhere"] if sense["n_fits"] > 1):
        near = ", ".join(shown(one["label"]) for one in other["neighbors"])
        yield ["elsewhere", f"{other['share']:.0%}", f"{other['n_fits']} of {n_fits} fits", near]
    if left_out["n_groups"] or left_out["weight"] >= LEAST_LISTED:
        groups = [plural("smaller sense", left_out["n_groups"])] if left_out["n_groups"] else []
        maps = plural("further map", left_out["n_maps"]) if left_out["n_maps"] else ""
        further = [*groups, *([f"{maps} ({left_out['weight']:.0%} predicted)"] if maps else [])]
        yield ["others", _others_share(record), *fits, ", ".join(further)]


def _rows(record: dict[str, Any], *, grouped: bool, captioned: bool) -> Iterator[list[str]]:
    n_fits, left_out = record["n_fits"], record["left_out"]
    fits = [] if n_fits is None else [""]
    captioned = captioned and any(sense["caption"] for sense in record["senses"])
    if grouped:
        yield ["", "model", "data", *fits, "data (model)"]
    before = -1
    for sense in record["senses"]:
        repeated = grouped and sense["map"] == before
        cells = ["", ""] if repeated else [f"map {sense['map']}", f"{sense['weight']:.0%}"]
        if grouped:
            cells.append(_observed(sense))
        if n_fits is not None:
            cells.append("" if sense["n_fits"] is None else f"{sense['n_fits']} of {n_fits} fits")
        cells.append(", ".join(map(_neighbor, sense["neighbors"])) or "(no neighbours)")
        if captioned:
            cells.append("" if repeated else f"({', '.join(map(shown, sense['caption']))})")
        yield cells
        before = sense["map"]
    # A sense in only one other fit does not show agreement. These senses are listed only by --json.
    for other in (sense for sense in record["elsewhere"] if sense["n_fits"] > 1):
        near = ", ".join(shown(one["label"]) for one in other["neighbors"])
        shares = ["", f"{other['share']:.0%}"][0 if grouped else 1 :]
        yield ["elsewhere", *shares, f"{other['n_fits']} of {n_fits} fits", near]
    if left_out["n_groups"] or left_out["weight"] >= LEAST_LISTED:
        shares = [_others_share(record)] if grouped else []
        groups = plural("smaller group", left_out["n_groups"])
        further = [groups] if left_out["n_groups"] and grouped else []
        further += [plural("further map", left_out["n_maps"])] if left_out["n_maps"] else []
        yield ["others", f"{left_out['weight']:.0%}", *shares, *fits, ", ".join(further)]


def _reliability(record: dict[str, Any]) -> Iterator[str]:
    """Yield the reliability of a word's positions, and its ambiguity, if known."""
    if record["explained"] is not None:
        yield f"its positions explain {record['explained']:.0%} of the observed responses"
    if record["recurring"] is not None:
        yield f"{record['recurring']:.0%} of its neighbours recur in other fits"
    if (ambiguity := record.get("ambiguity")) is not None:
        limits = f"{ambiguity['low']:.1f} to {ambiguity['high']:.1f}, {100 * record['level']:.4g}%"
        responses = plural("response", record["n_responses"])
        by = ", by participants" if record["by"] == "participants" else ""
        yield f"ambiguity {ambiguity['value']:.1f} ({limits}) of {responses}{by}"


def _neighbor(near: dict[str, Any]) -> str:
    similarity = _fraction(near["similarity"])
    if near["observed"] is None:
        return f"{shown(near['label'])} {similarity}"
    strength = _data_share(near, "observed")
    observed = _fraction(strength) if strength > 0 else "-"
    return f"{shown(near['label'])} {observed} ({similarity})"


def _observed(sense: dict[str, Any]) -> str:
    """Format the observed share of a sense with its interval, or as a word if the share is zero."""
    if (interval := sense.get("interval")) is not None:
        limits = f"{100 * interval['low']:.0f}-{interval['high']:.0%}"
        return f"{interval['value']:.0%} ({limits})"
    if _data_share(sense) > 0:
        return f"{sense['share']:.0%}"
    return "unsupported" if sense["unsupported"] else "none"


def _data_share(one: dict[str, Any], key: str = "share") -> float:
    """Return a share of a sense or a neighbour in the data of --data or, without it, the atlas."""
    if "interval" in one:
        return one["interval"]["value"] if one["interval"] else 0.0
    return float(one[key])


def _others_share(record: dict[str, Any]) -> str:
    """Format the response share that is in no listed sense."""
    return f"{max(0.0, 1 - sum(map(_data_share, record['senses']))):.0%}"


def _fraction(value: float) -> str:
    if value < 0.0005:
        return "<.001"
    return f"{value:.2f}".lstrip("0") if value >= 0.095 else f"{value:.3f}".lstrip("0")
