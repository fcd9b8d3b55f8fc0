"""
Estimate the ambiguity of words
===============================

Spearman's rank correlation between measures computed from associations and WordNet's number of
senses, with 95 % intervals. Measures that only count responses do well for the word relations,
because these contain a few pairs of every sense by construction. For responses of participants (USF
norms), they are the weakest measures. WordNet distinguishes more senses than people do, and its
number of senses is therefore closer to that of fine groups than to that of meanings. Command:
``python examples/ambiguity.py``
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
