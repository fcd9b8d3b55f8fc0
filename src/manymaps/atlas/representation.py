"""Representations of an atlas and its entries at a prompt and in a notebook.

Labels come from unknown sources. At a prompt, characters that are not printable are escaped,
including control characters that change the direction of a line. In a notebook, all markup is also
escaped, formulas are not typeset, and the writing direction of each label is isolated.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from html import escape

from manymaps.atlas.answers import Sense
from manymaps.atlas.captions import AT_HOME, dominant, title_words
from manymaps.atlas.data import AtlasData
from manymaps.atlas.roles import numbers_of_kinds
from manymaps.labels import first_of, in_words, plural

# Sizes of the text in a notebook, chosen so that it fits on a screen.
LONGEST = 40
MOST_SENSES, NEIGHBORS = 8, 6
MOST_MAPS, CAPTION = 20, 4
METHODS = {
    "mm-tsne": "t-SNE", "mm-sne": "SNE", "tsne": "t-SNE", "sne": "SNE", "code": "CODE",
    "symmetric-sne": "symmetric SNE", "uni-sne": "UNI-SNE",
}  # fmt: skip
# Jupyter typesets text between dollar signs as a formula, except in elements of these classes.
PLAIN = "tex2jax_ignore mathjax_ignore"


def atlas_text(atlas: AtlasData) -> str:
    """Summarize an atlas in four lines: sizes, model, first labels, and optional parts.

    Examples
    --------
    >>> import numpy as np
    >>> from manymaps import Atlas
    >>> from manymaps.model import T_SNE
    >>> print(atlas_text(Atlas(["tie", "knot"], np.zeros((1, 2, 2)), np.ones((1, 2)), T_SNE)))
    <Atlas of 2 objects in 1 map of 2 dimensions
     by t-SNE, 1 map, joint, Cauchy kernel, penalty 0
     labels: 'tie', 'knot'
     without associations, vectors or metadata>
    """
    lines = (
        f"<Atlas of {_sizes(atlas)}", f"by {model_text(atlas)}",
        f"labels: {first_of(atlas.labels)}", f"{_known(atlas)}>",
    )  # fmt: skip
    return "\n ".join(lines)


def model_text(atlas: AtlasData) -> str:
    """Describe the fitted model in one line, such as "t-SNE, 40 maps, conditional, ..."."""
    model = atlas.model
    name = METHODS.get(atlas.method, atlas.method.replace("-", " "))
    kernel = model.kernel if isinstance(model.kernel, str) else f"Student ({model.kernel:g})"
    penalty = atlas.parameters.get("penalty", 0)
    parts = [
        _plain(name), plural("map", atlas.n_maps), model.normalization,
        f"{kernel.capitalize()} kernel", f"penalty {_plain(str(penalty)).removesuffix('.0')}",
    ]  # fmt: skip
    if model.background:
        parts.append(f"background {model.background:g}")
    if atlas.factors is not None:
        parts.append("marginals")
    return ", ".join(parts)


def _sizes(atlas: AtlasData) -> str:
    objects = [_plain(number) for number in numbers_of_kinds(atlas)]
    space = f"{plural('map', atlas.n_maps)} of {plural('dimension', atlas.n_components)}"
    return f"{in_words(objects)} in {space}"


def _known(atlas: AtlasData) -> str:
    parts = [] if atlas.associations is None else ["associations"]
    if atlas.vectors is not None:
        parts.append(f"vectors of {plural('number', atlas.vectors.shape[1])}")
    if atlas.metadata:
        parts.append(f"metadata: {_listed(atlas.metadata, 6)}")
    return f"with {', '.join(parts)}" if parts else "without associations, vectors or metadata"


def _listed(labels: Iterable[str], most: int) -> str:
    named = [_plain(label) for label in labels]
    more = f" and {len(named) - most:,} more" if len(named) > most else ""
    return ", ".join(named[:most]) + more


def _plain(label: str) -> str:
    """Return a label on one line, with unprintable characters escaped, truncated if it is long."""
    shown = label if label.isprintable() else repr(label)[1:-1]
    return shown if len(shown) <= LONGEST else shown[: LONGEST - 1] + "…"


def entry_text(label: str, kind: str | None, senses: Sequence[Sense]) -> str:
    """Format the senses of an object, one per line, with their shares, maps and neighbours."""
    name = _plain(label) + ("" if kind is None else f" ({_plain(kind)})")
    lines = [f"<{name} on {plural('map', len(senses))}"]
    for sense in senses[:MOST_SENSES]:
        near = _listed((n.label for n in sense.neighbors[:NEIGHBORS]), NEIGHBORS)
        has = f"{sense.proportion if sense.share is None else sense.share:.2f}".removeprefix("0")
        lines.append(f" {has} on map {sense.map}: {near}")
    if len(senses) > MOST_SENSES:
        lines.append(f" and {len(senses) - MOST_SENSES} more")
    return "\n".join(lines) + ">"


def atlas_html(atlas: AtlasData) -> str:
    """Format an atlas as a heading and a table with the caption of each map."""
    details = escape(f"by {model_text(atlas)}, {_known(atlas)}")
    head = f"<b>Atlas</b> of {escape(_sizes(atlas))}<br><small>{details}</small>"
    words = None if atlas.kinds is None else ~atlas.choices.is_row
    rows = []
    for m, held in enumerate(atlas.proportions[:MOST_MAPS]):
        home = dominant(held, AT_HOME)
        named = title_words(atlas, m, home, n_words=CAPTION, words=words)
        about = ", ".join(f"<bdi>{escape(_plain(word))}</bdi>" for word in named)
        cell = f'<td style="text-align:left">{about}</td>'
        rows.append(f"<tr><td>{m}</td><td>{len(home):,}</td>{cell}</tr>")
    if atlas.n_maps > MOST_MAPS:
        rows.append(f"<tr><td colspan=3>and {atlas.n_maps - MOST_MAPS:,} more maps</td></tr>")
    heads = "".join(f"<th>{name}</th>" for name in ("map", "objects", "about"))
    table = f"<table><thead><tr>{heads}</tr></thead><tbody>{''.join(rows)}</tbody></table>"
    return f'<div class="{PLAIN}">{head}{table}</div>'
