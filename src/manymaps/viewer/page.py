"""The atlas page, a single HTML file that contains an atlas and its viewer.

The template `assets/page.html` has fields for the title, the initial style (`page.css`), and the
viewer with its style. A further field contains the data of the atlas, packed by
`manymaps.viewer.packing` and encoded in base64. The viewer (`viewer.js`, `viewer.css`) is built
from the folder `viewer`. The page can be opened from disk without a network connection. The
Content-Security-Policy of the page lists the SHA-256 hashes of its only script and style, and
forbids all other resources that a page can load. No label is written into the HTML itself.
"""

from __future__ import annotations

import base64
import hashlib
import html
import os
import re
from collections.abc import Collection, Mapping, Sequence
from importlib import resources
from pathlib import Path
from string import Template
from typing import Any

from manymaps.analysis.fitted_vectors import FittedVectors
from manymaps.archive.archives import written_whole
from manymaps.atlas.atlas import Atlas
from manymaps.errors import ParameterError
from manymaps.viewer.options import PageOptions
from manymaps.viewer.packing import pack_page, well_formed

SUFFIXES = (".html", ".htm")
POLICY = (
    "default-src 'none'; script-src '{script}'; style-src '{style}'; img-src data: blob:; "
    "base-uri 'none'; form-action 'none'"
)
ENDS_A_SCRIPT = re.compile(r"<(?=/script|!--)", re.IGNORECASE)


def viewer_module() -> str:
    """Return the viewer as one ES module, whose default export is an anywidget `render`."""
    return _asset("viewer.js")


def viewer_style() -> str:
    """Return the style sheet of the viewer, which the viewer inserts into its shadow root."""
    return _asset("viewer.css").strip()


def write_page(
    atlas: Atlas,
    path: str | os.PathLike[str],
    *,
    color: str | None = None,
    size: str | None = None,
    title: str | None = None,
    features: Any = None,
    min_weight: float = 0.1,
    description: str | None = None,
    source: str = "",
    credit: str = "",
    date: str = "",
    noun: str | tuple[str, str] | None = None,
    hide: str | Collection[str] = (),
    map_titles: Mapping[int, str] | None = None,
    examples: Sequence[str] | None = None,
    vectors: FittedVectors | Sequence[FittedVectors] | None = None,
) -> None:
    """Write an atlas to a single HTML file that works offline.

    Parameters
    ----------
    atlas : Atlas
        The atlas.
    path : path
        The file. Its suffix must be .html or .htm. A partial file is never left behind.
    color, size : str, optional
        Columns of the atlas that determine the colours of the dots (categories or numbers) and
        their sizes (numbers) when the page opens. Readers of the page can choose other columns.
    title : str, optional
        Title of the page. By default, it is the file name without its suffix.
    features : AdditiveClustering or sequence of features, optional
        Features whose members can be selected: a fitted estimator, or objects with the attributes
        `weight` and `members`. The members are labels of the atlas.
    min_weight : float in [0, 1]
        Minimum map weight (`Atlas.map_weights`) of the objects that each map shows when the page
        opens. The area of a dot shows the map weight.
    description : str, optional
        Description of the page in a sentence or two, shown below the title. The default sentence
        states what a short distance means. With "", the page has no description.
    source, credit, date : str, optional
        Source of the data, credits, and the date of the data or of the page.
    noun : str or (str, str), optional
        Noun for an object, such as "word", "image" or "cell", or the noun and its plural if the
        plural is irregular. The default is "word" if associations are known, and "object"
        otherwise.
    hide : str or collection of str, optional
        Labels to hide, matched regardless of case. The objects with these labels are omitted from
        the page completely, and the model's values for the other objects do not change. A label
        that does not match any object has no effect.
    map_titles : mapping of int to str, optional
        Titles of maps by map number, which replace the typical words.
    examples : sequence of str, optional
        Labels of the examples below the search field. The page opens with the senses of the first
        example. By default, four frequent words with several balanced senses are chosen.
        If no associations are known, four objects that are spread over many maps are chosen.
    vectors : FittedVectors or sequence of FittedVectors, optional
        Variables to draw as arrows over the map to which they were fitted (`fit_vectors`), at most
        one result per map of two dimensions. As in `plot_map`, the levels of a factor are diamonds
        at their centroids. `FittedVectors.significant` selects variables by their p-value.

    Raises
    ------
    ParameterError
        If the suffix is not supported, or a column does not exist or is unsuitable. If pictures are
        too large, a value is out of range, or every object would be hidden. If vectors were fitted
        to a map that does not exist, several were fitted to the same map, or the map does not have
        two dimensions.
    UnknownLabelError
        If the atlas does not contain an example or a member of a feature. The message suggests
        similar labels.
    OSError
        If the file cannot be written. No incomplete file remains.

    See Also
    --------
    AtlasWidget, fit_vectors, plot_atlas

    Notes
    -----
    A column of data URIs contains pictures, which are shown in cards, tooltips and tables. Valid
    formats are PNG, JPEG, GIF, WebP and AVIF in base64. A picture may have at most 262,144
    characters, and all pictures together at most 64 MiB.

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
    title = Path(path).stem if title is None else str(title)
    options = PageOptions(
        title, description, source, credit, date, noun, color, size, features, min_weight, hide,
        map_titles, None if examples is None else tuple(examples), vectors,
    )  # fmt: skip
    page = _page(pack_page(atlas, options), title).encode()
    with written_whole(path) as temporary:
        temporary.write_bytes(page)


def _page(packed: bytes, title: str) -> str:
    style, module = _asset("page.css").strip(), _inline(viewer_module())
    policy = POLICY.format(script=_sum(module), style=_sum(style))
    return Template(_asset("page.html")).substitute(
        policy=policy,
        title=html.escape(well_formed(title)),
        style=style,
        sheet=html.escape(viewer_style(), quote=False),
        data=base64.b64encode(packed).decode(),
        module=module,
    )


def _inline(module: str) -> str:
    """Escape text in a module that would end a script element."""
    return ENDS_A_SCRIPT.sub(r"\\x3C", module)


def _sum(text: str) -> str:
    """Return the hash that identifies an inline script or style in a policy."""
    return f"sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}"


def _asset(name: str) -> str:
    # Lines must end in "\n" only, because a browser computes its hashes from such lines.
    return (resources.files("manymaps.viewer") / "assets" / name).read_text(encoding="utf-8")
