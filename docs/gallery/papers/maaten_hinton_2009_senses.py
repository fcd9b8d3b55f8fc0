"""
Senses printed in the papers
============================

Van der Maaten & Hinton 2009, section 4 and its figures of single maps. In forty maps of the USF
norms, *tie* is near tuxedo and suit in one map, near rope and knot in another, and near ribbon and
bow in a third. The report shows similar results for *cheerleader*, *monarchy*, *bank*, *fire* and
*death*, and Cook et al. 2007 for *can* and *field*. Words that belong together, such as popeye,
spinach and cartoon, share a map.

.. include:: /results/maaten_senses.txt
   :parser: myst_parser.sphinx_

A sense has a map of its own if it has the strongest association with the word there, and no other
sense has its strongest association in the same map. The map must also have at least a tenth of the
word. In this fit, 13 of 21 senses have a map of their own; 8 would mean that no senses are
distinguished. Over seeds, the number is 10 to 12, and 10 to 11 from random positions. Differences:
the papers show words that were clear in one fit. Mixing proportions are not shares of associations,
so `Atlas.senses` counts the associations that each map explains. One map can contain two of the
printed senses. The picture shows the included associations in twenty maps.
Command: ``python examples/printed_senses.py``
"""

import os

import manymaps as mm

atlas = mm.load_atlas(os.environ["MANYMAPS_DEMO"])  # written by `manymaps demo`
figure = mm.plot_senses(atlas, "bow")
