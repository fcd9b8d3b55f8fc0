"""Stored results of long runs and a common style of axes, for the scripts of the gallery.

The files in docs/results contain Markdown tables, which pages include. Their first lines, after
"%", state the command and the machine. A number may be written as ".93", "1,000,000" or "77 to
113", of which the lower value is used. An empty cell is NaN.
"""

import re
from collections.abc import Sequence
from pathlib import Path

import matplotlib.pyplot as plt
from matplotlib.axes import Axes
from matplotlib.figure import Figure

DOCS = Path(__file__).resolve().parents[1]

#: Colours of published values, our values and others, for all types of colour vision (Okabe & Ito).
PRINTED, OURS, OTHER, FOURTH, FIFTH = "#767676", "#0072B2", "#D55E00", "#009E73", "#CC79A7"

_NUMBER = re.compile(r"(-?[\d,]*\.?\d+(?:e-?\d+)?)( to .*)?")


def read(path: str, *head: str) -> dict[str, list]:
    """Read the columns of the first table of docs/PATH whose head contains all these names.

    A column of numbers contains floats. Any other column contains texts.
    """
    rows: list[list[str]] = []
    for line in [*(DOCS / path).read_text("utf-8").splitlines(), ""]:
        if line.startswith("|"):
            rows.append([cell.strip().strip("*`") for cell in line.strip("|").split("|")])
        elif rows:
            names, _, *body = rows
            if all(name in names for name in head):
                columns = zip(*body, strict=True)
                return {name: _column(cells) for name, cells in zip(names, columns, strict=True)}
            rows = []
    raise ValueError(f"docs/{path} has no table with the columns {', '.join(head)}")


def _column(cells: Sequence[str]) -> list:
    numbers = [_NUMBER.fullmatch(cell) for cell in cells]
    if not any(numbers) or any(
        cell and not found for cell, found in zip(cells, numbers, strict=True)
    ):
        return list(cells)
    return [float(found[1].replace(",", "")) if found else float("nan") for found in numbers]


def panels(
    count: int = 1, width: float = 7.5, height: float = 3.6, **shared: bool
) -> tuple[Figure, list[Axes]]:
    """Create a white figure with panels side by side."""
    figure, axes = plt.subplots(
        1, count, figsize=(width, height), layout="constrained", facecolor="white", dpi=140,
        squeeze=False, **shared,
    )  # fmt: skip
    for axis in axes[0]:
        axis.spines[["top", "right"]].set_visible(False)
        axis.grid(color="0.92")
        axis.set_axisbelow(True)
    return figure, list(axes[0])


def dots(axis: Axes, names: Sequence[str], columns: dict[str, tuple[Sequence[float], str]]) -> None:
    """Draw a row of dots for each name, the first on top; columns map a label to values, colour."""
    places = range(len(names))
    for what, (values, color) in columns.items():
        axis.scatter(values, places, s=42, color=color, label=what, zorder=3)
    axis.set(yticks=list(places), yticklabels=names, ylim=(len(names) - 0.5, -0.5))
    axis.grid(visible=False, axis="x")
