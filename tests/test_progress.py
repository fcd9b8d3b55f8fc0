"""What is shown of long work: on a terminal, in a notebook, in a file, and when nobody looks."""

import io
import re
import sys
import threading
import time
from collections.abc import Callable

import numpy as np
import pytest

import manymaps as mm
from manymaps import progress
from manymaps.progress import Work, show_progress, watched, work
from sweep_samples import ring


@pytest.fixture
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    """A person without patience, who wants a line twenty times a second."""
    monkeypatch.setattr(progress, "_PATIENCE", 0.05)
    monkeypatch.setattr(progress, "_LINE", 0.05)


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """Seconds, the last of which the clock shows."""
    seconds = [0.0]
    monkeypatch.setattr(progress.time, "monotonic", lambda: seconds[-1])
    return seconds


def on_a_terminal(monkeypatch: pytest.MonkeyPatch) -> io.StringIO:
    """What a terminal gets from now on; pytest replaces what a fixture sets."""
    stream = io.StringIO()
    stream.isatty = lambda: True  # type: ignore[method-assign]
    monkeypatch.setattr(sys, "stderr", stream)
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setenv("COLUMNS", "120")
    return stream


@pytest.fixture
def said(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The lines that are printed."""
    lines: list[str] = []
    monkeypatch.setattr(progress._Watcher, "_say", lambda _, line: lines.append(line))
    return lines


def until(shown: Callable[[], bool]) -> None:
    """Wait as long as a busy machine may need."""
    last = time.monotonic() + 60
    while not shown() and time.monotonic() < last:
        time.sleep(0.01)
    assert shown()


class TestWork:
    def test_nothing_is_counted_before_the_first_note(self):
        one = Work("iteration", 2000)
        assert progress._line([one]) == "iteration"
        one(0)
        assert progress._line([one]) == "iteration 0 of 2,000"

    def test_the_time_left_goes_by_what_was_done_since_the_first_note(self, clock):
        one = Work("iteration", 2000)
        clock.append(100.0)
        one(1000)
        clock.append(110.0)
        one(1050, "cost 1.2")  # 950 at 5 a second are 190 seconds
        assert progress._line([one]) == "iteration 1,050 of 2,000, cost 1.2, 3 min left"
        one(2000)
        assert progress._line([one, Work("done")]) == "iteration 2,000 of 2,000, done"

    def test_the_outermost_count_tells_the_time_left(self, clock):
        fits, iterations = Work("fit", 5), Work("iteration", 10)
        for k in range(3):
            fits(k)
            iterations(k)
            clock.append(clock[-1] + 60.0)
        assert progress._line([fits, iterations]) == "fit 2 of 5, iteration 2 of 10, 4 min left"

    def test_durations(self):
        words = {0.4: "0 s", 99: "99 s", 100: "2 min", 1800: "30 min", 7300: "2 h 02 min"}
        assert [progress._duration(seconds) for seconds in words] == list(words.values())


class TestLines:
    def test_nobody_looks_or_the_work_is_short(self, capsys, monkeypatch):
        with watched(), work("short"):
            pass
        monkeypatch.setattr(progress, "_LINE", 0.05)
        with work("reading", total=3) as at:
            at(1)
            time.sleep(0.2)
        assert capsys.readouterr() == ("", "")

    def test_a_file_gets_plain_lines_and_one_at_the_end(self, quick, said):
        with watched(), work("fitting norms.csv"), work("iteration", total=100) as at:
            at(0)
            until(lambda: any("iteration 0 of 100" in line for line in said))
            at(40, "cost 1.5")
            until(lambda: any("iteration 40 of 100" in line for line in said))
        assert "fitting norms.csv, iteration 0 of 100" in said[0]
        assert "fitting norms.csv, iteration 40 of 100, cost 1.5, " in said[-2]
        assert re.fullmatch(r"fitting norms.csv took \d+ s", said[-1])

    def test_the_minute_runs_on_over_short_works(self, monkeypatch, said):
        """No work lasts a minute, but all of them do."""
        monkeypatch.setattr(progress, "_LINE", 0.3)

        def another() -> bool:
            with work("part"):
                time.sleep(0.05)
            return any("took" not in line for line in said)

        with watched():
            until(another)

    def test_a_notebook_gets_lines_more_often(self, monkeypatch, said):
        monkeypatch.setitem(sys.modules, "ipykernel", progress)
        monkeypatch.setattr(progress, "_CELL_LINE", 0.05)
        with show_progress(), work("iteration", total=100) as at:
            at(40, "cost 1.5")
            until(lambda: len(said) > 1)
        assert "iteration 40 of 100, cost 1.5" in said[-2]
        assert said[-1].startswith("iteration took ")

    def test_who_asked_gets_one_line_at_the_end_of_short_and_failing_work_too(self, said):
        with pytest.raises(KeyboardInterrupt), show_progress(), show_progress(), work("reading"):
            raise KeyboardInterrupt
        assert re.fullmatch(r"reading took \d+ s", "\n".join(said))

    def test_works_of_other_threads_are_left_alone(self, said, quick):
        def other() -> None:
            with work("another"):
                time.sleep(0.1)

        with show_progress(), work("waiting"):
            thread = threading.Thread(target=other)
            thread.start()
            thread.join()
        assert "waiting" in said[-1]
        assert not any("another" in line for line in said)

    @pytest.mark.parametrize("is_closed", [True, False])
    def test_no_stream_stops_no_work(self, quick, monkeypatch, is_closed):
        closed = io.StringIO()
        closed.close()
        monkeypatch.setattr(sys, "stderr", closed if is_closed else None)
        with show_progress(), work("reading"):
            time.sleep(0.1)


class TestTerminal:
    def test_bars_are_shown_and_wiped(self, quick, monkeypatch):
        terminal = on_a_terminal(monkeypatch)
        with watched(), work("fitting norms.csv"), work("iteration", total=100) as at:
            at(0)
            until(lambda: "iteration 0 of 100" in terminal.getvalue())
            at(40, "cost 1.5")
            until(lambda: "left" in terminal.getvalue())
        told = terminal.getvalue()
        for part in ("fitting norms.csv", "iteration 40 of 100", "cost 1.5"):
            assert part in told
        assert told.rstrip().endswith("\x1b[2K")
        assert "took" not in told

    def test_who_asked_keeps_a_line_and_short_work_is_not_shown(self, quick, monkeypatch):
        terminal = on_a_terminal(monkeypatch)
        with show_progress(), work("reading"):
            until(lambda: "reading" in terminal.getvalue())
        assert re.search(r"reading took \d+ s\n$", terminal.getvalue())
        terminal = on_a_terminal(monkeypatch)
        monkeypatch.setattr(progress, "_PATIENCE", 30.0)
        with watched(), work("reading"):
            time.sleep(0.1)
        assert terminal.getvalue() == ""

    def test_a_dumb_terminal_gets_lines(self, quick, monkeypatch):
        terminal = on_a_terminal(monkeypatch)
        monkeypatch.setenv("TERM", "dumb")
        with watched(), work("reading"):
            until(lambda: "reading" in terminal.getvalue())
        assert re.search(r"\d s: reading\n", terminal.getvalue())
        assert "\x1b" not in terminal.getvalue()


SIMILAR = np.kron(np.eye(2), np.ones((4, 4))) + 0.1 * np.eye(8)
POINTS = np.random.default_rng(0).normal(size=(20, 3))
ESTIMATORS = [
    (mm.MultipleMapsTSNE(2, affinity="precomputed", max_iter=5), SIMILAR),
    (mm.SNE(perplexity=3, max_iter=5), POINTS),
    (mm.CODE(penalty=0.1, max_iter=5), SIMILAR),
    (mm.AdditiveClustering(2, n_init=2), SIMILAR),
    (mm.AssociationPredictor(1, 2, max_iter=2), ring() / 4),
]


def test_fits_repeated_fits_and_sweeps_count(monkeypatch):
    seen, plain = [], Work.__call__

    def note(self: Work, *args, **kwargs) -> None:
        plain(self, *args, **kwargs)
        seen.append(f"{self.named}, {self.told}")

    monkeypatch.setattr(Work, "__call__", note)
    mm.TSNE(perplexity=3, max_iter=4, random_state=0).fit(POINTS)
    assert seen[-1].startswith("iteration 4 of 4, cost ")
    mm.repeat_fits(mm.TSNE(perplexity=3, max_iter=2), POINTS, 2, random_state=0)
    assert seen[-1].startswith("fit 2 of 2")
    mm.sweep(ring(), {"n_maps": 1, "n_components": [1, 2], "max_iter": 1})
    assert any(one.startswith("fit 2 of 2, validation ") for one in seen)


@pytest.mark.parametrize(("estimator", "data"), ESTIMATORS, ids=lambda one: type(one).__name__)
def test_estimators_are_silent_unless_they_are_asked(estimator, data, capsys):
    estimator.set_params(random_state=0).fit(data)
    assert capsys.readouterr() == ("", "")
    told = type(estimator)(**estimator.get_params() | {"verbose": True}).fit(data)
    shown = capsys.readouterr()
    assert shown.out == ""
    assert re.fullmatch(rf"{type(estimator).__name__} took \d+ s\n", shown.err)
    if hasattr(estimator, "atlas_"):
        np.testing.assert_array_equal(told.atlas_.maps, estimator.atlas_.maps)
        assert told.atlas_.parameters == estimator.atlas_.parameters
