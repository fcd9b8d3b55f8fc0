"""A short campaign over all readers with a fixed seed."""

from collections import Counter

import numpy as np
import pytest

from campaigns.mutations import changed
from campaigns.readers import check, endings, planned
from campaigns.seeds import READERS, seeds

SHORT = 12  # cases of each reader


@pytest.mark.parametrize("reader", READERS)
def test_the_seeds_are_read(reader, tmp_path):
    for seed in seeds(reader):
        path = tmp_path / seed.name
        path.write_bytes(seed.data)
        assert check(reader, path) == "read"


@pytest.mark.slow
def test_a_short_campaign_finds_nothing():
    found = list(endings(0, float("inf"), SHORT * len(READERS)))
    assert [each for each in found if each[1] not in ("read", "refused")] == []
    # Neither are all files refused, nor all read.
    counted = Counter(ending for _, ending, _ in found)
    assert counted["read"] > 5
    assert counted["refused"] > 20


@pytest.mark.parametrize("reader", ["labels", "metadata", "associations"])
def test_a_case_is_the_same_whenever_it_is_made(reader):
    for number in range(20):
        assert planned(3, number, (reader,)) == planned(3, number, (reader,))


@pytest.mark.parametrize("reader", ["atlas", "sweep", "counts"])
def test_most_changes_change_the_file(reader):
    rng = np.random.default_rng(0)
    files = [seed.data for seed in seeds(reader)] * 10
    assert sum(changed(data, rng)[0] != data for data in files) > 0.8 * len(files)
