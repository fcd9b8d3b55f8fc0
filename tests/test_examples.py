"""The examples run on small settings and print what they claim."""

import os
import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]


def run(script: str, *arguments: str) -> str:
    """What the example prints; warnings are errors there too."""
    result = subprocess.run(
        [sys.executable, "-W", "error", str(ROOT / "examples" / script), "--quick", *arguments],
        capture_output=True,
        text=True,
        timeout=300,
        env={**os.environ, "MPLBACKEND": "agg"},
    )
    assert result.returncode == 0, result.stderr
    return result.stdout


def test_figure1_2009(tmp_path: Path) -> None:
    """Two maps fit the three constructions and one map fails where it must."""
    printed = run("figure1_2009.py", "-o", str(tmp_path / "figure.png"))
    assert re.search(r"^intransitive +A -> C +1\.000 +1\.000$", printed, re.MULTILINE)
    assert re.search(r"^intransitive +A -> B +0\.000 +0\.000$", printed, re.MULTILINE)
    assert re.search(r"nearest neighbour: hub +6 of 6 +6 of 6$", printed, re.MULTILINE)
    assert re.search(r"^asymmetric +China -> North Korea +0\.167 +0\.167$", printed, re.MULTILINE)
    fits = re.findall(r"^(\w+) +\d+ +(gaussian|cauchy) +(\S+) +(\S+) ", printed, re.MULTILINE)
    assert len(fits) == 6
    for name, kernel, one_map, two_maps in fits:
        assert float(two_maps) < 1e-3
        if (name, kernel) != ("intransitive", "gaussian"):
            assert float(one_map) > 1e-2
    assert (tmp_path / "figure.png").stat().st_size > 0


def test_two_maps_2007(tmp_path: Path) -> None:
    """Both maps of every pair are found again."""
    printed = run("two_maps_2007.py", "-o", str(tmp_path / "figure.png"))
    assert re.search(r"^\[-1, 1\]\^2 +fixed +- .* 2 of 2 +\d+ +\d+ +\d+$", printed, re.MULTILINE)
    assert (tmp_path / "figure.png").stat().st_size > 0
