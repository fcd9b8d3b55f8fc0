"""
How ambiguous is a word?
========================

Spearman's correlation of counts taken from associations alone with WordNet's number of senses,
with 95 % intervals. The word relations hold a few pairs of every sense by their making, so that
counting responses does best there; of what people answered (USF) it says least. ``python
examples/ambiguity.py``
"""

import re

from stored import OTHER, OURS, panels, read

found = read("results/ambiguity.txt", "word relations", "given", "USF")
names = found[""]
figure, (axis,) = panels(width=8, height=3.6)
for column, color, shift in (("word relations", OTHER, -0.13), ("USF", OURS, 0.13)):
    for place, cell in enumerate(found[column]):
        value, low, high = (float(number) for number in re.findall(r"\.\d+", cell))
        axis.plot([low, high], [place + shift] * 2, color=color, linewidth=2)
        axis.scatter(value, place + shift, s=30, color=color, label=column if not place else None)
axis.set(yticks=range(len(names)), yticklabels=names, xlim=(0, 0.7), xlabel="rank correlation")
axis.invert_yaxis()
axis.grid(visible=False, axis="y")
_ = figure.legend(*axis.get_legend_handles_labels(), loc="outside upper center", ncols=2,
                  frameon=False)  # fmt: skip
