"""The page as a file: what it holds, what it may load, and how it is written."""

import base64
import gzip
import hashlib
import json
import re
import struct
from html.parser import HTMLParser
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

from manymaps.atlas.atlas import Atlas
from manymaps.errors import ParameterError
from manymaps.labels import UnknownLabelError
from manymaps.model.choice import T_SNE
from manymaps.viewer.page import _inline, viewer_module, write_page

LABELS = ["</script><img src=x onerror=alert(1)>", "tie &amp; knot", "café", "שלום", ""]


class Parts(HTMLParser):
    """The elements of a page: tags with attributes, and the text of those that hold any."""

    def __init__(self, page: str):
        super().__init__(convert_charrefs=True)
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.is_open = False
        self.texts: list[tuple[str, dict[str, str | None], str]] = []
        self.feed(page)
        self.close()

    def handle_starttag(self, tag, attrs):
        self.tags.append((tag, dict(attrs)))
        self.is_open = True

    def handle_endtag(self, tag):
        self.is_open = False

    def handle_data(self, data):
        if self.is_open:
            self.texts.append((*self.tags[-1], data))

    def text_of(self, tag: str, **attributes: str) -> str:
        texts = [(data, own) for name, own, data in self.texts if name == tag]
        return "".join(data for data, own in texts if attributes.items() <= own.items())


@pytest.fixture
def atlas() -> Atlas:
    points = np.random.default_rng(0).normal(size=(1, 5, 2))
    metadata = {"group": np.array(list("abaab")), "year": np.arange(5)}
    return Atlas(LABELS, points, np.ones((1, 5)), T_SNE, metadata=metadata)


def page_of(atlas: Atlas, folder: Path, **options: object) -> str:
    write_page(atlas, folder / "page.html", **options)
    return (folder / "page.html").read_bytes().decode("utf-8")


def header_of(page: str) -> dict:
    packed = Parts(page).text_of("script", id="manymaps-data")
    data = gzip.decompress(base64.b64decode(packed, validate=True))
    (length,) = struct.unpack_from("<I", data, 12)
    return json.loads(data[16 : 16 + length])


def sum_of(text: str) -> str:
    return "sha256-" + base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()


def test_the_policy_names_the_one_script_and_the_one_style(atlas, tmp_path):
    page = page_of(atlas, tmp_path, title="Ties")
    assert page_of(atlas, tmp_path, title="Ties") == page
    parts = Parts(page)
    names = [own.get("id") or own.get("type") for tag, own in parts.tags if tag == "script"]
    assert names == ["manymaps-data", "module"]
    assert header_of(page)["labels"] == LABELS
    (policy,) = (
        own["content"]
        for tag, own in parts.tags
        if tag == "meta" and own.get("http-equiv") == "Content-Security-Policy"
    )
    (module,) = re.findall(r'<script type="module">(.*?)</script>', page, re.DOTALL)
    (style,) = re.findall(r"<style>(.*?)</style>", page, re.DOTALL)
    assert policy == (
        f"default-src 'none'; script-src '{sum_of(module)}'; style-src '{sum_of(style)}'; "
        "img-src data: blob:; base-uri 'none'; form-action 'none'"
    )
    assert module == viewer_module() == parts.text_of("script", type="module")


def test_nothing_outside_is_named_and_no_label_stands_in_the_html(atlas, tmp_path):
    page = page_of(atlas, tmp_path)
    for tag, own in Parts(page).tags:
        assert not {"src", "srcset", "action", "style", "onload", "onerror"} & own.keys()
        assert tag != "base"
        assert (own.get("href") or "data:").startswith("data:")
    assert not re.search(r"\bimport\s*[({*\"']|\bimport\s+\w", viewer_module())
    assert viewer_module() == _inline(viewer_module())
    for label in LABELS[:-1]:
        assert label not in page
    assert "onerror" not in page.replace(viewer_module(), "")


def test_the_title_is_text(atlas, tmp_path):
    title = "</title><script>alert('1')</script> & $style \ud800"
    page = page_of(atlas, tmp_path, title=title)
    shown = title.replace("\ud800", "\ufffd")
    assert Parts(page).text_of("title") == shown
    assert Parts(page).text_of("h1") == shown
    assert header_of(page)["title"] == shown
    assert page.count("<script") - viewer_module().count("<script") == 2


REFUSALS = [
    ("page.txt", {}, ParameterError),
    ("page.html", {"color": "x"}, ParameterError),
    ("page.html", {"features": [SimpleNamespace(weight=1, members=["?"])]}, UnknownLabelError),
]


@pytest.mark.parametrize(("name", "options", "error"), REFUSALS)
def test_refusals_leave_the_old_page(atlas, tmp_path, name, options, error):
    old = page_of(atlas, tmp_path)
    with pytest.raises(error):
        write_page(atlas, tmp_path / name, **options)
    assert [file.name for file in tmp_path.iterdir()] == ["page.html"]
    assert (tmp_path / "page.html").read_text(encoding="utf-8") == old
