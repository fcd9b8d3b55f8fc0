"""
Senses printed in the papers
============================

Van der Maaten & Hinton 2009, section 4. In forty maps of the USF norms, *tie* is near tuxedo and
suit in one map, near rope and knot in another, and near ribbon and bow in a third. The report shows
two senses each of *cheerleader* and *monarchy*, and Cook et al. 2007 show two each of *can* and
*field* in aspect maps. Words that belong together, such as popeye, spinach and cartoon, share a
map.

.. include:: /results/maaten_senses.txt
   :parser: myst_parser.sphinx_

With the settings of the report, the printed senses have maps of their own about as often as random
groups of associates. In aspect maps, they have them a little more often. The papers show words that
were clear in one fit. Mixing proportions are not shares of associations, so `Atlas.senses` counts
the associations that each map explains, and its default fit starts by personas. The picture shows
the included associations in twenty maps. Command: ``python examples/printed_senses.py``
"""

import os

import manymaps as mm

atlas = mm.load_atlas(os.environ["MANYMAPS_DEMO"])  # written by `manymaps demo`
figure = mm.plot_senses(atlas, "bow")
