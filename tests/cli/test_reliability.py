"""How sure the command line is: people drawn again, and scores of places."""

import json

import numpy as np
import pytest

import manymaps as mm
from cli_samples import failed, invoke, worked
from manymaps.analysis.stability import EXPLAINED, RECURRING
from trial_samples import write_swow

QUICK = ("--maps", 2, "--iterations", 20, "--jobs", 1)


class TestPeopleDrawnAgain:
    def test_their_scores_are_columns_of_the_atlas(self, tmp_path):
        trials, output = write_swow(tmp_path / "raw.csv", 60, 20), tmp_path / "stable.atlas"
        options = ("-o", output, "--fits", 3, "--bootstrap", "participants", *QUICK)
        record = json.loads(worked(invoke("stability", trials, *options, "--json")).stdout)
        loaded = mm.load_atlas(output)
        assert (record["bootstrap"], record["reference"]) == ("participants", 0)
        for name, column in (("explained", EXPLAINED), ("recurring", RECURRING)):
            assert record[name] == pytest.approx(np.nanmean(loaded.metadata[column]), abs=6e-4)

    def test_they_need_a_name(self, tmp_path):
        raw = tmp_path / "raw.csv"
        raw.write_text("cue,R1,R2\n" + "a,b,c\nb,a,c\nc,a,b\n" * 5)
        options = ("-o", tmp_path / "o.atlas", "--fits", 2, *QUICK)
        result = invoke("stability", raw, *options, "--bootstrap", "participants")
        failed(result, 2, "requires trials with a column of participants")
        assert not (tmp_path / "o.atlas").exists()
        worked(invoke("stability", raw, *options, "--bootstrap", "responses"))
