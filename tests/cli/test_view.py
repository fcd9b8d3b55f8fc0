"""The command `view`: the page that it writes, what it reads beside the atlas, what it refuses."""

import base64
import gzip
import json
import re
import struct
import webbrowser
from pathlib import Path

import numpy as np
import pytest
from click.testing import Result

from cli_samples import WORDS, failed, invoke, worked
from manymaps.atlas.atlas import Atlas
from manymaps.model.choice import MULTIPLE_MAPS_T_SNE


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with an atlas of a few words in two maps."""
    monkeypatch.chdir(tmp_path)
    rng = np.random.default_rng(0)
    proportions = np.full((2, len(WORDS)), 0.5)
    atlas = Atlas(WORDS, rng.normal(size=(2, len(WORDS), 2)), proportions, MULTIPLE_MAPS_T_SNE)
    atlas.save("words.atlas")
    return tmp_path


def view(*options: object) -> Result:
    return invoke("view", "words.atlas", "-o", "words.html", *options)


def header_of(file: Path) -> dict:
    (text,) = re.findall('id="manymaps-data">([^<]*)<', file.read_text(encoding="utf-8"))
    data = gzip.decompress(base64.b64decode(text))
    (length,) = struct.unpack_from("<I", data, 12)
    return json.loads(data[16 : 16 + length])


def test_the_record_and_the_report(folder, monkeypatch):
    result = worked(view())
    assert result.stdout == ""
    assert re.search(r"words\.html: 0\.\d MB; open it in a browser", result.stderr)
    opened: list[str] = []
    monkeypatch.setattr(webbrowser, "open", lambda url: opened.append(url) or True)
    result = view("--json", "--open")
    assert json.loads(result.stdout) == {
        "output": "words.html", "n_objects": 6, "n_maps": 2,
        "bytes": Path("words.html").stat().st_size,
    }  # fmt: skip
    assert result.stderr == ""
    assert opened == [(folder / "words.html").resolve().as_uri()]


def test_columns_colours_and_title(folder):
    names = [f"x{i}" for i in range(300)]
    rows = [",".join([word, "a", *["0.5"] * 300]) for word in ("tie", "KNOT", "rope")]
    Path("more.csv").write_text("\n".join([",".join(["label", "group", *names]), *rows]))
    options = ("--color", "group", "--title", "Six words", "--examples", "tie")
    worked(view("--metadata", "more.csv", *options))
    header = header_of(folder / "words.html")
    assert (header["color"], header["title"]) == ("group", "Six words")
    assert [column["name"] for column in header["columns"]] == ["group", *names]


@pytest.mark.usefixtures("folder")
def test_refusals():
    Path("more.csv").write_text("label,length\nbow,3\n", encoding="utf-8")
    for options, code, message in (
        (("--examples", "knto"), 3, "--examples knto: no object is labelled 'knto'; did you mean"),
        (("--metadata", "more.csv"), 3, "no label in the metadata"),
        (("--color", "group"), 2, "--color group is not a column of the atlas"),
    ):
        failed(view(*options), code, message)
        assert not Path("words.html").exists()
