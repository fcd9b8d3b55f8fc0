"""A short campaign of faults, and that one notices what it must."""

import subprocess
import sys

import pytest

pytest.importorskip("resource", reason="limits of processes exist on Unix only")

from campaigns.faults import GROUPS, Workshop, campaign, problems
from campaigns.programs import PROGRAMS, content

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="signals and limits are Linux's")


@pytest.fixture(scope="module")
def workshop(tmp_path_factory) -> Workshop:
    return Workshop(tmp_path_factory.mktemp("workshop"))


@pytest.mark.slow
@pytest.mark.parametrize("group", GROUPS)
def test_a_few_of_each_kind(group, workshop):
    outcome = campaign(600, seed=1, most=2, turns=(group,), workshop=workshop)
    assert outcome.findings == []
    assert outcome.cases[group] == 2


@pytest.mark.parametrize(
    ("status", "stderr", "told"),
    [
        (0, b"Traceback (most recent call last):\nKeyError: 1", "a traceback: KeyError: 1"),
        (0, b"Exception ignored in: <f>\nKeyboardInterrupt", "a traceback: KeyboardInterrupt"),
        (5, b"Error: oh", "status 5: Error: oh"),
        (130, b"Error: interrupted", None),
    ],
)
def test_what_is_wrong_with_an_end(status, stderr, told):
    done = subprocess.CompletedProcess([], status, b"", stderr)
    assert list(problems(done, (0, 130))) == ([] if told is None else [told])


@pytest.mark.parametrize("name", ["o.csv", "o.atlas", "o.npz", "o.jsonl"])
def test_half_a_file_is_none(tmp_path, name):
    (tmp_path / name).write_bytes(b"\xff\xfe\x00half")
    with pytest.raises(ValueError, match=r"\w"):
        content(tmp_path / name)


def test_every_output_is_named_as_its_command_names_it():
    for program in PROGRAMS.values():
        assert all(output in program.arguments for output in program.outputs)
