"""
Artificial classes, found again
===============================

Tenenbaum 1996, section 3.1: twelve stimuli, eight classes drawn at random, weights from .1 to .6,
5 % of noise. His EM with Gibbs sampling finds all eight in ten sets of ten, in 58 iterations on
average.

.. include:: /results/tenenbaum_artificial.txt
   :parser: myst_parser.sphinx_

What differs: one random start of that EM finds the classes in about half of our sets; how often
the paper started is not said. Sets with a class that nothing could tell are drawn again here. So
small tables are annealed by default, which finds them from one start. With fewer clusters than
classes, the best fit need not be the heaviest classes: it is as good as theirs in 19 of 20 sets
and in all. ``python examples/tenenbaum_1996.py``.
"""

import numpy as np
from stored import OTHER, OURS, PRINTED, panels, read

found = read("results/tenenbaum_artificial.txt", "clusters", "recovered")
rows = found["recovered"]
figure, (axis,) = panels(height=3.6)
ways = {"paper": PRINTED, "EM alone": OTHER, "EM and search": "#E69F00", "first run": OURS}
for k, (way, color) in enumerate(ways.items()):
    shares = [int(cell.split(" of ")[0]) / int(cell.split(" of ")[1]) if cell else np.nan
              for cell in found[way]]  # fmt: skip
    places = np.arange(len(rows)) + (k - 1.5) * 0.19
    axis.barh(places, shares, 0.17, color=color, label=way)
names = [f"{int(k)} clusters: {what}" for k, what in zip(found["clusters"], rows, strict=True)]
axis.set(yticks=range(len(rows)), yticklabels=names, xlabel="share of the sets", xlim=(0, 1))
axis.invert_yaxis()
axis.grid(visible=False, axis="y")
_ = figure.legend(*axis.get_legend_handles_labels(), loc="outside upper center", ncols=4,
                  frameon=False)  # fmt: skip
