"""Every example runs on small settings and prints numbers; its own formulas are checked."""

import io
import re
import runpy
import sys
import warnings
from contextlib import redirect_stdout
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
import pytest

ROOT = Path(__file__).resolve().parents[2]
EXAMPLES = ROOT / "examples"
# Options with which examples also write their files.
OPTIONS = {
    "figure1_2009.py": ("-o", "figure.png"), "two_maps_2007.py": ("-o", "figure.png"),
    "claassen_insertion_2020.py": ("-o", "."), "code_newsgroups_2004.py": ("-o", "figure.png"),
    "code_nips_2004.py": ("-o", "."), "tenenbaum_1996.py": ("-o", "."),
    "scanpy_cells.py": ("--page", "cells.html"), "printed_senses.py": ("--fits", "."),
    "validation/priming.py": ("--fits", "."), "validation/homonyms.py": ("--fits", "."),
}  # fmt: skip
# Without the real data, these do nothing.
NEED_DATA = ("claassen_", "code_", "tenenbaum_", "printed_", "validation/", "uni_sne", "aspect_")


def scripts() -> list[str]:
    paths = [*EXAMPLES.glob("*.py"), *EXAMPLES.glob("validation/*.py")]
    return sorted(path.relative_to(EXAMPLES).as_posix() for path in paths
                  if "__main__" in path.read_text("utf-8"))  # fmt: skip


def run(script: str, *arguments: str) -> str:
    """Run an example in this process, because a new one would spend most of its time on imports."""
    printed, known = io.StringIO(), set(sys.modules)
    folder = (EXAMPLES / script).parent
    with (
        pytest.MonkeyPatch.context() as patch,
        redirect_stdout(printed),
        warnings.catch_warnings(action="error"),
    ):
        patch.setattr(sys, "argv", [script, "--quick", *arguments])
        patch.syspath_prepend(folder)
        try:
            runpy.run_path(str(EXAMPLES / script), run_name="__main__")
        finally:
            plt.close("all")
            for name in set(sys.modules) - known:
                if (folder / f"{name}.py").exists():
                    del sys.modules[name]
    return printed.getvalue()


@pytest.mark.slow
@pytest.mark.parametrize("script", scripts())
def test_it_runs(script: str, tmp_path: Path, monkeypatch, request) -> None:
    if script.startswith(NEED_DATA):
        request.getfixturevalue("data_folder")
    monkeypatch.chdir(tmp_path)
    printed = run(script, *OPTIONS.get(script, ()))
    assert len(re.findall(r"\d*\.\d+", printed)) > 3
    assert any(tmp_path.iterdir()) == (script in OPTIONS)


@pytest.mark.slow
def test_two_maps_are_recovered() -> None:
    printed = run("two_maps_2007.py")
    assert re.search(r"^\[-1, 1\]\^2 +fixed +- .* 2 of 2 +\d+ +\d+ +\d+$", printed, re.MULTILINE)


@pytest.mark.slow
def test_without_the_data_an_example_is_skipped_but_not_in_ci(tmp_path: Path, monkeypatch) -> None:
    monkeypatch.setenv("MANYMAPS_DATA", str(tmp_path))
    monkeypatch.delenv("CI", raising=False)
    assert "Skipped: there is no" in run("claassen_insertion_2020.py")
    monkeypatch.setenv("CI", "1")
    with pytest.raises(SystemExit, match="MANYMAPS_DATA"):
        run("claassen_insertion_2020.py")


def names_of(script: str) -> dict:
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(EXAMPLES)
        return runpy.run_path(str(EXAMPLES / script))


def test_noise_of_artificial_similarities() -> None:
    """Tenenbaum 1996, section 3.1: normal noise of 5 % of the mean similarity."""
    make = names_of("tenenbaum_1996.py")["make_additive_similarities"]
    rng, upper = np.random.default_rng(0), np.triu_indices(12, 1)
    ratios = []
    for _ in range(300):
        one = make(rng)
        exact = ((one.memberships * one.weights) @ one.memberships.T)[upper]
        ratios.append((one.similarities[upper] - exact) / exact.mean())
        assert ((one.weights >= 0.1) & (one.weights <= 0.6)).all()
        np.testing.assert_array_equal(one.similarities[upper], one.similarities.T[upper])
    assert np.std(ratios) == pytest.approx(0.05, rel=0.03)
    assert np.mean(ratios) == pytest.approx(0, abs=0.002)


def test_gradient_of_background_2007() -> None:
    """The gradient of both models, by finite differences."""
    model = names_of("background_2007.py")["Model"]
    rng = np.random.default_rng(0)
    p = rng.random((8, 8)) * (1 - np.eye(8))
    for joint, target in ((True, p / p.sum()), (False, p / p.sum(axis=1, keepdims=True))):
        one, theta = model(target, joint, 2), rng.normal(size=8 * 2 * 3)
        toward = rng.normal(size=theta.shape)
        change = one.cost(theta + 1e-6 * toward)[0] - one.cost(theta - 1e-6 * toward)[0]
        assert change / 2e-6 == pytest.approx(one.cost(theta)[1] @ toward, rel=1e-6)
