"""
Aspect maps of common associates
================================

Cook et al. 2007, figures 5 and 6: fifty aspect maps of the 1,000 words most often given as
associates, size penalty .48, 400 iterations of conjugate gradients; *can* comes apart into a can
of soda, can as able and a garbage can, *field* into a field of corn and one of sports. Of the same
words of the USF norms:

.. include:: /results/cook_aspect_maps.txt
   :parser: myst_parser.sphinx_

What differs: the paper prints no divergence. A can of soda and the garbage can have maps of their
own by each optimizer; *can* as able is a response of few cues, and has a twentieth of the word;
corn and sports share a map by two optimizers of three. The picture is of 600 words of the embedded
word relations, which come from WordNet and not from people; *can* is none of them. ``python
examples/aspect_maps_2007.py``.
"""

import numpy as np

import manymaps as mm

norms = mm.load_word_relations()
pairs = np.bincount(norms.strengths.nonzero()[1], minlength=norms.n_objects)
most = np.sort(np.argsort(-pairs, kind="stable")[:600])
common = mm.Associations([norms.labels[i] for i in most], norms.strengths[most][:, most])
fit = mm.AspectMaps(10, max_iter=150, random_state=0).fit(common)
figure = mm.plot_senses(fit.atlas_, "field" if "field" in fit.atlas_ else common.labels[0])
