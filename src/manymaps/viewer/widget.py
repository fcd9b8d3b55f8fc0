"""The atlas page as a Jupyter widget, with a selection that Python can read and set.

The widget shows the same page as `manymaps.viewer.page.write_page` with the same viewer. It
requires anywidget (the extra "widget"). If anywidget is not installed, only `AtlasWidget` is
missing from this module.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from importlib.util import find_spec
from typing import Any, NoReturn

from manymaps.atlas.atlas import Atlas
from manymaps.errors import not_installed
from manymaps.labels import UnknownLabelError
from manymaps.viewer.columns import numbers_of
from manymaps.viewer.options import PageOptions
from manymaps.viewer.packing import pack_page, page_title
from manymaps.viewer.page import viewer_module, viewer_style

if find_spec("anywidget") is not None:
    import traitlets
    from anywidget import AnyWidget

    class AtlasWidget(AnyWidget):
        """An atlas in a notebook, with its maps, the senses of a word, and a selection.

        Parameters
        ----------
        atlas : Atlas
            The atlas.
        color, size
            Same as in `write_page`.
        title : str, optional
            Title of the page. By default, it contains the numbers of objects and maps.
        features, min_weight, description, source, credit, date, noun, map_titles, examples
            Same as in `write_page`.
        height : int
            Height in pixels.

        Attributes
        ----------
        selected : list of int
            Indices of the selected objects.
        selection : tuple of str
            Labels of the selected objects. Assigning labels, matched regardless of case, selects
            the objects.
        word : str
            Label of the word whose senses are shown, or "" if no word is shown.
        map : int or None
            Number of the open map, or None if the gallery is shown.
        theme : {"auto", "light", "dark"}
            Colour theme of the page. The default "auto" follows the theme of the browser.
        atlas : Atlas
            The atlas that is shown.

        Raises
        ------
        ParameterError
            Same as in `write_page`.
        TraitError
            If an attribute is set to a value that does not exist in the atlas.
        UnknownLabelError
            If `selection` is set to an unknown label. The message suggests similar labels.

        See Also
        --------
        write_page

        Examples
        --------
        >>> import numpy as np
        >>> from manymaps import Atlas, AtlasWidget
        >>> from manymaps.model import T_SNE
        >>> atlas = Atlas(["tie", "knot"], np.zeros((1, 2, 2)), np.ones((1, 2)), T_SNE)
        >>> widget = AtlasWidget(atlas)
        >>> widget.selection = ["KNOT"]
        >>> widget.selected, widget.selection
        ([1], ('knot',))
        """

        _esm = viewer_module()

        data = traitlets.Bytes().tag(sync=True)
        sheet = traitlets.Unicode(viewer_style()).tag(sync=True)
        height = traitlets.Int(640, min=1).tag(sync=True)
        selected = traitlets.List(traitlets.Int()).tag(sync=True)
        word = traitlets.Unicode("").tag(sync=True)
        map = traitlets.Int(None, allow_none=True).tag(sync=True)
        theme = traitlets.Enum(["auto", "light", "dark"], "auto").tag(sync=True)

        def __init__(
            self,
            atlas: Atlas,
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
            map_titles: Mapping[int, str] | None = None,
            examples: Sequence[str] | None = None,
            height: int = 640,
        ):
            self._atlas = atlas
            options = PageOptions(
                title, description, source, credit, date, noun, color, size, features, min_weight,
                map_titles=map_titles, examples=examples,
            )  # fmt: skip
            super().__init__(data=pack_page(atlas, options), height=height)

        def __repr__(self) -> str:
            return f"<AtlasWidget of {page_title(self._atlas)}>"

        @property
        def atlas(self) -> Atlas:
            """The atlas that is shown."""
            return self._atlas

        @property
        def selection(self) -> tuple[str, ...]:
            """The labels of the objects that are selected."""
            return tuple(self._atlas.labels[i] for i in self.selected)

        @selection.setter
        def selection(self, labels: Iterable[str]) -> None:
            self.selected = numbers_of(self._atlas, [labels] if isinstance(labels, str) else labels)

        @traitlets.validate("selected")
        def _check_selected(self, proposal: Any) -> list[int]:
            numbers = list(dict.fromkeys(proposal["value"]))
            last = self._atlas.n_objects - 1
            for number in numbers:
                if not 0 <= number <= last:
                    raise traitlets.TraitError(
                        f"object {number} does not exist; objects are 0 to {last}"
                    )
            return numbers

        @traitlets.validate("word")
        def _check_word(self, proposal: Any) -> str:
            word: str = proposal["value"]
            if not word:
                return ""
            try:
                return self._atlas.labels[self._atlas.index(word)]
            except UnknownLabelError as error:
                raise traitlets.TraitError(str(error)) from error

        @traitlets.validate("map")
        def _check_map(self, proposal: Any) -> int | None:
            number: int | None = proposal["value"]
            if number is not None and not 0 <= number < self._atlas.n_maps:
                raise traitlets.TraitError(
                    f"map {number} does not exist; maps are 0 to {self._atlas.n_maps - 1}"
                )
            return number


def __getattr__(name: str) -> NoReturn:
    if name == "AtlasWidget":
        raise ImportError(
            not_installed("AtlasWidget", "anywidget", ", or write a page with write_page")
        )
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
