"""
Time of each stage of a fit
===========================

The bars show the time of t-SNE in microseconds per object, for vectors in 100 clusters, perplexity
30 and 750 iterations on two cores. If the bars do not grow, the total time is linear or better.
``python benchmarks/stages.py`` measures the times; :doc:`/reference/performance` lists them, with
estimates for 1e7 objects.
"""

import numpy as np
from stored import FIFTH, FOURTH, OTHER, OURS, PRINTED, panels, read

found = read("reference/performance.md", "n", "attraction", "field")
stages = {
    "neighbours": (np.array(found["neighbours"]), PRINTED),
    "P": (np.array(found["P"]), FIFTH),
    "750 x attraction": (750 * np.array(found["attraction"]), OTHER),
    "750 x field": (750 * np.array(found["field"]), OURS),
    "750 x other": (750 * np.array(found["other"]), FOURTH),
}
names = [f"{int(n):,}" for n in found["n"]]
figure, (axis,) = panels(height=2.8)
left = np.zeros(len(names))
for stage, (micro, color) in stages.items():
    axis.barh(names, micro, 0.6, left=left, color=color, label=stage)
    left += micro
for total, place in zip(found["total, s"], range(len(names)), strict=True):
    axis.text(left[place] + 6, place, f"{total:g} s in total", va="center", fontsize=9)
axis.invert_yaxis()
axis.grid(visible=False, axis="y")
axis.set(xlabel="microseconds per object", ylabel="objects", xlim=(0, 1.17 * left.max()))
_ = figure.legend(loc="outside upper center", ncols=5, frameon=False, fontsize=9)
