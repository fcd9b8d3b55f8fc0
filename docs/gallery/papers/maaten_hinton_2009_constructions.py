"""
Three structures that one map cannot show
=========================================

Van der Maaten & Hinton 2009, figure 1. First, *C* is near *A* and near *B*, which are far from each
other. Second, six objects have the same nearest neighbour. Third, *China* is a more likely
associate of *North Korea* than the reverse. Two maps represent each structure exactly. *C* and the
hub have half of their proportion in each map, and *China* has a quarter of its proportion in the
map of *North Korea*, as in the report.

The report describes the similarities in words. With our positions, the association probabilities
are 1.0000 from A to C, 0.0000 from A to B, 1.0000 from North Korea to China, and
0.0625 from China to North Korea. The last value depends on the number of other neighbours, five
here. All six objects have the hub as nearest neighbour. The table lists the remaining divergence of
maps that were fitted to these similarities from ten random starts, by maps x dimensions:

.. include:: /results/maaten_constructions.txt
   :parser: myst_parser.sphinx_

Differences: the report has verbal arguments only; the divergences are our addition. A single
Gaussian map *can* represent A-C-B, on a line of ever greater length, and centrality in three
dimensions. With the heavy tail of t-SNE, one map can represent neither, in any number of
dimensions. Command: ``python examples/figure1_2009.py``
"""

import numpy as np
from stored import OURS, panels


def ring(count):
    """Points at equal angles on a circle."""
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
            both = label in shared
            share = (0.25, 0.75)[m] if label == "China" else 0.5
            axis.scatter(
                *place, s=120 * (share if both else 1), color=OURS, alpha=0.55 if both else 0.9
            )
            axis.annotate(label, place, (0, 8), textcoords="offset points", ha="center", fontsize=9)
        points = np.array(list(places.values()))
        middle = (points.min(axis=0) + points.max(axis=0)) / 2
        axis.set(title=f"{name}, {'first' if m == 0 else 'second'} map", xticks=[], yticks=[],
                 aspect="equal", xlim=middle[0] + np.array([-1.7, 1.7]),
                 ylim=middle[1] + np.array([-1.5, 1.7]))  # fmt: skip
        axis.title.set_fontsize(9)
        axis.spines[:].set_visible(True)
