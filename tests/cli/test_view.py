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
def folder(tmp_path: Path) -> Path:
    """A folder with an atlas of a few words in two maps."""
    rng = np.random.default_rng(0)
    proportions = np.full((2, len(WORDS)), 0.5)
    atlas = Atlas(WORDS, rng.normal(size=(2, len(WORDS), 2)), proportions, MULTIPLE_MAPS_T_SNE)
    atlas.save(tmp_path / "words.atlas")
    return tmp_path


def view(folder: Path, *options: object, atlas: str = "words.atlas") -> Result:
    return invoke("view", folder / atlas, "-o", folder / "words.html", *options)


def blocks_and_header(file: Path) -> tuple[dict[str, np.ndarray], dict]:
    (text,) = re.findall('id="manymaps-data">([^<]*)<', file.read_text(encoding="utf-8"))
    data = gzip.decompress(base64.b64decode(text))
    (length,) = struct.unpack_from("<I", data, 12)
    header = json.loads(data[16 : 16 + length])
    start = -(-(16 + length) // 8) * 8
    blocks = {
        name: np.frombuffer(data, "<" + b["dtype"], b["length"], start + b["offset"])
        for name, b in header["blocks"].items()
    }
    return blocks, header


def shown(folder: Path, *options: object, **named: str) -> dict:
    worked(view(folder, *options, **named))
    return blocks_and_header(folder / "words.html")[1]


def test_it_says_what_it_wrote(folder):
    result = worked(view(folder))
    assert result.stdout == ""
    assert re.search(r"words\.html: 0\.\d MB; open it in a browser", result.stderr)
    assert view(folder, "--quiet").stderr == ""


def test_json(folder):
    result = view(folder, "--json")
    assert json.loads(result.stdout) == {
        "output": str(folder / "words.html"), "n_objects": 6, "n_maps": 2,
        "bytes": (folder / "words.html").stat().st_size,
    }  # fmt: skip
    assert result.stderr == ""


def test_the_look(folder):
    (folder / "more.csv").write_text("label,length,group\ntie,3,a\nKNOT,4,b\nrope,4,a\n")
    header = shown(
        folder, "--metadata", folder / "more.csv", "--color", "group",
        "--title", "Six words",
    )  # fmt: skip
    assert (header["color"], header["title"]) == ("group", "Six words")
    assert [column["name"] for column in header["columns"]] == ["length", "group"]


def test_wide_tables_are_metadata_too(folder):
    names = [f"x{i}" for i in range(300)]
    rows = [",".join([word, *["0.5"] * 300]) for word in WORDS]
    (folder / "wide.csv").write_text("\n".join([",".join(["word", *names]), *rows]))
    header = shown(folder, "--metadata", folder / "wide.csv", "--color", "x299")
    assert [column["name"] for column in header["columns"]] == names


@pytest.mark.parametrize(
    ("options", "code", "message"),
    [
        (("--examples", "knto"), 3, "--examples knto: no object is labelled 'knto'; did you mean"),
        (("--metadata", "more.csv"), 3, "no label in the metadata"),
        (("--color", "group"), 2, "--color group is not a column of the atlas"),
    ],
)
def test_what_cannot_be_shown(folder, monkeypatch, options, code, message):
    monkeypatch.chdir(folder)
    Path("more.csv").write_text("label,length\nbow,3\n", encoding="utf-8")
    failed(view(folder, *options), code, message)
    assert not Path("words.html").exists()


class TestOpening:
    def test_in_the_browser(self, folder, monkeypatch):
        opened = []
        monkeypatch.setattr(webbrowser, "open", lambda url: opened.append(url) or True)
        result = view(folder, "--open")
        assert opened == [(folder / "words.html").resolve().as_uri()]
        worked(result)
