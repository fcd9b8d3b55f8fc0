"""No cell of a CSV file is run by a spreadsheet, and `read_columns` gives back what was written."""

import io

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

import manymaps as mm
from manymaps.atlas.export import export_atlas
from manymaps.data.csv_cells import guarded, unguarded, write_csv
from manymaps.io.frames import read_columns
from manymaps.model.choice import MULTIPLE_MAPS_T_SNE

STARTS = ("=", "+", "-", "@", "\t", "\r", "\n", "\uff1d", "\uff0b", "\uff0d", "\uff20")
LABELS = ["=cmd|' /C calc'!A0", "@sum", "-ing", "+1", "'=A1", "''", "tie"]


@given(st.text(alphabet="'=+-@\t1.5ea", max_size=6))
def test_a_guard_is_taken_away_exactly(cell):
    assert unguarded(guarded(cell)) == cell
    if guarded(cell) == cell and cell.startswith(("+", "-")):
        float(cell)


def test_every_start_of_a_formula_is_guarded():
    for start in STARTS:
        assert guarded(f"{start}x") == f"'{start}x"
    out = io.StringIO()
    write_csv(out, [["label", "=x"], [None, -1.5], [np.float32("-inf"), "a=b"]])
    assert out.getvalue() == "label,'=x\n,-1.5\n-inf,a=b\n"


def test_an_export_has_no_formula_and_its_labels_come_back(tmp_path):
    points = np.arange(2.0 * len(LABELS)).reshape(1, -1, 2) - 9
    atlas = mm.Atlas(
        LABELS, points, np.ones((1, len(LABELS))), MULTIPLE_MAPS_T_SNE,
        metadata={"=note": np.array(LABELS)},
    )  # fmt: skip
    export_atlas(atlas, tmp_path / "a.csv")
    text = (tmp_path / "a.csv").read_text(encoding="utf-8")
    assert all(not line.startswith(("=", "@", "-")) for line in text.splitlines())
    assert ",=" not in text
    found = read_columns(tmp_path / "a.csv").to_dict("list")
    assert found["label"] == LABELS
    assert found["=note"] == LABELS
    assert found["x"] == points[0, :, 0].tolist()
