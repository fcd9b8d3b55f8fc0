"""
Two language models
===================

The LLM World of Words contains free associations of language models (Abramski et al. 2025, CC BY
4.0). This page compares two of these models, Haiku and Mistral, over 2,939 well connected words.
The first table lists measures of similarity with 95 % intervals:

- *associations*: the share of the associations in common
- *neighbours*: the share of the ten nearest words that both atlases have in common
- *members*: the overlap of the members of matched maps
- *coordinates*: the correlation of the coordinates in matched maps

Two seeds of one network show the variation between fits, and shuffled words show the level by
chance. The second table lists the share of the meanings of one model that are absent in the other
model. The next column contains this share after the associates of each word are shuffled.

.. include:: /results/haiku_and_mistral.txt
   :parser: myst_parser.sphinx_

The conclusions are:

- **Both models have about 40 % of their associations in common.** Neighbours in the maps agree at
  the same rate, but two seeds of Mistral agree at 73 %. The maps of both models therefore differ by
  more than two fits of one model do.
- **Maps have a similar structure, but it is not the same.** The correlation of coordinates is 0.47
  between models, 0.66 between seeds, and 0.19 by chance.
- **A quarter of the meanings of Mistral are absent in Haiku**, and 30 % of the meanings of Haiku
  are absent in Mistral. This is 10 and 12 points more than after shuffling, so whole meanings are
  absent, not only single associates.

Both models gave 300 responses per word, and the authors of the data removed responses that occurred
once. Haiku has fewer different responses than Mistral, so a meaning can also be absent because it
is rare.

The figure shows the same numbers. The left panel shows the similarity of both models (blue), of two
seeds (green) and of shuffled words (grey). The right panel shows the absent meanings (blue) and the
level by chance (grey). Command: ``python examples/validation/haiku_and_mistral.py``.
"""

import re

from stored import FOURTH, OURS, PRINTED, panels, read

RESULTS = "results/haiku_and_mistral.txt"
similar, absent = read(RESULTS, "two seeds"), read(RESULTS, "excess")
ends = zip(absent["meanings of"], absent["absent in"], strict=True)
pairs = [f"{one}, absent\nin {other}" for one, other in ends]
figure, axes = panels(2, width=9, height=2.8)
for axis, names, columns in (
    (axes[0], similar["measure"], {name: similar[name] for name in list(similar)[1:]}),
    (axes[1], pairs, {name: absent[name] for name in ("absent", "shuffled")}),
):
    colors = {"both models": OURS, "absent": OURS, "two seeds": FOURTH}
    for name, cells in columns.items():
        for place, cell in enumerate(cells):
            if cell:
                value, low, high = map(float, re.findall(r"[\d.]+", cell))
                error = [[value - low], [high - value]]
                color = colors.get(name, PRINTED)
                axis.errorbar(value, place, xerr=error, fmt="o", color=color, capsize=3)
    axis.set(yticks=range(len(names)), yticklabels=names, ylim=(len(names) - 0.5, -0.5))
axes[0].set(xlabel="share or correlation", xlim=(0, 1))
_ = axes[1].set(xlabel="share of the meanings", xlim=(0, 0.4))
