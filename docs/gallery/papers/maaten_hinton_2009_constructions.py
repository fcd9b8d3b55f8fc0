"""
Three things that one map cannot show
=====================================

Van der Maaten & Hinton 2009, figure 1. *C* is near *A* and near *B*, which are far from each
other; six objects have the same one as their nearest neighbour; *North Korea* recalls *China* more
than the reverse. Each is exact in two maps: an object that stands in both has half its proportion
in either.

The model's probabilities come out as the report has them: A recalls C by 1.000 and B by .000; all
six name the hub; North Korea recalls China by 1.000, China North Korea by .167. Then the
divergence that is left when maps are fitted to these similarities from ten random starts, by maps
x dimensions:

.. include:: /results/maaten_constructions.txt
   :parser: myst_parser.sphinx_

What differs: the report argues in words, the divergences are ours. A single Gaussian map *can*
hold A-C-B, on an ever longer line, and centrality in three dimensions; with the heavy tail of
t-SNE it can neither, in any number of them. ``python examples/figure1_2009.py``.
"""

import numpy as np
from stored import OURS, panels


def ring(count):
    """Points evenly on a circle."""
    angles = 2 * np.pi * np.arange(count) / count + np.pi / 2
    return np.column_stack([np.cos(angles), np.sin(angles)])


shapes = {
    "intransitive": [{"C": (0, 0), "A": (1, 0)}, {"C": (0, 0), "B": (1, 0)}],
    "central": [
        {"hub": (0, 0), **dict(zip(names, ring(3), strict=True))} for names in ("abc", "def")
    ],
    "asymmetric": [
        {"China": (0, 0), "N. Korea": (1.6, 0)},
        {"China": (0, 0), **dict(zip(["Japan", "Taiwan", "Vietnam", "Mongolia", "India"], ring(5),
                                     strict=True))},
    ],
}  # fmt: skip
figure, axes = panels(6, width=11, height=2.2)
for k, (name, pair) in enumerate(shapes.items()):
    for m, (places, axis) in enumerate(zip(pair, axes[2 * k : 2 * k + 2], strict=True)):
        shared = set(pair[0]) & set(pair[1])
        for label, place in places.items():
            half = label in shared
            axis.scatter(*place, s=60 if half else 120, color=OURS, alpha=0.55 if half else 0.9)
            axis.annotate(label, place, (0, 8), textcoords="offset points", ha="center", fontsize=9)
        points = np.array(list(places.values()))
        middle = (points.min(axis=0) + points.max(axis=0)) / 2
        axis.set(title=f"{name}, {'first' if m == 0 else 'second'} map", xticks=[], yticks=[],
                 aspect="equal", xlim=middle[0] + np.array([-1.7, 1.7]),
                 ylim=middle[1] + np.array([-1.5, 1.7]))  # fmt: skip
        axis.title.set_fontsize(9)
        axis.spines[:].set_visible(True)
