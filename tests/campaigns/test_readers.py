"""A short campaign over all readers, and the files made by hand: one for each family of damage."""

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from campaigns.families import BOMBS, FAMILIES
from campaigns.mutations import changed
from campaigns.readers import endings, finding, planned
from campaigns.seeds import READERS, seeds

SHORT = 12  # cases of each reader


@pytest.mark.slow
def test_every_family_of_damage_is_refused_and_a_short_campaign_finds_nothing():
    known, further = list(FAMILIES), SHORT * len(READERS)
    # One after the other in one process, most of whose time goes to what it loads.
    ended = list(endings("0:short", len(known) + further))
    assert [ending.number for ending in ended] == list(range(len(known) + further))
    by_hand = {known[ending.number]: ending for ending in ended[: len(known)]}
    assert {name: ending for name, ending in by_hand.items() if ending.how != "refused"} == {}
    drawn = ended[len(known) :]
    assert [finding("0:short", ending) for ending in drawn if ending.is_finding] == []
    # Neither are all files refused, nor all taken.
    assert 5 < sum(ending.how == "read" for ending in drawn) < further - 20


@pytest.mark.slow
def test_bombs_are_refused_before_they_go_off():
    names = list(BOMBS)
    found = {names[ending.number]: ending for ending in endings("bombs", len(names))}
    assert list(found) == names
    assert {name: ending for name, ending in found.items() if ending.how != "refused"} == {}


FATAL = """
import os, signal, time
from campaigns import isolation
from campaigns.isolation import Ending, isolated

isolation.PROCESSOR_SECONDS = 4
isolation.MOST_GIGABYTES = isolation.SPARE_GIGABYTES = 0.25

def case(number):
    if number == 1:
        os.kill(os.getpid(), signal.SIGSEGV)
    if number == 3:
        os._exit(7)
    if number == 4:
        while True:
            pass
    try:
        held = b"x" * (number == 5) * 2**30
        held = b"x" * (number == 6) * 3 * 2**27
    except MemoryError:
        return Ending(number, "MemoryError")
    return Ending(number, "read")

print(*[f"{ending.number} {ending.how}" for ending in isolated(case, 0, 8)], sep="\\n")
"""


def test_a_case_that_ends_its_process_is_a_finding_and_the_next_goes_on():
    paths = [str(Path(__file__).parents[1]), *filter(None, [os.environ.get("PYTHONPATH")])]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(paths)}
    told = subprocess.run(
        [sys.executable, "-c", FATAL], env=environment, capture_output=True, text=True, check=True
    ).stdout
    assert told.splitlines() == [
        "0 read", "1 died by SIGSEGV", "2 read", "3 died by exit 7", "4 hang", "5 MemoryError",
        "6 over 0.25 GiB", "7 read",
    ]  # fmt: skip


@pytest.mark.parametrize("reader", ["labels", "metadata", "associations"])
def test_a_case_is_the_same_whenever_it_is_made(reader):
    for number in range(20):
        one, other = (planned(f"3:{reader}", number)[2]() for _ in range(2))
        assert one == other


def test_most_changes_change_something_inside_of_what_they_change():
    rng = np.random.default_rng(0)
    told = []
    for seed in seeds("associations"):
        for _ in range(20):
            data, what = changed(seed.data, [], rng)
            assert data != seed.data or what
            told.append(what)
    kinds = {part.split(".")[0].split("/")[0] for what in told for part in what.split(", ")}
    assert {"bytes", "text", "zip", "npy", "gzip", "bzip2", "xz", "market", "parquet"} <= kinds
