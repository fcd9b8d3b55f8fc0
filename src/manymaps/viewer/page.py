"""The atlas page: one HTML file that holds an atlas, and the viewer that shows it.

The file is `assets/page.html` with its places filled: the title, the first style
(`page.css`), the data of `manymaps.viewer.packing` in base64 (of one atlas or two), and the viewer
with its style (`viewer.js`, `viewer.css`, built from the folder `viewer`). It opens from disk and
without a network: its Content-Security-Policy names the one script and the one style that stand
in it by their SHA-256 sums, and forbids
whatever else a page can load. No label is written into the HTML itself.
"""

from __future__ import annotations

import base64
import hashlib
import html
import os
import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from importlib import resources
from itertools import count
from pathlib import Path
from string import Template
from typing import Any

from manymaps.archive import written_whole
from manymaps.atlas.atlas import Atlas
from manymaps.errors import ParameterError
from manymaps.viewer.options import PageOptions
from manymaps.viewer.packing import pack_page, well_formed

__all__ = ["viewer_module", "viewer_style", "write_page"]

SUFFIXES = (".html", ".htm")
POLICY = (
    "default-src 'none'; script-src '{script}'; style-src '{style}'; img-src data: blob:; "
    "base-uri 'none'; form-action 'none'"
)
ENDS_A_SCRIPT = re.compile(r"<(?=/script|!--)", re.IGNORECASE)


def viewer_module() -> str:
    """The viewer as one ES module, whose default export is an anywidget `render`."""
    return _asset("viewer.js")


def viewer_style() -> str:
    """The style sheet of the viewer, which it takes into its shadow root."""
    return _asset("viewer.css").strip()


def write_page(
    atlas: Atlas | Sequence[Atlas],
    path: str | os.PathLike[str],
    *,
    color: str | None = None,
    size: str | None = None,
    title: str | Sequence[str] | None = None,
    features: Any = None,
    min_weight: float = 0.1,
    description: str = "",
    source: str = "",
    credit: str = "",
    date: str = "",
    noun: str | tuple[str, str] = "object",
    hide: str | Collection[str] = (),
    map_titles: Mapping[int, str] | None = None,
) -> None:
    """Write an atlas as one HTML file that works offline, completely or not at all.

    Parameters
    ----------
    atlas : Atlas or sequence of two
        The atlas. Two atlases are shown next to each other with one search field: a word is shown
        in both, columns that both have use the same colours, and a column of only one atlas is used
        there only.
    path : path
        The file; its name ends in .html or .htm.
    color, size : str, optional
        Columns of the atlas that colour the dots (categories or numbers) and determine their size
        (numbers) when the page opens. Readers of the page can choose others.
    title : str or (str, str), optional
        Title of the page; by default the file name without its suffix. Two atlases need one title
        each, by default "first" and "second".
    features : AdditiveClustering or sequence of features, optional
        Features to draw as outlines: a fitted estimator, or objects with a `weight` and `members`,
        which are labels of the atlas.
    min_weight : float in [0, 1]
        Minimum map weight (`Atlas.map_weights`) of the objects that each map shows when the page
        opens; the weight is the area of a dot.
    description : str, optional
        Description of the page in a sentence or two, shown below the title.
    source, credit, date : str, optional
        Source of the data, credits, and the date of the data or of the page.
    noun : str or (str, str), optional
        Noun for an object, such as "word", "image" or "cell"; with its plural if that is irregular.
    hide : str or collection of str, optional
        Labels that must not be shown, in any case. These objects are omitted from the page
        completely, and the model's values for the others do not change. A label without an object
        has no effect.

    map_titles : mapping of int to str, optional
        Titles of maps by their numbers, instead of typical words.

    Raises
    ------
    ParameterError
        If the suffix is another one, a column does not exist or is unsuitable, pictures are too
        large, a value is out of its range, or every object would be hidden; for other than one or
        two atlases, a wrong number of titles, or features of two atlases.
    UnknownLabelError
        For a member of a feature that the atlas lacks, with suggestions.
    OSError
        Where the place cannot be written; nothing is left behind.

    See Also
    --------
    AtlasWidget, plot_atlas

    Notes
    -----
    A column of data URIs (PNG, JPEG, GIF, WebP or AVIF in base64, at most 262,144 characters each
    and 64 MiB together) contains pictures, which are shown in cards, tooltips and tables.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> import numpy as np
    >>> from manymaps import Atlas, write_page
    >>> from manymaps.model import T_SNE
    >>> atlas = Atlas(["tie", "knot"], np.array([[[0.0, 0.0], [1.0, 0.0]]]), np.ones((1, 2)), T_SNE)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = Path(folder, "two.html")
    ...     write_page(atlas, path, title="Two words")
    ...     "<title>Two words</title>" in path.read_text(encoding="utf-8")
    True
    """
    if Path(path).suffix.lower() not in SUFFIXES:
        raise ParameterError(f"{path}: the name of a page must end in {' or '.join(SUFFIXES)}")
    atlases = [atlas] if isinstance(atlas, Atlas) else list(atlas)
    titles = _titles(title, len(atlases), Path(path).stem)
    for name, of_one in (("features", features), ("map_titles", map_titles)):
        if len(atlases) > 1 and of_one is not None:
            raise ParameterError("are of one atlas; give one", name=name)
    options = PageOptions(
        None, description, source, credit, date, noun, color, size, features, min_weight, hide,
        map_titles,
    )  # fmt: skip
    packed = [
        pack_page(one, _options_of(one, atlases, replace(options, title=own)))
        for one, own in zip(atlases, titles, strict=True)
    ]
    page = _page(packed, " and ".join(titles)).encode()
    with written_whole(path) as temporary:
        temporary.write_bytes(page)


