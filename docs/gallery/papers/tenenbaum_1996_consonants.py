"""
Sixteen consonants as eight features
====================================

Tenenbaum 1996, table 2: how often consonants are confused in noise, as sums of overlapping
clusters such as front unvoiced fricatives and nasals; 90.2 % of the variance by eight clusters,
MAPCLUS 88.3 %.

.. include:: /results/tenenbaum_consonants.txt
   :parser: myst_parser.sphinx_

Seven of eight clusters are the printed ones, the eighth has *sh* more. What differs: on the table
at hand the printed clusters account for 91.5 % as they are, so that no choice of weights gives
90.2: most likely the table that was fitted then had other small confusions outside these clusters.
What is fitted here was rebuilt from the printed clusters with a noise of 5 %, and is drawn over a
map of the similarities. ``python examples/tenenbaum_1996.py``.
"""

import manymaps as mm

consonants = mm.load_consonants(0.05, random_state=0)
found = mm.AdditiveClustering(8, n_init=5, random_state=0).fit(consonants)
for cluster in found.clusters_:
    print(f"{cluster.weight:.3f}", *cluster.members)
print(f"variance accounted for {found.variance_accounted_for_:.3f}")
figure = mm.plot_features(mm.similarity_map(consonants), found)
