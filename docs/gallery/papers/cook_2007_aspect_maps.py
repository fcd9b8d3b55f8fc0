"""
Aspect maps of common associates
================================

Cook et al. 2007, figures 5 and 6: fifty aspect maps of the 1,000 words that are most often given as
associates, with a size penalty of 0.48 and 400 iterations of conjugate gradients. In the paper,
*can* is split into a can of soda, *can* as in able, and a garbage can. *Field* is split into a
field of corn and one of sports. These are our results for the same words of the USF norms:

.. include:: /results/cook_aspect_maps.txt
   :parser: myst_parser.sphinx_

Differences: the paper does not print a divergence. With every optimizer, a can of soda and the
garbage can have separate maps. *Can* as in able is a response to few cues and has about a twentieth
of the word. Corn and sports share a map with two of three optimizers. The picture shows 600 words
of the included word relations, which come from WordNet instead of participants and do not contain
*can*. Command: ``python examples/aspect_maps_2007.py``
"""

import numpy as np

import manymaps as mm

norms = mm.load_word_relations()
pairs = np.bincount(norms.strengths.nonzero()[1], minlength=norms.n_objects)
most = np.sort(np.argsort(-pairs, kind="stable")[:600])
common = mm.Associations([norms.labels[i] for i in most], norms.strengths[most][:, most])
fit = mm.AspectMaps(10, max_iter=150, random_state=0).fit(common)
figure = mm.plot_senses(fit.atlas_, "field" if "field" in fit.atlas_ else common.labels[0])