def _titles(title: str | Sequence[str] | None, n_atlases: int, stem: str) -> list[str]:
    """The title of each atlas of a page.

    Raises
    ------
    ParameterError
        Where there are not as many, or where a page cannot hold as many atlases.
    """
    if n_atlases not in (1, 2):
        raise ParameterError(f"a page holds one atlas or two, not {n_atlases}")
    if title is None:
        return [stem] if n_atlases == 1 else ["first", "second"]
    titles = [title] if isinstance(title, str) else list(title)
    if len(titles) != n_atlases:
        raise ParameterError("needs one title for each atlas", name="title", value=title)
    return [str(each) for each in titles]


def _options_of(atlas: Atlas, atlases: Sequence[Atlas], options: PageOptions) -> PageOptions:
    """The options without columns that only the other atlas has."""
    there = {name for one in atlases for name in one.columns} - set(atlas.columns)
    return replace(
        options,
        color=None if options.color in there else options.color,
        size=None if options.size in there else options.size,
    )


def _page(packed: Sequence[bytes], title: str) -> str:
    style, module = _asset("page.css").strip(), _inline(viewer_module())
    policy = POLICY.format(script=_sum(module), style=_sum(style))
    return Template(_asset("page.html")).substitute(
        policy=policy,
        title=html.escape(well_formed(title)),
        style=style,
        sheet=html.escape(viewer_style(), quote=False),
        data="\n".join(map(_data_element, packed, count())),
        module=module,
    )


def _data_element(packed: bytes, number: int) -> str:
    name = f"manymaps-data-{number + 1}" if number else "manymaps-data"
    data = base64.b64encode(packed).decode()
    return f'<script type="application/octet-stream" id="{name}">{data}</script>'


def _inline(module: str) -> str:
    """A module that can stand between tags: what would end it there is written otherwise.

    >>> print(_inline("a = '</SCRIPT>' + '<!--'"))
    a = '\\x3C/SCRIPT>' + '\\x3C!--'
    """
    return ENDS_A_SCRIPT.sub(r"\\x3C", module)


def _sum(text: str) -> str:
    """How a policy names an inline script or style."""
    return f"sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}"


def _asset(name: str) -> str:
    # Lines end in "\n" alone, as they do where a browser computes its sums.
    return (resources.files("manymaps.viewer") / "assets" / name).read_text(encoding="utf-8")
