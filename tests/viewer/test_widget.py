"""The notebook widget: what it sends to the viewer, and what Python reads and sets."""

import gzip
import importlib
import importlib.util
from operator import attrgetter

import numpy as np
import pytest
import traitlets

from manymaps.atlas.atlas import Atlas
from manymaps.model.choice import MULTIPLE_MAPS_T_SNE
from manymaps.viewer.options import PageOptions
from manymaps.viewer.packing import pack_page
from manymaps.viewer.page import viewer_module
from manymaps.viewer.widget import AtlasWidget


@pytest.fixture
def atlas() -> Atlas:
    points = np.random.default_rng(0).normal(size=(2, 3, 2))
    metadata = {"group": np.array(["a", "b", "a"])}
    return Atlas(
        ["tie", "Knot", "café"], points, np.full((2, 3), 0.5), MULTIPLE_MAPS_T_SNE,
        metadata=metadata,
    )  # fmt: skip


@pytest.fixture
def widget(atlas):
    return AtlasWidget(atlas)


def test_it_sends_the_atlas_and_the_viewer(atlas):
    options = {"color": "group", "size": None, "title": "T", "features": None}
    widget = AtlasWidget(atlas, **options, min_weight=0.2, height=400)
    state = widget.get_state()
    assert state["_esm"] == viewer_module()
    assert state["data"] == pack_page(atlas, PageOptions(**options, min_weight=0.2))
    assert gzip.decompress(state["data"]).startswith(b"manymaps")
    synced = {"selected": [], "word": "", "map": None, "theme": "auto", "height": 400}
    assert synced.items() <= state.items()
    assert widget.atlas is atlas


def test_python_and_the_viewer_select(widget):
    widget.selection = ["CAFÉ", "knot", "Knot"]
    assert widget.selected == [2, 1]
    assert widget.selection == ("café", "Knot")
    widget.selection = "tie"
    assert widget.selected == [0]
    widget.selection = ()
    assert widget.selection == ()
    heard = []
    widget.observe(lambda change: heard.append(widget.selection), "selected")
    widget.set_state({"selected": [2, 0]})
    assert heard == [("café", "tie")]


def test_word_map_and_theme(widget):
    widget.word = "KNOT"
    assert widget.word == "Knot"
    widget.word = ""
    widget.map = 1
    widget.map = None
    widget.theme = "dark"
    assert (widget.word, widget.map, widget.theme) == ("", None, "dark")


REFUSALS = [
    ("selected", [0, 3]), ("selected", [-1]), ("word", "knto"), ("map", 2), ("theme", "blue"),
    ("height", 0),
]  # fmt: skip


@pytest.mark.parametrize(("name", "value"), REFUSALS)
def test_refusals(widget, name, value):
    before = getattr(widget, name)
    with pytest.raises(traitlets.TraitError):
        setattr(widget, name, value)
    assert getattr(widget, name) == before


def test_without_anywidget(monkeypatch):
    found = importlib.util.find_spec
    is_there = {"anywidget": None}.get
    monkeypatch.setattr(importlib.util, "find_spec", lambda name, *rest: is_there(name, False))
    spec = found("manymaps.viewer.widget")
    bare = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(bare)
    with pytest.raises(ImportError, match="'pip install anywidget'"):
        attrgetter("AtlasWidget")(bare)
    with pytest.raises(AttributeError):
        attrgetter("other")(bare)
